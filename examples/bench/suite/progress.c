/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite/progress.h"

#include "common/room.h"
#include "suite/schemes.h"

#include <math.h>
#include <stdlib.h>

/* Calls from which starting times are found. */
enum { PROBE_CALLS = 10 };
/* Batches grow from so many calls, but take no more time than this. */
enum { FIRST_BATCH_CALLS = 16 };
#define MAX_BATCH_NS 50e6
#define MAX_SLICE_PART 0.1
/* Rows that take turns do so at least so often, so that what changes on the machine concerns all of them alike. */
enum { MIN_TURNS = 10 };
/* Warming up takes at most this share of a time slice. */
#define WARMUP_SLICE_PART 0.25
/* A confidence interval is looked at from so many samples on, and again when they have become more by this factor. */
enum { FIRST_INTERVAL = 30 };
#define NEXT_INTERVAL 1.1

/* ---- Samples */

/* Makes an array longer. One that is not needed stays NULL. */
static bool lengthen(int64_t **array, int64_t elements, bool is_needed)
{
    if (!is_needed)
        return true;
    int64_t *longer = realloc(*array, room_bytes(elements, sizeof(longer[0])));
    if (longer == NULL)
        return false;
    *array = longer;
    return true;
}

bool samples_reserve(samples_t *samples, int64_t calls, bool computes, bool imposes)
{
    int64_t capacity = samples->capacity > 0 ? samples->capacity : MAX_BATCH_CALLS;
    while (capacity < samples->calls + calls)
        capacity *= 2;
    if (capacity == samples->capacity)
        return true;
    int64_t elements = capacity * samples->ranks;
    void *times = realloc(samples->times, room_bytes(elements, sizeof(samples->times[0])));
    samples->times = times != NULL ? times : samples->times;
    void *marks = realloc(samples->marks, room_bytes(elements, sizeof(samples->marks[0])));
    samples->marks = marks != NULL ? marks : samples->marks;
    samples->capacity = capacity;
    return times != NULL && marks != NULL && lengthen(&samples->compute_ns, capacity, computes) &&
           lengthen(&samples->targets_ns, elements, imposes);
}

sample_set_t samples_set(const samples_t *samples)
{
    return (sample_set_t){samples->ranks, samples->calls, samples->times, samples->marks};
}

void samples_free(samples_t *samples)
{
    free(samples->times);
    free(samples->marks);
    free(samples->compute_ns);
    free(samples->targets_ns);
    *samples = (samples_t){0};
}

/* ---- Decisions */

void progress_begin(progress_t *progress, const world_t *span, const job_t *job, const progress_plan_t *plan)
{
    int64_t wanted = job_wanted(job, plan->size_bytes);
    double turn = fmax(ceil((double)wanted / MIN_TURNS), FIRST_BATCH_CALLS);
    *progress =
        (progress_t){.span = span,
                     .job = job,
                     .samples = {.ranks = span->ranks},
                     .size_bytes = plan->size_bytes,
                     .probe_left = plan->probes ? PROBE_CALLS : 0,
                     .warmup_left = plan->again ? 0 : job_warmup(job, plan->size_bytes),
                     .wanted = wanted,
                     .max_calls = (double)wanted * (double)job->settings.max_repeat,
                     .max_batch_calls = plan->takes_turns ? fmin(turn, plan->max_batch_calls) : plan->max_batch_calls,
                     .limit_ns = (int64_t)(job_time_slice_s(job) * 1e9),
                     .next_interval = FIRST_INTERVAL};
}

/* Whether the median's confidence interval is narrow enough. Sorting takes time, so it is not looked at after each
 * batch. */
static bool is_narrow(progress_t *progress)
{
    double percent = progress->job->settings.ci_percent;
    sample_set_t set = samples_set(&progress->samples);
    analysis_t analysis;
    if (percent <= 0 || progress->samples.valid < progress->next_interval)
        return false;
    progress->next_interval = (int64_t)((double)progress->samples.valid * NEXT_INTERVAL) + 1;
    if (!analyse(&set, (run_time_t)progress->job->settings.run_time, NULL, 0, &analysis))
        world_abort(progress->span, "out of memory");
    return analysis_is_narrow(&analysis, percent);
}

/* Whether the row has come to its end, and why. */
static bool is_done(progress_t *progress)
{
    samples_t *samples = &progress->samples;
    if (samples->valid >= progress->wanted)
        samples->end = END_ENOUGH;
    else if ((double)samples->calls >= progress->max_calls)
        samples->end = END_REPEATED;
    else if (progress->limit_ns > 0 && progress->spent_ns >= progress->limit_ns)
        samples->end = END_SLICE;
    else if (is_narrow(progress))
        samples->end = END_NARROW;
    else
        return false;
    return true;
}

/* The calls of the next batch, of which no more than left are wanted. */
static int64_t fitting_calls(const progress_t *progress, double left)
{
    double limit_ns =
        progress->limit_ns > 0 ? fmin(MAX_BATCH_NS, (double)progress->limit_ns * MAX_SLICE_PART) : MAX_BATCH_NS;
    double calls = progress->batch_calls > 0 ? 2 * progress->batch_calls : FIRST_BATCH_CALLS;
    calls = fmin(fmin(calls, progress->max_batch_calls), left);
    if (progress->call_ns > 0)
        calls = fmin(calls, limit_ns / progress->call_ns);
    return calls < 1 ? 1 : (int64_t)calls;
}

/* Warming up ends early where it takes too much of a time slice. */
static bool warms_up(const progress_t *progress)
{
    return !progress->is_measured && progress->warmup_left > 0 &&
           (progress->limit_ns == 0 || (double)progress->spent_ns < WARMUP_SLICE_PART * (double)progress->limit_ns);
}

int64_t progress_next(progress_t *progress)
{
    if (progress->probe_left > 0)
        return (int64_t)fmin((double)progress->probe_left, progress->max_batch_calls);
    if (warms_up(progress))
        return fitting_calls(progress, (double)progress->warmup_left);
    if (!progress->is_measured)
        progress->spent_ns = 0;
    else if (is_done(progress))
        return 0;
    progress->is_measured = true;
    double missing = (double)(progress->wanted - progress->samples.valid);
    return fitting_calls(progress, fmin(missing, progress->max_calls - (double)progress->samples.calls));
}

bool progress_take(progress_t *progress, int64_t calls, int64_t took_ns)
{
    progress->call_ns = (double)took_ns / (double)(calls + SETTLE_CALLS);
    progress->batch_calls = (double)calls;
    progress->spent_ns += took_ns;
    if (progress->probe_left > 0)
        progress->probe_left -= calls;
    else if (!progress->is_measured)
        progress->warmup_left -= calls;
    else
        return true;
    return false;
}
