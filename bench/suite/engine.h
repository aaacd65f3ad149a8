/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * engine.h - how calls are sampled: batch by batch, one thing alone or several in turns. What a call is, and what is
 * kept of it, is the caller's.
 *
 * A sampling is probed, warmed up, measured, and then settled. Between two of its batches there may be some of others.
 * After a batch rank 0 decides what follows, and tells all.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include "common/mpi/world.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum phase {
    PHASE_PROBE,   /* a few calls from which starting times are found */
    PHASE_WARM_UP, /* calls that do not count */
    PHASE_MEASURE,
    PHASE_SETTLED
} phase_t;

/* Why a sampling was settled. */
typedef enum settled_by {
    SETTLED_BY_SAMPLES, /* as many valid ones as were wanted */
    SETTLED_BY_FIGURES, /* is_enough said so */
    SETTLED_BY_CALLS,
    SETTLED_BY_TIME
} settled_by_t;

typedef struct sampling_limits {
    int64_t probe_calls;
    int64_t warmup_calls;
    int64_t wanted; /* valid samples */
    double max_calls;
    double max_batch_calls;
    int64_t limit_ns; /* time slice; 0: none */
} sampling_limits_t;

/* A batch is to take at most this. */
#define ENGINE_MAX_BATCH_NS 50e6

/* A batch as rank 0 orders it, and what it became. */
typedef struct batch {
    int64_t calls; /* 0: the sampling is settled */
    int64_t first; /* how many measured calls came before */
    int64_t phase; /* phase_t: only measured calls count */
    /* Filled in by run, on rank 0. */
    int64_t made;  /* calls, with those that settle a batch */
    int64_t valid; /* measured calls */
    int64_t took_ns;
} batch_t;

typedef struct sampling {
    const world_t *span;
    void *subject; /* what is sampled, for the three functions */
    /* Makes the calls of a batch and, if it is measured, takes them in on rank 0. Collective over the span. */
    void (*run)(void *subject, batch_t *batch);
    /* Rank 0: whether the samples so far are enough, although more are wanted; NULL: never. */
    bool (*is_enough)(void *subject);
    /* Does what is left to do. Returns true if it has begun the sampling anew. Collective; may be NULL. */
    bool (*settle)(void *subject);
    sampling_limits_t limits;
    batch_t next; /* the same on all ranks */
    /* Rank 0: how far it has come. */
    int64_t phase_left; /* calls of the probe, or of warming up */
    int64_t calls;      /* measured */
    int64_t valid;      /* of these */
    int64_t spent_ns;   /* before calls are measured, and from 0 again while they are */
    double batch_calls; /* of the last batch; 0: none yet */
    double call_ns;     /* in the last batch */
    settled_by_t settled_by;
} sampling_t;

/* sampling_begin - begin, or begin anew, with these limits; span, subject and functions are set. Local. */
void sampling_begin(sampling_t *sampling, const sampling_limits_t *limits);

/*
 * engine_run - a batch of each sampling, in another order each time, and so on until all are settled. So changes of the
 * machine affect all of them alike. Collective over the span, which is the same for all.
 *
 * samplings   are shuffled
 * dice        a random state, the same on all ranks
 */
void engine_run(sampling_t **samplings, int count, uint64_t *dice);

#endif
