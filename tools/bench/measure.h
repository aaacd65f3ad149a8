/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * measure.h - samples of an operation: how the engine makes its batches of calls.
 *
 * Each rank keeps the start and the end of each of its calls on the global clock. After a batch rank 0 gathers them.
 */
#ifndef MEASURE_H
#define MEASURE_H

#include "bench/analysis.h"
#include "bench/arrival.h"
#include "bench/engine.h"
#include "bench/operation.h"
#include "bench/plan.h"
#include "bench/report.h"
#include "bench/schemes.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Room for what ranks say of a batch. Rows that take turns share it. */
typedef struct batch_room {
    int max_calls; /* in a batch */
    struct batch_notes *notes;
    char *all_notes;         /* rank 0: those of all ranks, one after the other */
    call_note_t *call_notes; /* rank 0: of a call, those of all ranks */
} batch_room_t;

/* batch_room_open - allocate. Collective over the span. */
void batch_room_open(batch_room_t *room, const world_t *span);
void batch_room_close(batch_room_t *room);

/* A row while it is measured. */
typedef struct row_state {
    row_t figures;      /* rank 0, but for keys */
    imposed_t imposed;  /* arrivals */
    int64_t compute_ns; /* 0, or how long to compute between the halves of each call */
    samples_t samples;  /* rank 0 */
    sampling_t sampling;
    int64_t next_interval;                      /* rank 0: samples at which to look at the confidence interval */
    int64_t next_shown_ns, next_clock_check_ns; /* rank 0 */
} row_state_t;

/* What rows of one size are compared with. Rank 0. */
typedef struct size_state {
    double together_ns;  /* median run time without delays; 0: not known */
    double from_last_ns; /* likewise from the last arrival; NaN: not known */
} size_state_t;

/* A job while it is measured. */
typedef struct task {
    struct bench *bench;
    const world_t *span;
    const job_t *job;
    const operation_t *operation;
    work_t *work;
    batch_room_t *room;
    bool takes_turns;    /* with other jobs */
    const output_t *raw; /* raw times; without a file if there are none, as on all ranks but 0 */
    releaser_t releaser;
    double calls_per_ns;      /* of the loop that computes */
    char root[16], label[48]; /* texts of keys */
    row_keys_t keys;
    bool is_done[MAX_SIZES]; /* which sizes were measured */
    size_state_t size;
    row_state_t row;
} task_t;

/* measure_open - get ready for a job. Collective over the span, whose clock has been synchronized. */
void measure_open(task_t *task);

/*
 * measure_begin - begin the sampling of the task's row. Local.
 *
 * compute_ns   0; or, of a row that has been warmed up, how long to compute between the halves of each call
 * settle       as the engine calls it, with the task
 */
void measure_begin(task_t *task, int64_t compute_ns, bool (*settle)(void *task));

/* measure_validate - elements found wrong on all ranks, in a few calls. Collective over the span. */
int64_t measure_validate(const task_t *task);

#endif
