/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * progress.c - targets of windows that make no progress.
 *
 * Some MPI libraries and networks move data, combine them, or grant locks without the target; with others, the target
 * has to call MPI. A call that lasts long, and began while its target computed or was about to, waited until the target
 * called MPI, if after that it took no less than another such access, and unless another one was complete while its
 * target computed all the time: one of the same kind, of the same window, no smaller, and at a target that is on the
 * same host or not, as this one. If the target was in MPI, or is not needed, the call took what the access takes. All
 * else is not known.
 */
#include "trace/waits/accesses.h"

#include "common/cli/memory.h"
#include "pure/order_statistics.h"
#include "trace/waits/busy.h"

#include <math.h>
#include <stdlib.h>

/* What is to be done at a target: PUT, GET and UPDATE of trace_access, and then: */
typedef enum { NEEDS_LOCK = TRACE_UPDATE + 1, NEEDS_UNLOCK } need;

/* Where a target is. */
typedef enum { SAME_PROCESS, SAME_HOST, OTHER_HOST } distance;

/* Accesses of one kind and target that are not complete; and a call that waits for them. */
typedef struct {
    const trace_communicator *window;
    int target; /* -1: of a lock or an unlock, all, of which only the other one of two may be late */
    need kind;
    distance to;
    bool is_local;    /* the call need not wait until they are complete at the target */
    bool asks;        /* the process may have got a lock in the call */
    int64_t bytes;    /* the most */
    int64_t since_ns; /* the first began */
    uint32_t lane, call;
    bool is_alone;       /* another such access was complete without its target */
    int64_t shortest_ns; /* of the calls that completed such accesses */
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

/* What one call completes. Locks of all targets need those that are accessed. */
static void settle(accesses *done, size_t first)
{
    bool has_targets = false, asks = false;
    size_t kept = first;
    for (size_t i = first; i < done->count; i++) {
        has_targets = has_targets || done->list[i].target >= 0;
        asks = asks || done->list[i].kind == NEEDS_LOCK;
    }
    for (size_t i = first; i < done->count; i++) {
        done->list[i].asks = asks;
        if (done->list[i].target >= 0 || !has_targets)
            done->list[kept++] = done->list[i];
    }
    done->count = kept;
}

/* by: the target, and the call, of kind NEEDS_UNLOCK if it unlocks. done: NULL: it is not known which call completes
   them. */
static void complete(accesses *open, target_access by, accesses *done)
{
    const size_t first = done ? done->count : 0;
    size_t kept = 0;
    for (size_t i = 0; i < open->count; i++) {
        target_access one = open->list[i];
        const bool is_unlock = one.kind == NEEDS_UNLOCK, ends_epoch = by.kind == NEEDS_UNLOCK || by.is_local || !done;
        if (one.window != by.window || !access_has_target(one.target, by.target) || (is_unlock && !ends_epoch)) {
            open->list[kept++] = one;
            continue;
        }
        one.call = by.call;
        one.is_local = by.is_local;
        one.since_ns = is_unlock ? by.since_ns : one.since_ns;
        if (done && (!is_unlock || !by.is_local))
            add(done, one);
    }
    open->count = kept;
    if (done)
        settle(done, first);
}

/* A process may get a lock in any call, up to the first one that completes something. To unlock all targets takes those
   that it has accessed. */
static void see_access(accesses *open, const trace_event *event, target_access one, accesses *done)
{
    if (event->mode <= TRACE_UPDATE && event->partner >= 0) {
        one.kind = (need)event->mode;
        one.bytes = (int64_t)event->value;
        begin_access(open, one);
        one.kind = NEEDS_UNLOCK;
        one.bytes = 0;
        begin_access(open, one);
    } else if (access_is_lock(event)) {
        one.kind = NEEDS_LOCK;
        begin_access(open, one);
        one.is_local = one.asks = true;
        add(done, one);
    } else if (event->mode == TRACE_FLUSH || event->mode == TRACE_UNLOCK) {
        if (event->mode == TRACE_UNLOCK) {
            one.kind = NEEDS_UNLOCK;
            begin_access(open, one);
        }
        complete(open, one, done);
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
        one.is_local = true;
        complete(open, one, done);
    } else if (event->kind == TRACE_COLLECTIVE) {
        const meaning *its = in->meanings[location->events[lane->calls[one.call].enter].id];
        one.target = -1;
        if (its && its->wait == WAIT_FENCE)
            complete(open, one, NULL);
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

/* ---- What is known of ranks */

static int rank_of(const target_access *of)
{
    return of->target >= 0 && of->target < of->window->size ? of->window->ranks[of->target] : -1;
}

static int own_rank(const graph *in, const target_access *of)
{
    return in->lanes[of->lane].location->rank;
}

static distance distance_to(const busy_facts *from, const target_access *of)
{
    const int rank = rank_of(of), own = own_rank(from->graph, of);
    if (rank == own)
        return SAME_PROCESS;
    return rank >= 0 && busy_share_host(from, rank, own) ? SAME_HOST : OTHER_HOST;
}

/* NULL: not all that it does is known, or it is this process. */
static const graph_lane *lane_of(const busy_facts *from, const target_access *of)
{
    return of->to != SAME_PROCESS ? busy_lane(from, rank_of(of)) : NULL;
}

/* Any process of the window may have the lock, or all may be targets. */
static bool knows_all(const busy_facts *from, const target_access *of)
{
    for (int i = 0; i < of->window->size && !from->has_all_ranks; i++) {
        const int rank = of->window->ranks[i];
        if (rank != own_rank(from->graph, of) && (rank < 0 || !from->ranks[rank].is_known))
            return false;
    }
    return true;
}

/* ---- What targets do meanwhile */

/* Whether the target computed all the time from the beginning of an access to the end of the call that completed it. */
static bool has_computed(const busy_facts *from, const target_access *of)
{
    const graph *in = from->graph;
    const graph_lane *lane = of->is_local ? NULL : lane_of(from, of);
    const int64_t end_ns = in->lanes[of->lane].calls[of->call].leave_ns;
    const size_t next = lane ? busy_call_after(in, lane, of->since_ns) : 0;
    if (!lane || next == lane->count || busy_may_lack_call(in, lane, next))
        return false;
    const double bound_ns = graph_bound_ns(in, of->lane, of->call) + graph_bound_ns(in, lane->location->index, next);
    const size_t last = busy_call_before(in, lane, next);
    return isfinite(bound_ns) && busy_has_left(lane, last, of->since_ns, bound_ns) &&
           (double)(lane->calls[next].enter_ns - end_ns) > bound_ns;
}

/* ---- What one access tells of others */

static int by_likeness(const void *left, const void *right)
{
    const target_access *a = left, *b = right;
    const int windows = access_compare_windows(a->window, b->window);
    if (windows != 0)
        return windows;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    if (a->is_local != b->is_local)
        return a->is_local ? 1 : -1;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    if (a->lane != b->lane)
        return a->lane < b->lane ? -1 : 1;
    if (a->call != b->call)
        return a->call < b->call ? -1 : 1;
    return (a->target > b->target) - (a->target < b->target);
}

static bool are_alike(const target_access *a, const target_access *b)
{
    return access_compare_windows(a->window, b->window) == 0 && a->kind == b->kind && a->to == b->to &&
           a->is_local == b->is_local;
}

/* Of those that are alike, by bytes, the most first: each is told by those that have no fewer. */
static void compare(const busy_facts *from, target_access *list, size_t count)
{
    bool is_alone = false;
    int64_t shortest_ns = INT64_MAX;
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first; end < count && list[end].bytes == list[first].bytes; end++) {
            const target_access *one = &list[end];
            const int64_t leave_ns = from->graph->lanes[one->lane].calls[one->call].leave_ns;
            shortest_ns = lesser(shortest_ns, leave_ns - busy_known_until_ns(from->graph, one->lane, one->call));
            is_alone = is_alone || has_computed(from, &list[end]);
        }
        for (size_t i = first; i < end; i++) {
            list[i].is_alone = is_alone;
            list[i].shortest_ns = shortest_ns;
        }
    }
}

static void compare_all(const busy_facts *from, accesses *all)
{
    for (size_t i = 0; i < all->count; i++) {
        target_access *one = &all->list[i];
        if (one->target < 0 && one->window->size == 2)
            one->target = one->window->ranks[0] == own_rank(from->graph, one);
        one->to = distance_to(from, one);
    }
    if (all->count > 1)
        qsort(all->list, all->count, sizeof *all->list, by_likeness);
    for (size_t first = 0, end; first < all->count; first = end) {
        for (end = first + 1; end < all->count && are_alike(&all->list[first], &all->list[end]);)
            end++;
        compare(from, &all->list[first], end - first);
    }
}

/* ---- What calls wait for */

static bool depends_on(const graph_lane *lane, const graph_call *call, size_t late_lane, size_t late_call)
{
    uint32_t i = call->dependency;
    while (i != GRAPH_NONE && (lane->dependencies[i].lane != late_lane || lane->dependencies[i].call != late_call))
        i = lane->dependencies[i].next;
    return i != GRAPH_NONE;
}

/* Lets a call wait for the target, if it does. Returns whether it is known. */
static bool wait_for_target(graph *to, const target_access *of, const graph_lane *lane, int64_t since_ns)
{
    graph_lane *own = &to->lanes[of->lane];
    const int64_t leave_ns = own->calls[of->call].leave_ns;
    /* A call that ends now does nothing more for the access. */
    const size_t next = busy_call_after(to, lane, since_ns + BUSY_LONG_NS);
    if (busy_may_lack_call(to, lane, next))
        return false;
    if (next == lane->count || lane->calls[next].enter_ns > leave_ns)
        return true;
    const uint32_t late_lane = (uint32_t)lane->location->index;
    const int64_t late_ns = lane->calls[next].enter_ns;
    if (graph_is_off(to, &lane->calls[next]))
        return false;
    if (late_ns <= since_ns || depends_on(own, &own->calls[of->call], late_lane, next))
        return true;
    if (leave_ns - late_ns < of->shortest_ns)
        return false;
    graph_depend(own, of->call, (graph_dependency){.lane = late_lane, .call = (uint32_t)next, .state = STATE_PROGRESS});
    return true;
}

/* Returns whether it is known what the call takes for an access. Any process may have a lock; and where nothing is
   accessed, locks of all targets may need each of them. */
static bool add_access(graph *to, const busy_facts *from, const target_access *of)
{
    const bool is_own = of->to == SAME_PROCESS, needs_all = of->asks || of->target < 0;
    const graph_call *call = &to->lanes[of->lane].calls[of->call];
    const graph_lane *lane = lane_of(from, of);
    const int64_t since_ns = busy_known_until_ns(to, of->lane, of->call);
    if ((needs_all && !knows_all(from, of)) || (of->target >= 0 && !is_own && !lane) || call->has_unknown_holder)
        return false;
    if (is_own || call->leave_ns - since_ns <= BUSY_LONG_NS)
        return true;
    return of->target >= 0 && (of->is_alone || wait_for_target(to, of, lane, since_ns));
}

static void set_matched(graph *to, const accesses *of, const bool *is_known, bool value)
{
    for (size_t i = 0; i < of->count; i++)
        if (is_known[i] == value)
            to->lanes[of->list[i].lane].calls[of->list[i].call].is_matched = value;
}

void progress_add(graph *to)
{
    busy_facts from = busy_learn(to);
    accesses done = {0, NULL};
    for (size_t lane = 0; lane < to->lane_count; lane++)
        find_accesses(to, lane, &done);
    compare_all(&from, &done);
    bool *is_known = array_or_exit(done.count, sizeof *is_known);
    for (size_t i = 0; i < done.count; i++)
        is_known[i] = add_access(to, &from, &done.list[i]);
    set_matched(to, &done, is_known, true);
    set_matched(to, &done, is_known, false); /* a call has to know all of them */
    free(is_known);
    free(done.list);
    free(from.ranks);
}
