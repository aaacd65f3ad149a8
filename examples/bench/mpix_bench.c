/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_bench - how long MPI operations take, under a choice of how processes start together.
 *
 * All jobs are checked, and their memory is really asked for, before the first one is measured.
 */
#include "suite/bench.h"
#include "suite/provenance.h"

#include <mpix_harmonize.h>

#include <math.h>
#include <stdlib.h>
#include <time.h>

/* Columns of percentiles have names with so many digits. */
#define MIN_PERCENT_STEP 1e-6
/* Processes that stand aside look so often whether the others are done: they are not to disturb them. */
enum { ASIDE_PAUSE_NS = 1000 * 1000 };

static bool share_plan(bench_t *bench, int argc, char **argv)
{
    plan_t *plan = &bench->plan;
    int outcome = OPTIONS_RUN;
    int told[2];
    if (bench_is_root(bench))
        outcome = plan_read(plan, bench->world.program, argc, argv, bench->world.ranks);
    told[0] = outcome;
    told[1] = plan->job_count;
    MPI_Bcast(told, 2, MPI_INT, 0, bench->world.comm);
    bench->status = told[0] == OPTIONS_BAD ? STATUS_BAD_OPTION : STATUS_GOOD;
    if (told[0] != OPTIONS_RUN)
        return false;
    plan->job_count = told[1];
    if (!bench_is_root(bench))
        plan->jobs = malloc((size_t)plan->job_count * sizeof(plan->jobs[0]));
    if (!world_all(&bench->world, plan->jobs != NULL)) {
        bench->status = world_refuse(&bench->world, "out of memory");
        return false;
    }
    for (int i = 0; i < plan->job_count; i++)
        MPI_Bcast(&plan->jobs[i], sizeof(plan->jobs[0]), MPI_BYTE, 0, bench->world.comm);
    return true;
}

/* ---- Jobs */

/* Processes that stand aside wait without spinning. */
static void wait_for_all(const bench_t *bench)
{
    const struct timespec pause = {.tv_nsec = ASIDE_PAUSE_NS};
    MPI_Request request;
    int done = 0;
    world_require(&bench->world, MPI_Ibarrier(bench->world.comm, &request), "MPI_Ibarrier");
    if (communicator_takes_part(&bench->communicator)) {
        world_require(&bench->world, MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Ibarrier");
        return;
    }
    for (;;) {
        world_require(&bench->world, MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done)
            return;
        nanosleep(&pause, NULL);
    }
}

/* Returns false where a call failed. */
static bool run_jobs(bench_t *bench, const job_t *jobs, int count)
{
    if (!bench_open_communicator(bench, &jobs->comm))
        return false;
    if (communicator_takes_part(&bench->communicator))
        bench_run_turns(bench, jobs, count);
    if (jobs->comm.kind == COMM_EVERY)
        wait_for_all(bench);
    return true;
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

static void prepare_report(bench_t *bench)
{
    const bench_settings_t *settings = &bench->plan.settings;
    report_t *report = &bench->report;
    report->full = settings->full != 0;
    report->fractions = bench->fractions;
    choose_fractions(bench, &settings->tail);
    for (int i = 0; i < bench->plan.job_count; i++) {
        report->overlap = report->overlap || bench->plan.jobs[i].settings.overlap;
        report->arrival = report->arrival || bench->plan.jobs[i].arrivals.given;
        report->validated = report->validated || bench->plan.jobs[i].settings.validation;
        const shape_t *shape = operation_at(bench->plan.jobs[i].operation)->shape;
        report->latency = report->latency || shape->takes_turns;
        report->bandwidth = report->bandwidth || shape->messages > 0;
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

/* Returns an exit status. */
static int check(bench_t *bench)
{
    plan_t *plan = &bench->plan;
    int status = STATUS_GOOD;
    for (int i = 0; i < plan->job_count && status == STATUS_GOOD; i++)
        status = bench_check_job(bench, &plan->jobs[i]);
    if (status == STATUS_GOOD)
        bench_share_memory(bench);
    for (int i = 0, count; i < plan->job_count && status == STATUS_GOOD; i += count) {
        count = bench_count_turns(bench, i);
        status = bench_check_memory(bench, &plan->jobs[i], count);
    }
    return status;
}

static void run(bench_t *bench, int argc, char **argv)
{
    int flag;
    bench->status = check(bench);
    if (bench->status != STATUS_GOOD)
        return;
    if (!bench_open_files(bench)) {
        bench->status = STATUS_BAD_OPTION;
        return;
    }
    bench->status = STATUS_FAILED;
    /* The call that a bad setting of the library makes fail, on all ranks. */
    if (!world_agree(&bench->world, MPIX_Harmonize(bench->world.comm, &flag), "MPIX_Harmonize"))
        return;
    bench->status = STATUS_GOOD;
    prepare_report(bench);
    write_head(bench, argc, argv);
    for (int i = 0, count; i < bench->plan.job_count; i += count) {
        count = bench_count_turns(bench, i);
        if (!run_jobs(bench, &bench->plan.jobs[i], count)) {
            bench->status = STATUS_FAILED;
            return;
        }
    }
    if (bench_is_root(bench) && chart_draw(&bench->chart, &bench->world) != STATUS_GOOD)
        bench->status = STATUS_FAILED;
}

int main(int argc, char **argv)
{
    static bench_t bench;
    world_begin(&bench.world, plan_program(argc > 0 ? argv[0] : ""), &argc, &argv);
    if (share_plan(&bench, argc, argv))
        run(&bench, argc, argv);
    bench_close_communicator(&bench);
    if (bench_is_root(&bench) && !bench_close_files(&bench) && bench.status == STATUS_GOOD)
        bench.status = STATUS_FAILED;
    plan_free(&bench.plan);
    return world_end(&bench.world, bench.status);
}
