/* SPDX-License-Identifier: BSD-3-Clause */
/* engine.c - the phases of a sampling, how many calls its next batch has, and turns. */
#include "bench/suite/engine.h"

#include "pure/random.h"

#include <math.h>

/* Batches grow from so many calls. */
enum { FIRST_BATCH_CALLS = 16 };
/* Of a time slice, a batch and warming up take at most these shares. */
#define MAX_BATCH_PART 0.1
#define MAX_WARM_UP_PART 0.25

/* ---- Rank 0: what follows. At the beginning, all ranks find the same */

static bool is_settled(sampling_t *sampling)
{
    const sampling_limits_t *limits = &sampling->limits;
    if (sampling->valid >= limits->wanted)
        sampling->settled_by = SETTLED_BY_SAMPLES;
    else if ((double)sampling->calls >= limits->max_calls)
        sampling->settled_by = SETTLED_BY_CALLS;
    else if (limits->limit_ns > 0 && sampling->spent_ns >= limits->limit_ns)
        sampling->settled_by = SETTLED_BY_TIME;
    else if (sampling->is_enough && sampling->is_enough(sampling->subject))
        sampling->settled_by = SETTLED_BY_FIGURES;
    else
        return false;
    return true;
}

static bool is_over(sampling_t *sampling)
{
    const sampling_limits_t *limits = &sampling->limits;
    switch ((phase_t)sampling->next.phase) {
    case PHASE_PROBE:
        return sampling->phase_left <= 0;
    case PHASE_WARM_UP: /* it ends early if it takes too much of a time slice */
        return sampling->phase_left <= 0 ||
               (limits->limit_ns > 0 && (double)sampling->spent_ns >= MAX_WARM_UP_PART * (double)limits->limit_ns);
    case PHASE_MEASURE:
        return is_settled(sampling);
    case PHASE_SETTLED:
        break;
    }
    return false;
}

static void enter_next_phase(sampling_t *sampling)
{
    sampling->next.phase++;
    sampling->phase_left = sampling->next.phase == PHASE_WARM_UP ? sampling->limits.warmup_calls : 0;
    if (sampling->next.phase == PHASE_MEASURE)
        sampling->spent_ns = 0;
}

/* Calls that may be left in this phase. */
static double calls_left(const sampling_t *sampling)
{
    if (sampling->next.phase < PHASE_MEASURE)
        return (double)sampling->phase_left;
    return fmin((double)(sampling->limits.wanted - sampling->valid),
                sampling->limits.max_calls - (double)sampling->calls);
}

static int64_t fitting_calls(const sampling_t *sampling)
{
    const sampling_limits_t *limits = &sampling->limits;
    double max_ns = ENGINE_MAX_BATCH_NS;
    double calls = sampling->batch_calls > 0 ? 2 * sampling->batch_calls : FIRST_BATCH_CALLS;
    if (limits->limit_ns > 0)
        max_ns = fmin(max_ns, (double)limits->limit_ns * MAX_BATCH_PART);
    calls = fmin(fmin(calls, limits->max_batch_calls), calls_left(sampling));
    if (sampling->call_ns > 0)
        calls = fmin(calls, max_ns / sampling->call_ns);
    return calls < 1 ? 1 : (int64_t)calls;
}

static void decide(sampling_t *sampling)
{
    while (is_over(sampling))
        enter_next_phase(sampling);
    sampling->next.first = sampling->calls;
    sampling->next.calls = sampling->next.phase == PHASE_SETTLED ? 0 : fitting_calls(sampling);
}

static void take(sampling_t *sampling, const batch_t *batch)
{
    if (batch->phase == PHASE_MEASURE) {
        sampling->calls += batch->calls;
        sampling->valid += batch->valid;
    } else {
        sampling->phase_left -= batch->calls;
    }
    sampling->call_ns = (double)batch->took_ns / (double)batch->made;
    sampling->batch_calls = (double)batch->calls;
    sampling->spent_ns += batch->took_ns;
}

/* ---- All ranks */

void sampling_begin(sampling_t *sampling, const sampling_limits_t *limits)
{
    *sampling = (sampling_t){.span = sampling->span,
                             .subject = sampling->subject,
                             .run = sampling->run,
                             .is_enough = sampling->is_enough,
                             .settle = sampling->settle,
                             .limits = *limits,
                             .phase_left = limits->probe_calls};
    decide(sampling);
}

/* Runs a batch. Returns whether there are more. */
static bool advance(sampling_t *sampling)
{
    const world_t *span = sampling->span;
    batch_t batch = sampling->next;
    sampling->run(sampling->subject, &batch);
    if (span->rank == 0) {
        take(sampling, &batch);
        decide(sampling);
    }
    world_require(span, MPI_Bcast(&sampling->next, sizeof sampling->next, MPI_BYTE, 0, span->comm));
    return sampling->next.calls > 0 || (sampling->settle && sampling->settle(sampling->subject));
}

void engine_run(sampling_t **samplings, int count, uint64_t *dice)
{
    while (count > 0) {
        int running = 0;
        random_shuffle(samplings, count, sizeof samplings[0], dice);
        for (int i = 0; i < count; i++)
            if (advance(samplings[i]))
                samplings[running++] = samplings[i];
        count = running;
    }
}
