/* SPDX-License-Identifier: BSD-3-Clause */
/* overlaps.h - what messages and operations share that a process begins, and computes before it completes them. */
#ifndef TRACE_OVERLAPS_H
#define TRACE_OVERLAPS_H

#include "trace/waits/busy.h"

typedef struct {
    graph *to;
    busy_facts facts;
    int64_t **known_ns; /* by lane and call: until when it waits for what is known; 0: nobody has asked yet */
    size_t count;
    struct candidate *list; /* of messages */
} overlaps;

static inline const graph_call *call_at(const graph *in, uint32_t lane, uint32_t call)
{
    return &in->lanes[lane].calls[call];
}

static inline bool is_long(const graph_call *call)
{
    return call->leave_ns - call->enter_ns > BUSY_LONG_NS;
}

static inline uint32_t call_of(const graph *in, const trace_point *of)
{
    return of->at ? (uint32_t)graph_call_of(&in->lanes[of->at->index], of->event) : GRAPH_NONE;
}

/* Until when a call waits for what it is known to wait for. */
int64_t overlap_known_until_ns(overlaps *in, uint32_t lane, uint32_t call);

/* is_shown: whether it waited, as far as the trace shows; else it is not known, if it may be much of the time. */
void overlap_wait_for(overlaps *in, uint32_t lane, uint32_t call, const graph_lane *late, size_t next, int64_t since_ns,
                      bool is_shown);

/* The dependencies of calls that complete operations. */
void overlap_add_operations(overlaps *to, const trace_matches *matches);

#endif
