/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operation_private.h - what an operation finds made ready.
 */
#ifndef OPERATION_PRIVATE_H
#define OPERATION_PRIVATE_H

#include "bench/suite/forks.h"
#include "bench/suite/operation.h"
#include "bench/suite/threads.h"

/* Blocks of the buffers that a rank needs. */
typedef struct needs {
    int send;
    int receive;
} needs_t;

/* What is ready for a call. Arrays have an element for each rank, and equal blocks one after the other. */
typedef struct work {
    work_plan_t plan; /* comm: that of the neighborhood if there is one; reduction: NULL if it does not reduce */
    int rank;
    int ranks;
    MPI_Datatype type; /* these two are also in the tables, but those a cold call would have to fetch */
    MPI_Op op;
    int partner;  /* of a pair; -1 if there is none */
    int partners; /* more than 1 in the middle of a fan: partner, partner + stride, and so on */
    int stride;
    int messages; /* at once with each partner, where there are many */
    neighbors_t neighbors;
    needs_t needs; /* whoever is root */
    bool has_window;
    window_t window;
    storage_t storage;
    bool is_tested;  /* an access of it was found complete, and has the first status */
    int own_threads; /* of those that have messages; 0: there are none */
    threads_t *threads;
    struct work
        *members; /* the same for each thread: with a communicator and blocks of its own; NULL: there are none */
    forks_t forks;
    int64_t *expected; /* what a comparison takes the memory of the partner for: an element */
    arena_t arena;
    /* Of the size. */
    int64_t size_bytes;
    int elements;
    int count; /* of the type: all elements are one if there is a layout */
    bool has_layout;
    int partitions; /* of a message that has some */
    int *counts;
    int *displacements;  /* in elements or bytes, as the operation takes them */
    MPI_Aint *addresses; /* the same for neighborhoods */
    MPI_Datatype *types;
    MPI_Request *requests; /* persistent: one for each root; else of those that a call has under way */
    int request_count;
    MPI_Status *statuses; /* of messages at once */
    /* Of the call. */
    int64_t calls; /* prepared so far */
    int root;
    char *send_memory;
    char *receive_memory;
    void *send; /* as MPI gets it: that memory, or MPI_IN_PLACE */
    void *receive;
    MPI_Request *request;
} work_t;

/* pair_requests - make the persistent requests of a pair: all messages to the partner, then all from it. Local. */
int pair_requests(const work_t *work);

/*
 * exchange_parts, call_member - the messages of a thread of a work, or its part as a member. They return an MPI error
 * code. Local, but for these.
 */
int exchange_parts(const void *of, int thread);
int call_member(const void *of, int thread);

/* work_settle - of one-sided operations: results are there on all ranks. Collective. */
int work_settle(const work_t *work);

/* work_origin - who made a block of the result. */
origin_t work_origin(const work_t *work, int block);

/* work_result - where this rank's result is; *blocks: how many blocks it has. */
char *work_result(const work_t *work, int *blocks);

#endif
