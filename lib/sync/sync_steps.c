/* SPDX-License-Identifier: BSD-3-Clause */
/* sync_steps.c - the steps that sync algorithms are made of: measure a burst, fit a line, pass an estimate on. */
#include "pure/line.h"
#include "sync/sync_private.h"

#include <math.h>
#include <stdlib.h>

int mh_step_measure(const mh_sync_run_context *context, int reference_rank, double rate_limit, mh_offset *offset,
                    mh_error *error)
{
    const mh_label_part *how = &context->level->how;
    const mh_sync_workspace *workspace = context->workspace;
    mh_link link = {context->channel, context->clock, reference_rank};
    mh_burst burst = {.exchanges = workspace->exchanges,
                      .max = how->exchanges,
                      .may_stop = context->bursts_may_stop,
                      .rate_limit = rate_limit};
    int code = mh_exchange_measure(&link, &burst, error);
    if (code != MPI_SUCCESS)
        return code;
    *context->disrupted |= burst.stepped;
    if (burst.count > 0)
        *offset = mh_offset_estimate(how->estimator, burst.exchanges, burst.count, rate_limit, workspace->values);
    else
        *offset = (mh_offset){mh_base_clock_now_ns(context->clock), 0, MH_TIME_UNKNOWN_NS};
    return MPI_SUCCESS;
}

int mh_step_track(const mh_sync_run_context *context, int reference_rank, mh_error *error)
{
    mh_offset offset;
    int code = mh_step_measure(context, reference_rank, context->rates.limit, &offset, error);
    if (code != MPI_SUCCESS || offset.bound_ns == MH_TIME_UNKNOWN_NS)
        return code;
    if (!mh_tracker_feed(context->tracker, &offset))
        *context->disrupted = true;
    *context->wandered += context->tracker->wandered;
    return MPI_SUCCESS;
}

int mh_step_serve(const mh_sync_run_context *context, int client_rank, mh_shown shown, mh_error *error)
{
    mh_link link = {context->channel, context->clock, client_rank};
    mh_model bare = mh_model_identity();
    const mh_model *model = shown == MH_SHOWN_BARE ? &bare : &context->estimate->model;
    return mh_exchange_serve(&link, model, error);
}

/* The client estimates its clock against the one that the reference shows, from one offset. */
static int learn_offset(const mh_sync_run_context *context, int reference_rank, mh_estimate *relation, mh_error *error)
{
    mh_offset offset;
    int code = mh_step_measure(context, reference_rank, context->rates.limit, &offset, error);
    if (code == MPI_SUCCESS)
        *relation = (mh_estimate){.model = {offset.at_ns, offset.offset_ns, 0},
                                  .bound_ns = offset.bound_ns,
                                  .drift_bound = context->rates.limit};
    return code;
}

static double clamp(double value, double limit)
{
    return value > limit ? limit : value < -limit ? -limit : value;
}

/* The fit point with the smallest bound from first to last - 1. */
static const mh_offset *tightest(const mh_offset *points, int first, int last)
{
    const mh_offset *best = &points[first];
    for (int i = first + 1; i < last; i++)
        if (points[i].bound_ns < best->bound_ns)
            best = &points[i];
    return best;
}

/* The drifts that the windows of one early and one late burst allow. */
typedef struct mh_drift_window {
    double min, max;
} mh_drift_window;

static mh_drift_window window_of_drift(const mh_offset *points, int count)
{
    int part = count < 4 ? 1 : count / 4;
    const mh_offset *early = tightest(points, 0, part), *late = tightest(points, count - part, count);
    double span_ns = (double)(late->at_ns - early->at_ns);
    if (span_ns <= 0)
        return (mh_drift_window){-INFINITY, INFINITY};
    double middle = (double)(late->offset_ns - early->offset_ns) / span_ns;
    double half_width = (double)(late->bound_ns + early->bound_ns) / span_ns;
    return (mh_drift_window){middle - half_width, middle + half_width};
}

/* A fitted drift beyond the limit of raw clocks is noise, unless the windows allow nothing else. */
static double settle_drift(double fitted, mh_drift_window window)
{
    return fmax(fmin(clamp(fitted, MH_RAW_RATE_LIMIT), window.max), window.min);
}

/* How far the fitted drift may be off, at any time within the span of the points. */
static double bound_drift(double drift, mh_drift_window window, mh_rates rates, double span_s)
{
    double limit = rates.limit + fabs(drift);
    if (!rates.are_raw)
        return limit;
    return fmin(fmax(window.max - drift, drift - window.min) + rates.wander * (1 + span_s), limit);
}

/* The fit point at which the line has the smallest bound: half the point's window plus its distance from the line. */
static mh_offset best_point_on_line(const mh_offset *points, int count, mh_line line)
{
    mh_offset best = {0, 0, INT64_MAX};
    for (int i = 0; i < count; i++) {
        mh_offset on_line = points[i];
        double x = (double)(points[i].at_ns - points[0].at_ns);
        on_line.offset_ns = points[0].offset_ns + llround(line.intercept + line.slope * x);
        on_line.bound_ns += llabs(on_line.offset_ns - points[i].offset_ns);
        if (on_line.bound_ns < best.bound_ns)
            best = on_line;
    }
    return best;
}

static mh_estimate fit(const mh_offset *points, int count, double *x, double *y, mh_rates rates)
{
    for (int i = 0; i < count; i++) {
        x[i] = (double)(points[i].at_ns - points[0].at_ns);
        y[i] = (double)(points[i].offset_ns - points[0].offset_ns);
    }
    mh_line line = mh_line_fit(x, y, count);
    mh_drift_window window = window_of_drift(points, count);
    line.slope = settle_drift(line.slope, window);
    mh_offset best = best_point_on_line(points, count, line);
    double span_s = x[count - 1] * MH_S_PER_NS;
    return (mh_estimate){.model = {best.at_ns, best.offset_ns, line.slope},
                         .bound_ns = best.bound_ns,
                         .drift_bound = bound_drift(line.slope, window, rates, span_s),
                         .wander_bound = rates.are_raw ? rates.wander : 0};
}

/* No line fits points before and after a step of a clock. */
static mh_estimate nothing_known(const mh_sync_run_context *context)
{
    return (mh_estimate){.model = {mh_base_clock_now_ns(context->clock), 0, 0},
                         .bound_ns = MH_TIME_UNKNOWN_NS,
                         .drift_bound = context->rates.limit};
}

int mh_step_learn_line(const mh_sync_run_context *context, int reference_rank, mh_estimate *relation, mh_error *error)
{
    const mh_label_part *how = &context->level->how;
    mh_offset *points = context->workspace->points, last;
    double *x = context->workspace->coordinates;
    int code = MPI_SUCCESS;
    for (int i = 0; i < how->fit_points && code == MPI_SUCCESS; i++)
        code = mh_step_measure(context, reference_rank, context->rates.limit, &points[i], error);
    if (code == MPI_SUCCESS)
        *relation = *context->disrupted ? nothing_known(context)
                                        : fit(points, how->fit_points, x, x + how->fit_points, context->rates);
    if (code != MPI_SUCCESS || !how->recompute)
        return code;
    code = mh_step_measure(context, reference_rank, context->rates.limit, &last, error);
    if (code == MPI_SUCCESS) {
        *relation = mh_estimate_at(relation, last.at_ns);
        relation->model.offset_ns = last.offset_ns;
        relation->bound_ns = last.bound_ns;
    }
    return code;
}

int mh_step_teach_line(const mh_sync_run_context *context, int client_rank, mh_shown shown, mh_error *error)
{
    const mh_label_part *how = &context->level->how;
    int bursts = how->fit_points + (how->recompute ? 1 : 0), code = MPI_SUCCESS;
    for (int i = 0; i < bursts && code == MPI_SUCCESS; i++)
        code = mh_step_serve(context, client_rank, shown, error);
    return code;
}

int mh_step_send_estimate(const mh_sync_run_context *context, int client_rank, mh_error *error)
{
    return mh_send(context->channel, context->estimate, sizeof *context->estimate, client_rank, MH_TAG_ESTIMATE, error);
}

int mh_step_copy_estimate(const mh_sync_run_context *context, int reference_rank, mh_error *error)
{
    return mh_recv(context->channel, context->estimate, sizeof *context->estimate, reference_rank, MH_TAG_ESTIMATE,
                   error);
}

int mh_step_compose_estimate(const mh_sync_run_context *context, int reference_rank, const mh_estimate *relation,
                             mh_error *error)
{
    mh_estimate reference;
    int code = mh_recv(context->channel, &reference, sizeof reference, reference_rank, MH_TAG_ESTIMATE, error);
    if (code == MPI_SUCCESS)
        *context->estimate = mh_estimate_compose(&reference, relation, mh_base_clock_now_ns(context->clock));
    return code;
}

int mh_step_send_known(const mh_sync_run_context *context, int client_rank, mh_error *error)
{
    return mh_send(context->channel, context->known, sizeof *context->known, client_rank, MH_TAG_ESTIMATE, error);
}

int mh_step_recv_known(const mh_sync_run_context *context, int reference_rank, mh_known_estimate *known,
                       mh_error *error)
{
    return mh_recv(context->channel, known, sizeof *known, reference_rank, MH_TAG_ESTIMATE, error);
}

/* The client measured against global time, so it needs only the error of the reference: an identity with a bound. */
static int send_bound(const mh_sync_run_context *context, int client_rank, mh_error *error)
{
    int64_t now_ns = mh_base_clock_now_ns(context->clock);
    mh_estimate error_only = mh_estimate_at(context->estimate, now_ns);
    error_only.model = (mh_model){mh_model_apply(&context->estimate->model, now_ns), 0, 0};
    return mh_send(context->channel, &error_only, sizeof error_only, client_rank, MH_TAG_ESTIMATE, error);
}

static int learn_by_offset(const mh_sync_run_context *context, int reference_rank, mh_error *error)
{
    mh_estimate relation;
    int code = learn_offset(context, reference_rank, &relation, error);
    return code != MPI_SUCCESS ? code : mh_step_compose_estimate(context, reference_rank, &relation, error);
}

static int teach_by_offset(const mh_sync_run_context *context, int client_rank, mh_error *error)
{
    int code = mh_step_serve(context, client_rank, MH_SHOWN_GLOBAL, error);
    return code != MPI_SUCCESS ? code : send_bound(context, client_rank, error);
}

const mh_pair_protocol mh_learn_by_offset = {learn_by_offset, teach_by_offset};

static int learn_by_line(const mh_sync_run_context *context, int reference_rank, mh_error *error)
{
    mh_estimate relation;
    int code = mh_step_learn_line(context, reference_rank, &relation, error);
    return code != MPI_SUCCESS ? code : mh_step_compose_estimate(context, reference_rank, &relation, error);
}

static int teach_by_line(const mh_sync_run_context *context, int client_rank, mh_error *error)
{
    int code = mh_step_teach_line(context, client_rank, MH_SHOWN_GLOBAL, error);
    return code != MPI_SUCCESS ? code : send_bound(context, client_rank, error);
}

const mh_pair_protocol mh_learn_by_line = {learn_by_line, teach_by_line};
