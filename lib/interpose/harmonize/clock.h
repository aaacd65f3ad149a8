/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.h - looking after the clock of the world. */
#ifndef PRELOAD_CLOCK_H
#define PRELOAD_CLOCK_H

#include "mpix_harmonize.h"

#include <stdbool.h>

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
