/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replay.c - each lane goes on until a call depends on one that has not begun; then it waits in the list of that lane
 * or of that gathering.
 */
#include "trace/waits/replay.h"

#include "common/cli/memory.h"
#include "pure/order_statistics.h"

/* A lane. */
typedef struct {
    size_t call;          /* that it is in or comes to */
    bool is_in;           /* it has begun */
    size_t dependency;    /* of the call, that is looked at next; GRAPH_NONE: all are there */
    int64_t ns;           /* where it is: of a call, the latest of its beginning and of what it depends on */
    size_t first_waiting; /* the list of lanes that wait for this one, or GRAPH_NONE */
    size_t next_waiting;  /* in the list that it is in */
    bool is_ready;
} replay_lane;

typedef struct {
    size_t missing; /* members that have not begun */
    int64_t last_ns;
    size_t first_waiting;
} replay_gathering;

typedef struct {
    const graph *of;
    const replay_change *change;
    replay_lane *lanes;
    replay_gathering *gatherings;
    int64_t **enter_ns; /* by lane and call */
    size_t *ready;      /* lanes that can go on */
    size_t ready_count;
} replay;

/* ---- Waiting */

static void make_ready(replay *in, size_t lane)
{
    if (in->lanes[lane].is_ready)
        return;
    in->lanes[lane].is_ready = true;
    in->ready[in->ready_count++] = lane;
}

static void wake(replay *in, size_t *first_waiting)
{
    size_t lane = *first_waiting;
    *first_waiting = GRAPH_NONE;
    for (size_t next; lane != GRAPH_NONE; lane = next) {
        next = in->lanes[lane].next_waiting;
        make_ready(in, lane);
    }
}

static void wait_in(replay *in, size_t lane, size_t *first_waiting)
{
    in->lanes[lane].next_waiting = *first_waiting;
    *first_waiting = lane;
}

/* When a dependency was there in the trace; INT64_MIN: the order of the trace contradicts it, so it says nothing. */
static int64_t traced_ns(const replay *in, size_t lane, const graph_call *call, const graph_dependency *on)
{
    graph_wait release;
    if (!graph_release(in->of, lane, on, &release) || release.end_ns > call->leave_ns)
        return INT64_MIN;
    return release.end_ns;
}

/* When a dependency is there now. False: it is not yet, and the lane waits in a list. */
static bool is_there(replay *in, size_t lane, const graph_dependency *on, int64_t *ns)
{
    if (on->lane == GRAPH_NONE) {
        replay_gathering *gathering = &in->gatherings[on->call];
        *ns = gathering->last_ns;
        if (gathering->missing > 0)
            wait_in(in, lane, &gathering->first_waiting);
        return gathering->missing == 0;
    }
    const replay_lane *late = &in->lanes[on->lane];
    if (late->call > on->call || (late->call == on->call && late->is_in)) {
        *ns = in->enter_ns[on->lane][on->call] + on->after_ns;
        return true;
    }
    wait_in(in, lane, &in->lanes[on->lane].first_waiting);
    return false;
}

/* ---- Steps of a lane */

/* What the lane computes before a call, or at its end. */
static int64_t before_ns(const replay *in, size_t lane, size_t call)
{
    const int64_t *less_ns = in->change->less_ns ? in->change->less_ns[lane] : NULL;
    return graph_piece_ns(&in->of->lanes[lane], call) - (less_ns ? less_ns[call] : 0);
}

static void enter(replay *in, size_t lane)
{
    replay_lane *state = &in->lanes[lane];
    const graph_call *call = &in->of->lanes[lane].calls[state->call];
    state->ns += before_ns(in, lane, state->call);
    state->is_in = true;
    state->dependency = call->dependency;
    in->enter_ns[lane][state->call] = state->ns;
    for (size_t i = call->member; i != GRAPH_NONE; i = in->of->members[i].next) {
        replay_gathering *gathering = &in->gatherings[in->of->members[i].gathering];
        gathering->last_ns = state->ns > gathering->last_ns ? state->ns : gathering->last_ns;
        if (--gathering->missing == 0)
            wake(in, &gathering->first_waiting);
    }
    wake(in, &state->first_waiting);
}

/* By how much the call ended after the latest of its beginning and of what it depends on. */
static int64_t own_ns(const replay *in, size_t lane, const graph_call *call)
{
    int64_t latest_ns = call->enter_ns;
    if (in->change->is_instant)
        return graph_is_off(in->of, call) ? call->leave_ns - call->enter_ns : 0;
    const graph_dependency *dependencies = in->of->lanes[lane].dependencies;
    for (size_t i = call->dependency; i != GRAPH_NONE; i = dependencies[i].next) {
        const int64_t ns = traced_ns(in, lane, call, &dependencies[i]);
        latest_ns = ns > latest_ns ? ns : latest_ns;
    }
    const graph_delay *delay = graph_delay_at(in->of, call->delay_in);
    const bool is_changed = delay->cause != GRAPH_NONE && delay->cause == in->change->without;
    const int64_t ns = call->leave_ns - latest_ns - (is_changed ? delay->late_ns : 0);
    return ns > 0 ? ns : 0;
}

static void leave(replay *in, size_t lane)
{
    replay_lane *state = &in->lanes[lane];
    state->ns += own_ns(in, lane, &in->of->lanes[lane].calls[state->call]);
    state->is_in = false;
    state->call++;
}

/* Go on as far as possible. */
static void advance(replay *in, size_t lane)
{
    replay_lane *state = &in->lanes[lane];
    const graph_lane *of = &in->of->lanes[lane];
    while (state->call < of->count) {
        const graph_call *call = &of->calls[state->call];
        if (!state->is_in)
            enter(in, lane);
        for (; state->dependency != GRAPH_NONE; state->dependency = of->dependencies[state->dependency].next) {
            const graph_dependency *on = &of->dependencies[state->dependency];
            int64_t ns;
            if (traced_ns(in, lane, call, on) == INT64_MIN)
                continue;
            if (!is_there(in, lane, on, &ns))
                return;
            state->ns = ns > state->ns ? ns : state->ns;
        }
        leave(in, lane);
    }
}

/* Where all wait for each other, as clocks that are wrong make it seem, one gives up. */
static bool give_up(replay *in)
{
    for (size_t lane = 0; lane < in->of->lane_count; lane++) {
        replay_lane *state = &in->lanes[lane];
        if (state->call == in->of->lanes[lane].count || state->dependency == GRAPH_NONE)
            continue;
        const graph_dependency *on = &in->of->lanes[lane].dependencies[state->dependency];
        size_t *list =
            on->lane == GRAPH_NONE ? &in->gatherings[on->call].first_waiting : &in->lanes[on->lane].first_waiting;
        while (*list != lane && *list != GRAPH_NONE)
            list = &in->lanes[*list].next_waiting;
        if (*list == lane)
            *list = state->next_waiting;
        state->dependency = on->next;
        make_ready(in, lane);
        return true;
    }
    return false;
}

static int64_t run(replay *in)
{
    int64_t end_ns = in->of->begin_ns;
    for (size_t lane = 0; lane < in->of->lane_count; lane++) {
        in->lanes[lane] =
            (replay_lane){.ns = in->of->lanes[lane].begin_ns, .dependency = GRAPH_NONE, .first_waiting = GRAPH_NONE};
        make_ready(in, lane);
    }
    do
        while (in->ready_count > 0) {
            const size_t lane = in->ready[--in->ready_count];
            in->lanes[lane].is_ready = false;
            advance(in, lane);
        }
    while (give_up(in));
    for (size_t lane = 0; lane < in->of->lane_count; lane++) {
        const graph_lane *of = &in->of->lanes[lane];
        const int64_t ns = in->lanes[lane].ns + before_ns(in, lane, of->count);
        end_ns = graph_runs(of) && ns > end_ns ? ns : end_ns;
    }
    return end_ns - in->of->begin_ns;
}

/* ---- Memory */

static void make(replay *in)
{
    const graph *of = in->of;
    in->lanes = or_exit(calloc(of->lane_count + 1, sizeof *in->lanes));
    in->ready = or_exit(calloc(of->lane_count + 1, sizeof *in->ready));
    in->gatherings = array_or_exit(of->gathering_count, sizeof *in->gatherings);
    in->enter_ns = or_exit(calloc(of->lane_count + 1, sizeof *in->enter_ns));
    for (size_t lane = 0; lane < of->lane_count; lane++)
        in->enter_ns[lane] = array_or_exit(of->lanes[lane].count, sizeof(int64_t));
    for (size_t i = 0; i < of->gathering_count; i++)
        in->gatherings[i] = (replay_gathering){of->gatherings[i].count, INT64_MIN, GRAPH_NONE};
}

int64_t replay_ns(const graph *of, const replay_change *change)
{
    replay in = {.of = of, .change = change};
    if (of->is_too_long)
        return of->end_ns - of->begin_ns;
    make(&in);
    const int64_t ns = run(&in);
    for (size_t lane = 0; lane < of->lane_count; lane++)
        free(in.enter_ns[lane]);
    free(in.lanes);
    free(in.ready);
    free(in.gatherings);
    free(in.enter_ns);
    return ns;
}

/* ---- Without a cause: its instances are compared with the same of other ranks */

/* The instances of a computation on one lane. */
typedef struct {
    size_t count;
    graph_computation *list;
} instance_list;

static void list_instances(const graph *of, size_t lane, const cause_key *key, instance_list *found)
{
    for (size_t i = 0; i <= of->lanes[lane].count; i++) {
        const graph_computation one = graph_computation_at(of, lane, i);
        i = one.last;
        if (one.from != key->from || one.to != key->to)
            continue;
        found->list = or_exit(array_grow(found->list, (int64_t)found->count, sizeof one));
        found->list[found->count++] = one;
    }
}

/* The median of the instances of this number on other ranks, which have as many; negative: there are none. */
static int64_t median_ns(const graph *of, const instance_list *lists, size_t lane, size_t number, int64_t *room)
{
    int64_t count = 0;
    for (size_t i = 0; i < of->lane_count; i++)
        if (of->lanes[i].location->rank != of->lanes[lane].location->rank && lists[i].count == lists[lane].count)
            room[count++] = lists[i].list[number].ns;
    mh_sort(room, count);
    return count > 0 ? quantile(room, count, 0.5) : -1;
}

/* By how much the pieces of a computation made others late. */
static int64_t late_ns(const graph *of, const graph_lane *lane, const graph_computation *one, size_t which)
{
    int64_t ns = 0;
    for (size_t i = one->first; i <= one->last && i < lane->count; i++) {
        const graph_delay *delay = graph_delay_at(of, lane->calls[i].delay_before);
        ns += delay->cause == which ? delay->whole_ns : 0;
    }
    return ns;
}

/* Make a computation shorter by so much, its last pieces first. Returns by how much it is shorter. */
static int64_t take(const graph_lane *lane, const graph_computation *from, int64_t ns, int64_t *less_ns)
{
    int64_t left_ns = ns;
    for (size_t i = from->last + 1; i-- > from->first;) {
        less_ns[i] = lesser(left_ns, graph_piece_ns(lane, i));
        left_ns -= less_ns[i];
    }
    return ns - left_ns;
}

static void shorten(const graph *of, const instance_list *lists, size_t lane, size_t which, int64_t *room,
                    int64_t *less_ns, cause *without)
{
    const graph_lane *at = &of->lanes[lane];
    for (size_t i = 0; i < lists[lane].count; i++) {
        const graph_computation *one = &lists[lane].list[i];
        const int64_t usual_ns = median_ns(of, lists, lane, i, room), late = late_ns(of, at, one, which);
        const int64_t longer_ns = usual_ns >= 0 ? one->ns - usual_ns : 0;
        without->taken_ns += take(at, one, greater(longer_ns, late), less_ns);
    }
}

static void replay_computation(const graph *of, cause *without, size_t which)
{
    instance_list *lists = zeros_or_exit(of->lane_count, sizeof *lists);
    int64_t **less_ns = zeros_or_exit(of->lane_count, sizeof *less_ns);
    int64_t *room = array_or_exit(of->lane_count, sizeof *room);
    without->has_peers = false;
    for (size_t lane = 0; lane < of->lane_count; lane++) {
        list_instances(of, lane, &without->key, &lists[lane]);
        without->has_peers |= of->lanes[lane].location->rank != without->key.rank && lists[lane].count > 0;
    }
    for (size_t lane = 0; lane < of->lane_count; lane++)
        if (of->lanes[lane].location->rank == without->key.rank) {
            less_ns[lane] = zeros_or_exit(of->lanes[lane].count + 1, sizeof **less_ns);
            shorten(of, lists, lane, which, room, less_ns[lane], without);
        }
    without->without_ns = replay_ns(of, &(replay_change){.less_ns = less_ns, .without = GRAPH_NONE});
    for (size_t lane = 0; lane < of->lane_count; lane++) {
        free(lists[lane].list);
        free(less_ns[lane]);
    }
    free(lists);
    free(less_ns);
    free(room);
}

void replay_without(const graph *of, cause *without, size_t which)
{
    without->is_replayed = true;
    without->taken_ns = without->key.is_call ? without->late_ns : 0;
    if (without->key.is_call)
        without->without_ns = replay_ns(of, &(replay_change){.without = which});
    else
        replay_computation(of, without, which);
}
