/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * forks.h - processes that a rank forks and that do nothing: what this leaves behind in its memory, which is copied
 * when it is written to, and in the MPI library is what is measured.
 */
#ifndef FORKS_H
#define FORKS_H

#include "common/mpi/world.h"

#include <sys/types.h>

typedef struct forks {
    int count;
    pid_t *ids;
} forks_t;

/* forks_open - fork so many, or end the job. They end with this process, if not before. Local. */
forks_t forks_open(const world_t *span, int count);

/* forks_close - end them, and wait until they have. Local. */
void forks_close(forks_t *forks);

#endif
