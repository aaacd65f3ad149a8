/* SPDX-License-Identifier: BSD-3-Clause */
/* tracker.c - the bank of Kalman filters, their weights, and the estimate from both them and the windows. */
#include "clock/tracker.h"

#include "pure/units.h"

#include <math.h>
#include <string.h>

/*
 * Random walk of the drift, as a variance: ppb squared after one second. The standard deviations are 0.3 to 1,000 ppb.
 */
#define MIN_WALK 0.1024
#define WALK_STEP 10

/* The next measurement of a clock is due as if it walked so much if the kernel may begin to slew it at any time. */
#define CORRECTED_WALK 1e6

/*
 * Three hypotheses of noise. Two say that bursts near the minimum bound have similar errors, whose standard error is a
 * part of this bound, as measured over shared memory and TCP. They differ in what else a larger bound says.
 *
 * One way: for a spell, messages of one direction are delayed more than those of the other. All offsets that are
 * measured in the spell have the same bias, as a part of the excess of their bounds. So they say little about the
 * offset, but more about the drift. Spells of a tenth of a second and more are common over TCP.
 *
 * Even: the processors have become slower to reach each other, which delays both directions equally.
 *
 * Jitter: messages of either direction were delayed, so a burst that reached the minimum hardly errs. If the delays of
 * both directions are exponential, the error is uniform within the excess of the bound, and the standard error 0.58 of
 * it.
 */
enum { ONE_WAY, EVEN, JITTER };
static const struct {
    double first, min, max; /* the standard error, as a part of what the hypothesis says */
    double excess;          /* more standard error, for each nanosecond of bound above the recent minimum */
    double bias;            /* the standard error of the bias of a spell, for each such nanosecond */
} noises[MH_TRACKER_NOISES] = {
    [ONE_WAY] = {0.05, 0.005, 1, 0.06, 1.5}, [EVEN] = {0.05, 0.005, 1, 0.06, 0}, [JITTER] = {0.58, 0.05, 3, 0, 0}};

/*
 * A burst whose bound is above the minimum by more than this part is of a spell. The excess counts from there, so the
 * bias may be more than all of it.
 */
#define SPELL_EXCESS 0.05

/* If the excess changes by more than this part, another spell has begun. */
#define SPELL_CHANGE 0.5

/* The time constant with which the bias changes in a spell. */
#define SPELL_S 1.0

#define NOISE_GAIN 0.05 /* they adapt over some twenty measurements */

/* How uncertain the minimum is, as a part of the mean excess: less with more measurements, but not less than this. */
#define MIN_DOUBT 0.1

/* The mean excess is of so many measurements. */
#define EXCESS_MEMORY 16

/* How fast the minimum bound rises while all bounds are larger: by this part with each measurement, and per second. */
#define BOUND_RISE 0.05
#define BOUND_RISE_PER_S 0.02
#define LOW_BOUND_RISE_PER_S 1e-4

/* The weights of the filters follow from this many recent measurements. */
#define MEMORY 20.0

/* The noise of a hypothesis with less weight is not adapted. */
#define MIN_WEIGHT 1e-6

/* The maximum weight of a single surprise, in squared standard errors. */
#define MAX_SURPRISE 16.0

void mh_tracker_reset(mh_tracker *tracker, mh_rates rates)
{
    memset(tracker, 0, sizeof *tracker);
    tracker->rates = rates;
    tracker->drift_limit = MH_RAW_RATE_LIMIT;
    for (int i = 0; i < MH_TRACKER_NOISES; i++)
        tracker->noise[i] = noises[i].first;
}

static int noise_of(int filter)
{
    return filter / MH_TRACKER_WALKS;
}

static double measurement_variance(const mh_tracker *tracker, const mh_offset *measured, int noise)
{
    double bound_ns = (double)measured->bound_ns, min_ns = tracker->min_bound_ns;
    double excess_ns = noises[noise].excess * (bound_ns - min_ns);
    double doubt = fmax(MIN_DOUBT, 1 / sqrt((double)tracker->measurements + 1));
    double part_ns = noise == JITTER ? bound_ns - tracker->low_bound_ns + doubt * tracker->excess_ns : min_ns;
    double error_ns = tracker->noise[noise] * part_ns + 1; /* clocks count whole nanoseconds */
    return error_ns * error_ns + excess_ns * excess_ns;
}

static double spell_excess_ns(double bound_ns, double min_ns)
{
    return fmax(bound_ns - (1 + SPELL_EXCESS) * min_ns, 0);
}

/* All measurements so far were of one spell, and may have the same error. The drift that they showed remains valid. */
static void doubt_offsets(mh_tracker *tracker, double excess_ns)
{
    for (int i = 0; i < MH_TRACKER_FILTERS; i++) {
        int noise = noise_of(i);
        double part = noise == JITTER ? tracker->noise[JITTER] : fmax(noises[noise].excess, noises[noise].bias);
        tracker->filters[i].errors.p00 += part * excess_ns * part * excess_ns;
    }
}

/* 0 for the first measurement. */
static double seconds_since_last(const mh_tracker *tracker, const mh_offset *measured)
{
    const mh_past *past = &tracker->past;
    return past->has_last ? (double)(measured->at_ns - past->last.at_ns) * MH_S_PER_NS : 0;
}

/* The minimum rises with time and with the number of measurements, so a short slow phase does not raise it much. */
static void note_bound(mh_tracker *tracker, const mh_offset *measured)
{
    double bound_ns = (double)measured->bound_ns, before_ns = tracker->min_bound_ns;
    double rise = fmin(BOUND_RISE, BOUND_RISE_PER_S * seconds_since_last(tracker, measured));
    doubt_offsets(tracker, spell_excess_ns(before_ns, bound_ns));
    tracker->min_bound_ns = before_ns == 0 ? bound_ns : fmin(before_ns * (1 + rise), bound_ns);
}

static void note_excess(mh_tracker *tracker, const mh_offset *measured)
{
    double bound_ns = (double)measured->bound_ns;
    if (tracker->low_bound_ns == 0) {
        tracker->low_bound_ns = bound_ns;
        tracker->excess_ns = noises[ONE_WAY].first * bound_ns;
    }
    double rise = fmin(BOUND_RISE, LOW_BOUND_RISE_PER_S * seconds_since_last(tracker, measured));
    tracker->low_bound_ns = fmin(tracker->low_bound_ns * (1 + rise), bound_ns);
    tracker->excess_ns += (bound_ns - tracker->low_bound_ns - tracker->excess_ns) / EXCESS_MEMORY;
}

/* Keep this part of what is known of the bias. */
static void forget_bias(mh_filter *filter, double error, double kept)
{
    filter->bias *= kept;
    filter->bias_offset *= kept;
    filter->bias_drift *= kept;
    filter->bias_variance = kept * kept * filter->bias_variance + (1 - kept * kept) * error * error;
}

/* All filters, alike but for the walk and the bias that they expect. */
static void set_filters(mh_tracker *tracker, mh_filter common)
{
    double walk = MIN_WALK;
    for (int i = 0; i < MH_TRACKER_FILTERS; i++) {
        walk = i % MH_TRACKER_WALKS == 0 ? MIN_WALK : WALK_STEP * walk;
        tracker->filters[i] = common;
        tracker->filters[i].errors.walk = walk;
        forget_bias(&tracker->filters[i], noises[noise_of(i)].bias, 0);
    }
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

static void begin(mh_tracker *tracker, const mh_offset *measured)
{
    double limit_ppb = tracker->drift_limit * 1e9, variance = measurement_variance(tracker, measured, ONE_WAY);
    tracker->origin_ns = measured->offset_ns;
    tracker->first_ns = measured->at_ns;
    set_filters(tracker, (mh_filter){.errors = {.p00 = variance, .p11 = limit_ppb * limit_ppb / 4}});
    weigh(tracker);
}

static void predict(mh_filter *filter, int64_t ahead_ns)
{
    double ahead_s = (double)ahead_ns * MH_S_PER_NS;
    filter->offset += filter->drift * ahead_s;
    filter->bias_offset += filter->bias_drift * ahead_s;
    filter->errors = mh_covariance_ahead(filter->errors, ahead_ns);
}

/*
 * The measured offset is that of the filter, its bias for each nanosecond of excess, and an error of this variance.
 * Returns the squared innovation in units of its variance.
 */
static double correct(mh_filter *filter, double offset, double excess, double variance)
{
    mh_covariance *errors = &filter->errors;
    /* Of the measurement with offset, drift and bias. */
    double with_offset = errors->p00 + excess * filter->bias_offset;
    double with_drift = errors->p01 + excess * filter->bias_drift;
    double with_bias = filter->bias_offset + excess * filter->bias_variance;
    double total = with_offset + excess * with_bias + variance;
    double gain0 = with_offset / total, gain1 = with_drift / total, gain_bias = with_bias / total;
    double innovation = offset - filter->offset - excess * filter->bias;
    double surprise = innovation * innovation / total;
    filter->cost += log(total) + fmin(surprise, MAX_SURPRISE) - filter->cost / MEMORY;
    filter->offset += gain0 * innovation;
    filter->drift += gain1 * innovation;
    filter->bias += gain_bias * innovation;
    errors->p11 -= gain1 * with_drift;
    errors->p00 = (1 - gain0) * errors->p00 - gain0 * excess * filter->bias_offset;
    errors->p01 = (1 - gain0) * errors->p01 - gain0 * excess * filter->bias_drift;
    filter->bias_offset -= gain_bias * with_offset;
    filter->bias_drift -= gain_bias * with_drift;
    filter->bias_variance -= gain_bias * with_bias;
    return surprise;
}

/* The filters of a hypothesis are surprised by 1 on average if its noise is right. */
static void adapt_noise(mh_tracker *tracker, int i, double surprise)
{
    double noise = tracker->noise[i] * exp(NOISE_GAIN * (surprise - 1));
    tracker->noise[i] = fmin(fmax(noise, noises[i].min), noises[i].max);
}

static void update(mh_tracker *tracker, const mh_offset *measured)
{
    double offset = (double)(measured->offset_ns - tracker->origin_ns);
    double excess = spell_excess_ns((double)measured->bound_ns, tracker->min_bound_ns);
    double before = tracker->spell_excess_ns;
    bool lasts = fabs(excess - before) <= SPELL_CHANGE * fmax(excess, before); /* the spell */
    double kept = lasts ? exp(-seconds_since_last(tracker, measured) / SPELL_S) : 0;
    double surprises[MH_TRACKER_NOISES] = {0}, weights[MH_TRACKER_NOISES] = {0}, variances[MH_TRACKER_NOISES];
    for (int i = 0; i < MH_TRACKER_NOISES; i++)
        variances[i] = measurement_variance(tracker, measured, i);
    for (int i = 0; i < MH_TRACKER_FILTERS; i++) {
        mh_filter *filter = &tracker->filters[i];
        int noise = noise_of(i);
        predict(filter, measured->at_ns - tracker->past.last.at_ns);
        forget_bias(filter, noises[noise].bias, kept);
        double surprise = correct(filter, offset, excess, variances[noise]);
        surprises[noise] += filter->weight * fmin(surprise, MAX_SURPRISE);
        weights[noise] += filter->weight;
    }
    tracker->spell_excess_ns = excess;
    weigh(tracker);
    /* Any two measurements lie on a line, so the first two say nothing about noise. */
    for (int i = 0; i < MH_TRACKER_NOISES && tracker->measurements > 2; i++)
        if (weights[i] > MIN_WEIGHT)
            adapt_noise(tracker, i, surprises[i] / weights[i]);
}

/* The weighted mean of the filters. Its covariance includes their differences. */
static mh_filter combined(const mh_tracker *tracker)
{
    mh_filter all = {0};
    for (int i = 0; i < MH_TRACKER_FILTERS; i++) {
        const mh_filter *one = &tracker->filters[i];
        all.offset += one->weight * one->offset;
        all.drift += one->weight * one->drift;
    }
    for (int i = 0; i < MH_TRACKER_FILTERS; i++) {
        const mh_filter *one = &tracker->filters[i];
        double offset = one->offset - all.offset, drift = one->drift - all.drift;
        all.errors.p00 += one->weight * (one->errors.p00 + offset * offset);
        all.errors.p01 += one->weight * (one->errors.p01 + offset * drift);
        all.errors.p11 += one->weight * (one->errors.p11 + drift * drift);
        all.errors.walk += one->weight * one->errors.walk;
    }
    return all;
}

/* Oscillators of most machines are right within so many parts in 10^9, as a standard deviation. */
#define USUAL_DRIFT_PPB 40e3

/* The prior probability of an oscillator that is not: one in ten. Its drift may be any that raw clocks have. */
#define UNUSUAL 0.1

static double square(double number)
{
    return number * number;
}

/* The density of a normal distribution around 0, but for a factor that all have in common. */
static double density(double value, double variance)
{
    return exp(-value * value / (2 * variance)) / sqrt(variance);
}

/*
 * The drift that is likely where the filters, to which any drift of a raw clock is equally likely, find one with an
 * error of this variance. A few disturbed bursts show any drift, and do not outweigh what is known of oscillators.
 */
static double usual_drift(double drift_ppb, double variance)
{
    const double widest = square(MH_RAW_RATE_LIMIT * 1e9 / 2), usual = square(USUAL_DRIFT_PPB);
    if (variance >= widest)
        return 0;
    /* What the measurements alone say. */
    double measured_variance = 1 / (1 / variance - 1 / widest), measured = drift_ppb * measured_variance / variance;
    double is_usual = (1 - UNUSUAL) * density(measured, usual + measured_variance);
    double is_unusual = UNUSUAL * density(measured, widest + measured_variance);
    double part = is_usual + is_unusual > 0 ? is_usual / (is_usual + is_unusual) : 0;
    return part * measured * usual / (usual + measured_variance) + (1 - part) * drift_ppb;
}

/*
 * What disturbances show as a drift: delays of one direction that grow, over all of the time so far, by as much as
 * bounds are above the lowest.
 */
static double disturbed_drift_ppb(const mh_tracker *tracker)
{
    const int64_t span_ns = tracker->past.last.at_ns - tracker->first_ns;
    return span_ns <= 0 ? 0 : 1e9 * tracker->excess_ns / (double)span_ns;
}

/*
 * What is likely at the last measurement: what the filters say, but for the drift that is usual. What this changes may
 * be wrong, and counts as an error.
 */
static mh_filter likely(const mh_tracker *tracker)
{
    mh_filter all = combined(tracker);
    mh_covariance *errors = &all.errors;
    if (!tracker->rates.are_raw || tracker->knows_drift || errors->p11 <= 0)
        return all;
    double drift = usual_drift(all.drift, errors->p11 + square(disturbed_drift_ppb(tracker))) - all.drift;
    double offset = errors->p01 / errors->p11 * drift;
    all.drift += drift;
    all.offset += offset;
    errors->p00 += offset * offset;
    errors->p01 += offset * drift;
    errors->p11 += drift * drift;
    return all;
}

static mh_model likely_model(const mh_tracker *tracker)
{
    const mh_filter all = likely(tracker);
    double limit = tracker->drift_limit;
    return (mh_model){tracker->past.last.at_ns, tracker->origin_ns + llround(all.offset),
                      fmin(fmax(all.drift * MH_PPB, -limit), limit)};
}

/* The estimate of clocks that only wander. */
static mh_estimate raw_estimate(const mh_tracker *tracker)
{
    return mh_past_estimate(&tracker->past, tracker->rates, likely_model(tracker));
}

/* The estimate of clocks whose rates the kernel may change at any time: only the last window is certain. */
static mh_estimate corrected_estimate(const mh_tracker *tracker)
{
    mh_past last;
    mh_past_begin(&last, &tracker->past.last, NULL);
    return mh_past_estimate(&last, (mh_rates){tracker->rates.limit, false, 0}, likely_model(tracker));
}

/* Whether the window of a measurement and the bounds of an estimate do not overlap. */
static bool is_outside(const mh_offset *measured, const mh_estimate *before)
{
    int64_t expected_ns = measured->at_ns - mh_model_apply(&before->model, measured->at_ns);
    int64_t apart_ns = measured->offset_ns - expected_ns;
    return (apart_ns < 0 ? -apart_ns : apart_ns) - measured->bound_ns > mh_estimate_bound(before, measured->at_ns);
}

/* Whether a clock was set: back, or by more than the rates of the clocks explain. */
static bool is_step(const mh_tracker *tracker, const mh_offset *measured)
{
    mh_estimate before = corrected_estimate(tracker);
    return measured->at_ns < tracker->past.last.at_ns || is_outside(measured, &before);
}

/*
 * Whether the kernel has begun or ended to slew a clock: the windows of the past exclude the drift, and no crystal
 * changes so much.
 */
static bool is_slew(const mh_tracker *tracker, const mh_offset *measured)
{
    mh_estimate before = raw_estimate(tracker);
    before.drift_bound = fmax(before.drift_bound, MH_RAW_RATE_LIMIT);
    return !tracker->rates.are_raw && is_outside(measured, &before);
}

/* Clocks wander as they did before: for each step between their walks, a filter is less likely by the factor of e. */
static void expect_walk(mh_tracker *tracker, double walk)
{
    for (int i = 0; i < MH_TRACKER_FILTERS && walk > 0; i++) {
        double steps = log(tracker->filters[i].errors.walk / walk) / log(WALK_STEP);
        tracker->filters[i].cost = 2 * steps * steps;
    }
    weigh(tracker);
}

void mh_tracker_start_from(mh_tracker *tracker, const mh_estimate *prior)
{
    const mh_model *model = &prior->model;
    mh_tracker_reset(tracker, tracker->rates);
    if (prior->bound_ns > MH_PAST_USELESS_NS)
        return;
    if (fabs(model->drift) > tracker->drift_limit)
        tracker->drift_limit = tracker->rates.limit;
    tracker->origin_ns = model->offset_ns;
    tracker->knows_drift = true;
    set_filters(tracker, (mh_filter){.drift = model->drift * 1e9, .errors = prior->errors});
    expect_walk(tracker, prior->errors.walk);
    tracker->measurements = 1;
    const mh_past_window window = {model->at_ns, model->offset_ns - prior->bound_ns,
                                   model->offset_ns + prior->bound_ns};
    const mh_past_drift drift = {true, model->at_ns, model->drift - prior->drift_bound,
                                 model->drift + prior->drift_bound};
    mh_past_begin(&tracker->past, &window, &drift);
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
    note_excess(tracker, measured);
    const mh_past_window window = {measured->at_ns, measured->offset_ns - measured->bound_ns,
                                   measured->offset_ns + measured->bound_ns};
    if (tracker->measurements == 0)
        begin(tracker, measured);
    else
        update(tracker, measured);
    tracker->wandered = !mh_past_add(&tracker->past, &window, tracker->rates) && tracker->rates.are_raw;
    tracker->measurements++;
    return !disrupted;
}

mh_estimate mh_tracker_estimate(const mh_tracker *tracker)
{
    if (tracker->measurements == 0)
        return (mh_estimate){.bound_ns = MH_TIME_UNKNOWN_NS};
    mh_estimate estimate = tracker->rates.are_raw ? raw_estimate(tracker) : corrected_estimate(tracker);
    estimate.errors = mh_tracker_covariance(tracker);
    return estimate;
}

mh_covariance mh_tracker_covariance(const mh_tracker *tracker)
{
    return likely(tracker).errors;
}

double mh_tracker_error_ns(const mh_tracker *tracker, int64_t ahead_ns)
{
    return sqrt(mh_covariance_ahead(mh_tracker_covariance(tracker), ahead_ns).p00);
}

int64_t mh_tracker_interval_ns(const mh_tracker *tracker, double target_ns, int64_t max_ns)
{
    mh_covariance now = mh_tracker_covariance(tracker);
    if (!tracker->rates.are_raw)
        now.walk = fmax(now.walk, CORRECTED_WALK);
    int64_t low_ns = 0, high_ns = max_ns;
    while (high_ns - low_ns > MH_NS_PER_MS) {
        int64_t middle_ns = low_ns + (high_ns - low_ns) / 2;
        if (mh_covariance_ahead(now, middle_ns).p00 - now.p00 > target_ns * target_ns)
            high_ns = middle_ns;
        else
            low_ns = middle_ns;
    }
    return high_ns;
}
