/* SPDX-License-Identifier: BSD-3-Clause */
/* turns.h - jobs that take turns: of each size, a batch of each of them, in another order each time, and so on. */
#ifndef TURNS_H
#define TURNS_H

#include "bench/suite/communicator.h"
#include "bench/suite/load.h"
#include "bench/suite/operation.h"
#include "bench/suite/plan.h"
#include "bench/suite/progress.h"
#include "bench/suite/report.h"
#include "common/mpi/world.h"

#include <stdbool.h>
#include <stdint.h>

/* A run of mpix_bench, from the first job to the last. */
typedef struct bench {
    world_t world;
    plan_t plan; /* the jobs are the same on all ranks */
    report_t report;
    communicator_t communicator; /* of the last job */
    int64_t resolution_ns;       /* of all ranks' clocks the largest */
    char *memory;                /* for the buffers of all jobs: only the buffers of one job are in use at a time */
    progress_t progress;         /* rank 0 */
    load_t load;                 /* of the present turns */
    bool is_full;                /* no file takes further rows */
    int status;
} bench_t;

/* At most so many jobs take turns: some have communicators, and MPI libraries have only a few thousand of these. */
enum { MAX_TURNS = 256 };

/* turns_plan_work - what a job asks of its operation, in the communicator that is open. */
work_plan_t turns_plan_work(const bench_t *bench, const job_t *job);

/*
 * turns_run - measure jobs of the communicator that is open, size by size, in turns, so that changes of the machine
 * affect all of them alike. Collective over the span.
 */
void turns_run(bench_t *bench, const job_t *jobs, int count);

#endif
