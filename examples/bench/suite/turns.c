/* SPDX-License-Identifier: BSD-3-Clause */
/* turns.c - jobs that take turns: of each size, a batch of each of them, in another order each time, and so on. */
#include "suite/bench.h"

#include "common/random.h"
#include "suite/impose.h"

#include <mpix_harmonize.h>

#include <math.h>
#include <stdlib.h>

/* Jobs while they are measured. */
typedef struct turns {
    const world_t *span;
    task_t *tasks;
    int count;
    task_t **running; /* those whose row is not at its end */
    int running_count;
    batch_room_t room;
    uint64_t dice; /* the same on all ranks */
} turns_t;

/* ---- Batches */

static void run(turns_t *turns, task_t *task)
{
    turns->running[turns->running_count++] = task;
}

static void shuffle(turns_t *turns)
{
    for (int i = turns->running_count - 1; i > 0; i--) {
        int other = (int)(random_next(&turns->dice) % (uint64_t)(i + 1));
        task_t *task = turns->running[i];
        turns->running[i] = turns->running[other];
        turns->running[other] = task;
    }
}

/* Until all rows are at their end. */
static void run_batches(turns_t *turns)
{
    while (turns->running_count > 0) {
        int count = turns->running_count;
        shuffle(turns);
        turns->running_count = 0;
        for (int i = 0; i < count; i++)
            if (measure_batch(&turns->running[i]->measure))
                run(turns, turns->running[i]);
    }
    world_progress(turns->span, "%s", "");
}

/* ---- Rows */

/* The rows of all jobs that have this size and so many patterns. Returns false where there is none. */
static bool run_pattern(bench_t *bench, turns_t *turns, int64_t size_bytes, int pattern)
{
    bool any = false;
    for (int i = 0; i < turns->count; i++) {
        task_t *task = &turns->tasks[i];
        any = any || (task->is_at_size && pattern < task->measure.job->arrivals.count);
        if (bench_begin_row(bench, task, size_bytes, pattern))
            run(turns, task);
    }
    run_batches(turns);
    for (int i = 0; i < turns->count; i++)
        if (turns->tasks[i].has_row && bench_begin_overlap(bench, &turns->tasks[i]))
            run(turns, &turns->tasks[i]);
    run_batches(turns);
    for (int i = 0; i < turns->count; i++)
        if (turns->tasks[i].has_row)
            bench_finish_row(bench, &turns->tasks[i]);
    return any;
}

/* ---- Sizes */

/* The first size of a job that was not measured. Returns false where there is none. */
static bool find_size(const task_t *task, int64_t *size_bytes)
{
    const size_list_t *sizes = &task->measure.job->settings.sizes;
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
    measure_t *measure = &task->measure;
    const size_list_t *sizes = &measure->job->settings.sizes;
    int place = 0;
    while (place < sizes->count && (task->is_done[place] || sizes->bytes[place] != size_bytes))
        place++;
    task->is_at_size = place < sizes->count;
    if (!task->is_at_size)
        return;
    task->is_done[place] = true;
    task->together = (together_t){0, NAN};
    world_require(measure->span, work_set_size(measure->work, size_bytes), measure->function);
}

/* The sizes of the first job, then what others have besides. */
static void run_sizes(bench_t *bench, turns_t *turns)
{
    int64_t size_bytes = 0;
    for (int i = 0; i < turns->count; i++)
        while (find_size(&turns->tasks[i], &size_bytes)) {
            for (int j = 0; j < turns->count; j++)
                begin_size(&turns->tasks[j], size_bytes);
            for (int pattern = 0; run_pattern(bench, turns, size_bytes, pattern);)
                pattern++;
        }
}

/* ---- Jobs */

static void open_task(bench_t *bench, turns_t *turns, const job_t *job, task_t *task)
{
    const world_t *span = turns->span;
    work_plan_t plan = bench_plan_work(bench, job);
    measure_t *measure = &task->measure;
    char why[WORK_WHY_BYTES] = "";
    *measure = (measure_t){.world = &bench->world,
                           .job = job,
                           .span = span,
                           .function = plan.operation->function,
                           .room = &turns->room,
                           .takes_turns = turns->count > 1};
    measure->work = work_open(&plan, why);
    if (!world_all(span, measure->work != NULL))
        world_abort(span, why[0] != '\0' ? why : "another group of ranks cannot be made ready");
    measure_open(measure);
    impose_open(measure, &bench->communicator);
    bench_name_keys(bench, task);
    bench_tell_cache(bench, job);
    if (!bench_is_root(bench))
        return;
    int rows = (int)job->settings.sizes.count * job->arrivals.count;
    task->kept = world_room(&bench->world, rows, sizeof(task->kept[0]), "");
    if (!measure->takes_turns)
        bench_begin_rows(bench, task);
}

static void close_task(bench_t *bench, task_t *task)
{
    if (bench_is_root(bench) && task->measure.takes_turns) {
        bench_begin_rows(bench, task);
        bench_write_rows(bench, task);
    }
    impose_close(&task->measure);
    work_close(task->measure.work);
    free(task->kept);
}

void bench_run_turns(bench_t *bench, const job_t *jobs, int count)
{
    const world_t *span = &bench->communicator.span;
    turns_t turns = {.span = span, .count = count, .dice = (uint64_t)jobs[0].settings.seed};
    int flag;
    turns.tasks = world_room(&bench->world, count, sizeof(turns.tasks[0]), "");
    turns.running = world_room(&bench->world, count, sizeof(turns.running[0]), "");
    if (!batch_room_open(&turns.room, span))
        world_abort(span, "out of memory");
    /* Whatever the scheme, the library gets ready for the span here: its clock, its tolerance. */
    world_require(span, MPIX_Harmonize(span->comm, &flag), "MPIX_Harmonize");
    world_require(span, MPIX_Clock_sync(span->comm), "MPIX_Clock_sync");
    for (int i = 0; i < count; i++)
        open_task(bench, &turns, &jobs[i], &turns.tasks[i]);
    run_sizes(bench, &turns);
    for (int i = 0; i < count; i++)
        close_task(bench, &turns.tasks[i]);
    batch_room_close(&turns.room);
    free(turns.running);
    free(turns.tasks);
}
