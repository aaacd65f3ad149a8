/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan.h - what is to be measured: options, operands, and files of jobs. No MPI, but for names of types.
 */
#ifndef PLAN_H
#define PLAN_H

#include "common/cli/options.h"
#include "common/arrival/arrival.h"
#include "bench/suite/bench_settings.h"
#include "bench/suite/communicator.h"
#include "bench/suite/operation.h"
#include "bench/suite/osu.h"

#include <stdbool.h>
#include <stdint.h>

enum { FILE_NUMBER_BYTES = 16 };

/* One operation with all that its measurement depends on. Its sizes are listed in the order of their measurement. */
typedef struct job {
    bench_settings_t settings; /* nothing is ABSENT but iterations, warm-up and memory limit */
    communicator_choice_t comm;
    arrival_list_t arrivals;
    int operation; /* of operation_at */
    neighborhood_t neighborhood;
    layout_t layout;
    int pair[2]; /* as in work_plan_t */
    char file[STORAGE_PATH_BYTES];
} job_t;

typedef struct plan {
    bench_settings_t settings; /* of the command line */
    job_t *jobs;
    int job_count;
    bool is_osu;     /* one operation is measured as OSU does */
    bool has_types;  /* its jobs differ in the datatype */
    bool shows_tail; /* OSU's columns include percentiles; likewise the next one */
    bool shows_rate;
    bool has_session;        /* MPI is to have begun by a session */
    char note[NOTE_BYTES];   /* how the results differ from OSU's; "": they do not, or nobody compares */
    arrival_tables_t tables; /* the files of delays of all jobs */
    pair_lists_t lists;      /* the files of neighborhoods and layouts of all jobs */
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

/* job_name - what distinguishes a job from others of its plan, for people. */
const char *job_name(const plan_t *plan, const job_t *job);

/* job_turns - of how many messages, one after the other, a call consists whose latency is told; else 0. */
int job_turns(const job_t *job);

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
