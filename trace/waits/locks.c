/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * locks.c - who has a lock that others ask for.
 *
 * MPI_Win_lock need not wait: an MPI library may take the lock in the first flush, or in MPI_Win_unlock. When one of
 * these is left, the process has it. So those are in order that exclude each other. A process waits for the last one
 * before it that called MPI_Win_unlock while it asked for the lock, in the call in which it was then. The last one was
 * before it if it was seen to have the lock before MPI_Win_unlock, or asked first; else it is not known who was.
 */
#include "trace/waits/accesses.h"

#include "common/cli/memory.h"
#include "trace/read/logical_clock.h"

#include <stdlib.h>

/* From MPI_Win_lock to MPI_Win_unlock. */
typedef struct {
    const trace_communicator *window;
    int target; /* -1: all */
    bool is_exclusive, is_released;
    uint32_t lane, rank;
    uint32_t asks, has, releases; /* calls: it asks for the lock in the first, and has it when the second is left */
    int64_t asked_ns, has_ns, released_ns;
} lock;

typedef struct {
    size_t count;
    lock *list;
} locks;

/* ---- Locks of a lane */

/* Those that are not released yet: positions in the list. */
typedef struct {
    size_t count;
    size_t *list;
} open_locks;

static void add_lock(const graph *in, locks *all, open_locks *open, size_t lane, uint32_t call,
                     const trace_event *event)
{
    const graph_lane *at = &in->lanes[lane];
    all->list = grow_or_exit(all->list, all->count, sizeof *all->list);
    open->list = grow_or_exit(open->list, open->count, sizeof *open->list);
    open->list[open->count++] = all->count;
    all->list[all->count++] = (lock){.window = access_window(at->location->process, event),
                                     .target = event->partner < 0 ? -1 : event->partner,
                                     .is_exclusive = event->mode == TRACE_LOCK_EXCLUSIVE,
                                     .lane = (uint32_t)lane,
                                     .rank = (uint32_t)at->location->rank,
                                     .asks = call,
                                     .has = GRAPH_NONE,
                                     .asked_ns = at->calls[call].enter_ns};
}

/* MPI_Win_flush or MPI_Win_unlock shows that the process has locks, and the latter gives back those of its target. */
static void show_locks(const graph *in, locks *all, open_locks *open, size_t lane, uint32_t call,
                       const trace_event *event)
{
    const graph_lane *at = &in->lanes[lane];
    const trace_communicator *window = access_window(at->location->process, event);
    const int target = event->partner < 0 ? -1 : event->partner;
    size_t kept = 0;
    for (size_t i = 0; i < open->count; i++) {
        lock *one = &all->list[open->list[i]];
        const bool is_shown = one->window == window && access_has_target(one->target, target);
        if (is_shown && one->has == GRAPH_NONE) {
            one->has = call;
            one->has_ns = at->calls[call].leave_ns;
        }
        one->is_released = one->window == window && one->target == target && event->mode == TRACE_UNLOCK;
        if (one->is_released) {
            one->releases = call;
            one->released_ns = at->calls[call].enter_ns;
        } else {
            open->list[kept++] = open->list[i];
        }
    }
    open->count = kept;
}

static void find_locks(const graph *in, size_t lane, locks *all)
{
    const trace_location *location = in->lanes[lane].location;
    open_locks open = {0, NULL};
    for (size_t k = 0; k < location->count; k++) {
        const trace_event *event = &location->events[k];
        if (event->kind != TRACE_ACCESS || !access_window(location->process, event))
            continue;
        const uint32_t call = (uint32_t)graph_call_of(&in->lanes[lane], k);
        if (call == GRAPH_NONE)
            continue;
        if (access_is_lock(event))
            add_lock(in, all, &open, lane, call, event);
        else if (event->mode == TRACE_FLUSH || event->mode == TRACE_UNLOCK)
            show_locks(in, all, &open, lane, call, event);
    }
    free(open.list);
}

/* ---- The order of the locks of a window */

static int by_window_and_time(const void *left, const void *right)
{
    const lock *a = left, *b = right;
    const int windows = access_compare_windows(a->window, b->window);
    if (windows != 0)
        return windows;
    if (a->has_ns != b->has_ns)
        return a->has_ns < b->has_ns ? -1 : 1;
    if (a->asked_ns != b->asked_ns)
        return a->asked_ns < b->asked_ns ? -1 : 1;
    return (a->lane > b->lane) - (a->lane < b->lane);
}

/* Those that are never shown to be had say nothing. */
static void sort_locks(locks *all)
{
    size_t kept = 0;
    for (size_t i = 0; i < all->count; i++)
        if (all->list[i].has != GRAPH_NONE)
            all->list[kept++] = all->list[i];
    all->count = kept;
    if (kept > 1)
        qsort(all->list, kept, sizeof *all->list, by_window_and_time);
}

/* ---- Who waits for whom: of a window, the last to release a lock so far */

typedef struct {
    int size;                              /* of the window */
    logical_latest *any, *exclusive;       /* by target */
    logical_latest all_shared, exclusives; /* locks of all targets; exclusive ones of any target */
} releases;

static releases begin_releases(const lock *list, size_t count)
{
    releases made = {.size = 0};
    for (size_t i = 0; i < count; i++)
        made.size = list[i].window->size > made.size ? list[i].window->size : made.size;
    made.any = array_or_exit((size_t)made.size, sizeof *made.any);
    made.exclusive = array_or_exit((size_t)made.size, sizeof *made.exclusive);
    for (int i = 0; i < made.size; i++) {
        logical_latest_begin(&made.any[i]);
        logical_latest_begin(&made.exclusive[i]);
    }
    logical_latest_begin(&made.all_shared);
    logical_latest_begin(&made.exclusives);
    return made;
}

static void add_release(releases *to, const lock *one, size_t which)
{
    const logical_member member = {which, (int)one->rank};
    if (!one->is_released)
        return;
    if (one->target < 0) {
        logical_latest_add(&to->all_shared, one->released_ns, member);
        return;
    }
    logical_latest_add(&to->any[one->target], one->released_ns, member);
    if (!one->is_exclusive)
        return;
    logical_latest_add(&to->exclusive[one->target], one->released_ns, member);
    logical_latest_add(&to->exclusives, one->released_ns, member);
}

/* The later one of two, if it is of another rank; GRAPH_NONE: there is none. */
static size_t later_of(const lock *list, const logical_latest *latest, int rank, size_t other)
{
    const int64_t ns = logical_latest_but(latest, rank);
    const size_t its = rank == latest->best_rank ? latest->second : latest->best;
    if (ns == LOGICAL_NONE_NS)
        return other;
    return other == GRAPH_NONE || ns > list[other].released_ns ? its : other;
}

/* The last of those before that exclude this one. */
static size_t last_before(const releases *of, const lock *list, const lock *one)
{
    const int rank = (int)one->rank;
    if (one->target < 0)
        return later_of(list, &of->exclusives, rank, GRAPH_NONE);
    if (!one->is_exclusive)
        return later_of(list, &of->exclusive[one->target], rank, GRAPH_NONE);
    return later_of(list, &of->any[one->target], rank, later_of(list, &of->all_shared, rank, GRAPH_NONE));
}

/* Of the calls of a lane from one to another, that in which it was at a time; GRAPH_NONE: it was in none. */
static uint32_t call_at(const graph_lane *lane, uint32_t first, uint32_t last, int64_t ns)
{
    while (first < last) {
        const uint32_t middle = first + (last - first + 1) / 2;
        if (lane->calls[middle].enter_ns <= ns)
            first = middle;
        else
            last = middle - 1;
    }
    return lane->calls[first].enter_ns <= ns && lane->calls[first].leave_ns >= ns ? first : GRAPH_NONE;
}

static bool accesses_target(const graph_lane *lane, uint32_t call, const lock *of)
{
    const trace_location *location = lane->location;
    for (size_t k = lane->calls[call].enter; k <= lane->calls[call].leave; k++) {
        const trace_event *event = &location->events[k];
        if (event->kind == TRACE_ACCESS && access_window(location->process, event) == of->window &&
            access_has_target(of->target, event->partner))
            return true;
    }
    return false;
}

/* It was seen to have the lock, or it asked first. */
static bool had_lock_before(const graph *in, const lock *before, const lock *one)
{
    const double bound_ns = graph_bound_ns(in, before->lane, before->asks) + graph_bound_ns(in, one->lane, one->asks);
    return before->has != before->releases || (double)(one->asked_ns - before->asked_ns) > bound_ns;
}

static void wait_for(graph *to, const lock *one, const lock *before)
{
    graph_lane *lane = &to->lanes[one->lane];
    const uint32_t call = call_at(lane, one->asks, one->has, before->released_ns);
    if (call == GRAPH_NONE || !accesses_target(lane, call, one))
        return;
    if (!had_lock_before(to, before, one)) {
        lane->calls[call].has_unknown_holder = true;
        return;
    }
    graph_depend(lane, call, (graph_dependency){.lane = before->lane, .call = before->releases, .state = STATE_LOCK});
}

static void add_window(graph *to, const lock *list, size_t count)
{
    releases past = begin_releases(list, count);
    for (size_t i = 0; i < count; i++) {
        if (list[i].target >= past.size)
            continue;
        const size_t before = last_before(&past, list, &list[i]);
        if (before != GRAPH_NONE)
            wait_for(to, &list[i], &list[before]);
        add_release(&past, &list[i], i);
    }
    free(past.any);
    free(past.exclusive);
}

void locks_add(graph *to)
{
    locks all = {0, NULL};
    for (size_t lane = 0; lane < to->lane_count; lane++)
        find_locks(to, lane, &all);
    sort_locks(&all);
    for (size_t first = 0, end; first < all.count; first = end) {
        for (end = first + 1;
             end < all.count && access_compare_windows(all.list[first].window, all.list[end].window) == 0;)
            end++;
        add_window(to, &all.list[first], end - first);
    }
    free(all.list);
}
