/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * burst.h - bursts of exchanges between two ranks, and what they tell about the offset of their clocks.
 *
 * An exchange is a message to the peer, which answers with a reading of its clock. The first exchanges after a silence
 * are lopsided by microseconds and are discarded. No message arrives before it was sent, so each exchange bounds the
 * offset of the peer's clock from both sides. As in pure/model.h, offset = local - global, where the peer's clock is
 * the local one and the own clock is global. The middle of the window that all leave is the estimator of the SKaMPI
 * benchmark.
 */
#ifndef BURST_H
#define BURST_H

#include "pure/window.h"
#include "common/mpi/world.h"

#include <stdint.h>
#include <stdlib.h>

/* What exchanges leave of the offset of the peer's clock. */
typedef struct burst_window {
    mh_window limits;
    int64_t min_at_ns, max_at_ns; /* when the limits were found */
} burst_window_t;

static inline int64_t burst_offset_ns(const burst_window_t *window)
{
    return mh_window_middle_ns(window->limits);
}

/* The maximum error of the offset. Coarse clocks, and clocks that were set, may leave the limits in the wrong order. */
static inline int64_t burst_half_width_ns(const burst_window_t *window)
{
    return (llabs(window->limits.max_ns - window->limits.min_ns) + 1) / 2;
}

enum { BURST_DISCARDED = 3 };

/* Readings in ticks of the clock (machine_clock.h), of the global clock in ns. */
typedef struct exchange {
    int64_t sent_ticks;
    int64_t remote_ticks;
    int64_t received_ticks;
    int64_t at_ns; /* system_time_ns just after it */
} exchange_t;

typedef struct burst {
    const world_t *world; /* for errors */
    MPI_Comm comm;
    int64_t clocks;        /* bit i for the clock of index i */
    int64_t exchanges;     /* with each clock, in turn */
    const world_t *global; /* if not NULL, the clock is the global one of this world instead, whatever its index */
} burst_t;

/*
 * burst_measure - make a burst with the peer, which is in burst_serve.
 *
 * exchanges   out: for each clock of the burst, in order, its exchanges
 */
void burst_measure(const burst_t *burst, int peer, exchange_t *exchanges);

/*
 * burst_serve - answer a burst of the peer.
 *
 * Until it begins this rank sleeps, so that ranks may be more than cores.
 *
 * Returns false when the peer called burst_end instead.
 */
bool burst_serve(const burst_t *burst, int peer);

/* burst_end - tell the peer that there are no more bursts. */
void burst_end(const burst_t *burst, int peer);

/*
 * burst_window - what the exchanges with one clock leave of its offset.
 *
 * exchanges, count           those of one clock
 * own_tick_ns, peer_tick_ns  the length of its ticks
 */
burst_window_t burst_window(const exchange_t *exchanges, int64_t count, double own_tick_ns, double peer_tick_ns);

#endif
