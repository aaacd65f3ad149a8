/* SPDX-License-Identifier: BSD-3-Clause */
/* bench.h - the parts of mpix_bench that see all of a run: what comes before measuring, and rows. */
#ifndef BENCH_H
#define BENCH_H

#include "common/world.h"
#include "suite/communicator.h"
#include "suite/measure.h"
#include "suite/plan.h"
#include "suite/report.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct bench {
    struct world world;
    struct plan plan; /* the jobs are the same on all ranks */
    struct report report;
    FILE *raw;
    double fractions[MOST_NUMBERS];
    struct communicator communicator;         /* of the last job */
    const struct communicator_choice *choice; /* NULL: none is open */
    int status;
};

static inline bool bench_is_root(const struct bench *bench)
{
    return bench->world.rank == 0;
}

/* Frees the communicator of the last job, if one is open. */
void bench_close_communicator(struct bench *bench);

/* Makes the communicator of a job, if another one is open. Returns false where a call failed; one rank has told so. */
bool bench_open_communicator(struct bench *bench, const struct communicator_choice *choice);

/* What a job asks of its operation. */
struct work_plan bench_plan_work(const struct bench *bench, const struct job *job);

/* The same on all ranks of the world; those that stand aside have nothing against it. */
bool bench_all_agree(const struct bench *bench, bool good);

/* Looks for all that may be wrong with a job, memory included. Collective. Returns an exit status. */
int bench_check_job(struct bench *bench, struct job *job);

/* Opens the files of results and raw times. Collective. */
bool bench_open_files(struct bench *bench);

/* Closes files. Returns false where something could not be written. Standard output is looked at last of all. */
bool bench_close_files(struct bench *bench);

/* The keys of a job's rows. */
struct row_keys bench_name_keys(const struct bench *bench, const struct job *job);

/* Rank 0: tells on standard error where buffers may stay in the cache, whole or in part, against what was asked for. */
void bench_tell_cache(const struct bench *bench, const struct job *job);

/* Measures one size and writes its row. Collective over the span. */
void bench_run_size(struct bench *bench, struct measure *measure, const struct row_keys *keys, int64_t size_bytes);

#endif /* BENCH_H */
