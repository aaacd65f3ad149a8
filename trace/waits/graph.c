/* SPDX-License-Identifier: BSD-3-Clause */
/* graph.c - the calls of each thread. */
#include "trace/waits/graph.h"

#include "common/cli/memory.h"
#include "pure/order_statistics.h"
#include "trace/read/calls.h"

#include <math.h>
#include <string.h>

const char *const wait_state_names[STATE_COUNT] = {
    [STATE_LATE_SENDER] = "late sender",     [STATE_WRONG_ORDER] = "wrong order",
    [STATE_LATE_RECEIVER] = "late receiver", [STATE_BARRIER] = "wait at barrier",
    [STATE_N_BY_N] = "wait at N x N",        [STATE_NEIGHBOR] = "late neighbor",
    [STATE_FENCE] = "wait at fence",         [STATE_LATE_POST] = "late post",
    [STATE_LATE_COMPLETE] = "late complete", [STATE_LOCK] = "lock contention",
    [STATE_PROGRESS] = "wait for progress",  [STATE_LATE_BROADCAST] = "late broadcast",
    [STATE_EARLY_REDUCE] = "early reduce",   [STATE_INNER] = "inner wait",
    [STATE_INIT] = "wait at init",           [STATE_CLOCK] = "wait in mpix_trace",
    [STATE_FINALIZE] = "wait at finalize"};

static graph_name_kind kind_of(const char *name)
{
    if (trace_is_recorder(name))
        return strcmp(name, "clock") == 0 ? NAME_CLOCK : NAME_FLUSH;
    if (trace_is_unrecorded(name))
        return NAME_OFF;
    if (strncmp(name, "MPI_", 4) != 0)
        return NAME_REGION;
    if (strcmp(name, "MPI_Init") == 0 || strcmp(name, "MPI_Init_thread") == 0)
        return NAME_INIT;
    return strcmp(name, "MPI_Finalize") == 0 ? NAME_FINALIZE : NAME_CALL;
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

void graph_depend(graph_lane *lane, size_t call, graph_dependency on)
{
    lane->dependencies = graph_room(lane->dependencies, lane->dependency_count, sizeof on);
    on.next = lane->calls[call].dependency;
    lane->calls[call].dependency = (uint32_t)lane->dependency_count;
    lane->dependencies[lane->dependency_count++] = on;
}

static graph_name_kind kind_at(const graph *of, const graph_call *call)
{
    return of->kinds[of->places.list[call->place].function];
}

bool graph_is_recorder(const graph *of, const graph_call *call)
{
    const graph_name_kind kind = kind_at(of, call);
    return kind == NAME_CLOCK || kind == NAME_FLUSH;
}

bool graph_is_off(const graph *of, const graph_call *call)
{
    return kind_at(of, call) == NAME_OFF;
}

bool graph_means(const graph *of, const graph_call *call, unsigned means)
{
    const meaning *its = of->meanings[of->places.list[call->place].function];
    return its && (its->means & means) != 0;
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
    found.from = found.first > 0 ? at->calls[found.first - 1].place : GRAPH_NONE;
    found.to = found.last < at->count ? at->calls[found.last].place : GRAPH_NONE;
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

int64_t graph_polled_ns(const graph *of, const graph_lane *lane, size_t call)
{
    const graph_call *at = &lane->calls[call];
    return call > 0 && at[-1].is_open && graph_means(of, at, MEANS_TRIAL) ? at->enter_ns - at[-1].leave_ns : 0;
}

/* A test of no request, or of one that is complete already, as loops make for one of several requests. */
static bool tests_nothing(const graph *of, const graph_call *call)
{
    return graph_means(of, call, MEANS_TRIAL) && !graph_means(of, call, MEANS_PROBE | MEANS_UNSEEN) && !call->is_open &&
           !call->has_completions && !call->has_partners;
}

/*
 * A test that succeeds after others found nothing has been waiting since the first of them, unless the program computed
 * for long between two of them. If it polled there for longer than that before, it was rather interrupted.
 */
static bool goes_on(const graph *of, const graph_lane *lane, const graph_call *call)
{
    const graph_call *last = lane->count > 0 ? &lane->calls[lane->count - 1] : NULL;
    if (!last || !last->is_open || !graph_means(of, call, MEANS_TRIAL))
        return false;
    const int64_t apart_ns = call->enter_ns - last->leave_ns;
    return apart_ns <= GRAPH_POLL_NS || (apart_ns <= last->leave_ns - last->enter_ns && is_of_series(lane, last, call));
}

static void add_call(const graph *of, graph_lane *lane, const graph_call *call)
{
    if (goes_on(of, lane, call)) {
        graph_call *last = &lane->calls[lane->count - 1];
        last->is_open = call->is_open || tests_nothing(of, call);
        last->leave = call->leave;
        last->leave_ns = call->leave_ns;
        last->has_partners |= call->has_partners;
        last->has_completions |= call->has_completions;
    } else {
        lane->calls[lane->count++] = *call;
    }
}

/* What the events of a call say of it. */
static void look_at_events(graph_call *call, const trace_event *events)
{
    for (size_t k = call->enter; k <= call->leave; k++) {
        const trace_event *at = &events[k];
        call->has_partners |= at->kind == TRACE_RECEIVE || at->kind == TRACE_COLLECTIVE_DONE ||
                              (at->kind == TRACE_COLLECTIVE && at->request == 0);
        call->has_completions |= at->kind == TRACE_RECEIVE || at->kind == TRACE_COLLECTIVE_DONE ||
                                 at->kind == TRACE_SEND_DONE || at->kind == TRACE_CANCELED;
    }
}

static graph_call call_of(graph *to, const graph_lane *lane, size_t enter, size_t leave)
{
    graph_call call = {.enter = (uint32_t)enter,
                       .leave = (uint32_t)leave,
                       .is_open =
                           lane->location->events[leave].kind == TRACE_LEAVE && lane->location->events[leave].value > 0,
                       .enter_ns = graph_time_ns(lane, enter),
                       .leave_ns = graph_time_ns(lane, leave),
                       .place = (uint32_t)places_find(&to->places, (trace_point){lane->location, enter}),
                       .dependency = GRAPH_NONE,
                       .member = GRAPH_NONE,
                       .wait = GRAPH_NONE,
                       .delay_before = GRAPH_NONE,
                       .delay_in = GRAPH_NONE};
    look_at_events(&call, lane->location->events);
    return call;
}

bool graph_has_init_clock(const graph *of, const graph_lane *lane)
{
    return lane->has_init && lane->count > 1 && kind_at(of, &lane->calls[1]) == NAME_CLOCK &&
           lane->calls[1].enter == lane->calls[0].leave + 1;
}

/* What the recorder does when the program calls MPI_Finalize is recorded before that: it synchronizes, and writes. */
static void end_lane(const graph *of, graph_lane *lane, graph_call finalize)
{
    size_t first = lane->count;
    while (first > 0 && kind_at(of, &lane->calls[first - 1]) == NAME_FLUSH)
        first--;
    if (first > 0 && kind_at(of, &lane->calls[first - 1]) == NAME_CLOCK) {
        lane->count = first - 1;
        finalize.enter = lane->calls[lane->count].enter;
        finalize.enter_ns = lane->calls[lane->count].enter_ns;
    }
    lane->has_finalize = true;
    lane->calls[lane->count++] = finalize;
}

static void add_event(graph *to, graph_lane *lane, size_t enter, size_t leave)
{
    const graph_call call = call_of(to, lane, enter, leave);
    if (kind_at(to, &call) == NAME_FINALIZE) {
        end_lane(to, lane, call);
        return;
    }
    if (kind_at(to, &call) == NAME_INIT) { /* nothing that was called before is of the run */
        lane->has_init = true;
        lane->count = 0;
    }
    add_call(to, lane, &call);
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
    for (size_t k = 0, next = 0; k < location->count && !lane->has_finalize; k++) {
        const trace_event *event = &location->events[k];
        if (k < next || event->kind != TRACE_ENTER || to->kinds[event->id] == NAME_REGION)
            continue;
        next = location->calls[k] != CALL_NONE ? location->calls[k] : location->count - 1;
        add_event(to, lane, k, next);
    }
}

/* ---- The run: it begins when the first process calls MPI_Init, and ends when the last one calls MPI_Finalize */

/* From when the last process began a call that is the first or the second one, until the first process ended it. */
static int64_t common_ns(const graph *of, size_t which)
{
    int64_t last_enter_ns = INT64_MIN, first_leave_ns = INT64_MAX;
    for (size_t i = 0; i < of->lane_count; i++) {
        const graph_lane *lane = &of->lanes[i];
        if (which == 0 ? !lane->has_init : !graph_has_init_clock(of, lane))
            continue;
        last_enter_ns = greater(last_enter_ns, lane->calls[which].enter_ns);
        first_leave_ns = lesser(first_leave_ns, lane->calls[which].leave_ns);
    }
    return last_enter_ns < first_leave_ns && last_enter_ns > INT64_MIN ? first_leave_ns - last_enter_ns : 0;
}

/*
 * What MPI_Init, and then the recorder, take when all processes are there is before the run. So what is earlier is
 * moved forward by this time: processes begin as late after each other as they did.
 */
static void move_inits(graph *to)
{
    const int64_t init_ns = common_ns(to, 0), clock_ns = common_ns(to, 1);
    for (size_t i = 0; i < to->lane_count; i++) {
        graph_lane *lane = &to->lanes[i];
        const bool has_clock = graph_has_init_clock(to, lane);
        if (!lane->has_init)
            continue;
        const int64_t later_ns = has_clock ? clock_ns : 0;
        lane->calls[0].enter_ns += init_ns + later_ns;
        lane->calls[0].leave_ns += later_ns;
        if (has_clock)
            lane->calls[1].enter_ns += later_ns;
    }
}

static void find_own_edges(graph *to, graph_lane *lane)
{
    const trace_location *location = lane->location;
    if (to->of->is_cut) {
        lane->begin_ns = (int64_t)floor(location->begin_ns);
        lane->end_ns = (int64_t)floor(location->end_ns);
    } else if (location->count > 0) {
        lane->begin_ns = graph_time_ns(lane, 0);
        lane->end_ns = graph_time_ns(lane, location->count - 1);
    }
    if (lane->has_init)
        lane->begin_ns = lane->calls[0].enter_ns;
    if (lane->has_finalize)
        lane->end_ns = lane->calls[lane->count - 1].enter_ns;
}

static void find_edges(graph *to)
{
    to->begin_ns = INT64_MAX;
    to->end_ns = INT64_MIN;
    for (size_t i = 0; i < to->lane_count; i++) {
        find_own_edges(to, &to->lanes[i]);
        if (!graph_runs(&to->lanes[i]))
            continue;
        to->begin_ns = lesser(to->begin_ns, to->lanes[i].begin_ns);
        to->end_ns = greater(to->end_ns, to->lanes[i].end_ns);
    }
    if (to->end_ns < to->begin_ns)
        to->begin_ns = to->end_ns = 0;
    for (size_t i = 0; i < to->lane_count; i++) {
        graph_lane *lane = &to->lanes[i];
        if (!to->of->is_cut || to->of->has_start)
            lane->begin_ns = to->begin_ns;
        if (!lane->has_finalize)
            continue;
        graph_call *finalize = &lane->calls[lane->count - 1];
        lane->end_ns = finalize->leave_ns = lesser(finalize->leave_ns, to->end_ns);
    }
}

void graph_make(graph *made, const trace *of)
{
    *made = (graph){.of = of, .lane_count = of->location_count};
    made->lanes = zeros_or_exit(made->lane_count, sizeof *made->lanes);
    made->kinds = zeros_or_exit(of->name_count, sizeof *made->kinds);
    made->meanings = zeros_or_exit(of->name_count, sizeof *made->meanings);
    for (size_t i = 0; i < of->name_count; i++) {
        made->kinds[i] = of->names[i] ? kind_of(of->names[i]) : NAME_REGION;
        made->meanings[i] = of->names[i] ? meaning_of(of->names[i]) : NULL;
    }
    for (trace_location *at = NULL; (at = trace_next_location(of, at));) {
        made->lanes[at->index].location = at;
        fill_lane(made, &made->lanes[at->index]);
    }
    move_inits(made);
    find_edges(made);
    made->is_too_long = made->end_ns - made->begin_ns > INT64_MAX / 4 / (int64_t)(made->lane_count + 1);
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
    free(made->meanings);
    free(made->gatherings);
    free(made->members);
    free(made->delays);
    *made = (graph){.of = NULL};
}
