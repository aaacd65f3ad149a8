/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barriers.h - barriers over point-to-point messages, which owe nothing to the MPI library's choice of an algorithm.
 */
#ifndef BARRIERS_H
#define BARRIERS_H

#include <mpi.h>

/* Those who meet. */
typedef struct group {
    MPI_Comm comm;
    int rank;
    int ranks;
} group_t;

typedef struct barrier_algorithm {
    const char *name;
    int (*meet)(const group_t *group); /* NULL: MPI_Barrier */
} barrier_algorithm_t;

/* barrier_meet - wait for all. Collective. Returns an MPI error code. */
int barrier_meet(const barrier_algorithm_t *algorithm, MPI_Comm comm);

/*
 * barrier_at - library (MPI_Barrier), linear, tree, binomial, doublering, recursivedoubling, bruck; NULL after
 * the last.
 */
const barrier_algorithm_t *barrier_at(int index);

/* barrier_name - their names, NULL after the last. */
const char *barrier_name(int index);

#endif /* BARRIERS_H */
