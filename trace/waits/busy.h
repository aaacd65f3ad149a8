/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * busy.h - processes that may compute while others need them to call MPI: what is known of them, and when they do.
 */
#ifndef TRACE_BUSY_H
#define TRACE_BUSY_H

#include "trace/waits/graph.h"

/* Calls that wait for nothing take some microseconds. */
enum { BUSY_LONG_NS = 50000 };

/* What is known of a rank. */
typedef struct {
    bool is_known; /* the trace has all its calls, of one thread: any of several may make progress */
    char host[256];
} busy_rank;

typedef struct {
    const graph *graph;
    busy_rank *ranks;   /* to be freed */
    bool has_all_ranks; /* all of them are known */
} busy_facts;

busy_facts busy_learn(const graph *in);
bool busy_share_host(const busy_facts *from, int rank, int other);

/* The only lane of a rank; NULL: not all that it does is known. */
const graph_lane *busy_lane(const busy_facts *from, int rank);

/* The first call that ends after a time and may make progress; the count, if there is none. */
size_t busy_call_after(const graph *in, const graph_lane *lane, int64_t ns);

/* The last call before one that may make progress; the count, if there is none. */
size_t busy_call_before(const graph *in, const graph_lane *lane, size_t next);

/* Whether a lane had left a call a bound before a time, or had not begun any. */
bool busy_has_left(const graph_lane *lane, size_t call, int64_t ns, double bound_ns);

/* Whether a lane computed for long before a call, since it was in one that may make progress. */
bool busy_has_computed(const graph *in, const graph_lane *lane, size_t call);

/* Whether there may be an earlier call: of a part of the run, calls at its edges are left out. */
bool busy_may_lack_call(const graph *in, const graph_lane *lane, size_t next);

/* Until when a call waits for what it depends on, such as MPI_Win_post of a target; but not for progress. */
int64_t busy_known_until_ns(const graph *in, uint32_t lane, uint32_t call);

#endif
