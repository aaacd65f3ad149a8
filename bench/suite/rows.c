/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.c - figures from samples. */
#include "bench/suite/rows.h"

#include "pure/order_statistics.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- What goes to standard error, or to the table as a comment */

/* The option that settled a row. */
static const char *limit_of(const measurement_t *measurement)
{
    settled_by_t by = measurement->sampling.settled_by;
    return by == SETTLED_BY_CALLS ? "--max-repeat" : by == SETTLED_BY_TIME ? "--time-slice-s" : "--iterations";
}

/* Whether a size ended as intended, with or without valid samples. */
static bool is_as_wanted(const job_row_t *row, const measurement_t *measurement)
{
    const bench_settings_t *settings = &measurement->job->settings;
    bool time_is_aim = settings->release == RELEASE_ROUND_TIME && settings->iterations == ABSENT;
    if (settings->ci_percent > 0)
        return analysis_is_narrow(&row->figures.analysis, settings->ci_percent);
    settled_by_t by = measurement->sampling.settled_by;
    return by == SETTLED_BY_SAMPLES || (by == SETTLED_BY_TIME && time_is_aim);
}

void row_begin_line(const measurement_t *measurement)
{
    fprintf(stderr, "%s: %s, %lld bytes: ", measurement->span->program, measurement->operation->name,
            (long long)measurement->keys.size_bytes);
}

/* Why a row has fewer samples than requested, or too few for the requested interval. */
static void tell_shortage(const job_row_t *row, const measurement_t *measurement)
{
    const samples_t *samples = &measurement->samples;
    double ci_percent = measurement->job->settings.ci_percent;
    if (samples->valid > 0 && is_as_wanted(row, measurement))
        return;
    row_begin_line(measurement);
    if (samples->valid > 0 && ci_percent > 0)
        fprintf(stderr, "the confidence interval is not within %g %% after %lld valid samples, the limit (%s)\n",
                ci_percent, (long long)samples->valid, limit_of(measurement));
    else
        fprintf(stderr, "only %lld valid samples in %lld calls, the limit (%s)%s\n", (long long)samples->valid,
                (long long)samples->calls, limit_of(measurement), world_crowding(measurement->span));
}

/* What else is known about starting times, as a comment in the table, where rows of several operations come later. */
static void tell_window(const measurement_t *measurement, const report_t *report)
{
    bool is_labeled = (report->parts & PART_LABEL) != 0;
    if (report->output.format == FORMAT_TABLE && measurement->releaser.kind == RELEASE_WINDOW)
        fprintf(report->output.file, "# Window%s%s at %lld bytes: %.2f us%s\n", is_labeled ? " of " : "",
                is_labeled ? measurement->keys.label : "", (long long)measurement->keys.size_bytes,
                (double)measurement->releaser.window_ns / 1e3, measurement->releaser.window_is_given ? "" : ", found");
}

/* ---- Figures */

/* The figures of imposed arrivals, and those that others are compared with. */
static void take_arrivals(job_row_t *row, measurement_t *measurement, double bound_ns)
{
    arrival_figures_t *figures = &row->figures.arrival;
    bool is_known = measurement->samples.valid > 0;
    if (is_known)
        analyze_arrivals(&measurement->samples, figures);
    if (measurement->imposed.arrival.shape == ARRIVAL_TOGETHER) {
        row->together_ns = is_known ? row->figures.analysis.median_ns : 0;
        row->from_last_ns = is_known ? figures->from_last_ns : NAN;
    }
    figures->span_ns = measurement->imposed.span_ns;
    figures->bound_ns = bound_ns;
    figures->robustness = figures->from_last_ns / row->from_last_ns;
}

int row_pairs(const communicator_t *communicator, const job_t *job)
{
    const shape_t *shape = operation_at(job->operation)->shape;
    if (!shape->pairs_all)
        return communicator->groups;
    if (job->settings.pairs > 0)
        return (int)job->settings.pairs * communicator->groups;
    return shape->fans ? communicator->all_hubs : communicator->pairs;
}

/* Messages that a call moves between all pairs. */
static double messages_of(const measurement_t *measurement, const communicator_t *communicator)
{
    const shape_t *shape = measurement->operation->shape;
    int pairs = row_pairs(communicator, measurement->job);
    int senders = shape->fans ? communicator->members - pairs : pairs;
    if (measurement->operation->form == FORM_FILE)
        return shape->access.users == ONE_USES_IT ? 1 : communicator->max_ranks;
    return (double)shape->directions * (double)measurement->job->settings.messages * senders;
}

/*
 * Percentiles of what OSU tells of: latencies of one message, bandwidths, of which the high ones are of short calls,
 * or times. The run times are in ascending order.
 */
static void take_tail(row_t *figures, const measurement_t *measurement, const report_t *report, double bytes)
{
    const samples_t *samples = &measurement->samples;
    const shape_t *shape = measurement->operation->shape;
    int turns = job_turns(measurement->job);
    const int64_t *sorted_ns =
        samples->series[measurement->compute_ns > 0 ? SERIES_LOCAL_NS : (series_t)measurement->job->settings.run_time];
    for (int i = 0; i < report->fraction_count; i++) {
        int64_t place = quantile_place(samples->valid, report->fractions[i]);
        if (shape->directions > 0)
            figures->tail[i] = bytes / (double)sorted_ns[samples->valid - 1 - place] * 1e3;
        else
            figures->tail[i] = (double)sorted_ns[place] / (turns > 0 ? turns * 1e3 : 1e3);
    }
    figures->parts |= PART_TAIL;
}

/* The figures of the operation alone. */
static void take_pure(job_row_t *row, measurement_t *measurement, const communicator_t *communicator,
                      const report_t *report)
{
    row_t *figures = &row->figures;
    const shape_t *shape = measurement->operation->shape;
    const job_t *job = measurement->job;
    int turns = job_turns(job);
    analyze(&measurement->samples, (run_time_t)job->settings.run_time, report->fractions, report->fraction_count,
            &figures->analysis);
    tell_shortage(row, measurement);
    if (measurement->samples.valid == 0)
        return;
    figures->parts |= PART_FIGURES | (figures->analysis.median_interval ? PART_INTERVAL : 0) |
                      (turns > 0 ? PART_LATENCY : 0) |
                      (shape->directions > 0 ? PART_BANDWIDTH | (shape->has_rate ? PART_RATE : 0) : 0) |
                      (job->arrivals.given ? PART_ARRIVAL : 0);
    figures->latency_ns = figures->analysis.median_ns / turns;
    figures->data_bytes = work_data_bytes(measurement->work);
    figures->parts |= job->layout.kind != LAYOUT_PLAIN ? PART_LAYOUT : 0;
    double messages = messages_of(measurement, communicator), bytes = messages * (double)figures->data_bytes;
    figures->mb_per_s = bytes / figures->analysis.median_ns * 1e3;
    figures->messages_per_s = messages / figures->analysis.median_ns * 1e9;
    take_tail(figures, measurement, report, bytes);
    figures->overlap.pure_ns = samples_median(&measurement->samples, SERIES_LOCAL_NS);
}

/* The figures of the operation beside computation. */
static void take_overlap(row_t *figures, measurement_t *measurement, const report_t *report)
{
    overlap_t *overlap = &figures->overlap;
    if (measurement->samples.valid == 0)
        return;
    overlap->compute_ns = samples_median(&measurement->samples, SERIES_COMPUTE_NS);
    overlap->total_ns = samples_median(&measurement->samples, SERIES_LOCAL_NS);
    double hidden = 1 - (overlap->total_ns - overlap->compute_ns) / overlap->pure_ns;
    overlap->percent = 100 * fmin(fmax(hidden, 0), 1);
    figures->parts |= PART_OVERLAP;
    take_tail(figures, measurement, report, 0);
}

void row_take(job_row_t *row, measurement_t *measurement, const communicator_t *communicator, const report_t *report,
              double bound_ns)
{
    if (measurement->compute_ns > 0)
        take_overlap(&row->figures, measurement, report);
    else
        take_pure(row, measurement, communicator, report);
    if (measurement->job->arrivals.given)
        take_arrivals(row, measurement, bound_ns);
}

/* ---- Where they go */

bool row_write(const job_row_t *row, const measurement_t *measurement, report_t *report)
{
    const row_t *figures = &row->figures;
    tell_window(measurement, report);
    if (measurement->job->settings.overlap && !(figures->parts & PART_OVERLAP)) {
        row_begin_line(measurement);
        fputs("no valid sample, so the overlap is unknown\n", stderr);
    }
    report_row(report, figures);
    if (measurement->raw->file)
        output_flush(measurement->raw->file);
    if (figures->wrong > 0) {
        row_begin_line(measurement);
        fprintf(stderr, "validation found %lld wrong elements\n", (long long)figures->wrong);
    }
    return figures->analysis.valid > 0 && figures->wrong == 0;
}
