/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operation.h - the operations that can be measured: one small description each.
 *
 * A work is an operation made ready: a communicator, buffers, a datatype. What it calls is the description's business;
 * how often, when, and what is made of it, is not.
 */
#ifndef OPERATION_H
#define OPERATION_H

#include "common/world.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* How an operation is called. */
typedef enum operation_form { FORM_BLOCKING, FORM_NONBLOCKING, FORM_PERSISTENT, FORM_POINT_TO_POINT } operation_form_t;

typedef struct operation operation_t; /* operation_private.h */

/* operation_at - the operations in the order of their list, NULL after the last. */
const operation_t *operation_at(int index);

/* operation_name - their names: allreduce, iallreduce, allreduce_persistent, neighbor_allgather, pingpong, ... */
const char *operation_name(int index);

/* operation_absence - why an operation of this name is not in the list; NULL where it is, or no such one exists. */
const char *operation_absence(const char *name);

/* operation_short_name, operation_function, operation_get_form - name, MPI function, and form of one. */
const char *operation_short_name(const operation_t *operation);
const char *operation_function(const operation_t *operation);
operation_form_t operation_get_form(const operation_t *operation);

/* operation_has_root, operation_reduces, operation_has_size - what options it heeds: --root; --op; sizes. */
bool operation_has_root(const operation_t *operation);
bool operation_reduces(const operation_t *operation);
bool operation_has_size(const operation_t *operation);

/* operation_is_neighborhood - whether ranks meet only their neighbors in a ring. */
bool operation_is_neighborhood(const operation_t *operation);

/*
 * operation_trips - how many messages in turn a call is: 2 for ping-pong, whose latency is by custom half of the
 * call's duration; else 1.
 */
int operation_trips(const operation_t *operation);

/* operation_least_ranks - fewer cannot carry it out. */
int operation_least_ranks(const operation_t *operation);

/* operation_allows_in_place - whether MPI_IN_PLACE may be its send buffer. */
bool operation_allows_in_place(const operation_t *operation);

/* datatype_name, reduction_name - the names for --type (char, int, ...) and --op (sum, ...), NULL after the last. */
const char *datatype_name(int index);
const char *reduction_name(int index);

/* datatype_bytes - the bytes of an element. */
int datatype_bytes(int index);

/* reduction_allows - whether MPI defines a reduction on a datatype. */
bool reduction_allows(int reduction, int datatype);

/* Where the messages lie from call to call. */
typedef enum cache_mode {
    CACHE_WARM,   /* the same buffers */
    CACHE_ROTATE, /* the next ones of a ring of buffers larger than the last-level cache */
    CACHE_COLD    /* the same buffers, out of the cache: other memory is read before each call */
} cache_mode_t;
const char *cache_mode_name(int index);

/* The same on all ranks of comm. */
typedef struct work_plan {
    const operation_t *operation;
    MPI_Comm comm;
    int datatype;
    int reduction;
    int root; /* or ROOT_ROTATES */
    bool in_place;
    cache_mode_t cache;
    int64_t most_bytes;  /* the greatest message size that will be asked for */
    int64_t cache_bytes; /* the size of the last-level cache; 0: as the system tells */
} work_plan_t;
enum { ROOT_ROTATES = -1 };

typedef struct work work_t; /* made ready */

enum { WORK_WHY_BYTES = 256 };

/*
 * work_bytes - how much memory for buffers of all kinds the rank needs that needs the most.
 *
 * Returns bytes, or -1 where they or the counts of elements cannot be told in the types that MPI takes.
 */
int64_t work_bytes(const work_plan_t *plan);

/*
 * work_open - allocate and touch the buffers. Collective over plan->comm.
 *
 * Neighborhoods are rings of all ranks, where each has its predecessor and its successor as neighbors. Where these
 * are the same, as among two ranks, or the rank itself, there is one neighbor: MPI libraries disagree on double edges.
 *
 * why   out: one line of the reason, the same on all ranks
 *
 * Returns the work, or NULL on all ranks.
 */
work_t *work_open(const work_plan_t *plan, char why[WORK_WHY_BYTES]);

/*
 * work_set_size - get ready for messages of a size, a multiple of the element: counts, persistent requests. Collective.
 *
 * A message is what one rank gives to one other (of alltoall, one block).
 *
 * Returns an MPI error code.
 */
int work_set_size(work_t *work, int64_t size_bytes);

/* work_prepare - before each call, not timed: the next buffers, the next root, a cold cache. Local. */
void work_prepare(work_t *work, int64_t call);

/*
 * work_call - carry out the operation once. Non-blocking and persistent forms are started and completed.
 *
 * Returns an MPI error code.
 */
int work_call(work_t *work);

/*
 * work_start, work_finish - the two halves of work_call, for non-blocking and persistent forms.
 *
 * Each returns an MPI error code.
 */
int work_start(work_t *work);
int work_finish(work_t *work);

/* work_test - let the MPI library make progress between the halves. Returns an MPI error code. */
int work_test(work_t *work);

/*
 * work_check - fill the buffers with values that tell rank, place and call, carry out the operation once and compare.
 * Collective. It does what work_prepare does, too, and leaves zeros, which no number of reductions in place changes.
 *
 * wrong   out: elements of this rank's result that are wrong
 *
 * Returns an MPI error code.
 */
int work_check(work_t *work, int64_t call, int64_t *wrong);

/* work_close - free all. Collective. */
void work_close(work_t *work);

#endif /* OPERATION_H */
