/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * measure.h - calls of an operation in batches, and their times on rank 0.
 *
 * Each rank keeps the start and the end of each of its calls on the global clock. After a batch rank 0 gathers them.
 */
#ifndef MEASURE_H
#define MEASURE_H

#include "bench/suite/analysis.h"
#include "bench/suite/engine.h"
#include "bench/suite/operation.h"
#include "bench/suite/plan.h"
#include "bench/suite/progress.h"
#include "bench/suite/report.h"
#include "bench/suite/schemes.h"
#include "common/arrival/arrival.h"
#include "common/mpi/world.h"

#include <stdbool.h>
#include <stdint.h>

/* Memory for what ranks say of a batch. Measurements that take turns share it. */
typedef struct batch_memory {
    int max_calls; /* in a batch */
    struct batch_notes *notes;
    char *all_notes;         /* rank 0: those of all ranks, one after the other */
    call_note_t *call_notes; /* rank 0: of a call, those of all ranks */
} batch_memory_t;

/* batch_memory_open - allocate. Collective over the span. */
void batch_memory_open(batch_memory_t *memory, const world_t *span);
void batch_memory_close(batch_memory_t *memory);

/* A job while its calls are measured, row by row. */
typedef struct measurement {
    /* Set before measure_open. */
    const world_t *span;
    const job_t *job;
    const operation_t *operation;
    const char *function; /* MPI's, as the job has it called */
    work_t *work;
    batch_memory_t *memory;
    int64_t resolution_ns;       /* of measure_resolution_ns */
    const output_t *raw;         /* without a file if no raw times are wanted */
    bool takes_turns;            /* with other jobs */
    progress_t *progress;        /* rank 0: of all rows */
    bool (*settle)(void *owner); /* as the engine calls it */
    void *owner;

    /* Set before measure_begin. */
    row_keys_t keys;
    imposed_t imposed; /* arrivals */

    releaser_t releaser;
    double calls_per_ns; /* of the loop that computes */
    int64_t compute_ns;  /* 0, or how long to compute between the halves of each call */
    samples_t samples;   /* rank 0 */
    sampling_t sampling;
    int64_t next_interval;                      /* rank 0: samples at which to look at the confidence interval */
    int64_t next_shown_ns, next_clock_check_ns; /* rank 0 */
} measurement_t;

/* measure_resolution_ns - the largest step of the global clock on any rank, by readings. Collective over the world. */
int64_t measure_resolution_ns(const world_t *world);

/* measure_open - get ready for a job. Collective over the span, whose clock has been synchronized. */
void measure_open(measurement_t *measurement);

/*
 * measure_begin - begin the sampling of a row. Local.
 *
 * compute_ns   0; or, of a row that has been warmed up, how long to compute between the halves of each call
 */
void measure_begin(measurement_t *measurement, int64_t compute_ns);

/* measure_validate - elements found wrong on all ranks, in a few calls. Collective over the span. */
int64_t measure_validate(const measurement_t *measurement);

#endif
