/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exchange.h - timed messages between a client and a reference, from which offsets are estimated.
 *
 * Every comparison of clocks between processes uses this interface.
 */
#ifndef MH_EXCHANGE_H
#define MH_EXCHANGE_H

#include "transport/message.h"
#include "clock/base_clock.h"
#include "pure/model.h"
#include "sync/offset.h"

#include <stdbool.h>
#include <stdint.h>

/* One end of a pair of processes whose clocks are compared. */
typedef struct mh_link {
    const mh_channel *channel;
    const mh_base_clock *clock;
    int peer;
} mh_link;

/*
 * After a pause, the first exchanges take microseconds longer in one direction (cold caches, sleeping peers), so the
 * first three of a burst are discarded.
 */
enum { MH_EXCHANGE_DISCARDED = 3 };

/* A burst of exchanges of the client. */
typedef struct mh_burst {
    mh_exchange *exchanges; /* out: memory for `max` of them */
    int max;                /* in: make at most this many, at least one, after those that are discarded */
    bool may_stop;          /* in: end early once the shortest delays repeat: more would hardly narrow the window */
    double rate_limit;      /* in: the rates of the two clocks differ by at most this ratio */
    int count;              /* out: how many there are, all before or all after a step; 0: nothing is known */
    bool stepped;           /* out: one of the clocks was stepped during the burst */
} mh_burst;

/*
 * Client: make exchanges with the peer. No message arrives before it was sent, so exchanges that contradict each other
 * prove that a clock was stepped between them: the burst then starts again, so that its count is of exchanges after the
 * step. A step during the last exchange leaves none.
 */
int mh_exchange_measure(const mh_link *link, mh_burst *burst, mh_error *error);

/* Reference: answer the exchanges of the peer's mh_exchange_measure with the time that model assigns to the clock. */
int mh_exchange_serve(const mh_link *link, const mh_model *model, mh_error *error);

#endif
