/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wander.h - keeps the drift of a simulated clock to the limit that bounds rely on: within any s seconds, it changes by
 * at most limit (1 + s). And what is measured of its offset.
 */
#ifndef MH_TEST_WANDER_H
#define MH_TEST_WANDER_H

#include "pure/model.h"

#include <math.h>
#include <stdbool.h>

/* All zero at first. */
typedef struct wandering {
    bool has_begun;
    double min_ppb, max_ppb; /* where all earlier drifts allow the present one */
} wandering_t;

/* The drift that is nearest to the one wanted, that many seconds after the last one. */
static inline double wander_to(wandering_t *past, double wanted_ppb, double limit_ppb_per_s, double seconds)
{
    if (!past->has_begun)
        *past = (wandering_t){true, wanted_ppb - limit_ppb_per_s, wanted_ppb + limit_ppb_per_s};
    double widened_ppb = limit_ppb_per_s * seconds;
    double min_ppb = past->min_ppb - widened_ppb, max_ppb = past->max_ppb + widened_ppb;
    double drift_ppb = fmin(fmax(wanted_ppb, min_ppb), max_ppb);
    past->min_ppb = fmax(min_ppb, drift_ppb - limit_ppb_per_s);
    past->max_ppb = fmin(max_ppb, drift_ppb + limit_ppb_per_s);
    return drift_ppb;
}

/* An offset as a burst shows it whose best messages take so long there and back. */
static inline mh_offset measured_offset(int64_t local_ns, int64_t offset_ns, double there_ns, double back_ns)
{
    int64_t min_ns = offset_ns - (int64_t)there_ns, max_ns = offset_ns + (int64_t)back_ns;
    int64_t middle_ns = min_ns + (max_ns - min_ns) / 2;
    return (mh_offset){local_ns, middle_ns, max_ns - middle_ns};
}

#endif
