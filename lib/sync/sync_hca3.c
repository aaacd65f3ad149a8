/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync_hca3.c - HCA3, algorithms 1 and 2 of Hunold and Carpen-Amarie, Cluster 2018: along a binomial tree, outward from the
 * reference, each process fits a line through the offsets of several bursts (fit points) to the global time that its partner
 * already emulates. ceil(log2 p) rounds. The error at once grows by a pair's error for each level of the tree, with age by
 * the errors of the drifts along it.
 */
#include "base/statistics.h"
#include "sync/sync_private.h"

#include <math.h>
#include <stdlib.h>

/* The rates of two clocks that run raw wander by less than this between synchronisations. */
#define DRIFT_WANDER (1 * MH_PPM)

static double clamp(double value, double limit)
{
    return value > limit ? limit : value < -limit ? -limit : value;
}

/* The fit point with the least bound from first to last - 1. */
static const mh_offset *tightest(const mh_offset *points, int first, int last)
{
    const mh_offset *best = &points[first];
    for (int i = first + 1; i < last; i++)
        if (points[i].bound_ns < best->bound_ns)
            best = &points[i];
    return best;
}

/* How far the fitted drift may be off: the windows of one early and one late burst leave the true one an interval. */
static double bound_drift(const mh_offset *points, int count, double drift)
{
    int part = count < 4 ? 1 : count / 4;
    const mh_offset *early = tightest(points, 0, part), *late = tightest(points, count - part, count);
    double span_ns = (double)(late->at_ns - early->at_ns);
    if (span_ns <= 0)
        return MH_DRIFT_LIMIT;
    double middle = (double)(late->offset_ns - early->offset_ns) / span_ns;
    double half_width = (double)(late->bound_ns + early->bound_ns) / span_ns;
    return fmin(fabs(drift - middle) + half_width, MH_DRIFT_LIMIT + fabs(drift));
}

/* Of all fit points the one at which the line is best known: its window and its distance from the line bound the error. */
static mh_offset best_point_on_line(const mh_offset *points, int count, mh_line line, int64_t origin_ns)
{
    mh_offset best = {0, 0, INT64_MAX};
    for (int i = 0; i < count; i++) {
        mh_offset on_line = points[i];
        on_line.offset_ns = points[0].offset_ns + llround(line.intercept + line.slope * (double)(points[i].at_ns - origin_ns));
        on_line.bound_ns += llabs(on_line.offset_ns - points[i].offset_ns);
        if (on_line.bound_ns < best.bound_ns)
            best = on_line;
    }
    return best;
}

static mh_estimate fit(const mh_estimate *reference, const mh_offset *points, int count, double *x, double *y, bool raw)
{
    int64_t origin_ns = points[0].at_ns;
    for (int i = 0; i < count; i++) {
        x[i] = (double)(points[i].at_ns - origin_ns);
        y[i] = (double)(points[i].offset_ns - points[0].offset_ns);
    }
    mh_line line = mh_line_fit(x, y, count);
    line.slope = clamp(line.slope, MH_DRIFT_LIMIT);
    mh_offset best = best_point_on_line(points, count, line, origin_ns);
    double drift_bound = raw ? bound_drift(points, count, line.slope) + DRIFT_WANDER : 2 * MH_DRIFT_LIMIT;
    return mh_sync_estimate_from(reference, &best, line.slope, drift_bound);
}

static int measure_fit_points(const mh_sync_run_context *context, int reference_rank, mh_offset *points, mh_error *error)
{
    int code = MPI_SUCCESS;
    for (int i = 0; i < context->level->how.fit_points && code == MPI_SUCCESS; i++)
        code = mh_sync_measure(context, reference_rank, &points[i], error);
    return code;
}

static int learn(const mh_sync_run_context *context, int reference_rank, mh_error *error)
{
    mh_estimate reference;
    mh_offset *points = context->workspace->points;
    double *x = context->workspace->coordinates;
    int count = context->level->how.fit_points;
    int code = measure_fit_points(context, reference_rank, points, error);
    if (code == MPI_SUCCESS)
        code = mh_sync_recv_estimate(context, reference_rank, &reference, error);
    if (code == MPI_SUCCESS)
        *context->estimate = fit(&reference, points, count, x, x + count, mh_base_clock_is_raw(context->clock));
    return code;
}

static int teach(const mh_sync_run_context *context, int client_rank, mh_error *error)
{
    int code = MPI_SUCCESS;
    for (int i = 0; i < context->level->how.fit_points && code == MPI_SUCCESS; i++)
        code = mh_sync_serve(context, client_rank, error);
    return code != MPI_SUCCESS ? code : mh_sync_send_estimate_now(context, client_rank, error);
}

static int run(const mh_sync_run_context *context, mh_error *error)
{
    static const mh_pair_protocol protocol = {learn, teach};
    return mh_sync_over_tree(context, &protocol, error);
}

const mh_sync_kind mh_sync_hca3 = {
    .name = "hca3",
    .doc = "a tree of pairs, a line through several offsets for each",
    .takes_fit_points = true,
    .takes_estimator = true,
    .run = run,
};
