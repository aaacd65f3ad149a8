/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_bench - how long MPI operations take, under a choice of how processes start together.
 *
 * All jobs are checked, and their memory is really asked for, before the first one is measured.
 */
#include "common/machine_clock.h"
#include "suite/bench.h"
#include "suite/provenance.h"

#include <mpix_harmonize.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Columns of percentiles have names with so many digits. */
#define MIN_PERCENT_STEP 1e-6
/* Processes that stand aside look so often whether the others are done: they are not to disturb them. */
enum { ASIDE_PAUSE_NS = 1000 * 1000 };

/* Reads the plan on rank 0, and gives it to all. Returns true to go on; else *status is the exit status. */
static bool share_plan(bench_t *bench, int argc, char **argv, int *status)
{
    plan_t *plan = &bench->plan;
    int told[2] = {OPTIONS_RUN};
    if (bench_is_root(bench))
        told[0] = plan_read(plan, bench->world.program, argc, argv, bench->world.ranks);
    told[1] = plan->job_count;
    MPI_Bcast(told, 2, MPI_INT, 0, bench->world.comm);
    *status = told[0] == OPTIONS_BAD ? STATUS_BAD_OPTION : STATUS_GOOD;
    if (told[0] != OPTIONS_RUN)
        return false;
    plan->job_count = told[1];
    if (!bench_is_root(bench))
        plan->jobs = world_room(&bench->world, plan->job_count, sizeof(plan->jobs[0]), "");
    for (int i = 0; i < plan->job_count; i++)
        MPI_Bcast(&plan->jobs[i], sizeof(plan->jobs[0]), MPI_BYTE, 0, bench->world.comm);
    impose_share(&bench->world, &plan->tables);
    return true;
}

/* ---- Jobs */

/* Without spinning. */
static void wait_for_all(const bench_t *bench)
{
    MPI_Request request;
    int done = 0;
    world_require(&bench->world, MPI_Ibarrier(bench->world.comm, &request));
    while (!done) {
        system_sleep_ns(ASIDE_PAUSE_NS);
        world_require(&bench->world, MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    }
}

static void run_jobs(bench_t *bench, const job_t *jobs, int count)
{
    bench_open_communicator(bench, &jobs->comm);
    if (communicator_takes_part(&bench->communicator))
        bench_run_turns(bench, jobs, count);
    if (jobs->comm.kind == COMM_EVERY)
        wait_for_all(bench);
}

/* A percentile that is asked for twice is shown once: columns have different names. */
static void choose_fractions(bench_t *bench, const number_list_t *tail)
{
    for (int i = 0; i < (int)tail->count; i++) {
        bool is_new = true;
        for (int j = 0; j < i; j++)
            is_new = is_new && fabs(tail->values[i] - tail->values[j]) >= MIN_PERCENT_STEP;
        if (is_new)
            bench->fractions[bench->report.fraction_count++] = tail->values[i] / 100;
    }
}

/* Columns of texts are as wide as the longest of all jobs. */
static void choose_widths(report_t *report, const plan_t *plan)
{
    for (int i = 0; i < plan->job_count; i++) {
        const job_t *job = &plan->jobs[i];
        int width = snprintf(NULL, 0, "%d:%s", i + 1, operation_at(job->operation)->name);
        report->label_width = width > report->label_width ? width : report->label_width;
        for (int k = 0; k < job->arrivals.count; k++) {
            width = (int)strlen(job->arrivals.items[k].text);
            report->arrival_width = width > report->arrival_width ? width : report->arrival_width;
        }
    }
}

static void prepare_report(bench_t *bench)
{
    const plan_t *plan = &bench->plan;
    report_t *report = &bench->report;
    report->output = plan->settings.results.output;
    report->full = plan->settings.full != 0;
    report->fractions = bench->fractions;
    choose_fractions(bench, &plan->settings.tail);
    choose_widths(report, plan);
    report->parts = plan->job_count > 1 ? PART_LABEL : 0;
    for (int i = 0; i < plan->job_count; i++) {
        const job_t *job = &plan->jobs[i];
        const shape_t *shape = operation_at(job->operation)->shape;
        report->parts |= (job->settings.overlap ? PART_OVERLAP : 0) | (job->arrivals.given ? PART_ARRIVAL : 0) |
                         (job->settings.validation ? PART_VALIDATION : 0) | (shape->takes_turns ? PART_LATENCY : 0) |
                         (shape->messages > 0 ? PART_BANDWIDTH : 0);
    }
}

/* How operations follow each other. */
static void name_order(const bench_t *bench, provenance_t *provenance)
{
    int turns = 0, jobs = bench->plan.job_count;
    for (int i = 0; i < jobs; i += bench_count_turns(bench, i))
        turns++;
    provenance_item_t *item = &provenance->items[provenance->count++];
    item->key = "order";
    if (turns == jobs)
        snprintf(item->value, sizeof(item->value), "%s", jobs > 1 ? "one after the other" : "one operation");
    else
        snprintf(item->value, sizeof(item->value), turns > 1 ? "interleaved in %d groups" : "interleaved", turns);
}

static void write_head(bench_t *bench, int argc, char **argv)
{
    static provenance_t provenance;
    provenance_collect(&provenance, &bench->world, argc, argv, bench->plan.jobs[0].settings.seed);
    if (!bench_is_root(bench))
        return;
    name_order(bench, &provenance);
    report_head(&bench->report, provenance.items, provenance.count);
    if (bench->plan.settings.results.raw.file != NULL)
        report_raw_head(bench->plan.settings.results.raw.file);
}

/* Columns: job, bytes, median, the ends of its confidence interval. */
static const plot_chart_t chart = {
    "Run times of MPI operations",
    "set xlabel 'message size (bytes)'; set ylabel 'median run time (us), 95 % confidence interval'\n"
    "eval logarithmic('y', 3)\n"
    "eval curves('for [end = 4:5] for [i = 1:words(names)] $rows using (of(i)):(column(end)) "
    "smooth unique with lines linecolor i notitle, ', '" PLOT_POINTS "')\n"};

/* Returns an exit status. */
static int run(bench_t *bench, int argc, char **argv)
{
    int flag, status = bench_check(bench);
    if (status == STATUS_GOOD)
        status = results_open(&bench->plan.settings.results, &bench->world, &chart);
    if (status != STATUS_GOOD)
        return status;
    /* The call that a bad setting of the library makes fail, on all ranks. */
    if (!world_agree(&bench->world, MPIX_Harmonize(bench->world.comm, &flag), "MPIX_Harmonize"))
        return STATUS_FAILED;
    prepare_report(bench);
    write_head(bench, argc, argv);
    for (int i = 0, count; i < bench->plan.job_count; i += count) {
        count = bench_count_turns(bench, i);
        run_jobs(bench, &bench->plan.jobs[i], count);
    }
    return bench->status;
}

int main(int argc, char **argv)
{
    static bench_t bench;
    int status;
    world_begin(&bench.world, plan_program(argc > 0 ? argv[0] : ""), &argc, &argv);
    if (share_plan(&bench, argc, argv, &status))
        status = run(&bench, argc, argv);
    bench_close_communicator(&bench);
    free(bench.memory);
    status = results_close(&bench.plan.settings.results, &bench.world, status);
    plan_free(&bench.plan);
    return world_end(&bench.world, status);
}
