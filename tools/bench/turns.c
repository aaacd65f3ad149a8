/* SPDX-License-Identifier: BSD-3-Clause */
/* turns.c - jobs that take turns: of each size, a batch of each of them, in another order each time, and so on. */
#include "bench/bench.h"

#include "common/random.h"
#include "common/statistics.h"

#include <mpix_harmonize.h>

#include <math.h>
#include <stdlib.h>

/* Jobs while they are measured. */
typedef struct turns {
    task_t *tasks;
    int count;
    task_t **running; /* those whose row is not at its end */
    int running_count;
    batch_room_t room;
    uint64_t dice; /* the same on all ranks */
} turns_t;

/* Until all rows have ended; each is written as soon as it ends. */
static void run_batches(bench_t *bench, turns_t *turns)
{
    while (turns->running_count > 0) {
        int count = turns->running_count;
        random_shuffle(turns->running, count, sizeof turns->running[0], &turns->dice);
        turns->running_count = 0;
        for (int i = 0; i < count; i++) {
            task_t *task = turns->running[i];
            if (measure_batch(task) || bench_end_calls(bench, task))
                turns->running[turns->running_count++] = task;
        }
    }
}

/* ---- Sizes */

/* The first size of a job that was not measured. Returns false if there is none. */
static bool find_size(const task_t *task, int64_t *size_bytes)
{
    const size_list_t *sizes = &task->job->settings.sizes;
    for (int i = 0; i < sizes->count; i++)
        if (!task->is_done[i]) {
            *size_bytes = sizes->bytes[i];
            return true;
        }
    return false;
}

/* Gets ready for a size, if the job has it and it was not measured. */
static void begin_size(task_t *task, int64_t size_bytes)
{
    const size_list_t *sizes = &task->job->settings.sizes;
    int place = 0;
    while (place < sizes->count && (task->is_done[place] || sizes->bytes[place] != size_bytes))
        place++;
    task->is_at_size = place < sizes->count;
    if (!task->is_at_size)
        return;
    task->is_done[place] = true;
    task->together_ns = 0;
    task->from_last_ns = NAN;
    work_set_size(task->work, size_bytes);
}

/* Whether rows still get to their files: there is no use in measuring what is lost. Collective over the span. */
static bool can_write(bench_t *bench)
{
    const world_t *span = &bench->communicator.span;
    const results_t *results = &bench->plan.settings.results;
    int is_full =
        bench->world.rank == 0 && (ferror(results->output.file) || (results->raw.file && ferror(results->raw.file)));
    world_require(span, MPI_Bcast(&is_full, 1, MPI_INT, 0, span->comm));
    bench->is_full = is_full != 0;
    return !bench->is_full;
}

/* The rows of all jobs that have this size, pattern by pattern. */
static void run_size(bench_t *bench, turns_t *turns, int64_t size_bytes)
{
    for (int i = 0; i < turns->count; i++)
        begin_size(&turns->tasks[i], size_bytes);
    for (int pattern = 0; pattern < MAX_ARRIVALS; pattern++) {
        for (int i = 0; i < turns->count; i++)
            if (bench_begin_row(bench, &turns->tasks[i], size_bytes, pattern))
                turns->running[turns->running_count++] = &turns->tasks[i];
        run_batches(bench, turns);
    }
}

/* ---- Jobs */

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
        plan.max_bytes = greater(plan.max_bytes, job->settings.sizes.bytes[i]);
    return plan;
}

/* The keys of a task's rows. */
static void name_keys(const bench_t *bench, task_t *task)
{
    const operation_t *operation = task->operation;
    const shape_t *shape = operation->shape;
    const bench_settings_t *settings = &task->job->settings;
    const scheme_t *scheme = &release_schemes[settings->release];
    bool rotates = settings->root == ROOT_ROTATES;
    snprintf(task->root, sizeof task->root, "%d", (int)settings->root);
    snprintf(task->label, sizeof task->label, "%d:%s", 1 + (int)(task->job - bench->plan.jobs), operation->name);
    task->keys = (row_keys_t){.label = task->label,
                              .operation = operation->name,
                              .release = scheme->name,
                              .barrier = scheme->has_barrier ? barriers[settings->barrier].name : "",
                              .cadence = scheme->cadence,
                              .comm = task->job->comm.text,
                              .ranks = bench->communicator.max_ranks,
                              .datatype = operation_has_size(operation) ? datatypes[settings->datatype].name : "",
                              .reduction = shape->reduces ? reductions[settings->reduction].name : "",
                              .root = !shape->has_root ? ""
                                      : rotates        ? "rotating"
                                                       : task->root,
                              .buffers = settings->in_place ? "in place" : "separate",
                              .cache = cache_modes[settings->cache],
                              .run_time = run_times[settings->run_time],
                              .arrival = ""};
}

/* Rank 0: says what a job is, and on standard error if its buffers may stay in the cache though they are not to. */
static void tell_job(const bench_t *bench, const task_t *task)
{
    const job_t *job = task->job;
    int64_t cache_bytes = arena_cache_bytes(), used_bytes = job_cache_bytes(job, cache_bytes);
    report_job(&bench->report, &task->keys, task->operation->function);
    if (bench->report.output.format == FORMAT_TABLE && task->operation->shape->takes_turns)
        fprintf(bench->report.output.file,
                "# A call is a message there and one back; Latency is one message's, as OSU's\n");
    if (job->settings.cache != CACHE_WARM && used_bytes < cache_bytes)
        fprintf(stderr,
                "%s: %s: --cache %s takes %lld MiB of memory, for %lld MiB of cache: give --mem-limit for more\n",
                bench->world.program, task->operation->name, task->keys.cache,
                (long long)(used_bytes + used_bytes / 2) >> 20, (long long)cache_bytes >> 20);
}

static void open_task(bench_t *bench, turns_t *turns, const job_t *job, task_t *task)
{
    const world_t *span = &bench->communicator.span;
    work_plan_t plan = bench_plan_work(bench, job);
    *task = (task_t){.span = span,
                     .job = job,
                     .operation = plan.operation,
                     .room = &turns->room,
                     .takes_turns = turns->count > 1,
                     .imposed = {.seed = job->settings.seed, .tables = &bench->plan.tables},
                     .raw = bench->plan.settings.results.raw.file};
    MPI_Comm_rank(plan.comm, &task->imposed.rank);
    MPI_Comm_size(plan.comm, &task->imposed.ranks);
    task->work = work_open(&plan, bench->memory);
    measure_open(task);
    name_keys(bench, task);
    if (bench->world.rank == 0)
        tell_job(bench, task);
}

void bench_run_turns(bench_t *bench, const job_t *jobs, int count)
{
    const world_t *span = &bench->communicator.span;
    turns_t turns = {.count = count, .dice = (uint64_t)jobs[0].settings.seed};
    int64_t size_bytes;
    int flag;
    turns.tasks = world_room(span, count, sizeof turns.tasks[0], "");
    turns.running = world_room(span, count, sizeof turns.running[0], "");
    batch_room_open(&turns.room, span);
    /* Whatever the scheme, the library gets ready for the span here: its clock, its tolerance. */
    world_require(span, MPIX_Harmonize(span->comm, &flag));
    world_require(span, MPIX_Clock_sync(span->comm));
    for (int i = 0; i < count; i++)
        open_task(bench, &turns, &jobs[i], &turns.tasks[i]);
    if (bench->world.rank == 0)
        report_titles(&bench->report);
    /* The sizes of the first job, then what others have besides. */
    for (int i = 0; i < count; i++)
        while (can_write(bench) && find_size(&turns.tasks[i], &size_bytes))
            run_size(bench, &turns, size_bytes);
    for (int i = 0; i < count; i++)
        work_close(turns.tasks[i].work);
    batch_room_close(&turns.room);
    free(turns.running);
    free(turns.tasks);
}
