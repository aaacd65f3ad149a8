/* SPDX-License-Identifier: BSD-3-Clause */
/* bench.h - the parts of mpix_bench that see all of a run: what comes before measuring, and rows. */
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
    int status;
} bench_t;

static inline bool bench_is_root(const bench_t *bench)
{
    return bench->world.rank == 0;
}

/* Frees the communicator of the last job, if one is open. */
void bench_close_communicator(bench_t *bench);

/* Makes the communicator of a job, if another one is open. Returns false where a call failed; one rank has told so. */
bool bench_open_communicator(bench_t *bench, const communicator_choice_t *choice);

/* What a job asks of its operation. */
work_plan_t bench_plan_work(const bench_t *bench, const job_t *job);

/* Looks for all that may be wrong with a job, memory included. Collective. Returns an exit status. */
int bench_check_job(bench_t *bench, job_t *job);

/* Opens the files of results, raw times and chart. Collective. */
bool bench_open_files(bench_t *bench);

/* Closes files. Returns false where something could not be written. Standard output is looked at last of all. */
bool bench_close_files(bench_t *bench);

/* The keys of a job's rows. */
row_keys_t bench_name_keys(const bench_t *bench, const job_t *job);

/* Rank 0: tells on standard error where buffers may stay in the cache, whole or in part, against what was asked for. */
void bench_tell_cache(const bench_t *bench, const job_t *job);

/* Measures one size and writes its row. Collective over the span. */
void bench_run_size(bench_t *bench, measure_t *measure, const row_keys_t *keys, int64_t size_bytes);

#endif /* BENCH_H */
