/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * communicator.h - which processes carry out an operation together.
 *
 * Two communicators take part in a measurement. The span is all processes that measure: they are released together, and
 * a sample includes all of them. The group is the one that carries out the operation. If the span is split into groups,
 * all groups do so at the same time.
 */
#ifndef COMMUNICATOR_H
#define COMMUNICATOR_H

#include "common/mpi/world.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum communicator_kind { COMM_WORLD_ALL, COMM_NODE, COMM_CARTESIAN, COMM_EVERY } communicator_kind_t;

enum { MAX_DIMENSIONS = 8, COMMUNICATOR_TEXT_BYTES = 64 };

/* What --comm says. */
typedef struct communicator_choice {
    communicator_kind_t kind;
    int dimensions;
    int extents[MAX_DIMENSIONS];        /* of the cartesian grid */
    int dimension;                      /* along which groups lie, from 0 */
    int every;                          /* ranks whose number it divides */
    char text[COMMUNICATOR_TEXT_BYTES]; /* as it was given */
} communicator_choice_t;

/*
 * communicator_parse - world, node, cart:DIMSxDIMS:DIM or every:K. No MPI.
 *
 * ranks   of the world: the product of the extents, and at least K
 *
 * Returns NULL, or what is allowed.
 */
const char *communicator_parse(communicator_choice_t *choice, const char *text, int ranks);

typedef struct communicator {
    const communicator_choice_t *choice; /* NULL: none is open */
    world_t span;                        /* comm is MPI_COMM_NULL on processes that stand aside */
    MPI_Comm group;
    /* The same on all processes of the world. */
    int min_ranks, max_ranks; /* of the smallest and of the largest group */
    int groups, pairs;        /* of two processes or more; and pairs of processes within them */
    int64_t cache_bytes;      /* the largest last-level cache, so that buffers lie alike in the memory of all */
    int members;              /* processes of these groups */
    int all_hubs;             /* the sum of their hubs */
    /* Of this group: the processes on the node of the first one if others come behind all of them, else 1. */
    int hubs;
} communicator_t;

/*
 * communicator_open - make the communicators of a choice, unless they are open already; others are closed. Collective
 * over world. A call that fails ends the job.
 */
void communicator_open(communicator_t *communicator, const world_t *world, const communicator_choice_t *choice);

/* communicator_takes_part - whether this process measures. */
static inline bool communicator_takes_part(const communicator_t *communicator)
{
    return communicator->span.comm != MPI_COMM_NULL;
}

/* communicator_close - free them if some are open. Collective over world. */
void communicator_close(communicator_t *communicator, const world_t *world);

#endif
