/* SPDX-License-Identifier: BSD-3-Clause */
/* bench.h - the parts of mpix_bench that see all of a run: preparing, turns of jobs, rows, arrivals, the chart. */
#ifndef BENCH_H
#define BENCH_H

#include "common/world.h"
#include "suite/communicator.h"
#include "suite/measure.h"
#include "suite/plan.h"
#include "suite/report.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct bench {
    world_t world;
    plan_t plan; /* the jobs are the same on all ranks */
    report_t report;
    double fractions[MAX_NUMBERS];
    communicator_t communicator;         /* of the last job */
    const communicator_choice_t *choice; /* NULL: none is open */
    char *memory;                        /* for the buffers of all jobs: only those of one are in use at a time */
    int64_t memory_bytes;                /* of this rank */
    int status;
} bench_t;

static inline bool bench_is_root(const bench_t *bench)
{
    return bench->world.rank == 0;
}

/* ---- Before anything is measured */

/* Frees the communicator of the last job, if one is open. */
void bench_close_communicator(bench_t *bench);

/* Makes the communicator of a job, if another one is open. */
void bench_open_communicator(bench_t *bench, const communicator_choice_t *choice);

/* What a job asks of its operation. */
work_plan_t bench_plan_work(const bench_t *bench, const job_t *job);

/* Looks for all that may be wrong with the jobs, and takes memory for their buffers. Collective. Returns a status. */
int bench_check(bench_t *bench);

/* How many jobs, from this one on, are measured in turns: those that follow each other with the same communicator. */
int bench_count_turns(const bench_t *bench, int first);

/* ---- Measuring */

/*
 * Measures jobs of the communicator that is open: of each size a batch of each job, then another of each, and so on. So
 * what changes on the machine meanwhile concerns all of them alike. Collective over the span.
 */
void bench_run_turns(bench_t *bench, const job_t *jobs, int count);

/* The keys of a task's rows. */
void bench_name_keys(const bench_t *bench, task_t *task);

/* Rank 0: says what a job is, and on standard error where its buffers may stay in the cache though they are not to. */
void bench_tell_job(const bench_t *bench, const task_t *task);

/*
 * bench_begin_row - begin the row of a size with a pattern. Collective over the span, likewise the next one.
 *
 * Returns false where there is no such row.
 */
bool bench_begin_row(bench_t *bench, task_t *task, int64_t size_bytes, int pattern);

/*
 * bench_end_calls - the calls of a row are at their end: begin those of its overlap, if that is to be measured; else
 * write the row. Returns whether there are more calls.
 */
bool bench_end_calls(bench_t *bench, task_t *task);

/* ---- Arrivals */

/* impose_share - give the delays of files, which rank 0 has read, to all. Collective over the world. */
void impose_share(const world_t *world, arrival_tables_t *tables);

/*
 * impose - calls from now on have the arrivals of a pattern. Collective over the span.
 *
 * Returns false if the magnitude is not known, or too long; rank 0 has told so.
 */
bool impose(task_t *task, const arrival_t *arrival, int64_t size_bytes);

/* impose_bound_ns - the greatest bound of the global clock now; NaN: not known. Collective over the span. */
double impose_bound_ns(const world_t *span);

#endif /* BENCH_H */
