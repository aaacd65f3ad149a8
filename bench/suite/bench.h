/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench.h - the parts of mpix_bench that see all of a run: turns of jobs, their samples, and their rows.
 *
 * Each rank keeps the start and the end of each of its calls on the global clock. After a batch rank 0 gathers them.
 */
#ifndef BENCH_H
#define BENCH_H

#include "common/mpi/world.h"
#include "bench/suite/analysis.h"
#include "common/arrival/arrival.h"
#include "bench/suite/communicator.h"
#include "bench/suite/engine.h"
#include "bench/suite/operation.h"
#include "bench/suite/plan.h"
#include "bench/suite/report.h"
#include "bench/suite/schemes.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct bench {
    world_t world;
    plan_t plan; /* the jobs are the same on all ranks */
    report_t report;
    double fractions[MAX_NUMBERS];
    communicator_t communicator;         /* of the last job */
    const communicator_choice_t *choice; /* NULL: none is open */
    char *memory;         /* for the buffers of all jobs: only the buffers of one job are in use at a time */
    int64_t memory_bytes; /* of this rank */
    bool is_full;         /* no file takes further rows */
    int status;
} bench_t;

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

/* A job while it is measured. */
typedef struct task {
    bench_t *bench;
    const world_t *span;
    const job_t *job;
    const operation_t *operation;
    work_t *work;
    batch_room_t *room;
    bool takes_turns; /* with other jobs */
    releaser_t releaser;
    double calls_per_ns;      /* of the loop that computes */
    char root[16], label[48]; /* texts of keys */
    row_keys_t keys;
    bool is_done[MAX_SIZES]; /* which sizes were measured */
    /* Rank 0: what rows of one size are compared with, the medians without delays. */
    double together_ns;  /* run time; 0: not known */
    double from_last_ns; /* from the last arrival; NaN: not known */
    row_state_t row;
} task_t;

/* At most so many jobs take turns: some have communicators, and MPI libraries have only a few thousand of these. */
enum { MAX_TURNS = 256 };

/*
 * provenance_collect - program and version, command line, date, seed; MPI library, and what algorithms_list says of its
 * collective algorithms; ranks and nodes; host, kernel, processor and clocksource of rank 0's node; what the library
 * states about its clock and barrier on rank 0, and the largest bound of all ranks. What cannot be found out is
 * "unknown". Collective over world->comm, whose clock has been synchronized.
 *
 * head         out; of use on rank 0 only
 * argc, argv   main's, of use on rank 0 only
 */
void provenance_collect(head_t *head, const world_t *world, int argc, char **argv, int64_t seed);

/* What a job asks of its operation. */
work_plan_t bench_plan_work(const bench_t *bench, const job_t *job);

/*
 * Measures jobs of the communicator that is open, size by size, in turns, so that changes of the machine affect all of
 * them alike. Collective over the span.
 */
void bench_run_turns(bench_t *bench, const job_t *jobs, int count);

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

/* row_take - rank 0: the figures of calls that were measured. bound_ns: of the global clock, with imposed arrivals. */
void row_take(const bench_t *bench, task_t *task, double bound_ns);

/* row_write - rank 0: write a row whose figures were taken. */
void row_write(bench_t *bench, task_t *task);

/* row_begin_line - rank 0: begin a line on standard error. */
void row_begin_line(const task_t *task);

#endif
