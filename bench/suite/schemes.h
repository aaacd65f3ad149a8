/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * schemes.h - how processes are released into a call together, and whether that worked.
 *
 * Calls come in batches. Before a batch, rank 0 makes its orders, which all ranks get; in it, each call has a slot, a
 * number from 0; after it, rank 0 learns from what all ranks noted.
 */
#ifndef SCHEMES_H
#define SCHEMES_H

#include "common/mpi/world.h"
#include "bench/suite/analysis.h"
#include "bench/suite/pace.h"

#include <stdbool.h>
#include <stdint.h>

/* Barriers over point-to-point messages, which owe nothing to the MPI library's choice of an algorithm. */
typedef struct barrier_algorithm {
    const char *name;
    /* Waits for all of the span. Collective. A call that fails ends the job. */
    void (*meet)(const world_t *span);
} barrier_algorithm_t;

/* library (MPI_Barrier), linear, tree, binomial, doublering, recursivedoubling, bruck; the last has no name. */
extern const barrier_algorithm_t barriers[];

typedef enum release_kind {
    RELEASE_HARMONIZE,
    RELEASE_BARRIER,
    RELEASE_BARRIER2,   /* two barriers */
    RELEASE_WINDOW,     /* starting times fixed for the whole batch, one window after the other */
    RELEASE_ROUND_TIME, /* before each call, rank 0 sends its starting time */
    RELEASE_NONE
} release_kind_t;

enum { MAX_BATCH_CALLS = 512 };

/* What rank 0 sends to all ranks before a batch. */
typedef struct release_orders {
    int64_t decided_ns; /* when, by the global clock */
    int64_t first_ns;   /* window: the start of slot 0 */
    int64_t length_ns;  /* window: from a start to the next; 0 if it is still to be found. round-time: the lead */
} release_orders_t;

/* What a rank noted in a batch; of several ranks the largest counts. */
typedef struct release_note {
    int64_t ready_ns; /* window: from the decision to being ready for slot 0. round-time: to knowing a start, 90 % of
                         calls */
    cycles_t cycles;
} release_note_t;

typedef struct releaser {
    const world_t *span;
    release_kind_t kind;
    const barrier_algorithm_t *barrier;
    int64_t tolerance_ns; /* starting later is late */
    int64_t delay_ns;     /* harmonize: of this rank's next start; the caller sets it before each release */
    release_orders_t orders;
    int64_t slot;        /* the next one */
    sample_mark_t mark;  /* of the last release */
    int64_t released_ns; /* when that was */
    int64_t begun_ns;    /* when a window began: its start, or later if the rank was not ready */
    int64_t noted;
    int64_t notes_ns[MAX_BATCH_CALLS + 1]; /* cycles, or leads needed */
    int64_t ready_ns;
    bool window_is_given;
    int64_t window_ns; /* rank 0 */
    pace_t ready;      /* rank 0 */
} releaser_t;

typedef struct scheme {
    const char *name;
    const char *cadence; /* isolated: all processes meet before each call; streaming: calls follow each other at once */
    void (*release)(releaser_t *releaser);
    bool has_barrier; /* it uses a barrier algorithm */
    bool imposes;     /* all ranks are to start at one instant, or at known times after it */
    bool needs_probe; /* a few calls come first, from which starting times are found */
} scheme_t;

/* The schemes by release_kind_t; the last has no name. */
extern const scheme_t release_schemes[];

/*
 * release_open - get ready. The clock of the span has been synchronized. Local.
 *
 * window_us   0: to be found
 */
void release_open(releaser_t *releaser, const world_t *span, release_kind_t kind, const barrier_algorithm_t *barrier,
                  double window_us);

/* release_forget - another operation or size follows: discard what was learned about cycles. */
void release_forget(releaser_t *releaser);

/* release_order - rank 0: the orders of the next batch. */
release_orders_t release_order(releaser_t *releaser);

/* release_begin - all ranks: a batch begins by these orders. Local. */
void release_begin(releaser_t *releaser, const release_orders_t *orders);

/* release - wait for the start of the next slot. Collective over the span. A call that fails ends the job. */
void release(releaser_t *releaser);

/* release_mark - whether this rank's last release was what the scheme promises. Not timed. Local. */
sample_mark_t release_mark(const releaser_t *releaser);

/* release_target_ns - harmonize: when this rank was to start its last call, by the global clock. Not timed. Local. */
int64_t release_target_ns(const releaser_t *releaser);

/* release_end - all ranks: what was noted in the batch. Local. */
release_note_t release_end(releaser_t *releaser);

/* release_learn - rank 0: take in the largest of all ranks' notes, and how many of a batch's calls were invalid. */
void release_learn(releaser_t *releaser, const release_note_t *note, int64_t calls, int64_t invalid);

/* wait_until - wait for an instant of the global clock. Returns the first reading at or after it. */
int64_t wait_until(const world_t *span, int64_t instant_ns);

#endif
