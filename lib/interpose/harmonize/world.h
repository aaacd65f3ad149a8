/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world.h - the processes of the program, and looking after their clock.
 *
 * The back never uses a communicator of the program for the library: it makes a communicator of its own of the same
 * processes. The program's error handlers do not see its errors, unless the program gives a communicator that is none.
 * If anything fails, the real barrier takes over.
 */
#ifndef PRELOAD_WORLD_H
#define PRELOAD_WORLD_H

#include "mpix_harmonize.h"

#include <stdbool.h>

/* A communicator of the program's world. MPI_COMM_NULL: the preload does nothing. */
extern MPI_Comm mh_preload_world;

/* What was done for the clock of the world in collective calls. */
typedef struct {
    int64_t calls; /* of all processes */
    int64_t looks; /* in how many of them the clocks were checked */
} preload_care;
extern preload_care mh_preload_care;

/* After a collective call of all processes that MPI did. */
void mh_preload_after_call(void);

/* Before one that checks the clocks itself. */
void mh_preload_before_harmonize(void);

/* A number that the library knows of this communicator. Returns whether it does. */
bool mh_preload_statistic(MPI_Comm comm, const char *key, int64_t *value);

#endif
