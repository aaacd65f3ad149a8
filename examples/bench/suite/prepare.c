/* SPDX-License-Identifier: BSD-3-Clause */
/* prepare.c - what is found out before anything is measured: communicators, roots, arrivals, memory. */
#include "suite/bench.h"

#include "common/machine_clock.h"
#include "suite/arena.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* So many jobs take turns at most: some have communicators, of which MPI libraries have a few thousand. */
enum { MAX_TURNS = 256 };

void bench_close_communicator(bench_t *bench)
{
    if (bench->choice != NULL)
        communicator_close(&bench->communicator, &bench->world);
    bench->choice = NULL;
}

void bench_open_communicator(bench_t *bench, const communicator_choice_t *choice)
{
    if (bench->choice != NULL && strcmp(bench->choice->text, choice->text) == 0)
        return;
    bench_close_communicator(bench);
    bench->choice = choice;
    communicator_open(&bench->communicator, &bench->world, choice);
}

work_plan_t bench_plan_work(const bench_t *bench, const job_t *job)
{
    work_plan_t plan = {.span = &bench->communicator.span,
                        .operation = operation_at(job->operation),
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

int bench_count_turns(const bench_t *bench, int first)
{
    const job_t *jobs = &bench->plan.jobs[first];
    int count = 1;
    while (count < MAX_TURNS && first + count < bench->plan.job_count &&
           strcmp(jobs[0].comm.text, jobs[count].comm.text) == 0)
        count++;
    return count;
}

/* ---- A job. Rank 0 tells what is wrong with it. */

static bool check_ranks(const bench_t *bench, const job_t *job)
{
    const operation_t *operation = operation_at(job->operation);
    int least = bench->communicator.least_ranks, root = (int)job->settings.root;
    if (least < operation->shape->min_ranks)
        world_refuse(&bench->world, "%s needs at least %d ranks, and there is %d", operation->name,
                     operation->shape->min_ranks, least);
    else if (root >= least)
        world_refuse(&bench->world, "option --root: %d is not allowed, give a rank from 0 to %d, or rotate", root,
                     least - 1);
    else
        return true;
    return false;
}

static bool check_arrivals(const bench_t *bench, const arrival_list_t *list)
{
    const arrival_table_t *tables = bench->plan.tables.items;
    int least = bench->communicator.least_ranks, most = bench->communicator.most_ranks;
    for (int i = 0; i < list->count; i++) {
        const arrival_t *arrival = &list->items[i];
        if (arrival->shape == ARRIVAL_ONE_LATE && arrival->rank >= least)
            world_refuse(&bench->world, "option --arrival: rank %d of \"%s\" is not allowed, give 0 to %d",
                         arrival->rank, arrival->text, least - 1);
        else if (arrival->shape == ARRIVAL_FILE &&
                 (tables[arrival->table].ranks != least || tables[arrival->table].ranks != most))
            world_refuse(&bench->world, "option --arrival: \"%s\" has delays of %d ranks, give one of %d",
                         arrival->text, tables[arrival->table].ranks, most);
        else
            continue;
        return false;
    }
    return true;
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
                     option, name, (long long)plan->max_bytes, cache_modes[plan->cache], (long long)bytes,
                     (long long)job_mem_limit_bytes(job));
}

/* Compares buffers with the limit. Sizes that nobody asked for are left out instead. */
static bool check_limit(bench_t *bench, job_t *job)
{
    for (;;) {
        work_plan_t plan = bench_plan_work(bench, job);
        int64_t own_bytes = communicator_takes_part(&bench->communicator) ? work_bytes(&plan) : 0, bytes;
        /* Without a sign, -1 is the greatest. */
        MPI_Allreduce(&own_bytes, &bytes, 1, MPI_UINT64_T, MPI_MAX, bench->world.comm);
        if (bytes >= 0 && bytes <= job_mem_limit_bytes(job)) {
            bench->memory_bytes = own_bytes > bench->memory_bytes ? own_bytes : bench->memory_bytes;
            return true;
        }
        if (job->settings.sizes.given || job->settings.sizes.count == 1) {
            refuse_sizes(bench, job, &plan, bytes);
            return false;
        }
        remove_size(job, plan.max_bytes);
    }
}

/* ---- All jobs */

/* Memory that this node can still give out; all of it where the system tells no more. */
static double available_bytes(void)
{
    char kib[KERNEL_WORD_BYTES];
    if (kernel_value("/proc/meminfo", "MemAvailable", kib, sizeof(kib)))
        return strtod(kib, NULL) * 1024;
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

/* The node is asked before any memory is touched, as malloc grants more than there is. */
static int take_memory(bench_t *bench)
{
    const world_t *world = &bench->world;
    double node_bytes = (double)bench->memory_bytes;
    MPI_Comm node;
    MPI_Comm_split_type(world->comm, MPI_COMM_TYPE_SHARED, world->rank, MPI_INFO_NULL, &node);
    MPI_Allreduce(MPI_IN_PLACE, &node_bytes, 1, MPI_DOUBLE, MPI_SUM, node);
    MPI_Comm_free(&node);
    /* All look before the first one takes its part. */
    if (world_all(world, node_bytes <= available_bytes()))
        bench->memory = arena_allocate(bench->memory_bytes);
    if (world_all(world, bench->memory != NULL))
        return STATUS_GOOD;
    return world_refuse(world,
                        "option --message-size: the buffers need %.0f MB on the node of rank 0, or as much on "
                        "another, more than there is: give less",
                        node_bytes / 1e6);
}

int bench_check(bench_t *bench)
{
    for (int i = 0; i < bench->plan.job_count; i++) {
        job_t *job = &bench->plan.jobs[i];
        bench_open_communicator(bench, &job->comm);
        if (!check_ranks(bench, job) || !check_arrivals(bench, &job->arrivals) || !check_limit(bench, job))
            return STATUS_BAD_OPTION;
    }
    return take_memory(bench);
}
