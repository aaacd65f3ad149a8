/* SPDX-License-Identifier: BSD-3-Clause */
/* check_report.c - a row for each label and age, one for each rank checked, and the chart: a panel for each label. */
#include "bench/clock/check.h"

#include "pure/order_statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const column_t raw_columns[] = {
    {"sync", "", ROLE_KEY, TYPE_TEXT, "the label", NULL, 0, 0, 0},
    {"run", "", ROLE_KEY, TYPE_INTEGER, "the number of the run of this label, from 1", NULL, 0, 0, 0},
    {"rank", "", ROLE_KEY, TYPE_INTEGER, "the rank", NULL, 0, 0, 0},
    {"age_ns", "ns", ROLE_KEY, TYPE_INTEGER, "the time from the end of the synchronization to the check of this rank",
     NULL, 0, 0, 0},
    {"error_ns", "ns", ROLE_FIGURE, TYPE_INTEGER,
     "the error by messages; positive if the global clock of this rank is ahead of that of rank 0", NULL, 0, 0, 0},
    {"half_width_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "its half width, with a step of the clock", NULL, 0, 0, 0},
    {"true_ns", "ns", ROLE_FIGURE, TYPE_NUMBER, "the error by the shared clock", NULL, 0, 1, 0},
    {"true_half_width_ns", "ns", ROLE_FIGURE, TYPE_NUMBER,
     "its half width: half of the time that reading both clocks on both ranks took, plus the drift between the "
     "readings of the two ranks, at up to 500 ppm, and a step of the clock",
     NULL, 0, 1, 0},
    {"bound_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "the bound", NULL, 0, 0, 0},
    {"violations", "", ROLE_FIGURE, TYPE_INTEGER, "1 if the bound was violated, else 0", NULL, 0, 0, 0},
};
const schema_t check_raw_schema =
    SCHEMA("mpix-clock-check-raw", "Written by `mpix_clock check --raw`: a row for each check.", raw_columns);

static column_t columns[] = {
    {"sync", "", ROLE_KEY, TYPE_TEXT, "the label", "sync", 6, 0, 0},
    {"age_ns", "ns", ROLE_KEY, TYPE_INTEGER, "the time from the end of the synchronization to the first check",
     "age(s)", 9, 2, 1e9},
    {"took_ns", "ns", ROLE_FIGURE, TYPE_INTEGER,
     "the duration of the synchronization on the slowest rank, by the library's statistic "
     "(mpix_harmonize_sync_duration_ns); with --keep-ms, still the first one. The median of all runs",
     "took(ms)", 11, 3, 1e6},
    {"call_ns", "ns", ROLE_FIGURE, TYPE_INTEGER,
     "the duration of MPIX_Clock_sync on the slowest rank, including the steps that are done only once for a "
     "communicator or a process. The median of all runs",
     "call(ms)", 11, 3, 1e6},
    {"syncs", "", ROLE_FIGURE, TYPE_INTEGER, "synchronizations so far, the maximum of all runs; without --keep-ms, 1",
     "syncs", 7, 0, 0},
    {"checks", "", ROLE_FIGURE, TYPE_INTEGER, "the number of checked ranks multiplied by the number of runs", "checks",
     8, 0, 0},
    {"p50_ns", "ns", ROLE_FIGURE, TYPE_INTEGER,
     "the median of the absolute error by messages: the minimum measured value that at least half of the checks do "
     "not exceed (nearest rank)",
     "p50(ns)", 11, 0, 0},
    {"p99_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "the same for 99 % of the checks", "p99(ns)", 11, 0, 0},
    {"max_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "the maximum", "max(ns)", 11, 0, 0},
    {"half_width_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "the maximum half width of these errors", "half(ns)", 11, 0, 0},
    {"true_ns", "ns", ROLE_FIGURE, TYPE_NUMBER,
     "the maximum absolute error by the shared clock. No value if there is no such clock", "true(ns)", 13, 1, 0},
    {"bound_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "the maximum bound. No value if no bound is known for a rank",
     "bound(ns)", 12, 0, 0},
    {"violations", "", ROLE_FIGURE, TYPE_INTEGER,
     "the number of checks in which one of the measurements shows that the bound was violated. A rank without a "
     "known bound never counts as violated",
     "viol", 6, 0, 0},
};
const schema_t check_schema = SCHEMA("mpix-clock-check", "A row for each label and age.", columns);

/* The figures of all checks of a label at one age, except quantiles. */
typedef struct extremes {
    int64_t half_width_ns;
    int64_t bound_ns;
    double true_ns;
    int64_t violations;
} extremes_t;

void check_begin_report(check_run_t *run)
{
    const output_t *output = &run->settings.results.output;
    const table_t raw = TABLE(check_raw_schema, &run->settings.results.raw);
    FILE *file = output->file;
    static head_t head;
    bool is_sampled = run->checked < run->world.ranks - 1;
    for (int i = 0; i < run->labels; i++) {
        int width = (int)strlen(run->label[i]) + 2;
        columns[0].width = width > columns[0].width ? width : columns[0].width;
    }
    run->table = (table_t)TABLE(check_schema, output);
    run->values = check_allocate(run, run->settings.repeats * run->checked, sizeof run->values[0]);
    if (output->format != FORMAT_TABLE && is_sampled)
        fprintf(stderr, "%s: seed: %lld\n", run->world.program, (long long)run->settings.seed);
    if (output->format == FORMAT_TABLE) {
        world_describe(&run->world, file, "error of the global clock against that of rank 0");
        fprintf(file, "# Checked: %d of %d ranks, by %lld exchanges each", run->checked, run->world.ranks - 1,
                (long long)run->settings.exchanges);
        fprintf(file, is_sampled ? "; seed %lld\n" : "\n", (long long)run->settings.seed);
        fprintf(file,
                run->has_truth ? "# Truth: the processor's counter, %s\n"
                               : "# Truth: none, %s; errors are known by messages only\n",
                run->truth.reason);
        if (run->settings.keep_ms > 0)
            fprintf(file, "# Clocks: kept by MPIX_Harmonize, called each %g ms\n", run->settings.keep_ms);
        else
            fprintf(file, "# Clocks: free-running after one synchronization\n");
        fprintf(file, "# Resolution: %lld ns, the step of the global clock\n", (long long)run->step_ns);
    }
    head_add(&head, "package", "libmpix_harmonize %s", options_version());
    head_add(&head, "resolution_ns", "%lld", (long long)run->step_ns);
    table_head(&run->table, head.items, head.count);
    if (raw.output->file)
        table_head(&raw, head.items, head.count);
}

/* Writes the checks of one run at one age to the raw file. */
static void write_raw(const check_run_t *run, int label, int repeat, int age)
{
    const table_t raw = TABLE(check_raw_schema, &run->settings.results.raw);
    const check_t *checks = check_checks_of(run, label, repeat, age);
    if (!raw.output->file)
        return;
    for (const check_t *check = checks; check < checks + run->checked; check++) {
        const char *no_truth = run->has_truth ? NULL : "";
        table_row(&raw, (cell_t[]){{run->label[label], 0},
                                   {NULL, repeat + 1},
                                   {NULL, run->checked_rank[check - checks]},
                                   {NULL, check->age_s * 1e9},
                                   {NULL, (double)check->error_ns},
                                   {NULL, (double)check->half_width_ns},
                                   {no_truth, check->true_ns},
                                   {no_truth, check->true_half_width_ns},
                                   {check->bound_ns != INT64_MAX ? NULL : "", (double)check->bound_ns},
                                   {NULL, check->is_violation}});
    }
    output_flush(raw.output->file);
}

/* Fills the values with the errors without their signs, in ascending order. Returns how many. */
static int64_t gather(const check_run_t *run, int label, int age, extremes_t *max)
{
    int64_t count = 0;
    *max = (extremes_t){0};
    for (int repeat = 0; repeat < run->settings.repeats; repeat++) {
        for (int i = 0; i < run->checked; i++) {
            const check_t *check = &check_checks_of(run, label, repeat, age)[i];
            run->values[count++] = llabs(check->error_ns);
            max->half_width_ns = greater(max->half_width_ns, check->half_width_ns);
            max->bound_ns = greater(max->bound_ns, check->bound_ns);
            max->true_ns = fmax(max->true_ns, fabs(check->true_ns));
            max->violations += check->is_violation;
        }
    }
    mh_sort(run->values, count);
    return count;
}

static double median_of_runs_ns(const check_run_t *run, int label, bool call)
{
    for (int repeat = 0; repeat < run->settings.repeats; repeat++) {
        const trial_t *trial = check_trial_of(run, label, repeat);
        run->values[repeat] = call ? trial->call_ns : trial->sync_ns;
    }
    return (double)mh_median(run->values, (int)run->settings.repeats);
}

static void print_row(check_run_t *run, int label, int age)
{
    double took_ns = median_of_runs_ns(run, label, false), call_ns = median_of_runs_ns(run, label, true);
    int64_t syncs = 0;
    extremes_t max;
    int64_t count = gather(run, label, age, &max);
    for (int repeat = 0; repeat < run->settings.repeats; repeat++)
        syncs = greater(syncs, check_trial_of(run, label, repeat)->syncs[age]);
    run->check_count += count;
    run->violations += max.violations;
    table_row(&run->table, (cell_t[]){{run->label[label], 0},
                                      {NULL, run->settings.ages_s.values[age] * 1e9},
                                      {NULL, took_ns},
                                      {NULL, call_ns},
                                      {NULL, (double)syncs},
                                      {NULL, (double)count},
                                      {NULL, (double)quantile(run->values, count, 0.5)},
                                      {NULL, (double)quantile(run->values, count, 0.99)},
                                      {NULL, (double)run->values[count - 1]},
                                      {NULL, (double)max.half_width_ns},
                                      {run->has_truth ? NULL : "", max.true_ns},
                                      {max.bound_ns == INT64_MAX ? "" : NULL, (double)max.bound_ns},
                                      {NULL, (double)max.violations}});
}

void check_print_age(check_run_t *run, int label, int repeat, int age)
{
    write_raw(run, label, repeat, age);
    if (repeat == run->settings.repeats - 1)
        print_row(run, label, age);
}
