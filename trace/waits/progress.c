/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * progress.c - targets of windows that make no progress.
 *
 * Some MPI libraries and networks move data, combine them, or grant locks without the target; with others, the target
 * has to call MPI. A call that lasts long, and began while its target computed or was about to, waited until the target
 * called MPI, unless the trace has an access of this kind, no smaller, that was complete while its target computed all
 * the time. If the target was in MPI, or is not needed, the call took what the access takes.
 */
#include "trace/waits/accesses.h"

#include "common/cli/memory.h"

#include <math.h>
#include <stdlib.h>

/* Calls that wait for nothing take some microseconds. */
enum { LONG_NS = 50000 };

/* What is to be done at a target: PUT, GET and UPDATE of trace_access, and then: */
typedef enum { NEEDS_LOCK = TRACE_UPDATE + 1, NEEDS_UNLOCK, NEEDS_COUNT } need;

/* Accesses of one kind and target that are not complete; and a call that waits for them. */
typedef struct {
    const trace_communicator *window;
    int target; /* -1: all */
    need kind;
    int64_t bytes;    /* the most */
    int64_t since_ns; /* the first began */
    uint32_t lane, call;
} target_access;

typedef struct {
    size_t count;
    target_access *list;
} accesses;

static void add(accesses *to, target_access one)
{
    to->list = grow_or_exit(to->list, to->count, sizeof one);
    to->list[to->count++] = one;
}

/* ---- What calls of a lane complete */

static void begin_access(accesses *open, target_access one)
{
    size_t i = 0;
    while (i < open->count &&
           (open->list[i].window != one.window || open->list[i].target != one.target || open->list[i].kind != one.kind))
        i++;
    if (i == open->count)
        add(open, one);
    else if (open->list[i].bytes < one.bytes)
        open->list[i].bytes = one.bytes;
}

/* done: NULL: it is not known which call completes them. */
static void complete(accesses *open, const trace_communicator *window, int target, uint32_t call, accesses *done)
{
    size_t kept = 0;
    for (size_t i = 0; i < open->count; i++) {
        target_access one = open->list[i];
        if (one.window != window || !access_has_target(one.target, target)) {
            open->list[kept++] = one;
            continue;
        }
        one.call = call;
        if (done)
            add(done, one);
    }
    open->count = kept;
}

static void see_access(accesses *open, const trace_event *event, target_access one, accesses *done)
{
    if (event->mode <= TRACE_UPDATE && event->partner >= 0) {
        one.kind = (need)event->mode;
        one.bytes = (int64_t)event->value;
        begin_access(open, one);
    } else if (access_is_lock(event)) {
        one.kind = NEEDS_LOCK;
        add(done, one);
    } else if (event->mode == TRACE_FLUSH || event->mode == TRACE_UNLOCK) {
        complete(open, one.window, one.target, one.call, done);
        one.kind = NEEDS_UNLOCK;
        if (event->mode == TRACE_UNLOCK)
            add(done, one);
    }
}

/* MPI_Win_complete tells each target; MPI_Win_fence is an operation of the window. */
static void see_event(const graph *in, const graph_lane *lane, accesses *open, const trace_event *event,
                      target_access one, accesses *done)
{
    const trace_location *location = lane->location;
    if (event->kind == TRACE_ACCESS) {
        see_access(open, event, one, done);
    } else if (event->kind == TRACE_SEND && event->tag == TRACE_TAG_COMPLETE) {
        complete(open, one.window, one.target, one.call, done);
    } else if (event->kind == TRACE_COLLECTIVE) {
        const meaning *its = in->meanings[location->events[lane->calls[one.call].enter].id];
        if (its && its->wait == WAIT_FENCE)
            complete(open, one.window, -1, one.call, NULL);
    }
}

static void find_accesses(const graph *in, size_t index, accesses *done)
{
    const graph_lane *lane = &in->lanes[index];
    const trace_location *location = lane->location;
    accesses open = {0, NULL};
    for (size_t k = 0; k < location->count; k++) {
        const trace_event *event = &location->events[k];
        if (event->kind != TRACE_ACCESS && event->kind != TRACE_SEND && event->kind != TRACE_COLLECTIVE)
            continue;
        const bool has_any = event->kind == TRACE_ACCESS || open.count > 0;
        const trace_communicator *window = access_window(location->process, event);
        const size_t call = has_any && window ? graph_call_of(lane, k) : GRAPH_NONE;
        if (call == GRAPH_NONE)
            continue;
        const target_access one = {.window = window,
                                   .target = event->partner < 0 ? -1 : event->partner,
                                   .lane = (uint32_t)index,
                                   .call = (uint32_t)call,
                                   .since_ns = lane->calls[call].enter_ns};
        see_event(in, lane, &open, event, one, done);
    }
    free(open.list);
}

/* ---- What targets do meanwhile */

static int rank_of(const target_access *of, int target)
{
    return target < of->window->size ? of->window->ranks[target] : -1;
}

static bool is_own(const graph *in, const target_access *of, int target)
{
    return rank_of(of, target) == in->lanes[of->lane].location->rank;
}

/* Any thread of a target may make progress, so one of several threads is no target. */
static const graph_lane *lane_of(const graph *in, const target_access *of, int target)
{
    const int rank = rank_of(of, target);
    if (rank < 0 || is_own(in, of, target) || in->of->processes[rank].location_count != 1)
        return NULL;
    return &in->lanes[in->of->processes[rank].locations[0].index];
}

/* The first call that ends after a time and may make progress; the count, if there is none. */
static size_t call_after(const graph *in, const graph_lane *lane, int64_t ns)
{
    size_t low = 0, high = lane->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (lane->calls[middle].leave_ns > ns)
            high = middle;
        else
            low = middle + 1;
    }
    while (low < lane->count && graph_means(in, &lane->calls[low], MEANS_LOCAL))
        low++;
    return low;
}

/* Whether a target computed all the time from the beginning of an access to the end of the call that completed it. */
static bool has_computed(const graph *in, const target_access *of, const graph_lane *lane)
{
    const int64_t end_ns = in->lanes[of->lane].calls[of->call].leave_ns;
    const size_t next = call_after(in, lane, of->since_ns);
    if (next == lane->count)
        return false;
    const double sum_ns = graph_bound_ns(in, of->lane, of->call) + graph_bound_ns(in, lane->location->index, next);
    const double bound_ns = isfinite(sum_ns) ? sum_ns : 0;
    const bool has_left = next == 0 || (double)(of->since_ns - lane->calls[next - 1].leave_ns) > bound_ns;
    return has_left && (double)(lane->calls[next].enter_ns - end_ns) > bound_ns;
}

/* Targets of an access: one, or all. */
static int first_target(const target_access *of)
{
    return of->target < 0 ? 0 : of->target;
}

static int last_target(const target_access *of)
{
    return of->target < 0 ? of->window->size - 1 : of->target;
}

/* alone_bytes: by kind, accesses with no more bytes need no target; -1: none is known. */
static void note_alone(const graph *in, const target_access *of, int64_t *alone_bytes)
{
    for (int target = first_target(of); target <= last_target(of) && of->bytes > alone_bytes[of->kind]; target++) {
        const graph_lane *lane = lane_of(in, of, target);
        if (lane && has_computed(in, of, lane))
            alone_bytes[of->kind] = of->bytes;
    }
}

static bool depends_on(const graph_lane *lane, const graph_call *call, size_t late_lane, size_t late_call)
{
    uint32_t i = call->dependency;
    while (i != GRAPH_NONE && (lane->dependencies[i].lane != late_lane || lane->dependencies[i].call != late_call))
        i = lane->dependencies[i].next;
    return i != GRAPH_NONE;
}

/* What the call waits for already, such as MPI_Win_post of the target, is no progress. */
static bool waits_for(const graph *in, const target_access *of, const graph_lane *lane, size_t next)
{
    const graph_lane *own = &in->lanes[of->lane];
    const graph_call *call = &own->calls[of->call];
    return next < lane->count && lane->calls[next].enter_ns > call->enter_ns &&
           lane->calls[next].enter_ns <= call->leave_ns && !depends_on(own, call, lane->location->index, next);
}

/* Returns whether the trace has the calls of all targets. */
static bool wait_for_targets(graph *to, const target_access *of)
{
    graph_lane *own = &to->lanes[of->lane];
    const graph_call *call = &own->calls[of->call];
    bool has_all = true;
    for (int target = first_target(of); target <= last_target(of); target++) {
        const graph_lane *lane = lane_of(to, of, target);
        /* A call that ends now does nothing more for the access. */
        const size_t next = lane ? call_after(to, lane, call->enter_ns + LONG_NS) : 0;
        if (lane && waits_for(to, of, lane, next))
            graph_depend(own, of->call,
                         (graph_dependency){
                             .lane = (uint32_t)lane->location->index, .call = (uint32_t)next, .state = STATE_PROGRESS});
        has_all = has_all && (lane || is_own(to, of, target));
    }
    return has_all;
}

/* alone_bytes: see note_alone. */
static void add_access(graph *to, const target_access *of, const int64_t *alone_bytes)
{
    graph_call *call = &to->lanes[of->lane].calls[of->call];
    const bool needs_target = call->leave_ns - call->enter_ns > LONG_NS && of->bytes > alone_bytes[of->kind];
    if (!needs_target || wait_for_targets(to, of))
        call->is_matched = true;
}

void progress_add(graph *to)
{
    accesses done = {0, NULL};
    int64_t alone_bytes[NEEDS_COUNT];
    for (int kind = 0; kind < NEEDS_COUNT; kind++)
        alone_bytes[kind] = -1;
    for (size_t lane = 0; lane < to->lane_count; lane++)
        find_accesses(to, lane, &done);
    for (size_t i = 0; i < done.count; i++)
        note_alone(to, &done.list[i], alone_bytes);
    for (size_t i = 0; i < done.count; i++)
        add_access(to, &done.list[i], alone_bytes);
    free(done.list);
}
