/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barriers.h - barriers over point-to-point messages, which owe nothing to the MPI library's choice of an algorithm.
 */
#ifndef BARRIERS_H
#define BARRIERS_H

#include "common/world.h"

typedef struct barrier_algorithm {
    const char *name;
    /* Waits for all of the span. Collective. A call that fails ends the job. */
    void (*meet)(const world_t *span);
} barrier_algorithm_t;

/* library (MPI_Barrier), linear, tree, binomial, doublering, recursivedoubling, bruck; the last has no name. */
extern const barrier_algorithm_t barriers[];

#endif
