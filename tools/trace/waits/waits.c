/* SPDX-License-Identifier: BSD-3-Clause */
/* waits.c - compare when calls began with what they depend on. */
#include "trace/waits/waits.h"

#include "trace/bulk.h"

static const graph_call *call_at(const graph *of, size_t lane, size_t call)
{
    return &of->lanes[lane].calls[call];
}

static bool release_of_gathering(const graph *of, size_t lane, const graph_gathering *gathering, graph_wait *release)
{
    const bool is_own = gathering->last != GRAPH_NONE && of->members[gathering->last].lane == lane;
    const size_t last = is_own ? gathering->second : gathering->last;
    if (last == GRAPH_NONE)
        return false;
    release->late_lane = of->members[last].lane;
    release->late_call = of->members[last].call;
    release->end_ns = call_at(of, release->late_lane, release->late_call)->enter_ns;
    return true;
}

bool graph_release(const graph *of, size_t lane, const graph_dependency *dependency, graph_wait *release)
{
    if (dependency->lane == GRAPH_NONE)
        return release_of_gathering(of, lane, &of->gatherings[dependency->call], release);
    release->late_lane = dependency->lane;
    release->late_call = dependency->call;
    release->end_ns = call_at(of, dependency->lane, dependency->call)->enter_ns + dependency->after_ns;
    return dependency->lane != lane;
}

static double bound_ns(const graph *of, const graph_wait *wait)
{
    const graph_lane *waits = &of->lanes[wait->lane], *late = &of->lanes[wait->late_lane];
    const graph_call *call = &waits->calls[wait->call], *other = &late->calls[wait->late_call];
    if (waits->location->rank == late->location->rank)
        return 0;
    return trace_bound_ns(waits->location->process, waits->location->events[call->enter].time_ns) +
           trace_bound_ns(late->location->process, late->location->events[other->enter].time_ns);
}

/* Whether a call waits. It does so until the last of what it depends on, but no longer than it lasts. */
static bool find_wait(const graph *of, size_t lane, size_t index, bool has_bounds, graph_wait *wait)
{
    const graph_call *call = call_at(of, lane, index);
    graph_wait last = {
        .lane = (uint32_t)lane, .call = (uint32_t)index, .begin_ns = call->enter_ns, .end_ns = call->enter_ns};
    for (size_t i = call->dependency; i != GRAPH_NONE; i = of->dependencies[i].next) {
        graph_wait one = last;
        one.state = of->dependencies[i].state;
        if (graph_release(of, lane, &of->dependencies[i], &one) && one.end_ns > last.end_ns)
            last = one;
    }
    if (last.end_ns == call->enter_ns)
        return false;
    last.bound_ns = has_bounds ? bound_ns(of, &last) : 0;
    last.end_ns = last.end_ns < call->leave_ns ? last.end_ns : call->leave_ns;
    *wait = last;
    return (double)(last.end_ns - last.begin_ns) > last.bound_ns;
}

void waits_find(graph_waits *found, graph *of, bool has_bounds)
{
    *found = (graph_waits){0, NULL};
    for (size_t lane = 0; !of->is_too_long && lane < of->lane_count; lane++)
        for (size_t i = 0; i < of->lanes[lane].count; i++) {
            graph_wait wait;
            if (!find_wait(of, lane, i, has_bounds, &wait))
                continue;
            found->list = graph_room(found->list, found->count, sizeof wait);
            of->lanes[lane].calls[i].wait = (uint32_t)found->count;
            found->list[found->count++] = wait;
        }
}

void waits_free(graph_waits *found)
{
    bulk_free(found->list);
    *found = (graph_waits){0, NULL};
}

typedef struct {
    int64_t end_ns;
    size_t wait;
} ordered;

static int by_end(const void *left, const void *right)
{
    const ordered *a = left, *b = right;
    if (a->end_ns != b->end_ns)
        return a->end_ns < b->end_ns ? -1 : 1;
    return (a->wait > b->wait) - (a->wait < b->wait);
}

size_t *waits_by_end(const graph_waits *of)
{
    ordered *order = bulk_array(of->count, sizeof *order);
    size_t *waits = bulk_array(of->count, sizeof *waits);
    for (size_t i = 0; i < of->count; i++)
        order[i] = (ordered){of->list[i].end_ns, i};
    bulk_sort(order, of->count, sizeof *order, by_end);
    for (size_t i = 0; i < of->count; i++)
        waits[i] = order[i].wait;
    bulk_free(order);
    return waits;
}
