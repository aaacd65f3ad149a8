/* SPDX-License-Identifier: BSD-3-Clause */
#include "clock/tracker.h"

#include "base/units.h"

#include <math.h>
#include <string.h>

/* Random walk of the drift, ppb per square root of a second: from 0.3 to 1,000, in steps of the square root of ten. */
#define LEAST_WALK_PPB 0.32
#define WALK_STEP 3.1623

/* A first guess at the standard error of a burst, as a part of its half width: measured over shared memory and TCP. */
#define FIRST_NOISE 0.05
#define LEAST_NOISE 0.005
#define MOST_NOISE 1.0
#define NOISE_GAIN 0.025 /* it adapts over some forty measurements */

/* The filters are weighed by this many recent measurements. */
#define MEMORY 30.0

/* A single surprise counts at most so much, in squared standard errors. */
#define MOST_SURPRISE 16.0

/* How many standard errors a bound allows for. */
#define BOUND_SIGMAS 6.0

/* What no crystal is known to do better than over some seconds. */
#define LEAST_DRIFT_BOUND (0.02 * MH_PPM)

static double walk_variance(int filter)
{
    double walk = LEAST_WALK_PPB * pow(WALK_STEP, filter);
    return walk * walk;
}

void mh_tracker_reset(mh_tracker *tracker)
{
    memset(tracker, 0, sizeof *tracker);
    tracker->noise = FIRST_NOISE;
}

static double measurement_variance(const mh_tracker *tracker, const mh_offset *measured)
{
    double error_ns = tracker->noise * (double)measured->bound_ns + 1; /* clocks count whole nanoseconds */
    return error_ns * error_ns;
}

static void begin(mh_tracker *tracker, const mh_offset *measured)
{
    double limit_ppb = MH_DRIFT_LIMIT * 1e9;
    tracker->origin_ns = measured->offset_ns;
    for (int i = 0; i < MH_TRACKER_FILTERS; i++)
        tracker->filters[i] = (mh_filter){.p00 = measurement_variance(tracker, measured),
                                          .p11 = limit_ppb * limit_ppb / 4,
                                          .weight = 1.0 / MH_TRACKER_FILTERS};
}

static void predict(mh_filter *filter, double walk, double seconds)
{
    double t = seconds;
    filter->offset += filter->drift * t;
    filter->p00 += 2 * t * filter->p01 + t * t * filter->p11 + walk * t * t * t / 3;
    filter->p01 += t * filter->p11 + walk * t * t / 2;
    filter->p11 += walk * t;
}

/* Returns the squared innovation in units of its variance. */
static double correct(mh_filter *filter, double offset, double variance)
{
    double total = filter->p00 + variance, innovation = offset - filter->offset;
    double gain0 = filter->p00 / total, gain1 = filter->p01 / total;
    double surprise = innovation * innovation / total;
    filter->cost += log(total) + fmin(surprise, MOST_SURPRISE) - filter->cost / MEMORY;
    filter->offset += gain0 * innovation;
    filter->drift += gain1 * innovation;
    filter->p11 -= gain1 * filter->p01;
    filter->p00 *= 1 - gain0;
    filter->p01 *= 1 - gain0;
    return surprise;
}

static void weigh(mh_tracker *tracker)
{
    double least = INFINITY, sum = 0;
    for (int i = 0; i < MH_TRACKER_FILTERS; i++)
        least = fmin(least, tracker->filters[i].cost);
    for (int i = 0; i < MH_TRACKER_FILTERS; i++)
        sum += tracker->filters[i].weight = exp((least - tracker->filters[i].cost) / 2);
    for (int i = 0; i < MH_TRACKER_FILTERS; i++)
        tracker->filters[i].weight /= sum;
}

static void update(mh_tracker *tracker, const mh_offset *measured)
{
    double seconds = (double)(measured->at_ns - tracker->at_ns) / (double)MH_NS_PER_S;
    double offset = (double)(measured->offset_ns - tracker->origin_ns);
    double variance = measurement_variance(tracker, measured), surprise = 0;
    for (int i = 0; i < MH_TRACKER_FILTERS; i++) {
        mh_filter *filter = &tracker->filters[i];
        predict(filter, walk_variance(i), seconds);
        surprise += filter->weight * fmin(correct(filter, offset, variance), MOST_SURPRISE);
    }
    weigh(tracker);
    /* The first two measurements only make a line: they surprise nobody. */
    if (tracker->measurements > 2)
        tracker->noise *= exp(NOISE_GAIN * (surprise - 1));
    tracker->noise = fmin(fmax(tracker->noise, LEAST_NOISE), MOST_NOISE);
}

/* Whether the window of a measurement and what the estimate allows have nothing in common. */
static bool contradicts(const mh_tracker *tracker, const mh_offset *measured)
{
    mh_estimate before = mh_tracker_estimate(tracker, false);
    int64_t expected_ns = measured->at_ns - mh_model_apply(&before.model, measured->at_ns);
    int64_t apart_ns = measured->offset_ns - expected_ns;
    return (apart_ns < 0 ? -apart_ns : apart_ns) > measured->bound_ns + mh_estimate_bound(&before, measured->at_ns);
}

bool mh_tracker_feed(mh_tracker *tracker, const mh_offset *measured)
{
    bool disrupted = tracker->measurements > 0 && contradicts(tracker, measured);
    if (disrupted)
        mh_tracker_reset(tracker);
    if (tracker->measurements == 0)
        begin(tracker, measured);
    else
        update(tracker, measured);
    tracker->measurements++;
    tracker->at_ns = measured->at_ns;
    tracker->least_ns = measured->offset_ns - measured->bound_ns;
    tracker->most_ns = measured->offset_ns + measured->bound_ns;
    return !disrupted;
}

/* The filters as one, weighed; its covariance includes how much they differ. */
static mh_filter combined(const mh_tracker *tracker, double *walk)
{
    mh_filter all = {0};
    *walk = 0;
    for (int i = 0; i < MH_TRACKER_FILTERS; i++) {
        const mh_filter *one = &tracker->filters[i];
        all.offset += one->weight * one->offset;
        all.drift += one->weight * one->drift;
        *walk += one->weight * walk_variance(i);
    }
    for (int i = 0; i < MH_TRACKER_FILTERS; i++) {
        const mh_filter *one = &tracker->filters[i];
        double offset = one->offset - all.offset, drift = one->drift - all.drift;
        all.p00 += one->weight * (one->p00 + offset * offset);
        all.p01 += one->weight * (one->p01 + offset * drift);
        all.p11 += one->weight * (one->p11 + drift * drift);
    }
    return all;
}

mh_estimate mh_tracker_estimate(const mh_tracker *tracker, bool is_raw)
{
    double walk, limit = MH_DRIFT_LIMIT;
    mh_filter all = combined(tracker, &walk);
    double drift = fmin(fmax(all.drift * 1e-9, -limit), limit);
    int64_t offset_ns = tracker->origin_ns + llround(all.offset);
    /* The window is certain, the filter only likely. */
    if (offset_ns < tracker->least_ns)
        offset_ns = tracker->least_ns;
    if (offset_ns > tracker->most_ns)
        offset_ns = tracker->most_ns;
    int64_t below_ns = offset_ns - tracker->least_ns, above_ns = tracker->most_ns - offset_ns;
    mh_estimate estimate = {.model = {tracker->at_ns, offset_ns, drift}};
    estimate.bound_ns = below_ns > above_ns ? below_ns : above_ns;
    estimate.drift_bound = limit + fabs(drift);
    if (is_raw) {
        estimate.drift_bound = fmin(fmax(BOUND_SIGMAS * sqrt(all.p11) * 1e-9, LEAST_DRIFT_BOUND), estimate.drift_bound);
        estimate.wander_bound = BOUND_SIGMAS * sqrt(walk / 3);
    }
    return estimate;
}

double mh_tracker_error_ns(const mh_tracker *tracker, int64_t ahead_ns)
{
    double walk;
    mh_filter all = combined(tracker, &walk);
    predict(&all, walk, (double)ahead_ns / (double)MH_NS_PER_S);
    return sqrt(all.p00);
}

int64_t mh_tracker_interval_ns(const mh_tracker *tracker, double target_ns, int64_t most_ns)
{
    double now_ns = mh_tracker_error_ns(tracker, 0);
    int64_t low_ns = 0, high_ns = most_ns;
    while (high_ns - low_ns > MH_NS_PER_MS) {
        int64_t middle_ns = low_ns + (high_ns - low_ns) / 2;
        double later_ns = mh_tracker_error_ns(tracker, middle_ns);
        if (later_ns * later_ns - now_ns * now_ns > target_ns * target_ns)
            high_ns = middle_ns;
        else
            low_ns = middle_ns;
    }
    return high_ns;
}
