/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threads.h - threads of this rank that carry out the parts of a call at once, the calling thread among them.
 *
 * Between calls they sleep. Waking takes longer than a message, so they are woken before, and then wait for the call
 * without sleeping. Functions are local.
 */
#ifndef THREADS_H
#define THREADS_H

#include "common/mpi/world.h"

typedef struct threads threads_t;

/*
 * threads_open - start them.
 *
 * count            with the calling thread
 * has_processors   each thread of the node has one, so threads that wait need not give way to others
 * part             carries out the part of a thread, from 0 on, and returns an MPI error code
 * of               what part gets
 */
threads_t *threads_open(const world_t *span, int count, bool has_processors, int (*part)(const void *of, int thread),
                        const void *of);

/* threads_wake - before a call: returns when all of them are awake. */
void threads_wake(threads_t *threads);

/* threads_call - carry out all parts. Returns when they are done, with the error code of one that failed. */
int threads_call(threads_t *threads);

/* threads_close - end them. NULL: there are none. */
void threads_close(threads_t *threads);

#endif
