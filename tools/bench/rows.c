/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.c - the calls of a size with one arrival pattern: what is imposed on them, and what is reported about them. */
#include "bench/bench.h"

#include "common/statistics.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Calls by which the results at a size are checked; if the root rotates, as many as roots, but not more. */
enum { CHECKS = 3, MAX_CHECKS = 64 };

/* ---- What goes to standard error, or to the table as a comment */

/* What brought a size to its end. */
static const char *limit_of(measure_end_t end)
{
    return end == END_REPEATED ? "--max-repeat" : end == END_SLICE ? "--time-slice-s" : "--iterations";
}

/* Whether a size ended as intended, with or without valid samples. */
static bool is_as_wanted(const task_t *task)
{
    const bench_settings_t *settings = &task->job->settings;
    bool time_is_aim = settings->release == RELEASE_ROUND_TIME && settings->iterations == ABSENT;
    if (settings->ci_percent > 0)
        return analysis_is_narrow(&task->row.analysis, settings->ci_percent);
    return task->progress.end == END_ENOUGH || (task->progress.end == END_SLICE && time_is_aim);
}

/* Begins a line on standard error. */
static void begin_line(const task_t *task)
{
    fprintf(stderr, "%s: %s, %lld bytes: ", task->span->program, task->operation->name,
            (long long)task->row.keys.size_bytes);
}

/* Why a row has fewer samples than requested, or too few for the requested interval. */
static void tell_shortage(const task_t *task)
{
    const samples_t *samples = &task->samples;
    double ci_percent = task->job->settings.ci_percent;
    if (samples->valid > 0 && is_as_wanted(task))
        return;
    begin_line(task);
    if (samples->valid > 0 && ci_percent > 0)
        fprintf(stderr, "the confidence interval is not within %g %% after %lld valid samples, the limit (%s)\n",
                ci_percent, (long long)samples->valid, limit_of(task->progress.end));
    else
        fprintf(stderr, "only %lld valid samples in %lld calls, the limit (%s)%s\n", (long long)samples->valid,
                (long long)samples->calls, limit_of(task->progress.end), world_crowding(task->span));
}

/* What else is known about starting times, as a comment in the table. */
static void tell_window(const bench_t *bench, const task_t *task)
{
    if (bench->report.output.format == FORMAT_TABLE && task->releaser.kind == RELEASE_WINDOW)
        fprintf(bench->report.output.file, "# Window at %lld bytes: %.2f us%s\n", (long long)task->row.keys.size_bytes,
                (double)task->releaser.window_ns / 1e3, task->releaser.window_is_given ? "" : ", found");
}

/* ---- Imposed arrivals */

/* What rank 0 sends instead of a magnitude. */
enum { UNKNOWN_NS = -1 };

static int64_t longest_delay_ns(const arrival_table_t *table)
{
    int64_t longest_ns = 0;
    for (int64_t i = 0; i < table->calls * table->ranks; i++)
        longest_ns = greater(longest_ns, table->delays_ns[i]);
    return longest_ns;
}

/* Rank 0: how long the longest delays of a pattern are, or UNKNOWN_NS. */
static int64_t find_span_ns(const task_t *task, const arrival_t *arrival)
{
    double span_ns = arrival->magnitude * (arrival->is_multiple ? task->together_ns : 1e3);
    if (arrival->shape == ARRIVAL_TOGETHER)
        return 0;
    if (arrival->shape == ARRIVAL_FILE)
        return longest_delay_ns(&task->imposed.tables->items[arrival->table]);
    if (span_ns > 0 && span_ns <= (double)MAX_DELAY_NS)
        return llround(span_ns);
    begin_line(task);
    fprintf(stderr, "--arrival %s: %s\n", arrival->text,
            span_ns > 0 ? "delays above 10 s are not allowed" : "there is no median without delays to multiply");
    return UNKNOWN_NS;
}

/*
 * Calls from now on have the arrivals of a pattern. Collective over the span. Returns false if the magnitude is not
 * known, or too long; rank 0 has said so.
 */
static bool impose(task_t *task, const arrival_t *arrival)
{
    const world_t *span = task->span;
    int64_t span_ns = 0;
    if (span->rank == 0)
        span_ns = find_span_ns(task, arrival);
    world_require(span, MPI_Bcast(&span_ns, 1, MPI_INT64_T, 0, span->comm));
    task->imposed.arrival = *arrival;
    task->imposed.span_ns = span_ns;
    return span_ns != UNKNOWN_NS;
}

/* The largest bound of the global clock now; NaN: not known. Collective over the span. */
static double max_bound_ns(const world_t *span)
{
    int64_t bound_ns = world_max(span, world_bound_ns(span));
    return bound_ns == INT64_MAX ? NAN : (double)bound_ns;
}

/* ---- A row, from its beginning to its end */

bool bench_begin_row(bench_t *bench, task_t *task, int64_t size_bytes, int pattern)
{
    const arrival_list_t *arrivals = &task->job->arrivals;
    if (!task->is_at_size || pattern >= arrivals->count)
        return false;
    task->row = (row_t){.keys = task->keys};
    task->row.keys.size_bytes = size_bytes;
    if (arrivals->given && !impose(task, &arrivals->items[pattern])) {
        bench->status = STATUS_FAILED;
        return false;
    }
    if (release_schemes[task->releaser.kind].imposes)
        task->row.keys.arrival = arrivals->items[pattern].text;
    measure_begin(task, 0);
    return true;
}

/* Elements found wrong on all ranks, in a few calls. Collective over the span. */
static int64_t validate(const task_t *task)
{
    int roots = task->job->settings.root == ROOT_ROTATES ? task->keys.ranks : 1;
    int checks = roots < CHECKS ? CHECKS : roots > MAX_CHECKS ? MAX_CHECKS : roots;
    int64_t all_wrong = 0;
    for (int i = 0; i < checks; i++) {
        int64_t wrong = 0;
        world_require_code(task->span, work_check(task->work, i, &wrong), task->operation->function);
        all_wrong += wrong;
    }
    world_require(task->span, MPI_Allreduce(MPI_IN_PLACE, &all_wrong, 1, MPI_INT64_T, MPI_SUM, task->span->comm));
    return all_wrong;
}

/* The figures of imposed arrivals, and those that others are compared with. */
static void take_arrivals(task_t *task, double bound_ns)
{
    arrival_figures_t *figures = &task->row.arrival;
    bool is_known = task->samples.valid > 0;
    if (is_known)
        analyze_arrivals(&task->samples, figures);
    if (task->imposed.arrival.shape == ARRIVAL_TOGETHER) {
        task->together_ns = is_known ? task->row.analysis.median_ns : 0;
        task->from_last_ns = is_known ? figures->from_last_ns : NAN;
    }
    figures->span_ns = task->imposed.span_ns;
    figures->bound_ns = bound_ns;
    figures->robustness = figures->from_last_ns / task->from_last_ns;
}

/* Rank 0: the figures of the operation alone. */
static void take_pure(const bench_t *bench, task_t *task)
{
    row_t *row = &task->row;
    const shape_t *shape = task->operation->shape;
    analyze(&task->samples, (run_time_t)task->job->settings.run_time, bench->fractions, bench->report.fraction_count,
            &row->analysis);
    tell_shortage(task);
    if (task->samples.valid == 0)
        return;
    row->parts |= PART_FIGURES | (row->analysis.median_interval ? PART_INTERVAL : 0) |
                  (shape->takes_turns ? PART_LATENCY : 0) | (shape->messages > 0 ? PART_BANDWIDTH : 0) |
                  (task->job->arrivals.given ? PART_ARRIVAL : 0);
    row->latency_ns = row->analysis.max_mean_ns / 2;
    row->mb_per_s = (double)shape->messages * (double)row->keys.size_bytes / row->analysis.max_mean_ns * 1e3;
    row->overlap.pure_ns = samples_median(&task->samples, SERIES_LOCAL_NS);
}

/* Rank 0: the figures of the overlap, if it was measured. */
static void take_overlap(task_t *task)
{
    overlap_t *overlap = &task->row.overlap;
    if (task->compute_ns == 0 || task->samples.valid == 0) {
        begin_line(task);
        fputs("no valid sample, so the overlap is unknown\n", stderr);
        return;
    }
    overlap->compute_ns = samples_median(&task->samples, SERIES_COMPUTE_NS);
    overlap->total_ns = samples_median(&task->samples, SERIES_LOCAL_NS);
    double hidden = 1 - (overlap->total_ns - overlap->compute_ns) / overlap->pure_ns;
    overlap->percent = 100 * fmin(fmax(hidden, 0), 1);
    task->row.parts |= PART_OVERLAP;
}

/* Operations without messages are drawn at the left end of the logarithmic axis. */
static void plot(bench_t *bench, const row_t *row)
{
    if (row->analysis.valid > 0)
        plot_row(&bench->plan.settings.results.plot, "\"%s, %s %s\" %" PRId64 " %.9g %.9g %.9g\n",
                 bench->plan.job_count > 1 ? row->keys.label : row->keys.operation, row->keys.release,
                 row->keys.barrier, row->keys.size_bytes > 0 ? row->keys.size_bytes : 1, row->analysis.median_ns / 1e3,
                 (double)row->analysis.median_low_ns / 1e3, (double)row->analysis.median_high_ns / 1e3);
}

/* Rank 0. */
static void write_row(bench_t *bench, task_t *task)
{
    const row_t *row = &task->row;
    tell_window(bench, task);
    report_row(&bench->report, row);
    if (task->raw)
        output_flush(task->raw);
    if (row->keys.arrival[0] == '\0' || strcmp(row->keys.arrival, "together") == 0)
        plot(bench, row);
    if (row->wrong > 0) {
        begin_line(task);
        fprintf(stderr, "validation found %lld wrong elements\n", (long long)row->wrong);
    }
    if (row->analysis.valid == 0 || row->wrong > 0)
        bench->status = STATUS_FAILED;
}

/* Whether the operation alone was measured, and its overlap is to come. Collective. */
static bool begin_overlap(task_t *task)
{
    int64_t compute_ns = (int64_t)task->row.overlap.pure_ns;
    if (!task->job->settings.overlap || task->compute_ns > 0)
        return false;
    world_require(task->span, MPI_Bcast(&compute_ns, 1, MPI_INT64_T, 0, task->span->comm));
    if (compute_ns > 0)
        measure_begin(task, compute_ns);
    return compute_ns > 0;
}

bool bench_end_calls(bench_t *bench, task_t *task)
{
    const job_t *job = task->job;
    bool is_pure = task->compute_ns == 0, root = bench->world.rank == 0;
    double bound_ns = job->arrivals.given ? max_bound_ns(task->span) : NAN;
    world_progress(task->span, "%s", "");
    if (root && is_pure)
        take_pure(bench, task);
    if (root && job->arrivals.given)
        take_arrivals(task, bound_ns);
    if (begin_overlap(task))
        return true;
    if (root && job->settings.overlap)
        take_overlap(task);
    if (job->settings.validation) {
        task->row.wrong = validate(task);
        task->row.parts |= PART_VALIDATION;
    }
    if (root)
        write_row(bench, task);
    samples_free(&task->samples);
    return false;
}
