/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.c - the figures of a row from its samples, and where they go. Nothing here measures. */
#include "bench/suite/bench.h"

#include "pure/order_statistics.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- What goes to standard error, or to the table as a comment */

/* The option that settled a row. */
static const char *limit_of(const task_t *task)
{
    settled_by_t by = task->row.sampling.settled_by;
    return by == SETTLED_BY_CALLS ? "--max-repeat" : by == SETTLED_BY_TIME ? "--time-slice-s" : "--iterations";
}

/* Whether a size ended as intended, with or without valid samples. */
static bool is_as_wanted(const task_t *task)
{
    const bench_settings_t *settings = &task->job->settings;
    bool time_is_aim = settings->release == RELEASE_ROUND_TIME && settings->iterations == ABSENT;
    if (settings->ci_percent > 0)
        return analysis_is_narrow(&task->row.figures.analysis, settings->ci_percent);
    settled_by_t by = task->row.sampling.settled_by;
    return by == SETTLED_BY_SAMPLES || (by == SETTLED_BY_TIME && time_is_aim);
}

void row_begin_line(const task_t *task)
{
    fprintf(stderr, "%s: %s, %lld bytes: ", task->span->program, task->operation->name,
            (long long)task->row.figures.keys.size_bytes);
}

/* Why a row has fewer samples than requested, or too few for the requested interval. */
static void tell_shortage(const task_t *task)
{
    const samples_t *samples = &task->row.samples;
    double ci_percent = task->job->settings.ci_percent;
    if (samples->valid > 0 && is_as_wanted(task))
        return;
    row_begin_line(task);
    if (samples->valid > 0 && ci_percent > 0)
        fprintf(stderr, "the confidence interval is not within %g %% after %lld valid samples, the limit (%s)\n",
                ci_percent, (long long)samples->valid, limit_of(task));
    else
        fprintf(stderr, "only %lld valid samples in %lld calls, the limit (%s)%s\n", (long long)samples->valid,
                (long long)samples->calls, limit_of(task), world_crowding(task->span));
}

/* What else is known about starting times, as a comment in the table, where rows of several operations come later. */
static void tell_window(const bench_t *bench, const task_t *task)
{
    if (bench->report.output.format == FORMAT_TABLE && task->releaser.kind == RELEASE_WINDOW)
        fprintf(bench->report.output.file, "# Window%s%s at %lld bytes: %.2f us%s\n",
                bench->plan.job_count > 1 ? " of " : "", bench->plan.job_count > 1 ? task->label : "",
                (long long)task->row.figures.keys.size_bytes, (double)task->releaser.window_ns / 1e3,
                task->releaser.window_is_given ? "" : ", found");
}

/* ---- Figures */

/* The figures of imposed arrivals, and those that others are compared with. */
static void take_arrivals(task_t *task, double bound_ns)
{
    arrival_figures_t *figures = &task->row.figures.arrival;
    bool is_known = task->row.samples.valid > 0;
    if (is_known)
        analyze_arrivals(&task->row.samples, figures);
    if (task->row.imposed.arrival.shape == ARRIVAL_TOGETHER) {
        task->together_ns = is_known ? task->row.figures.analysis.median_ns : 0;
        task->from_last_ns = is_known ? figures->from_last_ns : NAN;
    }
    figures->span_ns = task->row.imposed.span_ns;
    figures->bound_ns = bound_ns;
    figures->robustness = figures->from_last_ns / task->from_last_ns;
}

/* The figures of the operation alone. */
static void take_pure(const bench_t *bench, task_t *task)
{
    row_t *row = &task->row.figures;
    const shape_t *shape = task->operation->shape;
    analyze(&task->row.samples, (run_time_t)task->job->settings.run_time, bench->fractions,
            bench->report.fraction_count, &row->analysis);
    tell_shortage(task);
    if (task->row.samples.valid == 0)
        return;
    row->parts |= PART_FIGURES | (row->analysis.median_interval ? PART_INTERVAL : 0) |
                  (shape->takes_turns ? PART_LATENCY : 0) | (shape->messages > 0 ? PART_BANDWIDTH : 0) |
                  (task->job->arrivals.given ? PART_ARRIVAL : 0);
    row->latency_ns = row->analysis.median_ns / 2;
    int pairs = shape->pairs_all ? bench->communicator.pairs : bench->communicator.groups;
    row->mb_per_s = (double)shape->messages * pairs * (double)row->keys.size_bytes / row->analysis.median_ns * 1e3;
    row->overlap.pure_ns = samples_median(&task->row.samples, SERIES_LOCAL_NS);
}

/* The figures of the operation beside computation. */
static void take_overlap(task_t *task)
{
    overlap_t *overlap = &task->row.figures.overlap;
    if (task->row.samples.valid == 0)
        return;
    overlap->compute_ns = samples_median(&task->row.samples, SERIES_COMPUTE_NS);
    overlap->total_ns = samples_median(&task->row.samples, SERIES_LOCAL_NS);
    double hidden = 1 - (overlap->total_ns - overlap->compute_ns) / overlap->pure_ns;
    overlap->percent = 100 * fmin(fmax(hidden, 0), 1);
    task->row.figures.parts |= PART_OVERLAP;
}

void row_take(const bench_t *bench, task_t *task, double bound_ns)
{
    if (task->row.compute_ns > 0)
        take_overlap(task);
    else
        take_pure(bench, task);
    if (task->job->arrivals.given)
        take_arrivals(task, bound_ns);
}

/* ---- Where they go */

void row_write(bench_t *bench, task_t *task)
{
    const row_t *row = &task->row.figures;
    tell_window(bench, task);
    if (task->job->settings.overlap && !(row->parts & PART_OVERLAP)) {
        row_begin_line(task);
        fputs("no valid sample, so the overlap is unknown\n", stderr);
    }
    report_row(&bench->report, row);
    if (bench->plan.settings.results.raw.file)
        output_flush(bench->plan.settings.results.raw.file);
    if (row->wrong > 0) {
        row_begin_line(task);
        fprintf(stderr, "validation found %lld wrong elements\n", (long long)row->wrong);
    }
    if (row->analysis.valid == 0 || row->wrong > 0)
        bench->status = STATUS_FAILED;
}
