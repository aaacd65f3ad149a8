/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * measure.h - the calls of one size: how many, in what batches, until when.
 *
 * Each rank keeps the start and the end of each of its calls on the global clock. After a batch rank 0 gathers them,
 * decides whether to go on, and tells all.
 */
#ifndef MEASURE_H
#define MEASURE_H

#include "suite/analysis.h"
#include "suite/arrival.h"
#include "suite/operation.h"
#include "suite/plan.h"
#include "suite/schemes.h"

#include <stdbool.h>
#include <stdint.h>

/* Why a size came to its end. */
typedef enum measure_end {
    END_ENOUGH,   /* valid samples */
    END_NARROW,   /* the median's confidence interval is as narrow as was wanted */
    END_REPEATED, /* --max-repeat */
    END_SLICE     /* the time slice is over */
} measure_end_t;

/* All measured calls of a size on all ranks, on rank 0; elsewhere empty. */
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

/* What it takes to measure. */
typedef struct measure {
    const world_t *world; /* program and ranks of the whole job */
    const job_t *job;
    const world_t *span;
    work_t *work;
    const char *function; /* of the operation */
    releaser_t releaser;
    imposed_t imposed;   /* arrivals; impose.h */
    double calls_per_ns; /* of the loop that computes */
    int64_t calls;       /* made so far */
    int max_calls;       /* in a batch */
    struct batch_notes *notes;
    char *all_notes; /* rank 0: those of all ranks, one after the other */
} measure_t;

/*
 * measure_open - allocate for a job. Collective over the span, whose clock has been synchronized.
 *
 * measure   in: world, job, span, work, function
 *
 * Returns false on all ranks where memory lacks on one.
 */
bool measure_open(measure_t *measure);

/* measure_close - free what measure_open allocated. Local. */
void measure_close(measure_t *measure);

/*
 * measure_size - warm up and measure. Collective. A call that fails ends the job.
 *
 * compute_ns   0, or how long to compute between the halves of each call
 * samples      in: zeros; out, on rank 0: to be freed by samples_free
 */
void measure_size(measure_t *measure, int64_t size_bytes, int64_t compute_ns, samples_t *samples);

/* samples_set - what the analysis takes. */
sample_set_t samples_set(const samples_t *samples);

/* samples_free - free them. */
void samples_free(samples_t *samples);

#endif /* MEASURE_H */
