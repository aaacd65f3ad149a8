/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tracker.h - follows the offset and drift of one clock against another over all measurements. Pure; no MPI.
 *
 * A bank of Kalman filters on (offset, drift) runs in parallel. They differ in how much they expect the drift to
 * wander, and in whether they expect delays beyond the minimum in one direction only or in both. Their weights follow
 * from the recent measurements (multiple-model adaptive estimation, D. T. Magill, "Optimal adaptive estimation of
 * sampled stochastic processes", 1965). So a steady clock is averaged over a long time and a wandering one is followed,
 * without a setting.
 */
#ifndef MH_TRACKER_H
#define MH_TRACKER_H

#include "clock/model.h"

#include <stdbool.h>
#include <stdint.h>

enum { MH_TRACKER_WALKS = 8, MH_TRACKER_FILTERS = 2 * MH_TRACKER_WALKS, MH_TRACKER_SPANS = 5 };

/* What a measurement proves: at this local time the true offset was within. */
typedef struct mh_tracker_window {
    int64_t at_ns;
    int64_t min_ns, max_ns;
} mh_tracker_window;

/* Two windows of the past that are about a certain span apart, the older one at least that span old. */
typedef struct mh_tracker_span {
    mh_tracker_window older, newer;
    bool has_older, has_newer;
} mh_tracker_span;

/* Offsets in nanoseconds, drifts in ns/s (which is ppb), times in seconds; p: the covariance. */
typedef struct mh_filter {
    double offset, drift;
    double p00, p01, p11;
    double cost; /* minus twice the log likelihood of the recent measurements */
    double weight;
} mh_filter;

typedef struct mh_tracker {
    mh_rates rates;     /* of the two clocks */
    double drift_limit; /* the maximum drift of an estimate: that of raw clocks, unless a slew was seen */
    int64_t measurements;
    mh_tracker_window last;                  /* of the last measurement */
    mh_tracker_span spans[MH_TRACKER_SPANS]; /* windows of the past: with the last one they bound the drift */
    int64_t origin_ns;                       /* subtracted from the filters' offsets, so that they stay small */
    double noise;                            /* standard error of a measurement, as a part of the minimum bound */
    int64_t min_bound_ns; /* of the measurements; rises slowly, so that the tracker adapts to a slower path */
    mh_filter filters[MH_TRACKER_FILTERS];
} mh_tracker;

/* Discard all measurements; rates are those of the two clocks. */
void mh_tracker_reset(mh_tracker *tracker, mh_rates rates);

/*
 * Feed a measurement. Returns false if it contradicts earlier ones, or is older than the last one: a clock was stepped
 * or suspended. The tracker has then discarded all earlier measurements.
 */
bool mh_tracker_feed(mh_tracker *tracker, const mh_offset *measured);

/*
 * The estimate at the last measurement. If the kernel may correct the clocks, the bound grows by the maximum
 * correction. Without a measurement, the bound is unknown.
 */
mh_estimate mh_tracker_estimate(const mh_tracker *tracker);

/* The standard error of the estimate at a time ahead of the last measurement. */
double mh_tracker_error_ns(const mh_tracker *tracker, int64_t ahead_ns);

/*
 * How long after the last measurement the error will have grown by target_ns; at most max_ns. This is when to measure
 * again.
 */
int64_t mh_tracker_interval_ns(const mh_tracker *tracker, double target_ns, int64_t max_ns);

#endif
