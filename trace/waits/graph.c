/* SPDX-License-Identifier: BSD-3-Clause */
/* graph.c - the calls of each thread. */
#include "trace/waits/graph.h"

#include "common/cli/memory.h"
#include "trace/read/calls.h"

#include <math.h>
#include <string.h>

const char *const wait_state_names[STATE_COUNT] = {
    [STATE_LATE_SENDER] = "late sender",       [STATE_WRONG_ORDER] = "wrong order",
    [STATE_LATE_RECEIVER] = "late receiver",   [STATE_BARRIER] = "wait at barrier",
    [STATE_N_BY_N] = "wait at N x N",          [STATE_FENCE] = "wait at fence",
    [STATE_LATE_POST] = "late post",           [STATE_LATE_COMPLETE] = "late complete",
    [STATE_LATE_BROADCAST] = "late broadcast", [STATE_EARLY_REDUCE] = "early reduce"};

static graph_name_kind kind_of(const char *name)
{
    if (trace_is_recorder(name))
        return NAME_RECORDER;
    if (strncmp(name, "MPI_", 4) != 0)
        return NAME_REGION;
    if (strcmp(name, "MPI_Init") == 0 || strcmp(name, "MPI_Init_thread") == 0)
        return NAME_BEGIN;
    return strcmp(name, "MPI_Finalize") == 0 ? NAME_END : NAME_CALL;
}

int64_t graph_time_ns(const graph_lane *lane, size_t event)
{
    return (int64_t)floor(lane->location->global_ns[event]);
}

double graph_bound_ns(const graph *of, size_t lane, size_t call)
{
    const graph_lane *at = &of->lanes[lane];
    return trace_bound_ns(at->location->process, at->location->events[at->calls[call].enter].time_ns);
}

bool graph_runs(const graph_lane *lane)
{
    return lane->location->count > 0 || lane->end_ns > lane->begin_ns;
}

const char *graph_name(const graph *of, const graph_call *call)
{
    return of->of->names[of->places.list[call->place].function];
}

void *graph_room(void *list, size_t count, size_t bytes)
{
    if (count >= GRAPH_NONE)
        or_exit(NULL);
    return grow_or_exit(list, count, bytes);
}

bool graph_is_recorder(const graph *of, const graph_call *call)
{
    return of->kinds[of->places.list[call->place].function] == NAME_RECORDER;
}

const graph_delay *graph_delay_at(const graph *of, uint32_t delay)
{
    static const graph_delay none = {.cause = GRAPH_NONE};
    return delay != GRAPH_NONE ? &of->delays[delay] : &none;
}

int64_t graph_piece_ns(const graph_lane *lane, size_t call)
{
    const int64_t from_ns = call > 0 ? lane->calls[call - 1].leave_ns : lane->begin_ns;
    return (call < lane->count ? lane->calls[call].enter_ns : lane->end_ns) - from_ns;
}

graph_computation graph_computation_at(const graph *of, size_t lane, size_t call)
{
    const graph_lane *at = &of->lanes[lane];
    graph_computation found = {.first = call, .last = call, .ns = graph_piece_ns(at, call)};
    while (found.first > 0 && graph_is_recorder(of, &at->calls[found.first - 1]))
        found.ns += graph_piece_ns(at, --found.first);
    while (found.last < at->count && graph_is_recorder(of, &at->calls[found.last]))
        found.ns += graph_piece_ns(at, ++found.last);
    found.from = found.first > 0 ? at->calls[found.first - 1].place : at->begin;
    found.to = found.last < at->count ? at->calls[found.last].place : at->end;
    return found;
}

/* Calls have about as many events each, so it is looked first around where the call would be if they had. */
size_t graph_call_of(const graph_lane *lane, size_t event)
{
    size_t low = 0, high = lane->count;
    const size_t guess = (size_t)((double)event / (double)(lane->location->count + 1) * (double)high);
    for (size_t step = 4; step < high - low; step *= 4) {
        const size_t ends[] = {guess > step ? guess - step : 0, guess + step};
        for (int i = 0; i < 2; i++)
            if (ends[i] > low && ends[i] < high)
                *(lane->calls[ends[i]].enter <= event ? &low : &high) = ends[i];
    }
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (lane->calls[middle].enter <= event)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && lane->calls[low - 1].leave >= event ? low - 1 : GRAPH_NONE;
}

/* ---- The calls of a lane */

/* A series has the others in it that were called in turn with it. */
static bool is_of_series(const graph_lane *lane, const graph_call *series, const graph_call *call)
{
    const trace_event *events = lane->location->events, *enter = &events[call->enter];
    for (size_t k = series->leave; k-- > series->enter;)
        if (events[k].kind == TRACE_ENTER && events[k].id == enter->id && events[k].value == enter->value)
            return true;
    return false;
}

/*
 * A call that succeeds after others like it found nothing has been waiting since the first of them, unless these took
 * little time, and the program computed after them.
 */
static bool goes_on(const graph_lane *lane, const graph_call *call)
{
    if (lane->count == 0)
        return false;
    const graph_call *last = &lane->calls[lane->count - 1];
    const trace_event *end = &lane->location->events[last->leave];
    return end->kind == TRACE_LEAVE && end->value > 0 && is_of_series(lane, last, call) &&
           (last->leave_ns - last->enter_ns > TRACE_POLL_GAP_NS ||
            call->enter_ns - last->leave_ns <= TRACE_POLL_GAP_NS);
}

static void add_call(graph_lane *lane, const graph_call *call)
{
    if (goes_on(lane, call)) {
        graph_call *last = &lane->calls[lane->count - 1];
        last->leave = call->leave;
        last->leave_ns = call->leave_ns;
        last->has_partners |= call->has_partners;
    } else {
        lane->calls[lane->count++] = *call;
    }
}

static bool has_partners(const trace_event *events, size_t enter, size_t leave)
{
    for (size_t k = enter; k <= leave; k++)
        if (events[k].kind == TRACE_RECEIVE || events[k].kind == TRACE_COLLECTIVE_DONE ||
            (events[k].kind == TRACE_COLLECTIVE && events[k].request == 0))
            return true;
    return false;
}

static void add_event(graph *to, graph_lane *lane, size_t enter, size_t leave)
{
    const trace_location *location = lane->location;
    const graph_name_kind kind = to->kinds[location->events[enter].id];
    const size_t at = places_find(&to->places, (trace_point){location, enter});
    graph_call call = {.enter = (uint32_t)enter,
                       .leave = (uint32_t)leave,
                       .enter_ns = graph_time_ns(lane, enter),
                       .leave_ns = graph_time_ns(lane, leave),
                       .place = (uint32_t)at,
                       .dependency = GRAPH_NONE,
                       .member = GRAPH_NONE,
                       .wait = GRAPH_NONE,
                       .delay_before = GRAPH_NONE,
                       .delay_in = GRAPH_NONE,
                       .has_partners = has_partners(location->events, enter, leave)};
    if (kind == NAME_BEGIN) {
        lane->begin_ns = call.leave_ns;
        lane->begin = at;
        lane->count = 0;
    } else if (kind == NAME_END) {
        lane->end_ns = call.enter_ns;
        lane->end = at;
    } else {
        add_call(lane, &call);
    }
}

/* What the recorder did between MPI_Init and the program, and after it, is no part of the run. */
static void trim(const graph *of, graph_lane *lane)
{
    const bool is_whole = !of->of->is_cut;
    if ((lane->begin != GRAPH_NONE || !is_whole) && lane->count > 0 && graph_is_recorder(of, &lane->calls[0])) {
        lane->begin_ns = lane->calls[0].leave_ns;
        memmove(lane->calls, lane->calls + 1, --lane->count * sizeof *lane->calls);
    }
    while ((lane->end != GRAPH_NONE || !is_whole) && lane->count > 0 &&
           graph_is_recorder(of, &lane->calls[lane->count - 1]))
        lane->end_ns = lane->calls[--lane->count].enter_ns;
}

static void fill_lane(graph *to, graph_lane *lane)
{
    const trace_location *location = lane->location;
    size_t room = 0;
    for (size_t k = 0; k < location->count; k++)
        room += location->events[k].kind == TRACE_ENTER;
    if (location->count >= GRAPH_NONE)
        or_exit(NULL);
    lane->calls = array_or_exit(room, sizeof *lane->calls);
    for (size_t k = 0, next = 0; k < location->count && lane->end == GRAPH_NONE; k++) {
        const trace_event *event = &location->events[k];
        if (k < next || event->kind != TRACE_ENTER || to->kinds[event->id] == NAME_REGION)
            continue;
        next = location->calls[k] != CALL_NONE ? location->calls[k] : location->count - 1;
        add_event(to, lane, k, next);
    }
    trim(to, lane);
}

static void add_lanes(graph *to)
{
    to->begin_ns = INT64_MAX;
    to->end_ns = INT64_MIN;
    for (trace_location *at = NULL; (at = trace_next_location(to->of, at));) {
        graph_lane *lane = &to->lanes[at->index];
        *lane = (graph_lane){.location = at, .begin = GRAPH_NONE, .end = GRAPH_NONE};
        if (to->of->is_cut) {
            lane->begin_ns = (int64_t)floor(at->begin_ns);
            lane->end_ns = (int64_t)floor(at->end_ns);
        } else if (at->count > 0) {
            lane->begin_ns = graph_time_ns(lane, 0);
            lane->end_ns = graph_time_ns(lane, at->count - 1);
        }
        fill_lane(to, lane);
        if (!graph_runs(lane))
            continue;
        to->begin_ns = lane->begin_ns < to->begin_ns ? lane->begin_ns : to->begin_ns;
        to->end_ns = lane->end_ns > to->end_ns ? lane->end_ns : to->end_ns;
    }
    if (to->end_ns < to->begin_ns)
        to->begin_ns = to->end_ns = 0;
    const int64_t longest_ns = INT64_MAX / 4 / (int64_t)(to->lane_count + 1);
    to->is_too_long = to->end_ns - to->begin_ns > longest_ns;
    for (size_t i = 0; i < to->lane_count; i++)
        if (to->lanes[i].begin == GRAPH_NONE && !to->of->is_cut)
            to->lanes[i].begin_ns = to->begin_ns;
}

void graph_make(graph *made, const trace *of, const trace_matches *matches)
{
    *made = (graph){.of = of, .lane_count = of->location_count};
    made->lanes = or_exit(calloc(made->lane_count + 1, sizeof *made->lanes));
    made->kinds = or_exit(calloc(of->name_count + 1, sizeof *made->kinds));
    for (size_t i = 0; i < of->name_count; i++)
        made->kinds[i] = of->names[i] ? kind_of(of->names[i]) : NAME_REGION;
    add_lanes(made);
    graph_add_dependencies(made, matches);
}

void graph_free(graph *made)
{
    for (size_t i = 0; i < made->lane_count; i++) {
        free(made->lanes[i].calls);
        free(made->lanes[i].dependencies);
    }
    free(made->lanes);
    places_free(&made->places);
    free(made->kinds);
    free(made->gatherings);
    free(made->members);
    free(made->delays);
    *made = (graph){.of = NULL};
}
