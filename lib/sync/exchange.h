/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exchange.h - timed messages between a client and a reference: the raw material of every offset estimate.
 *
 * All probes of clocks between processes go through here.
 */
#ifndef MH_EXCHANGE_H
#define MH_EXCHANGE_H

#include "base/message.h"
#include "clock/base_clock.h"
#include "clock/model.h"
#include "sync/exchange_data.h"

#include <stdbool.h>
#include <stdint.h>

/* One end of a pair of processes whose clocks are compared. */
typedef struct mh_link {
    const mh_channel *channel;
    const mh_base_clock *clock;
    int peer;
} mh_link;

/*
 * The first exchanges of a burst after silence are lopsided by microseconds (cold caches, sleeping peers): the first
 * three are discarded.
 */
enum { MH_EXCHANGE_DISCARDED = 3 };

/*
 * Client: make exchanges with the peer, after those that are discarded.
 *
 * exchanges   out
 * count       in: at most so many, at least one; out: how many were made
 * may_stop    whether to end early when the least delays are found again, so that more would hardly narrow the window
 */
int mh_exchange_measure(const mh_link *link, mh_exchange *exchanges, int *count, bool may_stop, mh_error *error);

/* Reference: answer the exchanges of a mh_exchange_measure of the peer with the time that model makes of the clock. */
int mh_exchange_serve(const mh_link *link, const mh_model *model, mh_error *error);

#endif
