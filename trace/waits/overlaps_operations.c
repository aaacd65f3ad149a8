/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * overlaps_operations.c - operations that processes begin, and compute before they complete them.
 *
 * A call that lasts long after all that it depends on has begun waited for the last other process that, after it had
 * computed, called MPI before the call ended, if it ended within as much time after that. It did not wait for a process
 * that computed all the time until all others had completed another operation of no fewer bytes, which MPI does in the
 * same way.
 */
#include "trace/waits/overlaps.h"

#include "common/cli/memory.h"
#include "pure/order_statistics.h"

#include <stdlib.h>

/* One that computed while all others completed an operation. Those of one function, communicator and root are alike. */
typedef struct {
    uint16_t function;
    uint32_t context;
    int lowest, root, place;
    uint64_t bytes; /* the most that a process gives */
} idle_part;

/* The calls of a lane that may make progress, and before which it computed for long. */
typedef struct {
    bool is_known;
    size_t count;
    uint32_t *list;
} late_calls;

typedef struct {
    overlaps *in;
    late_calls *late; /* by lane */
    size_t idle_count;
    idle_part *idle; /* in order */
} operations;

/* ---- Who computed while all others completed an operation */

static int compare_ways(const idle_part *a, const idle_part *b)
{
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    if (a->lowest != b->lowest)
        return a->lowest < b->lowest ? -1 : 1;
    if (a->context != b->context)
        return a->context < b->context ? -1 : 1;
    if (a->root != b->root)
        return a->root < b->root ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

static int compare_idle(const void *left, const void *right)
{
    const idle_part *a = left, *b = right;
    const int ways = compare_ways(a, b);
    return ways != 0 ? ways : (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

/* Of no place. */
static idle_part idle_of(const trace_call *of)
{
    idle_part made = {.function = of->function, .context = of->context, .lowest = of->lowest, .root = of->root};
    for (int i = 0; i < of->count; i++) {
        const uint64_t bytes = of->parts[i].enter.at->events[of->parts[i].record].value;
        made.bytes = made.bytes < bytes ? bytes : made.bytes;
    }
    return made;
}

/* Whether one was idle in an operation of no fewer bytes. */
static bool is_idle(const operations *in, const idle_part *one)
{
    size_t low = 0, high = in->idle_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_idle(&in->idle[middle], one) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < in->idle_count && compare_ways(&in->idle[low], one) == 0;
}

/* The last one that calls MPI after it began: none of the others can be idle. */
static const graph_lane *last_to_call(const overlaps *in, const trace_call *of, int *place, size_t *call)
{
    const graph_lane *last = NULL;
    for (int i = 0; i < of->count; i++) {
        const graph_lane *lane = busy_lane(&in->facts, of->parts[i].enter.at->rank);
        const uint32_t begin = call_of(in->to, &of->parts[i].enter), end = call_of(in->to, &of->parts[i].leave);
        if (!lane || begin == GRAPH_NONE || end == GRAPH_NONE)
            continue;
        const size_t next = busy_call_after(in->to, lane, lane->calls[begin].leave_ns);
        if (next <= begin || next > end || (last && lane->calls[next].enter_ns <= last->calls[*call].enter_ns))
            continue;
        last = lane;
        *place = i;
        *call = next;
    }
    return last;
}

static void find_idle(operations *to, const trace_call *of)
{
    const graph *in = to->in->to;
    idle_part its = idle_of(of);
    size_t called = 0;
    const graph_lane *last = last_to_call(to->in, of, &its.place, &called);
    for (int i = 0; last && i < of->count; i++) {
        const uint32_t lane = (uint32_t)of->parts[i].leave.at->index, call = call_of(in, &of->parts[i].leave);
        if (i == its.place)
            continue;
        if (call == GRAPH_NONE)
            return;
        const double bound_ns = graph_bound_ns(in, lane, call) + graph_bound_ns(in, last->location->index, called);
        if (!((double)(last->calls[called].enter_ns - call_at(in, lane, call)->leave_ns) > bound_ns))
            return;
    }
    if (!last)
        return;
    to->idle = grow_or_exit(to->idle, to->idle_count, sizeof its);
    to->idle[to->idle_count++] = its;
}

/* ---- For whom calls wait */

/* A late call of one that takes part, after it began the operation. */
typedef struct {
    int64_t enter_ns;
    const graph_lane *lane;
    size_t call;
    int place; /* among those that take part */
} entry;

typedef struct {
    size_t count;
    entry *list;
} entries;

static int by_enter(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    if (a->enter_ns != b->enter_ns)
        return a->enter_ns < b->enter_ns ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

static const late_calls *late_calls_of(const operations *in, const graph_lane *lane)
{
    const graph *of = in->in->to;
    late_calls *its = &in->late[lane->location->index];
    for (size_t i = 0; !its->is_known && i < lane->count; i++) {
        const graph_call *call = &lane->calls[i];
        if (graph_is_recorder(of, call) || graph_means(of, call, MEANS_LOCAL) || !busy_has_computed(of, lane, i))
            continue;
        its->list = grow_or_exit(its->list, its->count, sizeof *its->list);
        its->list[its->count++] = (uint32_t)i;
    }
    its->is_known = true;
    return its;
}

/* Those after a time, up to another one. */
static void add_entries(const operations *in, entries *to, const trace_call *of, int place, int64_t from_ns,
                        int64_t until_ns)
{
    const trace_part *part = &of->parts[place];
    const graph_lane *lane = busy_lane(&in->in->facts, part->enter.at->rank);
    const uint32_t begin = call_of(in->in->to, &part->enter), end = call_of(in->in->to, &part->leave);
    if (!lane || begin == GRAPH_NONE || end == GRAPH_NONE)
        return;
    const late_calls *its = late_calls_of(in, lane);
    size_t low = 0, high = its->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const uint32_t call = its->list[middle];
        if (call > begin && lane->calls[call].enter_ns > from_ns)
            high = middle;
        else
            low = middle + 1;
    }
    for (; low < its->count; low++) {
        const uint32_t call = its->list[low];
        if (call > end || lane->calls[call].enter_ns > until_ns)
            break;
        to->list = grow_or_exit(to->list, to->count, sizeof *to->list);
        to->list[to->count++] = (entry){lane->calls[call].enter_ns, lane, call, place};
    }
}

/* The last one of the others that called MPI until a time; NULL: there is none. */
static const entry *last_until(const entries *all, int64_t ns, int own)
{
    size_t low = 0, high = all->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (all->list[middle].enter_ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    while (low > 0 && all->list[low - 1].place == own)
        low--;
    return low > 0 ? &all->list[low - 1] : NULL;
}

/* The call that completes a part, if it is long; GRAPH_NONE: it is not. */
static uint32_t long_call_of(const graph *in, const trace_part *part)
{
    const uint32_t call = call_of(in, &part->leave);
    return call != GRAPH_NONE && is_long(call_at(in, (uint32_t)part->leave.at->index, call)) ? call : GRAPH_NONE;
}

static void wait_for_last(overlaps *in, const entries *all, const trace_part *part, int own)
{
    const uint32_t lane = (uint32_t)part->leave.at->index, call = long_call_of(in->to, part);
    if (call == GRAPH_NONE)
        return;
    const int64_t leave_ns = call_at(in->to, lane, call)->leave_ns, since_ns = overlap_known_until_ns(in, lane, call);
    const entry *last = last_until(all, leave_ns, own);
    if (last && last->enter_ns - since_ns > BUSY_LONG_NS)
        overlap_wait_for(in, lane, call, last->lane, last->call, since_ns,
                         leave_ns - last->enter_ns <= last->enter_ns - since_ns);
}

/* Places of an operation: so many from the first one on, or of a list. */
typedef struct {
    int first, count;
    const int *list; /* -1: none; NULL: they follow each other */
} places_of;

/* Those that wait, for the last one of the others. Only what is called while they do counts. */
static void add_waits(const operations *to, const trace_call *of, const idle_part *its, places_of waiting,
                      places_of others)
{
    overlaps *in = to->in;
    entries all = {0, NULL};
    int64_t from_ns = INT64_MAX, until_ns = INT64_MIN;
    for (int i = waiting.first; i < waiting.first + waiting.count; i++) {
        const uint32_t lane = (uint32_t)of->parts[i].leave.at->index, call = long_call_of(in->to, &of->parts[i]);
        if (call == GRAPH_NONE)
            continue;
        from_ns = lesser(from_ns, overlap_known_until_ns(in, lane, call));
        until_ns = greater(until_ns, call_at(in->to, lane, call)->leave_ns);
    }
    for (int i = 0; i < others.count && from_ns < until_ns; i++) {
        idle_part one = *its;
        one.place = others.list ? others.list[i] : others.first + i;
        if (one.place >= 0 && !is_idle(to, &one))
            add_entries(to, &all, of, one.place, from_ns, until_ns);
    }
    if (all.count > 1)
        qsort(all.list, all.count, sizeof *all.list, by_enter);
    for (int i = waiting.first; i < waiting.first + waiting.count && all.count > 0; i++)
        wait_for_last(in, &all, &of->parts[i], i);
    free(all.list);
}

/* ---- All operations */

static void add_operation(const operations *to, const trace_call *of, bool has_neighbors)
{
    const idle_part its = idle_of(of);
    const places_of all = {0, of->count, NULL};
    if (!has_neighbors)
        add_waits(to, of, &its, all, all);
    for (int i = 0; has_neighbors && i < of->count; i++) {
        const trace_part *part = &of->parts[i];
        const trace_communicator *on = &part->enter.at->process->communicators[part->enter.at->events[part->record].id];
        if (on->neighbors)
            add_waits(to, of, &its, (places_of){i, 1, NULL}, (places_of){0, on->neighbor_count, on->neighbors});
    }
}

/* How an operation waits that may go on after the calls that began it; unknown: it does not, or nobody knows. */
static operation_wait wait_of(const operations *in, const trace_call *of)
{
    const trace_point *leave = &of->parts[0].leave;
    const meaning *its = in->in->to->meanings[of->function];
    return leave->at->events[leave->event].kind == TRACE_COLLECTIVE_DONE && its ? its->wait : WAIT_UNKNOWN;
}

void overlap_add_operations(overlaps *to, const trace_matches *matches)
{
    operations in = {.in = to, .late = zeros_or_exit(to->to->lane_count, sizeof *in.late)};
    for (size_t i = 0; i < matches->call_count; i++)
        if (wait_of(&in, &matches->calls[i]) != WAIT_UNKNOWN)
            find_idle(&in, &matches->calls[i]);
    if (in.idle_count > 1)
        qsort(in.idle, in.idle_count, sizeof *in.idle, compare_idle);
    for (size_t i = 0; i < matches->call_count; i++) {
        const operation_wait wait = wait_of(&in, &matches->calls[i]);
        if (wait != WAIT_UNKNOWN)
            add_operation(&in, &matches->calls[i], wait == WAIT_NEIGHBORS);
    }
    for (size_t lane = 0; lane < to->to->lane_count; lane++)
        free(in.late[lane].list);
    free(in.late);
    free(in.idle);
}
