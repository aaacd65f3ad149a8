/* SPDX-License-Identifier: BSD-3-Clause */
/* tracker.c - the bank of Kalman filters, their weights, and the windows of the past that bound the drift. */
#include "clock/tracker.h"

#include "base/units.h"

#include <math.h>
#include <string.h>

/* Random walk of the drift, ppb per square root of a second: from 0.3 to 1,000, in steps of the square root of ten. */
#define MIN_WALK_PPB 0.32
#define WALK_STEP 3.1623

/* The initial standard error of a burst, as a part of the minimum bound: measured over shared memory and TCP. */
#define FIRST_NOISE 0.05
#define MIN_NOISE 0.005
#define MAX_NOISE 1.0
#define NOISE_GAIN 0.025 /* it adapts over some forty measurements */

/*
 * Standard error for each nanosecond of bound above the minimum. Both were measured over TCP: one direction is busy, or
 * the processors have become slower to reach each other, which delays both directions equally.
 */
#define ONE_WAY_EXCESS_NOISE 1.5
#define EVEN_EXCESS_NOISE 0.06

/*
 * If the minimum bound falls by more than this part, all earlier measurements were delayed in one direction or both.
 */
#define GREAT_FALL 0.25

/* How fast the minimum bound rises while all bounds are larger: by this part with each measurement, and per second. */
#define BOUND_RISE 0.05
#define BOUND_RISE_PER_S 0.4

/* The weights of the filters follow from this many recent measurements. */
#define MEMORY 30.0

/* The maximum weight of a single surprise, in squared standard errors. */
#define MAX_SURPRISE 16.0

/* How many standard deviations of the drift's wander a bound allows for. */
#define BOUND_SIGMAS 6.0

/* The spans over which windows of the past are kept: the shortest, and each to the next longer one. */
#define SHORTEST_SPAN_NS (30 * MH_NS_PER_MS)
#define SPAN_STEP 8

/* No crystal is known to be steadier than this over some seconds. */
#define MIN_DRIFT_BOUND (0.02 * MH_PPM)

static double walk_variance(int filter)
{
    double walk = MIN_WALK_PPB * pow(WALK_STEP, filter % MH_TRACKER_WALKS);
    return walk * walk;
}

static double excess_noise(int filter)
{
    return filter < MH_TRACKER_WALKS ? ONE_WAY_EXCESS_NOISE : EVEN_EXCESS_NOISE;
}

void mh_tracker_reset(mh_tracker *tracker, mh_rates rates)
{
    memset(tracker, 0, sizeof *tracker);
    tracker->rates = rates;
    tracker->drift_limit = MH_RAW_RATE_LIMIT;
    tracker->noise = FIRST_NOISE;
}

/*
 * Bursts with the shortest round trips have similar errors. The time that a round trip takes beyond the minimum may
 * have been spent in one direction only.
 */
static double measurement_variance(const mh_tracker *tracker, const mh_offset *measured, int filter)
{
    double usual_ns = tracker->noise * (double)tracker->min_bound_ns + 1; /* clocks count whole nanoseconds */
    double excess_ns = excess_noise(filter) * (double)(measured->bound_ns - tracker->min_bound_ns);
    return usual_ns * usual_ns + excess_ns * excess_ns;
}

/* All measurements so far may have the same error. The drift that they showed remains valid. */
static void doubt_offsets(mh_tracker *tracker, int64_t fall_ns)
{
    for (int i = 0; i < MH_TRACKER_FILTERS; i++) {
        double bias_ns = excess_noise(i) * (double)fall_ns;
        tracker->filters[i].p00 += bias_ns * bias_ns;
    }
}

/* The minimum rises with time and with the number of measurements, so a short slow phase does not raise it much. */
static void note_bound(mh_tracker *tracker, const mh_offset *measured)
{
    double seconds = (double)(measured->at_ns - tracker->last.at_ns) * MH_S_PER_NS;
    double rise = fmin(BOUND_RISE, BOUND_RISE_PER_S * seconds);
    int64_t risen_ns = (int64_t)((double)tracker->min_bound_ns * (1 + rise));
    bool is_min = tracker->measurements == 0 || measured->bound_ns < risen_ns;
    int64_t fall_ns = tracker->min_bound_ns - measured->bound_ns;
    if ((double)fall_ns > GREAT_FALL * (double)tracker->min_bound_ns)
        doubt_offsets(tracker, fall_ns);
    tracker->min_bound_ns = is_min ? measured->bound_ns : risen_ns;
}

static void begin(mh_tracker *tracker, const mh_offset *measured)
{
    double limit_ppb = tracker->drift_limit * 1e9;
    tracker->origin_ns = measured->offset_ns;
    for (int i = 0; i < MH_TRACKER_FILTERS; i++)
        tracker->filters[i] = (mh_filter){.p00 = measurement_variance(tracker, measured, i),
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
    filter->cost += log(total) + fmin(surprise, MAX_SURPRISE) - filter->cost / MEMORY;
    filter->offset += gain0 * innovation;
    filter->drift += gain1 * innovation;
    filter->p11 -= gain1 * filter->p01;
    filter->p00 *= 1 - gain0;
    filter->p01 *= 1 - gain0;
    return surprise;
}

static void weigh(mh_tracker *tracker)
{
    double min = INFINITY, sum = 0;
    for (int i = 0; i < MH_TRACKER_FILTERS; i++)
        min = fmin(min, tracker->filters[i].cost);
    for (int i = 0; i < MH_TRACKER_FILTERS; i++)
        sum += tracker->filters[i].weight = exp((min - tracker->filters[i].cost) / 2);
    for (int i = 0; i < MH_TRACKER_FILTERS; i++)
        tracker->filters[i].weight /= sum;
}

static void update(mh_tracker *tracker, const mh_offset *measured)
{
    double seconds = (double)(measured->at_ns - tracker->last.at_ns) / (double)MH_NS_PER_S;
    double offset = (double)(measured->offset_ns - tracker->origin_ns);
    double surprise = 0;
    for (int i = 0; i < MH_TRACKER_FILTERS; i++) {
        mh_filter *filter = &tracker->filters[i];
        predict(filter, walk_variance(i), seconds);
        surprise +=
            filter->weight * fmin(correct(filter, offset, measurement_variance(tracker, measured, i)), MAX_SURPRISE);
    }
    weigh(tracker);
    /* Any two measurements lie on a line, so the first two say nothing about noise. */
    if (tracker->measurements > 2)
        tracker->noise *= exp(NOISE_GAIN * (surprise - 1));
    tracker->noise = fmin(fmax(tracker->noise, MIN_NOISE), MAX_NOISE);
}

/* The weighted mean of the filters. Its covariance includes their differences. */
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

/*
 * The maximum error of a drift, by the last window and one of the past: they allow an interval of mean drifts, and the
 * drift may have wandered since.
 */
static double bound_drift_by(const mh_tracker *tracker, const mh_tracker_window *past, double drift, double walk)
{
    double span_ns = (double)(tracker->last.at_ns - past->at_ns);
    if (span_ns <= 0)
        return INFINITY;
    double min = (double)(tracker->last.min_ns - past->max_ns) / span_ns;
    double max = (double)(tracker->last.max_ns - past->min_ns) / span_ns;
    double wandered_ppb = BOUND_SIGMAS * sqrt(walk * span_ns * MH_S_PER_NS);
    return fmax(max - drift, drift - min) + wandered_ppb * 1e-9;
}

static double bound_drift(const mh_tracker *tracker, double drift, double walk)
{
    double bound = tracker->rates.limit + fabs(drift);
    for (int i = 0; i < MH_TRACKER_SPANS; i++) {
        const mh_tracker_span *span = &tracker->spans[i];
        if (span->has_newer)
            bound = fmin(bound, bound_drift_by(tracker, &span->newer, drift, walk));
        if (span->has_older)
            bound = fmin(bound, bound_drift_by(tracker, &span->older, drift, walk));
    }
    return bound;
}

/*
 * The estimate at the last measurement, for clocks whose rates the kernel may change by rate_limit; 0: they are raw.
 */
static mh_estimate estimate(const mh_tracker *tracker, double rate_limit)
{
    double walk, limit = tracker->drift_limit;
    const mh_filter all = combined(tracker, &walk);
    double drift = fmin(fmax(all.drift * 1e-9, -limit), limit);
    int64_t offset_ns = tracker->origin_ns + llround(all.offset);
    /* The window is certain; the result of the filters is only likely. */
    if (offset_ns < tracker->last.min_ns)
        offset_ns = tracker->last.min_ns;
    if (offset_ns > tracker->last.max_ns)
        offset_ns = tracker->last.max_ns;
    int64_t below_ns = offset_ns - tracker->last.min_ns, above_ns = tracker->last.max_ns - offset_ns;
    mh_estimate estimate = {.model = {tracker->last.at_ns, offset_ns, drift}};
    estimate.bound_ns = below_ns > above_ns ? below_ns : above_ns;
    estimate.drift_bound = rate_limit + fabs(drift);
    if (rate_limit == 0) {
        estimate.drift_bound = fmax(bound_drift(tracker, drift, walk), MIN_DRIFT_BOUND);
        estimate.wander_bound = BOUND_SIGMAS * sqrt(walk / 3);
    }
    return estimate;
}

/* Whether the window of a measurement and the bounds of an estimate do not overlap. */
static bool is_outside(const mh_offset *measured, const mh_estimate *before)
{
    int64_t expected_ns = measured->at_ns - mh_model_apply(&before->model, measured->at_ns);
    int64_t apart_ns = measured->offset_ns - expected_ns;
    return (apart_ns < 0 ? -apart_ns : apart_ns) > measured->bound_ns + mh_estimate_bound(before, measured->at_ns);
}

/* Whether a clock was set: back, or by more than the rates of the clocks explain. */
static bool is_step(const mh_tracker *tracker, const mh_offset *measured)
{
    mh_estimate before = estimate(tracker, tracker->rates.limit);
    return measured->at_ns < tracker->last.at_ns || is_outside(measured, &before);
}

/*
 * Whether the kernel has begun or ended to slew a clock: the windows of the past exclude the drift, and no crystal
 * changes so much.
 */
static bool is_slew(const mh_tracker *tracker, const mh_offset *measured)
{
    mh_estimate before = estimate(tracker, 0);
    before.drift_bound = fmax(before.drift_bound, MH_RAW_RATE_LIMIT);
    return !tracker->rates.are_raw && is_outside(measured, &before);
}

/* When a span's newer window is as old as the span, it becomes the older one. */
static void keep_windows(mh_tracker *tracker)
{
    int64_t span_ns = SHORTEST_SPAN_NS;
    for (int i = 0; i < MH_TRACKER_SPANS; i++, span_ns *= SPAN_STEP) {
        mh_tracker_span *span = &tracker->spans[i];
        if (span->has_newer && tracker->last.at_ns - span->newer.at_ns < span_ns)
            continue;
        span->older = span->newer;
        span->has_older = span->has_newer;
        span->newer = tracker->last;
        span->has_newer = true;
    }
}

bool mh_tracker_feed(mh_tracker *tracker, const mh_offset *measured)
{
    bool has_past = tracker->measurements > 0, disrupted = has_past && is_step(tracker, measured);
    bool slewed = has_past && !disrupted && is_slew(tracker, measured);
    if (disrupted || slewed)
        mh_tracker_reset(tracker, tracker->rates);
    if (slewed)
        tracker->drift_limit = tracker->rates.limit;
    note_bound(tracker, measured);
    if (tracker->measurements == 0)
        begin(tracker, measured);
    else
        update(tracker, measured);
    tracker->measurements++;
    tracker->last = (mh_tracker_window){measured->at_ns, measured->offset_ns - measured->bound_ns,
                                        measured->offset_ns + measured->bound_ns};
    keep_windows(tracker);
    return !disrupted;
}

mh_estimate mh_tracker_estimate(const mh_tracker *tracker)
{
    if (tracker->measurements == 0)
        return (mh_estimate){{0, 0, 0}, MH_TIME_UNKNOWN_NS, 0, 0};
    return estimate(tracker, tracker->rates.are_raw ? 0 : tracker->rates.limit);
}

double mh_tracker_error_ns(const mh_tracker *tracker, int64_t ahead_ns)
{
    double walk;
    mh_filter all = combined(tracker, &walk);
    predict(&all, walk, (double)ahead_ns / (double)MH_NS_PER_S);
    return sqrt(all.p00);
}

int64_t mh_tracker_interval_ns(const mh_tracker *tracker, double target_ns, int64_t max_ns)
{
    double now_ns = mh_tracker_error_ns(tracker, 0);
    int64_t low_ns = 0, high_ns = max_ns;
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
