/* SPDX-License-Identifier: BSD-3-Clause */
/* bench.h - the parts of mpix_bench that see all of a run: turns of jobs, and their rows. */
#ifndef BENCH_H
#define BENCH_H

#include "common/world.h"
#include "bench/communicator.h"
#include "bench/measure.h"
#include "bench/plan.h"
#include "bench/report.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct bench {
    world_t world;
    plan_t plan; /* the jobs are the same on all ranks */
    report_t report;
    double fractions[MAX_NUMBERS];
    communicator_t communicator;         /* of the last job */
    const communicator_choice_t *choice; /* NULL: none is open */
    char *memory;         /* for the buffers of all jobs: only the buffers of one job are in use at a time */
    int64_t memory_bytes; /* of this rank */
    bool is_full;         /* no file takes further rows */
    int status;
} bench_t;

/* What a job asks of its operation. */
work_plan_t bench_plan_work(const bench_t *bench, const job_t *job);

/*
 * Measures jobs of the communicator that is open, size by size, in turns, so that changes of the machine affect all of
 * them alike. Collective over the span.
 */
void bench_run_turns(bench_t *bench, const job_t *jobs, int count);

/* row_take - rank 0: the figures of calls that were measured. bound_ns: of the global clock, with imposed arrivals. */
void row_take(const bench_t *bench, task_t *task, double bound_ns);

/* row_write - rank 0: write a row whose figures were taken. */
void row_write(bench_t *bench, task_t *task);

/* row_begin_line - rank 0: begin a line on standard error. */
void row_begin_line(const task_t *task);

#endif
