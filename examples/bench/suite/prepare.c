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
        job->buffer_bytes = bytes;
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
                   check_limit(bench, job)
               ? STATUS_GOOD
               : STATUS_BAD_OPTION;
}

/* ---- Jobs that take turns */

/* All ranks of a node have the same memory. Some of it is left to others. */
#define TURNS_PART 0.5

void bench_share_memory(bench_t *bench)
{
    bench->turn_bytes = (int64_t)(TURNS_PART * work_available_bytes() / bench->world.node_ranks);
    MPI_Allreduce(MPI_IN_PLACE, &bench->turn_bytes, 1, MPI_INT64_T, MPI_MIN, bench->world.comm);
}

/* What a job needs on rank 0 while others take turns with it: buffers, and the samples of the size with the most. */
static int64_t turn_bytes(const bench_t *bench, const job_t *job)
{
    int64_t most = 0;
    for (int i = 0; i < job->settings.sizes.count; i++) {
        int64_t wanted = job_wanted(job, job->settings.sizes.bytes[i]);
        most = wanted > most ? wanted : most;
    }
    return job->buffer_bytes + most * bench->world.ranks * (int64_t)(sizeof(call_times_t) + 1);
}

int bench_count_turns(const bench_t *bench, int first)
{
    const job_t *jobs = &bench->plan.jobs[first];
    int64_t limit_bytes = bench->turn_bytes, bytes = 0;
    for (int count = 0; first + count < bench->plan.job_count; count++) {
        int64_t job_limit_bytes = job_mem_limit_bytes(&jobs[count]);
        limit_bytes = job_limit_bytes < limit_bytes ? job_limit_bytes : limit_bytes;
        bytes += turn_bytes(bench, &jobs[count]);
        if (count > 0 && (bytes > limit_bytes || strcmp(jobs[0].comm.text, jobs[count].comm.text) != 0))
            return count;
    }
    return bench->plan.job_count - first;
}

static bool open_and_close(bench_t *bench, const job_t *jobs, int count)
{
    work_plan_t plan = bench_plan_work(bench, jobs);
    char why[WORK_WHY_BYTES] = "";
    work_t *work = NULL;
    bool takes_part = communicator_takes_part(&bench->communicator);
    if (takes_part)
        work = work_open(&plan, why);
    bool good = world_all(&bench->world, !takes_part || work != NULL);
    if (!good)
        world_refuse(&bench->world, "%s of %lld bytes: %s", plan.operation->name, (long long)plan.max_bytes,
                     why[0] != '\0' ? why : "another group of ranks cannot be made ready");
    else if (count > 1)
        good = open_and_close(bench, jobs + 1, count - 1);
    work_close(work);
    return good;
}

int bench_check_memory(bench_t *bench, const job_t *jobs, int count)
{
    if (!bench_open_communicator(bench, &jobs->comm))
        return STATUS_FAILED;
    return open_and_close(bench, jobs, count) ? STATUS_GOOD : STATUS_BAD_OPTION;
}

/* ---- Files */

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
