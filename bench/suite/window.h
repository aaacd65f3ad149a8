/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window.h - memory that one-sided operations access: how its window is made, and how an access begins and is complete.
 *
 * Each rank accesses the memory of its partner, or some ranks that of all others. Functions that return int return an
 * MPI error code; what else fails ends the job.
 */
#ifndef WINDOW_H
#define WINDOW_H

#include "common/mpi/world.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum window_kind { WINDOW_CREATE, WINDOW_ALLOCATE, WINDOW_DYNAMIC } window_kind_t;
extern const char *const window_kinds[]; /* their names, as OSU has them, NULL after the last */

typedef enum synchronization {
    SYNCHRONIZED_BY_LOCK,
    SYNCHRONIZED_BY_FLUSH,
    SYNCHRONIZED_BY_FLUSH_LOCAL,
    SYNCHRONIZED_BY_LOCK_ALL,
    SYNCHRONIZED_BY_PSCW,
    SYNCHRONIZED_BY_FENCE
} synchronization_t;
extern const char *const synchronizations[]; /* likewise */

/* synchronization_is_active - whether targets take part in an access. */
bool synchronization_is_active(synchronization_t synchronization);

/* synchronization_is_of_all - whether one call does for all targets. */
bool synchronization_is_of_all(synchronization_t synchronization);

typedef struct window {
    const world_t *span;
    window_kind_t kind;
    synchronization_t synchronization;
    int lock_type;    /* MPI's */
    bool reaches_all; /* there are no pairs, but accesses to all */
    bool is_first;    /* of its pair: where only one has accesses, that one; without pairs, whether it has any */
    MPI_Comm comm;    /* of all that have a partner, or all; MPI_COMM_NULL on others, which do nothing */
    MPI_Win win;
    int partner;
    MPI_Group partners; /* the partner alone */
    char *memory;       /* what others access */
    MPI_Aint base;      /* of the partner's memory, as displacements count */
    MPI_Aint *bases;    /* of each rank's, without pairs */
} window_t;

/*
 * window_open - make a window of memory, which is the caller's unless the MPI library allocates it. Collective over
 * comm.
 *
 * window    kind, synchronization and lock_type are set; reaches_all, and with it is_first
 * partner   of this rank, -1 if it has none; those who have one are the first ranks of comm
 * memory    is replaced by what the MPI library allocates
 */
void window_open(window_t *window, const world_t *span, MPI_Comm comm, int partner, char *memory, int64_t bytes);

/* window_close - free it, and what the MPI library allocated. Collective. */
void window_close(window_t *window);

/*
 * window_begin, window_end - what stands before accesses and after them.
 *
 * is_origin   this rank has accesses
 * is_target   its partner has
 * continues   other accesses of these two just ended
 */
int window_begin(const window_t *window, bool is_origin, bool is_target, bool continues);
int window_end(const window_t *window, bool is_origin, bool is_target);

/*
 * window_meet - wait in the MPI library for all others: meanwhile accesses of others to memory here make progress.
 * Collective over those who have a partner.
 */
int window_meet(const window_t *window);

/*
 * window_settle - accesses of all ranks are complete, and what each rank writes to its memory is what others access,
 * and the other way round. Collective over those who have a partner.
 */
int window_settle(const window_t *window);

#endif
