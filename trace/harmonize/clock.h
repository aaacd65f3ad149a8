/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.h - the global clock, from MPI_Init to MPI_Finalize. */
#ifndef PRELOAD_CLOCK_H
#define PRELOAD_CLOCK_H

#include "mpix_harmonize.h"

#include <stdbool.h>

/* What was done for it in collective calls. */
typedef struct {
    int64_t calls; /* of all processes */
    int64_t looks; /* in how many of them the clocks were checked */
} preload_care;
extern preload_care mh_preload_care;

/* Both are collective over the world. */
int mh_preload_start_clock(void);
void mh_preload_end_clock(void);

/* Before a barrier of all processes, which checks the clocks itself. */
void mh_preload_before_harmonize(void);

/* A number that the library knows of this communicator. Returns whether it does. */
bool mh_preload_statistic(MPI_Comm comm, const char *key, int64_t *value);

/* What an error of a function of the library on this communicator was: its own message, otherwise that of MPI. */
void mh_preload_describe(MPI_Comm comm, int code, char *text, int size);

#endif
