/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replay.h - how long the run would take if something was gone: all calls begin again as early as the computation
 * before them allows, and end as long after what they depend on as they did.
 */
#ifndef TRACE_REPLAY_H
#define TRACE_REPLAY_H

#include "trace/waits/causes.h"

/* What is changed. */
typedef struct {
    /* By lane, and then by call, with one more for the end of the lane: how much shorter the computation before it is.
     * NULL: no lane has shorter ones; NULL of a lane: this lane has none. */
    int64_t **less_ns;
    size_t without;  /* a cause: calls are shorter by as much as others waited for them; or GRAPH_NONE */
    bool is_instant; /* what calls take beside waiting is gone: a network without latency and with any bandwidth */
} replay_change;

/* The time from the first beginning of a lane to the last end. */
int64_t replay_ns(const graph *of, const replay_change *change);

/*
 * The run time by replay, if a rank did not take longer than the others: each instance of the cause is shorter by as
 * much as it was longer than with those that waited for it. If the other ranks compute as often between these places,
 * an instance for which nobody waited is no longer than the median of theirs.
 *
 * which     its index in the list of causes
 * without   out: what is known by the replay
 */
void replay_without(const graph *of, cause *without, size_t which);

#endif
