/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan.h - what is to be measured: options, operands, and files of jobs. No MPI, but for names of types.
 */
#ifndef PLAN_H
#define PLAN_H

#include "common/cli/options.h"
#include "common/results/result_files.h"
#include "common/arrival/arrival.h"
#include "bench/suite/communicator.h"
#include "bench/suite/operation.h"

#include <stdbool.h>
#include <stdint.h>

/* What stands in the options' table. Texts are of use where they were read only. */
typedef struct bench_settings {
    text_list_t operations;
    size_list_t sizes;
    double size_factor;        /* or ABSENT */
    int64_t iterations;        /* or ABSENT */
    int64_t warmup;            /* or ABSENT */
    int64_t validation_warmup; /* or ABSENT */
    int64_t max_repeat;
    double time_slice_s; /* or ABSENT */
    double ci_percent;   /* or ABSENT: does not matter */
    int64_t release;     /* release_kind_t */
    int64_t barrier;     /* of barriers; or ABSENT */
    double window_us;    /* 0: to be found; or ABSENT */
    int64_t datatype;    /* or ABSENT, likewise the next two */
    int64_t reduction;
    int64_t root; /* those that rotate are -1, as ROOT_ROTATES */
    int64_t in_place;
    int64_t cache;
    int64_t run_time;
    const char *comm;
    const char *arrival; /* NULL: none was given */
    int64_t overlap;
    int64_t test_calls; /* or ABSENT */
    int64_t validation;
    int64_t mem_limit_bytes; /* per process; ABSENT: the usual one, to which caches are fitted */
    int64_t shuffle;
    /* What concerns all jobs, and stands on the command line only: from list to the end. */
    int64_t list;
    const char *jobs;
    int64_t seed;
    number_list_t tail; /* percentiles */
    int64_t full;
    results_t results;
} bench_settings_t;

/* One operation with all that its measurement depends on. Its sizes are listed in the order of their measurement. */
typedef struct job {
    bench_settings_t settings; /* nothing is ABSENT but iterations, warm-up and memory limit */
    communicator_choice_t comm;
    arrival_list_t arrivals;
    int operation; /* of operation_at */
} job_t;

typedef struct plan {
    bench_settings_t settings; /* of the command line */
    job_t *jobs;
    int job_count;
    bool is_osu;             /* one operation is measured as OSU does */
    arrival_tables_t tables; /* the files of delays of all jobs */
} plan_t;

/*
 * plan_read - read the command line, and the file of jobs if it names one. All that can be found wrong without MPI is
 * told in one line on standard error.
 *
 * program     its name
 * is_osu      the command line names one operation, by OSU's name
 * ranks       of the world
 */
options_outcome_t plan_read(plan_t *plan, const char *program, bool is_osu, int argc, char **argv, int ranks);

/* plan_free - free what plan_read allocated. */
void plan_free(plan_t *plan);

/* job_wanted, job_warmup - valid samples wanted of a size, calls before those measured. */
int64_t job_wanted(const job_t *job, int64_t size_bytes);
int64_t job_warmup(const job_t *job, int64_t size_bytes);

/* job_mem_limit_bytes - how much memory a process may take for buffers. */
int64_t job_mem_limit_bytes(const job_t *job);

/*
 * job_cache_bytes - the size that buffers are to exceed, so that they are not in the cache.
 *
 * cache_bytes   the size of the last-level cache
 *
 * Returns cache_bytes; or less, if no limit was given and the usual one leaves no room for more.
 */
int64_t job_cache_bytes(const job_t *job, int64_t cache_bytes);

/* job_time_slice_s - the time limit of a size, 0 for none. */
double job_time_slice_s(const job_t *job);

#endif
