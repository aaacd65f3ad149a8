/* SPDX-License-Identifier: BSD-3-Clause */
/* waits.c - compare when calls began with what they depend on. */
#include "trace/waits/waits.h"

#include "common/cli/memory.h"

static const graph_call *call_at(const graph *of, size_t lane, size_t call)
{
    return &of->lanes[lane].calls[call];
}

/* The last one to arrive, but for this lane. */
static const graph_arrival *arrival_at(const graph *of, size_t lane, const graph_dependency *dependency)
{
    const graph_gathering *gathering = &of->gatherings[dependency->call];
    return gathering->last.lane == lane ? &gathering->second : &gathering->last;
}

static bool release_of_gathering(const graph_arrival *last, graph_wait *release)
{
    release->late_lane = last->lane;
    release->late_call = last->call;
    release->end_ns = last->enter_ns;
    return last->lane != GRAPH_NONE;
}

bool graph_release(const graph *of, size_t lane, const graph_dependency *dependency, graph_wait *release)
{
    if (dependency->lane == GRAPH_NONE)
        return release_of_gathering(arrival_at(of, lane, dependency), release);
    release->late_lane = dependency->lane;
    release->late_call = dependency->call;
    release->end_ns = call_at(of, dependency->lane, dependency->call)->enter_ns + dependency->after_ns;
    return dependency->lane != lane;
}

/* Of both clocks, when a wait began, and when what it depends on did. */
static double bound_ns(const graph *of, const graph_wait *wait, const graph_dependency *on)
{
    if (of->lanes[wait->lane].location->rank == of->lanes[wait->late_lane].location->rank)
        return 0;
    const double late_bound_ns = on->lane == GRAPH_NONE ? arrival_at(of, wait->lane, on)->bound_ns
                                                        : graph_bound_ns(of, wait->late_lane, wait->late_call);
    return graph_bound_ns(of, wait->lane, wait->call) + late_bound_ns;
}

/* Whether a call waits. It does so until the last of what it depends on, but no longer than it lasts. If clocks may be
   wrong by that, only what it seems to wait is set. */
static bool find_wait(const graph *of, size_t lane, size_t index, graph_wait *wait)
{
    const graph_call *call = call_at(of, lane, index);
    const graph_dependency *dependencies = of->lanes[lane].dependencies, *on = NULL;
    graph_wait last = {
        .lane = (uint32_t)lane, .call = (uint32_t)index, .begin_ns = call->enter_ns, .end_ns = call->enter_ns};
    for (size_t i = call->dependency; i != GRAPH_NONE; i = dependencies[i].next) {
        graph_wait one = last;
        one.state = dependencies[i].state;
        if (graph_release(of, lane, &dependencies[i], &one) && one.end_ns > last.end_ns) {
            last = one;
            on = &dependencies[i];
        }
    }
    if (!on)
        return false;
    last.bound_ns = bound_ns(of, &last, on);
    last.end_ns = last.end_ns < call->leave_ns ? last.end_ns : call->leave_ns;
    *wait = last;
    return (double)(last.end_ns - last.begin_ns) > last.bound_ns;
}

void waits_find(graph_waits *found, graph *of)
{
    *found = (graph_waits){.count = 0};
    for (size_t lane = 0; !of->is_too_long && lane < of->lane_count; lane++)
        for (size_t i = 0; i < of->lanes[lane].count; i++) {
            graph_wait wait = {.begin_ns = 0, .end_ns = 0};
            if (!find_wait(of, lane, i, &wait)) {
                found->hidden_ns += wait.end_ns - wait.begin_ns;
                continue;
            }
            found->list = graph_room(found->list, found->count, sizeof wait);
            of->lanes[lane].calls[i].wait = (uint32_t)found->count;
            found->list[found->count++] = wait;
        }
}

void waits_free(graph_waits *found)
{
    free(found->list);
    *found = (graph_waits){.count = 0};
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
    ordered *order = array_or_exit(of->count, sizeof *order);
    size_t *waits = array_or_exit(of->count, sizeof *waits);
    for (size_t i = 0; i < of->count; i++)
        order[i] = (ordered){of->list[i].end_ns, i};
    qsort(order, of->count, sizeof *order, by_end);
    for (size_t i = 0; i < of->count; i++)
        waits[i] = order[i].wait;
    free(order);
    return waits;
}
