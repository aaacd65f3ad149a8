/* SPDX-License-Identifier: BSD-3-Clause */
/* gain.c - compare the instances of a cause with the same of other ranks, and replay without what is longer. */
#include "trace/waits/gain.h"

#include "common/room.h"
#include "common/statistics.h"
#include "trace/waits/replay.h"

/* The instances of a computation on one lane. */
typedef struct {
    size_t count;
    size_t *calls; /* before which they are */
} instance_list;

static int64_t length_ns(const graph_lane *lane, size_t call)
{
    return lane->calls[call].enter_ns - (call > 0 ? lane->calls[call - 1].leave_ns : lane->begin_ns);
}

static void list_instances(const graph *of, size_t lane, const cause_key *key, instance_list *found)
{
    for (size_t i = 0; i < of->lanes[lane].count; i++) {
        size_t from, to;
        graph_places(of, lane, i, &from, &to);
        if (from != key->from || to != key->to)
            continue;
        found->calls = need(room_for_another(found->calls, (int64_t)found->count, sizeof(size_t)));
        found->calls[found->count++] = i;
    }
}

/* The median of the instances of this number on other ranks, which have as many; negative: there are none. */
static int64_t median_ns(const graph *of, const instance_list *lists, size_t lane, size_t number, int64_t *room)
{
    int64_t count = 0;
    for (size_t i = 0; i < of->lane_count; i++)
        if (of->lanes[i].location->rank != of->lanes[lane].location->rank && lists[i].count == lists[lane].count)
            room[count++] = length_ns(&of->lanes[i], lists[i].calls[number]);
    mh_sort(room, count);
    return count > 0 ? quantile(room, count, 0.5) : -1;
}

static void shorten(const graph *of, const instance_list *lists, size_t lane, size_t which, int64_t *room,
                    int64_t *less_ns)
{
    for (size_t i = 0; i < lists[lane].count; i++) {
        const size_t index = lists[lane].calls[i];
        const graph_call *call = &of->lanes[lane].calls[index];
        const int64_t ns = length_ns(&of->lanes[lane], index), usual_ns = median_ns(of, lists, lane, i, room);
        const graph_delay *delay = graph_delay_at(of, call->delay_before);
        int64_t longer_ns = delay->cause == which ? delay->late_ns : 0;
        if (usual_ns >= 0 && ns - usual_ns > longer_ns)
            longer_ns = ns - usual_ns;
        less_ns[index] = longer_ns < ns ? longer_ns : ns;
    }
}

static int64_t replay_computation(const graph *of, const cause_key *key, size_t which)
{
    instance_list *lists = need(calloc(of->lane_count + 1, sizeof *lists));
    int64_t **less_ns = need(calloc(of->lane_count + 1, sizeof *less_ns));
    int64_t *room = need(malloc((of->lane_count + 1) * sizeof *room));
    for (size_t lane = 0; lane < of->lane_count; lane++)
        list_instances(of, lane, key, &lists[lane]);
    for (size_t lane = 0; lane < of->lane_count; lane++)
        if (of->lanes[lane].location->rank == key->rank) {
            less_ns[lane] = need(calloc(of->lanes[lane].count + 1, sizeof **less_ns));
            shorten(of, lists, lane, which, room, less_ns[lane]);
        }
    const int64_t run_ns = replay_ns(of, &(replay_change){.less_ns = less_ns, .without = GRAPH_NONE});
    for (size_t lane = 0; lane < of->lane_count; lane++) {
        free(lists[lane].calls);
        free(less_ns[lane]);
    }
    free(lists);
    free(less_ns);
    free(room);
    return run_ns;
}

int64_t gain_run_ns(const graph *of, const causes *known, size_t which)
{
    const cause_key *key = &known->list[which].key;
    return key->is_call ? replay_ns(of, &(replay_change){.without = which}) : replay_computation(of, key, which);
}
