/* SPDX-License-Identifier: BSD-3-Clause */
/* engaged.h - the barriers of the program, by communicator. */
#ifndef PRELOAD_ENGAGED_H
#define PRELOAD_ENGAGED_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { PRELOAD_NAME_SIZE = 64, PRELOAD_ERROR_SIZE = 256, PRELOAD_MAX_ENGAGED = 64 };

/* The results of the barriers of one communicator, over all its processes. */
typedef struct {
    char name[PRELOAD_NAME_SIZE];
    int64_t ranks;
    int64_t barriers;
    int64_t harmonized;
    int64_t judged;  /* the first harmonized ones, for which it is known whether they were valid on all */
    int64_t valid;   /* of these */
    int64_t late[3]; /* sampled latenesses: how many, their sum, the largest; nanoseconds */
    char error[PRELOAD_ERROR_SIZE]; /* of the library, which has ended it; empty if there was none */
} preload_summary;

/* Prepare for the barriers of the world. */
void mh_preload_open_communicators(void);

/* Sum up what is left, collectively over the world. */
void mh_preload_close_communicators(void);

/* Free what the communicators have, except mh_twin_of_world. */
void mh_preload_free_communicators(void);

/* In the end. */
typedef struct {
    preload_summary summaries[PRELOAD_MAX_ENGAGED + 1]; /* of communicators of which this process was rank 0 */
    int count;
    /* Barriers of this process that were left to MPI: of communicators that are not to be engaged, and of the rest. */
    atomic_llong passed_others, passed;
} preload_closed;
extern preload_closed mh_preload_closed;

#endif
