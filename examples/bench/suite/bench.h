/* SPDX-License-Identifier: BSD-3-Clause */
/* bench.h - the parts of mpix_bench that see all of a run: what comes before measuring, turns of jobs, and rows. */
#ifndef BENCH_H
#define BENCH_H

#include "common/world.h"
#include "suite/chart.h"
#include "suite/communicator.h"
#include "suite/measure.h"
#include "suite/plan.h"
#include "suite/report.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct bench {
    world_t world;
    plan_t plan; /* the jobs are the same on all ranks */
    report_t report;
    chart_t chart;
    double fractions[MAX_NUMBERS];
    communicator_t communicator;         /* of the last job */
    const communicator_choice_t *choice; /* NULL: none is open */
    int64_t turn_bytes; /* buffers of jobs that take turns may have so much memory; the same on all ranks */
    int status;
} bench_t;

/* What rows without delays tell those with them. */
typedef struct together {
    double median_ns;    /* of the run times; 0: no valid sample */
    double from_last_ns; /* NaN: likewise */
} together_t;

/* A row, with what a comment before it tells. */
typedef struct kept_row {
    row_t row;
    int64_t window_ns;
} kept_row_t;

/* A job while it is measured. */
typedef struct task {
    measure_t measure;
    row_keys_t keys;
    char root[16];
    bool is_done[MAX_SIZES]; /* of the sizes of the job */
    bool is_at_size;         /* this size is one of the job's */
    together_t together;     /* of this size */
    bool has_row;            /* that is being measured: this one */
    row_t row;
    samples_t samples;
    kept_row_t *kept; /* rank 0: room for all rows of the job, of which these are to be written in their order */
    int kept_count;
} task_t;

static inline bool bench_is_root(const bench_t *bench)
{
    return bench->world.rank == 0;
}

/* Frees the communicator of the last job, if one is open. */
void bench_close_communicator(bench_t *bench);

/* Makes the communicator of a job, if another one is open. Returns false where a call failed; one rank has told so. */
bool bench_open_communicator(bench_t *bench, const communicator_choice_t *choice);

/* Finds out how much memory jobs that take turns may have. Collective. */
void bench_share_memory(bench_t *bench);

/*
 * How many jobs, from this one on, are measured in turns: those that follow each other and have the same communicator,
 * as far as their buffers and samples have room in memory together.
 */
int bench_count_turns(const bench_t *bench, int first);

/* Looks whether the buffers of these jobs can be had together. Collective. Returns an exit status. */
int bench_check_memory(bench_t *bench, const job_t *jobs, int count);

/* What a job asks of its operation. */
work_plan_t bench_plan_work(const bench_t *bench, const job_t *job);

/* Looks for all that may be wrong with a job, but for memory that cannot be had. Collective. Returns an exit status. */
int bench_check_job(bench_t *bench, job_t *job);

/* Opens the files of results, raw times and chart. Collective. */
bool bench_open_files(bench_t *bench);

/* Closes files. Returns false where something could not be written. Standard output is looked at last of all. */
bool bench_close_files(bench_t *bench);

/*
 * Measures jobs of the communicator that is open: of each size a batch of each job, then another of each, and so on. So
 * what changes on the machine meanwhile concerns all of them alike. Collective over the span.
 */
void bench_run_turns(bench_t *bench, const job_t *jobs, int count);

/* Rank 0: begins the table and the curve of a job. */
void bench_begin_rows(bench_t *bench, const task_t *task);

/* Rank 0: writes what was kept. */
void bench_write_rows(bench_t *bench, task_t *task);

/* Rank 0: tells on standard error where buffers may stay in the cache, whole or in part, against what was asked for. */
void bench_tell_cache(const bench_t *bench, const job_t *job);

/* The keys of a task's rows. */
void bench_name_keys(const bench_t *bench, task_t *task);

/*
 * bench_begin_row - begin the row of a size with a pattern. Collective over the span, likewise the next two.
 *
 * Returns false where there is no such row.
 */
bool bench_begin_row(bench_t *bench, task_t *task, int64_t size_bytes, int pattern);

/* bench_begin_overlap - after the row was measured: begin to measure its overlap. Returns false where there is none. */
bool bench_begin_overlap(bench_t *bench, task_t *task);

/* bench_finish_row - make the row, and write or keep it. */
void bench_finish_row(bench_t *bench, task_t *task);

#endif /* BENCH_H */
