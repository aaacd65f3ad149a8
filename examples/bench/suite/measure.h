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
#include "suite/operation.h"
#include "suite/plan.h"
#include "suite/schemes.h"

#include <stdbool.h>
#include <stdint.h>

/* Why a size came to its end. */
enum measure_end {
    END_ENOUGH,   /* valid samples */
    END_NARROW,   /* the median's confidence interval is as narrow as was wanted */
    END_REPEATED, /* --max-repeat */
    END_SLICE     /* the time slice is over */
};

/* All measured calls of a size on all ranks, on rank 0; elsewhere empty. */
struct samples {
    int ranks;
    int64_t calls;
    int64_t capacity;
    struct call_times *times; /* [call * ranks + rank] */
    uint8_t *marks;
    int64_t *compute_ns; /* [call]: the greatest of all ranks, where there was computation */
    int64_t valid;
    int64_t missed;
    int64_t late;
    enum measure_end end;
};

/* What it takes to measure. */
struct measure {
    const struct world *world; /* program and ranks of the whole job */
    const struct job *job;
    const struct world *span;
    struct work *work;
    const char *function; /* of the operation */
    struct releaser releaser;
    double calls_per_ns; /* of the loop that computes */
    int64_t calls;       /* made so far */
    struct batch *batch;
    bool shows_progress;
};

/*
 * measure_open - allocate for a job. Collective over the span, whose clock has been synchronized.
 *
 * measure   in: world, job, span, work, function
 *
 * Returns false on all ranks where memory lacks on one.
 */
bool measure_open(struct measure *measure);

/* measure_close - free what measure_open allocated. Local. */
void measure_close(struct measure *measure);

/*
 * measure_size - warm up and measure. Collective. A call that fails ends the job.
 *
 * compute_ns   0, or how long to compute between the halves of each call
 * samples      in: zeros; out, on rank 0: to be freed by samples_free
 */
void measure_size(struct measure *measure, int64_t size_bytes, int64_t compute_ns, struct samples *samples);

/* samples_set - what the analysis takes. */
struct sample_set samples_set(const struct samples *samples);

/* samples_free - free them. */
void samples_free(struct samples *samples);

#endif /* MEASURE_H */
