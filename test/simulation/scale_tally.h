/* SPDX-License-Identifier: BSD-3-Clause */
/* scale_tally.h - what the readings and synchronizations of scale_model.c come to. */
#ifndef MH_SCALE_TALLY_H
#define MH_SCALE_TALLY_H

#include "unit/virtual_world.h"

/* All zero at first. */
typedef struct tally {
    int64_t *errors_ns, errors; /* the caller frees them */
    int64_t bounds, max_bound_ns, unknown_bounds, violations;
    double squares, sum_bounds_ns;
    double old_bounds_ns, old_paths_ns; /* of readings with a path, the sums */
    /* Of rank 0: how long the first synchronization took, the one with a silent host, and all others together. */
    int64_t syncs, others, first_ns, lost_ns, other_ns;
    int64_t first_messages, later_messages, collectives; /* of all processes */
} tally_t;

/*
 * One reading of the global clock, with the bound that the library claims. path_ns: half the minimum round trips along
 * the path to rank 0, to which the bound is compared; 0: it is not.
 */
void tally_reading(tally_t *tally, int64_t error_ns, int64_t bound_ns, int64_t path_ns);

/* One process has synchronized: what is known of it before and after. */
void tally_sync(tally_t *tally, const virtual_process *before, const virtual_process *after);

/* On stdout, as NAME=VALUE: times in us, errors and bounds in ns. */
void tally_report(const tally_t *tally);

#endif
