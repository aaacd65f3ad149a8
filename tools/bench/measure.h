/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * measure.h - the calls of a row, batch by batch. Between two batches of a row, there may be some of others.
 *
 * Each rank keeps the start and the end of each of its calls on the global clock. After a batch rank 0 gathers them,
 * decides whether to go on, and tells all.
 */
#ifndef MEASURE_H
#define MEASURE_H

#include "bench/analysis.h"
#include "bench/arrival.h"
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

/* Why a row came to its end. */
typedef enum measure_end {
    END_ENOUGH,   /* valid samples */
    END_NARROW,   /* the median's confidence interval is as narrow as was wanted */
    END_REPEATED, /* --max-repeat */
    END_SLICE     /* the time slice is over */
} measure_end_t;

/* Rank 0: how far the calls of a row have come, and how many are to come. */
typedef struct progress {
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
    int64_t next_calls;    /* of the next batch; 0: the row has come to its end */
    int64_t next_interval; /* samples at which to look at the confidence interval */
    int64_t batch_begin_ns, next_shown_ns, next_clock_check_ns;
    measure_end_t end;
} progress_t;

/* A job while it is measured. */
typedef struct task {
    const world_t *span;
    const job_t *job;
    const operation_t *operation;
    work_t *work;
    batch_room_t *room;
    bool takes_turns; /* with other jobs */
    FILE *raw;        /* rank 0: raw times, or NULL */
    releaser_t releaser;
    imposed_t imposed;        /* arrivals */
    double calls_per_ns;      /* of the loop that computes */
    char root[16], label[48]; /* texts of keys */
    row_keys_t keys;
    /* Of a size. */
    bool is_done[MAX_SIZES]; /* which were measured */
    bool is_at_size;         /* this one is one of the job's */
    double together_ns;      /* median run time without delays; 0: not known */
    double from_last_ns;     /* likewise from the last arrival; NaN: not known */
    /* Of a row. */
    row_t row;
    int64_t compute_ns; /* 0, or how long to compute between the halves of each call */
    samples_t samples;  /* rank 0 */
    progress_t progress;
} task_t;

/* measure_open - get ready for a job. Collective over the span, whose clock has been synchronized. */
void measure_open(task_t *task);

/*
 * measure_begin - begin the calls of the task's row: it is warmed up, and then measured. Local.
 *
 * compute_ns   0; or, of a row that has been warmed up, how long to compute between the halves of each call
 */
void measure_begin(task_t *task, int64_t compute_ns);

/* measure_batch - one batch. Collective. A call that fails ends the job. Returns false if it was the row's last one. */
bool measure_batch(task_t *task);

#endif
