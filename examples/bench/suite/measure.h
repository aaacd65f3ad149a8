/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * measure.h - the calls of a row, batch by batch. Between two batches of a row, there may be some of others.
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
#include "suite/progress.h"
#include "suite/schemes.h"

#include <stdbool.h>
#include <stdint.h>

/* Room for what ranks say of a batch. Rows that take turns share it. */
typedef struct batch_room {
    int max_calls; /* in a batch */
    struct batch_notes *notes;
    char *all_notes; /* rank 0: those of all ranks, one after the other */
} batch_room_t;

/* batch_room_open - allocate. Collective over the span. Returns false on all ranks where memory lacks on one. */
bool batch_room_open(batch_room_t *room, const world_t *span);
void batch_room_close(batch_room_t *room);

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
    int64_t compute_ns;  /* 0, or how long to compute between the halves of each call */
    batch_room_t *room;
    bool takes_turns;                                           /* with other rows */
    progress_t progress;                                        /* rank 0 */
    int64_t batch_begin_ns, next_shown_ns, next_clock_check_ns; /* rank 0 */
} measure_t;

/*
 * measure_open - get ready for a job. Collective over the span, whose clock has been synchronized.
 *
 * measure   in: world, job, span, work, function, room, takes_turns
 */
void measure_open(measure_t *measure);

/*
 * measure_begin - begin a row: it is warmed up, and then measured. Local.
 *
 * compute_ns   0; or, of a row that has been warmed up, how long to compute between the halves of each call
 */
void measure_begin(measure_t *measure, int64_t size_bytes, int64_t compute_ns);

/* measure_batch - one batch. Collective. A call that fails ends the job. Returns false where the row is at its end. */
bool measure_batch(measure_t *measure);

/* measure_take - the samples of the row, which samples_free frees. */
samples_t measure_take(measure_t *measure);

#endif /* MEASURE_H */
