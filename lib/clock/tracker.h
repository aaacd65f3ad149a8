/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tracker.h - follows the offset and drift of one clock against another over all measurements. Pure; no MPI.
 *
 * A bank of Kalman filters on (offset, drift) runs in parallel. They differ in how much they expect the drift to
 * wander, and in why they think that a round trip is longer than another. Their weights follow from the recent
 * measurements (multiple-model adaptive estimation, D. T. Magill, "Optimal adaptive estimation of sampled stochastic
 * processes", 1965). So a steady clock is averaged over a long time and a wandering one is followed, without a setting.
 */
#ifndef MH_TRACKER_H
#define MH_TRACKER_H

#include "pure/model.h"
#include "clock/past.h"

#include <stdbool.h>
#include <stdint.h>

enum { MH_TRACKER_WALKS = 8, MH_TRACKER_NOISES = 3, MH_TRACKER_FILTERS = MH_TRACKER_NOISES * MH_TRACKER_WALKS };

/* In the units of mh_covariance. */
typedef struct mh_filter {
    double offset, drift;
    double bias; /* the error of a measured offset for each nanosecond by which its bound exceeds usual bounds */
    mh_covariance errors;                          /* of offset and drift */
    double bias_variance, bias_offset, bias_drift; /* variance of the bias, covariances of bias and offset, drift */
    double cost;                                   /* minus twice the log likelihood of the recent measurements */
    double weight;
} mh_filter;

typedef struct mh_tracker {
    mh_rates rates;         /* of the two clocks */
    double drift_limit;     /* the maximum drift of an estimate: that of raw clocks, unless a slew was seen */
    int64_t measurements;   /* a prior counts as one */
    mh_past past;           /* what the measurements prove */
    bool wandered;          /* the last one disproved rates.wander: raw clocks have wandered by more */
    int64_t origin_ns;      /* subtracted from the filters' offsets, so that they stay small */
    bool knows_drift;       /* it started from a prior */
    int64_t first_ns;       /* of the first measurement, if it did not */
    double min_bound_ns;    /* of recent bursts; rises slowly, so that the tracker adapts to a slower path; 0: none */
    double low_bound_ns;    /* of all bursts; it hardly rises */
    double excess_ns;       /* by how much bounds are above that, on average */
    double spell_excess_ns; /* by how much the last bound was above the minimum, if it was of a spell; else 0 */
    double noise[MH_TRACKER_NOISES]; /* standard error of a measurement, as a part of what a hypothesis says */
    mh_filter filters[MH_TRACKER_FILTERS];
} mh_tracker;

/* Discard all measurements; rates are those of the two clocks. */
void mh_tracker_reset(mh_tracker *tracker, mh_rates rates);

/*
 * Start from an estimate that was not measured by this tracker, such as the composition of those of two others. It has
 * the same effect as a measurement at its local time that also measured the drift. The rates of the clocks remain. If
 * the bound of the estimate is unknown, or useless (MH_PAST_USELESS_NS), this is mh_tracker_reset.
 */
void mh_tracker_start_from(mh_tracker *tracker, const mh_estimate *prior);

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

/* How far the estimate may be off, at the last measurement. */
mh_covariance mh_tracker_covariance(const mh_tracker *tracker);

/* The standard error of the estimate at a time ahead of the last measurement. */
double mh_tracker_error_ns(const mh_tracker *tracker, int64_t ahead_ns);

/*
 * How long after the last measurement the error will have grown by target_ns; at most max_ns. This is when to measure
 * again.
 */
int64_t mh_tracker_interval_ns(const mh_tracker *tracker, double target_ns, int64_t max_ns);

#endif
