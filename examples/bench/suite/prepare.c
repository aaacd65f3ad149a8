/* SPDX-License-Identifier: BSD-3-Clause */
/* prepare.c - what is found out before anything is measured: communicators, roots, memory, files. */
#include "suite/bench.h"

#include "suite/arena.h"
#include "suite/impose.h"

#include <string.h>

void bench_close_communicator(bench_t *bench)
{
    if (bench->choice != NULL)
        communicator_close(&bench->communicator, &bench->world);
    bench->choice = NULL;
}

bool bench_open_communicator(bench_t *bench, const communicator_choice_t *choice)
{
    if (bench->choice != NULL && strcmp(bench->choice->text, choice->text) == 0)
        return true;
    bench_close_communicator(bench);
    bench->choice = choice;
    return world_agree(&bench->world, communicator_open(&bench->communicator, &bench->world, choice),
                       "making the communicator");
}

/* ---- Before anything is measured */

work_plan_t bench_plan_work(const bench_t *bench, const job_t *job)
{
    work_plan_t plan = {.operation = operation_at(job->operation),
                        .comm = bench->communicator.group,
                        .datatype = (int)job->settings.datatype,
                        .reduction = (int)job->settings.reduction,
                        .root = (int)job->settings.root,
                        .in_place = job->settings.in_place != 0,
                        .cache = (cache_mode_t)job->settings.cache,
                        .cache_bytes = job_cache_bytes(job, arena_cache_bytes())};
    for (int i = 0; i < job->settings.sizes.count; i++)
        if (job->settings.sizes.bytes[i] > plan.max_bytes)
            plan.max_bytes = job->settings.sizes.bytes[i];
    return plan;
}

static void remove_size(job_t *job, int64_t size_bytes)
{
    int kept = 0;
    for (int i = 0; i < job->settings.sizes.count; i++)
        if (job->settings.sizes.bytes[i] != size_bytes)
            job->settings.sizes.bytes[kept++] = job->settings.sizes.bytes[i];
    job->settings.sizes.count = kept;
}

static void refuse_sizes(const bench_t *bench, const job_t *job, const work_plan_t *plan, int64_t bytes)
{
    const char *name = plan->operation->name;
    const char *option = plan->cache == CACHE_WARM ? "--message-size" : "--cache";
    if (bytes < 0)
        world_refuse(&bench->world, "option --message-size: %s of %lld bytes takes more elements than MPI can count",
                     name, (long long)plan->max_bytes);
    else
        world_refuse(&bench->world,
                     "option %s: %s of %lld bytes with --cache %s needs %lld bytes of buffers on each rank, more than "
                     "--mem-limit %lld allows",
                     option, name, (long long)plan->max_bytes, cache_mode_name((int)plan->cache), (long long)bytes,
                     (long long)job_mem_limit_bytes(job));
}

/* Compares buffers with the limit. Sizes that nobody asked for are left out instead. */
static bool check_limit(bench_t *bench, job_t *job)
{
    for (;;) {
        work_plan_t plan = bench_plan_work(bench, job);
        int64_t bytes = communicator_takes_part(&bench->communicator) ? work_bytes(&plan) : 0;
        /* Groups may differ. Without a sign, -1 is the greatest. */
        MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_UINT64_T, MPI_MAX, bench->world.comm);
        if (bytes >= 0 && bytes <= job_mem_limit_bytes(job))
            return true;
        if (!job->settings.sizes.given && job->settings.sizes.count > 1) {
            remove_size(job, plan.max_bytes);
            continue;
        }
        refuse_sizes(bench, job, &plan, bytes);
        return false;
    }
}

/* Allocates, to see whether it can be done. */
static bool check_memory(bench_t *bench, const job_t *job)
{
    work_plan_t plan = bench_plan_work(bench, job);
    char why[WORK_WHY_BYTES] = "";
    work_t *work = NULL;
    bool takes_part = communicator_takes_part(&bench->communicator);
    if (takes_part)
        work = work_open(&plan, why);
    bool good = world_all(&bench->world, !takes_part || work != NULL);
    if (work != NULL)
        work_close(work);
    if (!good)
        world_refuse(&bench->world, "%s of %lld bytes: %s", plan.operation->name, (long long)plan.max_bytes,
                     why[0] != '\0' ? why : "another group of ranks cannot be made ready");
    return good;
}

static bool check_root(bench_t *bench, const job_t *job)
{
    int root = (int)job->settings.root;
    int min_ranks = bench->world.ranks;
    if (communicator_takes_part(&bench->communicator))
        MPI_Comm_size(bench->communicator.group, &min_ranks);
    MPI_Allreduce(MPI_IN_PLACE, &min_ranks, 1, MPI_INT, MPI_MIN, bench->world.comm);
    if (root < min_ranks)
        return true;
    world_refuse(&bench->world, "option --root: %d is not allowed, give a rank from 0 to %d, or rotate", root,
                 min_ranks - 1);
    return false;
}

int bench_check_job(bench_t *bench, job_t *job)
{
    if (!bench_open_communicator(bench, &job->comm))
        return STATUS_FAILED;
    return check_root(bench, job) && impose_check(&bench->world, &bench->communicator, &job->arrivals) &&
                   check_limit(bench, job) && check_memory(bench, job)
               ? STATUS_GOOD
               : STATUS_BAD_OPTION;
}

bool bench_open_files(bench_t *bench)
{
    results_t *results = &bench->plan.settings.results;
    int points = 0;
    for (int i = 0; i < bench->plan.job_count; i++)
        points += (int)bench->plan.jobs[i].settings.sizes.count;
    if (results_open(results, &bench->world) != STATUS_GOOD)
        return false;
    bench->report.output = results->output;
    if (!chart_open(&bench->chart, &results->plot, bench->plan.job_count, points))
        world_abort(&bench->world, "out of memory");
    return true;
}

bool bench_close_files(bench_t *bench)
{
    chart_close(&bench->chart);
    return results_close(&bench->plan.settings.results, &bench->world, STATUS_GOOD) == STATUS_GOOD;
}
