/* SPDX-License-Identifier: BSD-3-Clause */
/* job.c - what holds for a job where its settings do not say. */
#include "suite/plan.h"

#include "suite/schemes.h"

/* As OSU: messages above this are slow and their times steady, so fewer calls do. */
enum { LARGE_BYTES = 8192 };
enum { SMALL_ITERATIONS = 1000, LARGE_ITERATIONS = 100, SMALL_WARMUP = 200, LARGE_WARMUP = 10 };
/* Where an interval or a time slice decides when to stop. */
enum { MAX_ITERATIONS = 100000 };
#define ROUND_TIME_SLICE_S 0.5
#define USUAL_MEM_LIMIT_BYTES (INT64_C(512) << 20)

int64_t job_wanted(const job_t *job, int64_t size_bytes)
{
    if (job->settings.iterations != ABSENT)
        return job->settings.iterations;
    if (job->settings.ci_percent > 0 || job->settings.release == RELEASE_ROUND_TIME)
        return MAX_ITERATIONS;
    return size_bytes > LARGE_BYTES ? LARGE_ITERATIONS : SMALL_ITERATIONS;
}

int64_t job_warmup(const job_t *job, int64_t size_bytes)
{
    if (job->settings.validation && job->settings.validation_warmup != ABSENT)
        return job->settings.validation_warmup;
    if (job->settings.warmup != ABSENT)
        return job->settings.warmup;
    return size_bytes > LARGE_BYTES ? LARGE_WARMUP : SMALL_WARMUP;
}

int64_t job_mem_limit_bytes(const job_t *job)
{
    return job->settings.mem_limit_bytes == ABSENT ? USUAL_MEM_LIMIT_BYTES : job->settings.mem_limit_bytes;
}

/* Buffers take half more than the cache, and that is not to be more than three quarters of the limit. */
int64_t job_cache_bytes(const job_t *job, int64_t cache_bytes)
{
    int64_t max = USUAL_MEM_LIMIT_BYTES / 2;
    return job->settings.mem_limit_bytes == ABSENT && cache_bytes > max ? max : cache_bytes;
}

double job_time_slice_s(const job_t *job)
{
    if (job->settings.time_slice_s > 0)
        return job->settings.time_slice_s;
    return job->settings.release == RELEASE_ROUND_TIME ? ROUND_TIME_SLICE_S : 0;
}
