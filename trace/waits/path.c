/* SPDX-License-Identifier: BSD-3-Clause */
/* path.c - walk the critical path backward. */
#include "trace/waits/causes.h"

/* Where the walk is: at a time, on a lane, after the beginnings of so many of its calls. */
typedef struct {
    size_t lane, calls;
    int64_t ns;
    size_t jumps; /* since the time last changed */
} position;

static size_t calls_before(const graph_lane *lane, int64_t ns)
{
    size_t low = 0, high = lane->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (lane->calls[middle].enter_ns < ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add(causes *to, const cause_key *key, position *at, int64_t from_ns)
{
    if (from_ns >= at->ns)
        return;
    const size_t which = causes_at(to, key); /* may move the list */
    to->list[which].path_ns += at->ns - from_ns;
    at->ns = from_ns;
    at->jumps = 0;
}

/* Back through the last call that began, to its beginning or to the lane that it waited for. */
static void pass_call(causes *to, const graph *of, const graph_waits *waits, position *at)
{
    const graph_call *call = &of->lanes[at->lane].calls[at->calls - 1];
    const graph_wait *wait = call->wait != GRAPH_NONE ? &waits->list[call->wait] : NULL;
    const cause_key key = cause_in(of, at->lane, at->calls - 1);
    const bool jumps = wait && wait->end_ns <= at->ns && at->jumps < of->lane_count;
    add(to, &key, at, jumps ? wait->end_ns : call->enter_ns);
    at->calls--;
    if (jumps) {
        at->lane = wait->late_lane;
        at->calls = calls_before(&of->lanes[at->lane], at->ns);
        at->jumps++;
    }
}

void path_add(causes *to, const graph *of, const graph_waits *waits)
{
    position at = {.ns = of->end_ns};
    for (size_t lane = 0; lane < of->lane_count; lane++)
        if (graph_runs(&of->lanes[lane]) && of->lanes[lane].end_ns == of->end_ns &&
            (of->lanes[lane].count > 0 || of->lanes[at.lane].end_ns != of->end_ns))
            at.lane = lane;
    if (of->lane_count == 0)
        return;
    at.calls = of->lanes[at.lane].count;
    while (at.ns > of->begin_ns) {
        const graph_lane *lane = &of->lanes[at.lane];
        const cause_key key = cause_before(of, at.lane, at.calls);
        const int64_t from_ns = at.calls > 0 ? lane->calls[at.calls - 1].leave_ns : of->begin_ns;
        add(to, &key, &at, from_ns);
        if (at.calls > 0)
            pass_call(to, of, waits, &at);
    }
}
