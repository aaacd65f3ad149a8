/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c - the tables: a row for each label and age, or for each rank checked. */
#include "check/check.h"

#include "common/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first column of both is as wide as the longest label. */
static const column_t summary_columns[] = {
    {"sync", "sync", 0, 0, 0},           {"age(s)", "age_ns", 9, 2, 1e9},
    {"took(ms)", "took_ns", 11, 3, 1e6}, {"call(ms)", "call_ns", 11, 3, 1e6},
    {"syncs", "syncs", 7, 0, 0},         {"checks", "checks", 8, 0, 0},
    {"p50(ns)", "p50_ns", 11, 0, 0},     {"p99(ns)", "p99_ns", 11, 0, 0},
    {"max(ns)", "max_ns", 11, 0, 0},     {"half(ns)", "half_width_ns", 11, 0, 0},
    {"true(ns)", "true_ns", 13, 1, 0},   {"bound(ns)", "bound_ns", 12, 0, 0},
    {"viol", "violations", 6, 0, 0},
};
enum { SUMMARY_COLUMNS = sizeof(summary_columns) / sizeof(summary_columns[0]) };

static const column_t rank_columns[] = {
    {"sync", "sync", 0, 0, 0},           {"run", "run", 6, 0, 0},
    {"rank", "rank", 8, 0, 0},           {"age(s)", "age_ns", 11, 4, 1e9},
    {"error(ns)", "error_ns", 12, 0, 0}, {"half(ns)", "half_width_ns", 11, 0, 0},
    {"true(ns)", "true_ns", 13, 1, 0},   {"half(ns)", "true_half_width_ns", 11, 1, 0},
    {"bound(ns)", "bound_ns", 12, 0, 0}, {"viol", "violation", 6, 0, 0},
};
enum { RANK_COLUMNS = sizeof(rank_columns) / sizeof(rank_columns[0]) };

bool check_report_open(report_t *report, const check_run_t *run)
{
    bool ranks = run->settings.ranks != 0;
    int64_t repeat = run->settings.repeat;
    int width = 6;

    *report = (report_t){.run = run};
    memcpy(report->columns, ranks ? rank_columns : summary_columns,
           ranks ? sizeof(rank_columns) : sizeof(summary_columns));
    for (int i = 0; i < run->plan.labels; i++) {
        int length = (int)strlen(run->plan.label[i]) + 2;

        width = length > width ? length : width;
    }
    report->columns[0].width = width;
    report->table = (table_t){report->columns, ranks ? RANK_COLUMNS : SUMMARY_COLUMNS, &run->settings.output};
    report->values = malloc((size_t)repeat * (size_t)run->checked * sizeof(report->values[0]));
    return report->values != NULL;
}

void check_print_head(const report_t *report)
{
    const check_run_t *run = report->run;
    FILE *file = run->settings.output.file;

    if (run->settings.output.format != FORMAT_TABLE && check_is_sampled(run))
        fprintf(stderr, "%s: seed: %lld\n", run->world.program, (long long)run->settings.seed);
    if (run->settings.output.format == FORMAT_TABLE) {
        world_describe(&run->world, file, "error of the global clock against that of rank 0");
        fprintf(file, "# Checked: %d of %d ranks, by %lld exchanges each", run->checked, run->world.ranks - 1,
                (long long)run->settings.exchanges);
        fprintf(file, check_is_sampled(run) ? "; seed %lld\n" : "\n", (long long)run->settings.seed);
        fprintf(file, "# Truth: %s\n", run->truth_text);
        if (run->settings.keep_ms > 0)
            fprintf(file, "# Clocks: kept by MPIX_Harmonize, called each %g ms\n", run->settings.keep_ms);
        else
            fprintf(file, "# Clocks: free-running after one synchronization\n");
    }
    table_head(&report->table);
}

static const char *no_truth(const check_run_t *run)
{
    return run->has_truth ? NULL : "";
}

static const char *no_bound(int64_t bound_ns)
{
    return bound_ns == INT64_MAX ? "" : NULL;
}

static void print_ranks(report_t *report, int label, int repeat, int age, double tick_ns)
{
    const check_run_t *run = report->run;
    const check_t *checks = check_checks_of(run, label, repeat, age);

    for (int i = 0; i < run->checked; i++) {
        const clock_error_t *error = &checks[i].error;

        table_row(&report->table, (cell_t[]){{run->plan.label[label], 0},
                                             {NULL, repeat + 1},
                                             {NULL, run->checked_rank[i]},
                                             {NULL, checks[i].age_s * 1e9},
                                             {NULL, (double)error->error_ns},
                                             {NULL, (double)error->half_width_ns},
                                             {no_truth(run), clock_error_true_ns(error, tick_ns)},
                                             {no_truth(run), clock_error_true_half_width_ns(error, tick_ns)},
                                             {no_bound(error->bound_ns), (double)error->bound_ns},
                                             {NULL, clock_error_violates_bound(error, tick_ns)}});
    }
}

void check_take_in(extremes_t *most, const clock_error_t *error, double tick_ns)
{
    most->half_width_ns = error->half_width_ns > most->half_width_ns ? error->half_width_ns : most->half_width_ns;
    most->bound_ns = error->bound_ns > most->bound_ns ? error->bound_ns : most->bound_ns;
    most->true_ns = fmax(most->true_ns, fabs(clock_error_true_ns(error, tick_ns)));
    most->violations += clock_error_violates_bound(error, tick_ns);
}

/* Fills report->values with the errors without their signs, in ascending order. Returns how many. */
static int64_t gather(report_t *report, int label, int age, double tick_ns, extremes_t *most)
{
    const check_run_t *run = report->run;
    int64_t count = 0;

    *most = (extremes_t){0};
    for (int repeat = 0; repeat < run->settings.repeat; repeat++) {
        const check_t *checks = check_checks_of(run, label, repeat, age);

        for (int i = 0; i < run->checked; i++) {
            report->values[count++] = llabs(checks[i].error.error_ns);
            check_take_in(most, &checks[i].error, tick_ns);
        }
    }
    sort_ascending(report->values, count);
    return count;
}

static double median_of_runs_ns(report_t *report, int label, bool call)
{
    const check_run_t *run = report->run;

    for (int repeat = 0; repeat < run->settings.repeat; repeat++) {
        const trial_t *trial = check_trial_of(run, label, repeat);

        report->values[repeat] = call ? trial->call_ns : trial->sync_ns;
    }
    sort_ascending(report->values, run->settings.repeat);
    return (double)quantile(report->values, run->settings.repeat, 0.5);
}

static int64_t most_syncs(const check_run_t *run, int label, int age)
{
    int64_t most = 0;

    for (int repeat = 0; repeat < run->settings.repeat; repeat++) {
        int64_t syncs = check_trial_of(run, label, repeat)->syncs[age];

        most = syncs > most ? syncs : most;
    }
    return most;
}

static void print_summary(report_t *report, int label, int age, double tick_ns)
{
    const check_run_t *run = report->run;
    double took_ns = median_of_runs_ns(report, label, false);
    double call_ns = median_of_runs_ns(report, label, true);
    extremes_t most;
    int64_t count = gather(report, label, age, tick_ns, &most);

    report->checks += count;
    report->violations += most.violations;
    if (run->settings.ranks)
        return;
    table_row(&report->table, (cell_t[]){{run->plan.label[label], 0},
                                         {NULL, run->plan.age_s[age] * 1e9},
                                         {NULL, took_ns},
                                         {NULL, call_ns},
                                         {NULL, (double)most_syncs(run, label, age)},
                                         {NULL, (double)count},
                                         {NULL, (double)quantile(report->values, count, 0.5)},
                                         {NULL, (double)quantile(report->values, count, 0.99)},
                                         {NULL, (double)report->values[count - 1]},
                                         {NULL, (double)most.half_width_ns},
                                         {no_truth(run), most.true_ns},
                                         {no_bound(most.bound_ns), (double)most.bound_ns},
                                         {NULL, (double)most.violations}});
}

void check_print_age(report_t *report, int label, int repeat, int age)
{
    const check_run_t *run = report->run;
    double tick_ns = run->has_truth ? exit_clock_tick_ns(&run->shared) : 0;

    if (run->settings.ranks)
        print_ranks(report, label, repeat, age, tick_ns);
    if (repeat == run->settings.repeat - 1)
        print_summary(report, label, age, tick_ns);
}
