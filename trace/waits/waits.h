/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * waits.h - which calls wait, for whom, and for how long: from the beginning of the call until the last of what it
 * depends on. A wait that the bounds of the clocks cannot tell from zero is none.
 */
#ifndef TRACE_WAITS_H
#define TRACE_WAITS_H

#include "trace/waits/graph.h"

typedef struct {
    uint32_t lane, call;
    uint32_t late_lane, late_call; /* whose beginning ended the wait */
    wait_state state;
    int64_t begin_ns, end_ns;
    double bound_ns; /* by how much it may be longer or shorter */
} graph_wait;

typedef struct {
    size_t count;
    graph_wait *list;  /* by lane and call */
    int64_t hidden_ns; /* of what seem to be waits, but are no longer than their bounds */
} graph_waits;

/* When what a call depends on is there, and what that is: a call. False: it does not depend on another thread. */
bool graph_release(const graph *of, size_t lane, const graph_dependency *dependency, graph_wait *release);

/* Find all waits, and name them in the calls of the graph. */
void waits_find(graph_waits *found, graph *of);
void waits_free(graph_waits *found);

/* Waits in the order in which they end; to be freed. */
size_t *waits_by_end(const graph_waits *of);

/* The time until which a call waits; its beginning, if it does not. */
static inline int64_t waits_end_ns(const graph_waits *of, const graph_call *call)
{
    return call->wait != GRAPH_NONE ? of->list[call->wait].end_ns : call->enter_ns;
}

#endif
