/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operation.h - the operations that can be measured: one small description each.
 *
 * A work is an operation made ready: a communicator, buffers, a datatype. The description says what it calls, but not
 * how often and when, nor how results are used. Functions of a work that return int return an MPI error code; what else
 * fails ends the job.
 */
#ifndef OPERATION_H
#define OPERATION_H

#include "common/mpi/world.h"
#include "bench/suite/arena.h"
#include "bench/suite/elements.h"
#include "bench/suite/layout.h"
#include "bench/suite/neighborhood.h"
#include "bench/suite/storage.h"
#include "bench/suite/window.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct work work_t; /* made ready: operation_private.h */

typedef enum operation_form {
    FORM_BLOCKING,
    FORM_NONBLOCKING,
    FORM_PERSISTENT,
    FORM_COMPOSED, /* two blocking calls in a row, which do what another operation does */
    FORM_POINT_TO_POINT,
    FORM_ONE_SIDED,
    FORM_STARTUP, /* what the start of the program was, once, so no call is made */
    FORM_FILE
} operation_form_t;

/* Which ranks have a buffer: all, or those told; and how many blocks, each a message, it has there. */
enum {
    ONE = 1,
    PER_RANK,
    PER_SOURCE,   /* neighbors who send to this rank */
    PER_MESSAGE,  /* of those that are under way at once */
    WITH_FETCHED, /* two: what others access, and what was there before */
    PER_MESSAGE_OF_PARTNERS,
    PER_DESTINATION, /* neighbors to whom this rank sends */
    BLOCKS = 7,
    AT_ROOT = 8,
    AT_LEADERS = 16, /* the first of each pair */
    AT_FOLLOWERS = 32,
    AT_PAIRS = AT_LEADERS | AT_FOLLOWERS
};

/* Whose values come to a block of the result. */
typedef enum provider {
    FROM_NOBODY, /* there is no result */
    FROM_EACH,
    FROM_ROOT,
    FROM_ALL,
    FROM_THOSE_UP_TO_OWN,
    FROM_THOSE_BEFORE_OWN, /* the result of rank 0 is undefined */
    FROM_NEIGHBOR,
    FROM_PARTNER,
    FROM_PAIR, /* what both contribute */
    FROM_SELF  /* what this rank contributes; or rank 0, to a file that has no place for each rank */
} provider_t;

/* What MPI_IN_PLACE replaces. A broadcast has one buffer, so its root always contributes from the receive buffer. */
typedef enum in_place {
    IN_PLACE_NEVER,
    SEND_IN_PLACE,
    ROOT_SENDS_IN_PLACE,
    ROOT_RECEIVES_IN_PLACE,
    ROOT_SENDS_FROM_RESULT
} in_place_t;

/* Which buffer one-sided operations of the partner access. */
typedef enum exposure { EXPOSES_NOTHING, EXPOSES_SEND, EXPOSES_RECEIVE } exposure_t;

enum { USUAL_MESSAGES = 64 }; /* at once, as OSU */
enum { USUAL_PARTITIONS = 8 };
enum { USUAL_SENDERS = 1, USUAL_RECEIVERS = 2, MAX_THREADS = 128 }; /* as OSU; also of forked processes */

/* How the data of an operation lie and move, whatever its form. */
typedef struct shape {
    int send;    /* ranks | blocks */
    int receive; /* likewise */
    int scratch; /* likewise: what lies in the receive buffer between two calls */
    provider_t from;
    bool to_own; /* of what those have for each rank, the block for this one */
    in_place_t in_place;
    const char *in_place_function; /* then MPI's; NULL: the same */
    bool in_place_at_own_block; /* contributed in place: block `rank` of the receive buffer instead of its first ones */
    bool has_root;
    bool reduces;
    bool has_displacements;      /* of elements */
    bool has_byte_displacements; /* of bytes */
    bool has_parts;  /* a message is cut into a part for each rank, which is what is counted and displaced */
    bool counts_all; /* a count is of the blocks of all ranks */
    bool has_neighbors;
    int turns; /* a call is so many messages, each of which waits for the one before, and latency is told; else 0 */
    int directions;      /* many messages at once go in so many of a pair, and their bandwidth is told; else 0 */
    bool has_rate;       /* messages per second are told, too */
    bool keeps_requests; /* persistent ones of a pair, made for each size */
    bool has_threads;    /* on both of a pair, each of which has some of the messages; or, on all ranks, members */
    int (*member)(const work_t *work, MPI_Request *request); /* carried out by the threads of the same number alone */
    bool forks;                                              /* both of a pair have forked processes */
    bool meets;                                              /* the start includes the first barrier */
    bool is_partitioned;                                     /* and each is of a message in partitions */
    bool pairs_all; /* the first half of the ranks with the second half; else ranks 0 and 1 are the pair */
    bool fans;      /* the first ranks have several partners each, in turn the ranks behind them */
    exposure_t exposes;
    bool reaches_all;        /* there are no pairs: accesses of several memories at once; likewise the next one */
    bool is_from_one;        /* by rank 0 alone */
    bool fetches;            /* what was in the memory of the partner comes to the second block of the result */
    bool has_one_element;    /* whatever the size */
    bool compares;           /* the memory of the partner is replaced if it is what this rank thinks */
    bool makes_window;       /* in each call, with a fence before and after */
    storage_access_t access; /* of a file; likewise the next one */
    bool writes;
    int min_ranks; /* fewer cannot carry it out */
} shape_t;

typedef struct operation {
    const char *name;     /* allreduce, iallreduce, allreduce_persistent, neighbor_allgather, latency, ... */
    const char *function; /* MPI's */
    operation_form_t form;
    const shape_t *shape;
    /* Carries it out; starts it (non-blocking), or makes the request (persistent). NULL: the MPI library has it not. */
    int (*call)(const work_t *work, MPI_Request *request);
} operation_t;

/* operation_at - those that the MPI library has, in the order of their list, NULL after the last. */
const operation_t *operation_at(int index);

/* operation_find - the index of one of these, or -1. */
int operation_find(const char *name);

/* operation_absence - why an operation of this name is not in the list; NULL if it is, or no such one exists. */
const char *operation_absence(const char *name);

/* operation_is_osus - whether the OSU micro-benchmarks have one of this name, osu_NAME. */
bool operation_is_osus(const operation_t *operation);

/* operation_has_size, operation_allows_in_place - whether there are messages; whether MPI_IN_PLACE may be a buffer. */
bool operation_has_size(const operation_t *operation);
bool operation_allows_in_place(const operation_t *operation);

/*
 * operation_turns - of how many messages, one after the other, a call consists whose latency is told; else 0. Where
 * targets take part in one-sided operations, both of a pair are origins in turn, as in OSU.
 */
int operation_turns(const operation_t *operation, synchronization_t synchronization);

/* operation_thread_messages - how many messages go there and back in a call so that all threads have as many. */
int operation_thread_messages(int senders, int receivers);

/* operation_allows_layout - whether messages may have a derived datatype. */
bool operation_allows_layout(const operation_t *operation);

/* operation_hangs_at_sinks - whether it may not return if a rank has more sources than destinations. */
bool operation_hangs_at_sinks(const operation_t *operation);

/* operation_is_of_two - whether two ranks carry it out, which may be any. */
bool operation_is_of_two(const operation_t *operation);

/* operation_keeps_buffers - whether all calls have the same buffers, as persistent requests name them. */
bool operation_keeps_buffers(const operation_t *operation);

/* operation_has_halves - whether a call is started, and completed later. */
bool operation_has_halves(const operation_t *operation);

/* Names for several operations, those of a form and others, NULL after the last. */
extern const char *const operation_groups[];
bool operation_is_in_group(const operation_t *operation, int group);

/* The same on all ranks of comm. */
typedef struct work_plan {
    const world_t *span; /* by which errors are told */
    const operation_t *operation;
    MPI_Comm comm;
    const element_t *element;
    const reduction_t *reduction; /* of no effect if it does not reduce */
    int root;                     /* or ROOT_ROTATES */
    bool in_place;
    int messages;   /* at once, where there are many; 0: as usual */
    int senders;    /* threads of the first of a pair, or processes forked; 0: as usual; likewise the next one */
    int receivers;  /* of the second */
    int partitions; /* at most, of a message that has some; 0: as usual */
    int pair[2];    /* the only ranks that take part, in their order; both 0: as usual */
    int pairs;      /* that take part, where all may; 0: all. Of fans: ranks with several partners; 0: one */
    const layout_t *layout;             /* NULL: plain */
    const pair_list_t *blocks;          /* those of the layout if it has some */
    const neighborhood_t *neighborhood; /* NULL: a ring */
    const pair_list_t *graph;           /* that of the neighborhood if it has one */
    window_kind_t window;               /* of one-sided operations, likewise the next one */
    synchronization_t synchronization;
    const char *path; /* of a file, likewise the next one */
    storage_sync_t sync;
    int64_t uneven_seed; /* of reduce_scatter, if not 0: blocks differ in length, and none is longer than the size */
    cache_mode_t cache;
    int64_t max_bytes;   /* the largest message size that will be asked for */
    int64_t cache_bytes; /* the size of the last-level cache */
} work_plan_t;
enum { ROOT_ROTATES = -1 };

/*
 * work_bytes - how much memory for buffers of all kinds this rank needs; -1 if the bytes or the counts of elements
 * cannot be told in the types that MPI takes, which is the same on all ranks.
 */
int64_t work_bytes(const work_plan_t *plan);

/*
 * work_open - get ready. Collective over plan->comm; of operations with threads, over the span, too.
 *
 * memory   of arena_allocate, as many bytes as work_bytes says, or more. Works that take turns may have the same
 */
work_t *work_open(const work_plan_t *plan, char *memory);

/*
 * work_set_size - get ready for messages of a size, a multiple of the element: counts, persistent requests. Collective.
 * A message is what one rank gives to one other (of alltoall, one block).
 */
void work_set_size(work_t *work, int64_t size_bytes);

/* work_data_bytes - of the size: what of a message is data, if it has gaps. */
int64_t work_data_bytes(const work_t *work);

/*
 * work_prepare - before each call, not timed: the next buffers, a cold cache, and the root. Local.
 *
 * number   by which the root rotates, and values differ; calls with the same number have other buffers all the same
 */
void work_prepare(work_t *work, int64_t number);

/* work_call - carry out the operation once. Non-blocking and persistent forms are started and completed. */
int work_call(work_t *work);

/*
 * work_leave - after each call, not timed, if ranks meet between calls: targets of one-sided operations, who have
 * nothing to do, help the MPI library until all origins are done; and a pointer that ranks share is set back.
 * Collective.
 */
int work_leave(const work_t *work);

/* work_start, work_finish - the two halves of work_call, for non-blocking and persistent forms. */
int work_start(work_t *work);
int work_finish(work_t *work);

/* work_test - let the MPI library make progress between the halves. */
int work_test(work_t *work);

/*
 * work_check - fill the buffers with values that tell rank, place and call, carry out the operation once and count the
 * elements of this rank's result that are wrong. Collective. It does what work_prepare does, too, and leaves zeros,
 * which no number of reductions in place changes.
 */
int work_check(work_t *work, int64_t number, int64_t *wrong);

/* work_close - free all. Collective. */
void work_close(work_t *work);

#endif
