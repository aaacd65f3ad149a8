/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.h - rank 0: the samples of a row so far, and how many calls come next, if any. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include "common/world.h"
#include "suite/analysis.h"
#include "suite/plan.h"

#include <stdbool.h>
#include <stdint.h>

/* The first call of a batch is not measured: it still feels what was done between the batches. */
enum { SETTLE_CALLS = 1 };

/* Why a row came to its end. */
typedef enum measure_end {
    END_ENOUGH,   /* valid samples */
    END_NARROW,   /* the median's confidence interval is as narrow as was wanted */
    END_REPEATED, /* --max-repeat */
    END_SLICE     /* the time slice is over */
} measure_end_t;

/* All measured calls of a row on all ranks, on rank 0; elsewhere empty. */
typedef struct samples {
    int ranks;
    int64_t calls;
    int64_t capacity;
    call_times_t *times; /* [call * ranks + rank] */
    uint8_t *marks;
    int64_t *targets_ns; /* [call * ranks + rank]: when to start, where there are imposed arrivals */
    int64_t *compute_ns; /* [call]: the greatest of all ranks, where there was computation */
    int64_t valid;
    int64_t missed;
    int64_t late;
    measure_end_t end;
} samples_t;

/*
 * samples_reserve - make room. Returns false where memory lacks.
 *
 * calls      so many more
 * computes   there is computation
 * imposes    there are imposed arrivals
 */
bool samples_reserve(samples_t *samples, int64_t calls, bool computes, bool imposes);

/* samples_set - what the analysis takes. */
sample_set_t samples_set(const samples_t *samples);

/* samples_free - free them. */
void samples_free(samples_t *samples);

typedef struct progress {
    const world_t *span;
    const job_t *job;
    samples_t samples;
    int64_t size_bytes;
    int64_t probe_left;
    int64_t warmup_left;
    int64_t wanted; /* valid samples */
    double max_calls;
    double max_batch_calls;
    int64_t limit_ns;      /* time slice; 0: none */
    int64_t spent_ns;      /* in batches of this row: while it warms up, and from 0 again while it is measured */
    bool is_measured;      /* the measured calls have begun */
    double batch_calls;    /* of the last batch; 0: none yet */
    double call_ns;        /* in the last batch */
    int64_t next_interval; /* samples at which to look at the confidence interval */
} progress_t;

/* How a row is to be measured. */
typedef struct progress_plan {
    int64_t size_bytes;
    bool probes;      /* a few calls come first, from which starting times are found */
    bool again;       /* it has been warmed up */
    bool takes_turns; /* with other rows: in no fewer than some number of batches */
    int max_batch_calls;
} progress_plan_t;

/* progress_begin - another row. The samples so far are the caller's. */
void progress_begin(progress_t *progress, const world_t *span, const job_t *job, const progress_plan_t *plan);

/* progress_next - the calls of the next batch; 0: the row has come to its end. */
int64_t progress_next(progress_t *progress);

/* progress_take - a batch of so many calls took so long. Returns whether these calls are measured ones. */
bool progress_take(progress_t *progress, int64_t calls, int64_t took_ns);

#endif /* PROGRESS_H */
