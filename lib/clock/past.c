/* SPDX-License-Identifier: BSD-3-Clause */
/* past.c - which windows are kept, and the interval of offsets and drifts that pairs of them allow. */
#include "clock/past.h"

#include "pure/units.h"

#include <math.h>
#include <string.h>

/* The stretches of time: the shortest, and each to the next longer one; the longest is two minutes. */
#define SHORTEST_SPAN_NS (30 * MH_NS_PER_MS)
#define SPAN_STEP 8

/* A window takes the place of an earlier one, which is a longer lever, if it is narrower by this factor. */
#define NARROWER 0.9

/* Clocks count whole nanoseconds. */
#define RESOLUTION_NS INT64_C(1)

enum { MAX_WINDOWS = 2 * MH_PAST_SPANS + 1 };

static double width_ns(const mh_past_window *window)
{
    return (double)(window->max_ns - window->min_ns);
}

static void keep(mh_past_span *span, int64_t span_ns, const mh_past_window *window)
{
    if (span->has_newer && window->at_ns - span->began_ns < span_ns) {
        if (width_ns(window) < NARROWER * width_ns(&span->newer))
            span->newer = *window;
        return;
    }
    span->older = span->newer;
    span->has_older = span->has_newer;
    span->newer = *window;
    span->has_newer = true;
    span->began_ns = window->at_ns;
}

static void keep_in_all(mh_past *past, const mh_past_window *window)
{
    int64_t span_ns = SHORTEST_SPAN_NS;
    for (int i = 0; i < MH_PAST_SPANS; i++, span_ns *= SPAN_STEP)
        keep(&past->spans[i], span_ns, window);
}

void mh_past_begin(mh_past *past, const mh_past_window *window, const mh_past_drift *prior)
{
    memset(past, 0, sizeof *past);
    past->has_last = true;
    past->last = *window;
    if (prior)
        past->prior = *prior;
    keep_in_all(past, window);
}

/* ---- What windows allow */

/* What is possible at the time of the last window. The drift wanders from there. */
typedef struct mh_possible {
    int64_t min_ns, max_ns;      /* offset */
    double min_drift, max_drift; /* a ratio */
} mh_possible;

typedef const mh_past_window *mh_windows[MAX_WINDOWS];

/* All windows; the last one is the first of the list. */
static int list(const mh_past *past, mh_windows all)
{
    int count = 0;
    all[count++] = &past->last;
    for (int i = 0; i < MH_PAST_SPANS; i++) {
        const mh_past_span *span = &past->spans[i];
        if (span->has_newer)
            all[count++] = &span->newer;
        if (span->has_older)
            all[count++] = &span->older;
    }
    return count;
}

static void narrow(mh_possible *allowed, double min_drift, double max_drift)
{
    allowed->min_drift = fmax(allowed->min_drift, min_drift);
    allowed->max_drift = fmin(allowed->max_drift, max_drift);
}

/* By a pair of windows. In the middle between them was the mean drift, as far as wandering is concerned. */
static void narrow_drift(mh_possible *allowed, const mh_past_window *older, const mh_past_window *newer, int64_t now_ns,
                         double wander)
{
    int64_t apart_ns = newer->at_ns - older->at_ns;
    if (apart_ns <= 0)
        return;
    int64_t middle_ns = newer->at_ns - apart_ns / 2;
    double per_ns = 1 / (double)apart_ns, age_s = (double)(now_ns - middle_ns) * MH_S_PER_NS;
    double wandered = wander * (1 + age_s);
    narrow(allowed, (double)(newer->min_ns - older->max_ns - 2 * RESOLUTION_NS) * per_ns - wandered,
           (double)(newer->max_ns - older->min_ns + 2 * RESOLUTION_NS) * per_ns + wandered);
}

/* By a window and the drift since. */
static void narrow_offset(mh_possible *allowed, const mh_past_window *window, int64_t now_ns, double wander)
{
    double age_ns = (double)(now_ns - window->at_ns);
    double wandered_ns = wander * age_ns * (1 + age_ns * MH_S_PER_NS / 2) + (double)RESOLUTION_NS;
    double below_ns = wandered_ns - age_ns * allowed->min_drift, above_ns = wandered_ns + age_ns * allowed->max_drift;
    if (fmax(fabs(below_ns), fabs(above_ns)) > (double)MH_PAST_USELESS_NS)
        return;
    int64_t min_ns = window->min_ns - (int64_t)ceil(below_ns), max_ns = window->max_ns + (int64_t)ceil(above_ns);
    allowed->min_ns = min_ns > allowed->min_ns ? min_ns : allowed->min_ns;
    allowed->max_ns = max_ns < allowed->max_ns ? max_ns : allowed->max_ns;
}

/* What all windows together allow; there is at least one. */
static mh_possible allows(const mh_past *past, mh_rates rates)
{
    mh_windows all;
    int count = list(past, all);
    int64_t now_ns = past->last.at_ns;
    mh_possible allowed = {past->last.min_ns, past->last.max_ns, -rates.limit, rates.limit};
    if (past->prior.is_known) {
        double wandered = rates.wander * (double)(now_ns - past->prior.at_ns) * MH_S_PER_NS;
        narrow(&allowed, past->prior.min - wandered, past->prior.max + wandered);
    }
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            narrow_drift(&allowed, all[i], all[j], now_ns, rates.wander);
    for (int i = 1; i < count; i++)
        narrow_offset(&allowed, all[i], now_ns, rates.wander);
    return allowed;
}

bool mh_past_add(mh_past *past, const mh_past_window *window, mh_rates rates)
{
    past->last = *window;
    const mh_possible allowed = allows(past, rates);
    bool contradicts = allowed.min_drift > allowed.max_drift || allowed.min_ns > allowed.max_ns;
    if (contradicts || !past->has_last)
        mh_past_begin(past, window, NULL);
    else
        keep_in_all(past, window);
    return !contradicts;
}

static int64_t between(int64_t value, int64_t min, int64_t max)
{
    return value < min ? min : value > max ? max : value;
}

mh_estimate mh_past_estimate(const mh_past *past, mh_rates rates, mh_model likely)
{
    const mh_possible allowed = allows(past, rates);
    const int64_t offset_ns = between(likely.offset_ns, allowed.min_ns, allowed.max_ns);
    const double drift = fmin(fmax(likely.drift, allowed.min_drift), allowed.max_drift);
    const int64_t below_ns = offset_ns - allowed.min_ns, above_ns = allowed.max_ns - offset_ns;
    return (mh_estimate){.model = {past->last.at_ns, offset_ns, drift},
                         .bound_ns = below_ns > above_ns ? below_ns : above_ns,
                         .drift_bound = fmax(drift - allowed.min_drift, allowed.max_drift - drift),
                         .wander_bound = rates.wander};
}

bool mh_past_confine(mh_past *past, mh_rates rates, mh_estimate *estimate)
{
    if (estimate->bound_ns > MH_PAST_USELESS_NS)
        return true;
    const mh_model model = estimate->model;
    const mh_past_window window = {model.at_ns, model.offset_ns - estimate->bound_ns,
                                   model.offset_ns + estimate->bound_ns};
    bool fits = mh_past_add(past, &window, rates);
    const mh_estimate confined = mh_past_estimate(past, rates, model);
    estimate->model.offset_ns = confined.model.offset_ns;
    estimate->bound_ns = confined.bound_ns;
    if (confined.drift_bound < estimate->drift_bound) {
        estimate->model.drift = confined.model.drift;
        estimate->drift_bound = confined.drift_bound;
    }
    return fits;
}
