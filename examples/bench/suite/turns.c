/* SPDX-License-Identifier: BSD-3-Clause */
/* turns.c - jobs that take turns: of each size, a batch of each of them, in another order each time, and so on. */
#include "suite/bench.h"

#include "common/random.h"

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

static void shuffle(turns_t *turns)
{
    for (int i = turns->running_count - 1; i > 0; i--) {
        int other = (int)(random_next(&turns->dice) % (uint64_t)(i + 1));
        task_t *task = turns->running[i];
        turns->running[i] = turns->running[other];
        turns->running[other] = task;
    }
}

/* Until all rows are at their end, each of which is written at once. */
static void run_batches(bench_t *bench, turns_t *turns)
{
    while (turns->running_count > 0) {
        int count = turns->running_count;
        shuffle(turns);
        turns->running_count = 0;
        for (int i = 0; i < count; i++) {
            task_t *task = turns->running[i];
            if (measure_batch(task) || bench_end_calls(bench, task))
                turns->running[turns->running_count++] = task;
        }
    }
}

/* ---- Sizes */

/* The first size of a job that was not measured. Returns false where there is none. */
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
                     .raw = bench->plan.settings.results.raw.file,
                     .index = (int)(job - bench->plan.jobs)};
    MPI_Comm_rank(plan.comm, &task->imposed.rank);
    MPI_Comm_size(plan.comm, &task->imposed.ranks);
    task->work = work_open(&plan, bench->memory);
    measure_open(task);
    bench_name_keys(bench, task);
    if (bench_is_root(bench))
        bench_tell_job(bench, task);
}

void bench_run_turns(bench_t *bench, const job_t *jobs, int count)
{
    const world_t *span = &bench->communicator.span;
    turns_t turns = {.count = count, .dice = (uint64_t)jobs[0].settings.seed};
    int64_t size_bytes;
    int flag;
    turns.tasks = world_room(span, count, sizeof(turns.tasks[0]), "");
    turns.running = world_room(span, count, sizeof(turns.running[0]), "");
    batch_room_open(&turns.room, span);
    /* Whatever the scheme, the library gets ready for the span here: its clock, its tolerance. */
    world_require(span, MPIX_Harmonize(span->comm, &flag));
    world_require(span, MPIX_Clock_sync(span->comm));
    for (int i = 0; i < count; i++)
        open_task(bench, &turns, &jobs[i], &turns.tasks[i]);
    if (bench_is_root(bench))
        report_titles(&bench->report);
    /* The sizes of the first job, then what others have besides. */
    for (int i = 0; i < count; i++)
        while (find_size(&turns.tasks[i], &size_bytes))
            run_size(bench, &turns, size_bytes);
    for (int i = 0; i < count; i++)
        work_close(turns.tasks[i].work);
    batch_room_close(&turns.room);
    free(turns.running);
    free(turns.tasks);
}
