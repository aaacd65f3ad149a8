/* SPDX-License-Identifier: BSD-3-Clause */
/* dependencies.c - what each call of the graph depends on, by the matches of the trace. */
#include "trace/bulk.h"
#include "trace/calls.h"
#include "trace/operations.h"
#include "trace/waits/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A call, or none. */
typedef struct {
    graph_lane *lane;
    uint32_t index, call;
} place_in_graph;

static place_in_graph find(const graph *in, int rank, uint32_t thread, size_t event)
{
    const size_t index = trace_find_location(in->of, rank, thread)->index;
    return (place_in_graph){&in->lanes[index], (uint32_t)index, (uint32_t)graph_call_of(&in->lanes[index], event)};
}

static graph_call *call_at(const place_in_graph *at)
{
    return &at->lane->calls[at->call];
}

/* Room for another one in a list; NULL without memory, or if it has as many as there are indexes. */
static void *room_in(void *list, size_t count, size_t bytes)
{
    return count < GRAPH_NONE ? bulk_for_another(list, count, bytes) : NULL;
}

static bool add_dependency(graph *to, graph_call *call, graph_dependency dependency)
{
    graph_dependency *list = room_in(to->dependencies, to->dependency_count, sizeof *list);
    if (!list)
        return false;
    to->dependencies = list;
    dependency.next = call->dependency;
    call->dependency = (uint32_t)to->dependency_count;
    to->dependencies[to->dependency_count++] = dependency;
    return true;
}

/* On an event of another lane. */
static bool depend_on(graph *to, const place_in_graph *waits, const place_in_graph *late, size_t event,
                      wait_state state)
{
    return add_dependency(to, call_at(waits),
                          (graph_dependency){.lane = late->index,
                                             .call = late->call,
                                             .after_ns = graph_time_ns(late->lane, event) - call_at(late)->enter_ns,
                                             .state = state});
}

/* ---- Messages */

static const char *function_of(const graph *in, const place_in_graph *at)
{
    return in->of->names[in->places.list[call_at(at)->place].function];
}

static bool is_probe(const char *name)
{
    static const char *const probes[] = {"MPI_Probe", "MPI_Mprobe", "MPI_Iprobe", "MPI_Improbe"};
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++)
        if (strcmp(name, probes[i]) == 0)
            return true;
    return false;
}

/* A message that was probed, and found, directly before its receive was posted was waited for there. */
static bool add_probe(graph *to, const place_in_graph *post, const place_in_graph *send, size_t event)
{
    place_in_graph before = *post;
    while (before.call > 0 && graph_is_recorder(to, &before.lane->calls[before.call - 1]))
        before.call--;
    if (before.call == 0)
        return true;
    before.call--;
    const trace_event *left = &before.lane->location->events[call_at(&before)->leave];
    if (!is_probe(function_of(to, &before)) || call_at(&before)->dependency != GRAPH_NONE || left->value > 0)
        return true;
    return depend_on(to, &before, send, event, STATE_LATE_SENDER);
}

/* A message, with the calls that begin and end it. */
typedef struct {
    place_in_graph send, sent, receive, post; /* sent: where the send was complete */
    uint64_t bytes;
    int32_t tag;
    trace_mode mode;
} message_calls;

static uint64_t bytes_of(const trace *of, const trace_message *message)
{
    return trace_find_location(of, message->source, message->source_thread)->events[message->send].value;
}

static message_calls calls_of(const graph *in, const call_requests *requests, const trace_message *message)
{
    message_calls found = {.send = find(in, message->source, message->source_thread, message->send),
                           .receive = find(in, message->destination, message->destination_thread, message->receive),
                           .post = find(in, message->destination, message->post_thread, message->post)};
    const trace_event *event = &found.send.lane->location->events[message->send];
    const call_request *its = event->request != 0 ? request_of(requests, event) : NULL;
    found.bytes = event->value;
    found.tag = event->tag;
    found.mode = (trace_mode)event->mode;
    found.sent = found.send;
    if (event->request != 0)
        found.sent.call = GRAPH_NONE;
    if (its && its->done_by)
        found.sent = find(in, message->source, (uint32_t)its->done_by->thread, its->done);
    return found;
}

static int64_t posted_ns(const message_calls *of, const trace_message *message)
{
    return graph_time_ns(of->post.lane, message->post);
}

/* A send that was complete before its receive was posted did not wait, nor do those of fewer bytes. */
static bool is_eager(const graph *in, const message_calls *of, const trace_message *message)
{
    if (of->send.call == GRAPH_NONE || of->sent.call == GRAPH_NONE || of->post.call == GRAPH_NONE ||
        of->mode == TRACE_BUFFERED)
        return false;
    const trace_event *posted = &of->post.lane->location->events[message->post];
    const trace_event *left = &of->sent.lane->location->events[call_at(&of->sent)->leave];
    const double bound_ns = trace_bound_ns(&in->of->processes[message->source], left->time_ns) +
                            trace_bound_ns(&in->of->processes[message->destination], posted->time_ns);
    return (double)(posted_ns(of, message) - call_at(&of->sent)->leave_ns) > (isfinite(bound_ns) ? bound_ns : 0);
}

/* A larger message may wait for its receive. It did if it was under way when the receive was posted. */
static bool add_send(graph *to, const message_calls *of, const trace_message *message, uint64_t eager_bytes)
{
    if (of->send.call == GRAPH_NONE || of->sent.call == GRAPH_NONE || of->post.call == GRAPH_NONE)
        return true;
    const graph_call *call = call_at(&of->sent);
    const int64_t ns = posted_ns(of, message);
    const bool may_wait = of->bytes > eager_bytes && ns >= call->enter_ns && ns <= call->leave_ns;
    if (of->mode != TRACE_SYNCHRONOUS && (of->mode == TRACE_BUFFERED || !may_wait))
        return true;
    return depend_on(to, &of->sent, &of->post, message->post, STATE_LATE_RECEIVER);
}

/* What is told in an epoch of a window. MPI_Win_start and MPI_Win_complete may end before MPI_Win_post was called. */
static bool add_signal(graph *to, const message_calls *of, const trace_message *message)
{
    const bool is_post = of->tag == TRACE_TAG_POST;
    const place_in_graph *waiting[] = {&of->receive, &of->post};
    if (of->send.call == GRAPH_NONE)
        return true;
    call_at(&of->send)->is_matched = true;
    for (int i = 0; i < (is_post ? 2 : 1); i++) {
        if (waiting[i]->call == GRAPH_NONE)
            continue;
        graph_call *call = call_at(waiting[i]);
        call->is_matched = true;
        if (message->source != message->destination &&
            (!is_post || graph_time_ns(of->send.lane, message->send) <= call->leave_ns) &&
            !depend_on(to, waiting[i], &of->send, message->send, is_post ? STATE_LATE_POST : STATE_LATE_COMPLETE))
            return false;
    }
    return true;
}

static bool add_message(graph *to, const message_calls *of, const trace_message *message, uint64_t eager_bytes)
{
    if (of->tag <= TRACE_TAG_COMPLETE)
        return add_signal(to, of, message);
    if (of->receive.call != GRAPH_NONE)
        call_at(&of->receive)->is_matched = true;
    if (message->source == message->destination)
        return true;
    if (of->send.call != GRAPH_NONE && of->receive.call != GRAPH_NONE &&
        !depend_on(to, &of->receive, &of->send, message->send, STATE_LATE_SENDER))
        return false;
    if (of->send.call != GRAPH_NONE && of->post.call != GRAPH_NONE &&
        !add_probe(to, &of->post, &of->send, message->send))
        return false;
    return add_send(to, of, message, eager_bytes);
}

/* All messages, which are sorted by their source: to find the greatest eager one, or to add what depends on them. */
static bool walk_messages(graph *to, const trace_matches *matches, uint64_t *eager_bytes, bool is_adding)
{
    bool is_good = true;
    for (size_t i = 0; is_good && i < matches->message_count;) {
        const int source = matches->messages[i].source;
        call_requests requests;
        is_good = requests_find(&requests, &to->of->processes[source]);
        for (; is_good && i < matches->message_count && matches->messages[i].source == source; i++) {
            const trace_message *message = &matches->messages[i];
            if (!is_adding && bytes_of(to->of, message) <= *eager_bytes)
                continue;
            const message_calls calls = calls_of(to, &requests, message);
            if (is_adding)
                is_good = add_message(to, &calls, message, *eager_bytes);
            else if (is_eager(to, &calls, message))
                *eager_bytes = calls.bytes;
        }
        requests_free(&requests);
    }
    return is_good;
}

/* A late sender is waited for in the wrong order if a message had been sent before that a later call receives. */
static void mark_wrong_order(graph *to, const graph_lane *lane)
{
    int64_t first_sent_ns = INT64_MAX; /* of the messages that are received in later calls */
    for (size_t i = lane->count; i > 0; i--) {
        const graph_call *call = &lane->calls[i - 1];
        int64_t sent_ns = first_sent_ns;
        for (size_t k = call->dependency; k != GRAPH_NONE; k = to->dependencies[k].next) {
            graph_dependency *one = &to->dependencies[k];
            if (one->state != STATE_LATE_SENDER)
                continue;
            const int64_t its_ns = to->lanes[one->lane].calls[one->call].enter_ns + one->after_ns;
            sent_ns = its_ns < sent_ns ? its_ns : sent_ns;
            if (first_sent_ns < call->enter_ns)
                one->state = STATE_WRONG_ORDER;
        }
        first_sent_ns = sent_ns;
    }
}

static bool add_messages(graph *to, const trace_matches *matches)
{
    uint64_t eager_bytes = 0;
    if (!walk_messages(to, matches, &eager_bytes, false) || !walk_messages(to, matches, &eager_bytes, true))
        return false;
    for (size_t lane = 0; lane < to->lane_count; lane++)
        mark_wrong_order(to, &to->lanes[lane]);
    return true;
}

/* ---- Collective operations */

static bool add_member(graph *to, const place_in_graph *at, size_t gathering)
{
    graph_member *members = room_in(to->members, to->member_count, sizeof *members);
    if (!members)
        return false;
    to->members = members;
    to->members[to->member_count] = (graph_member){at->index, at->call, (uint32_t)gathering, call_at(at)->member};
    call_at(at)->member = (uint32_t)to->member_count++;
    return true;
}

static bool add_gathering(graph *to)
{
    graph_gathering *gatherings = room_in(to->gatherings, to->gathering_count, sizeof *gatherings);
    if (!gatherings)
        return false;
    to->gatherings = gatherings;
    to->gatherings[to->gathering_count++] = (graph_gathering){(uint32_t)to->member_count, 0, GRAPH_NONE, GRAPH_NONE};
    return true;
}

static place_in_graph enter_of(const graph *in, const trace_part *part)
{
    return find(in, part->rank, part->thread, part->enter);
}

static place_in_graph wait_of(const graph *in, const trace_part *part)
{
    return find(in, part->rank, part->leave_thread, part->leave);
}

static int64_t enter_of_member(const graph *in, size_t member)
{
    return in->lanes[in->members[member].lane].calls[in->members[member].call].enter_ns;
}

/* The latest two, of different lanes: the last of all lanes but one is one of them. */
static void find_last(graph *to, graph_gathering *gathering)
{
    for (uint32_t i = gathering->first; i < to->member_count; i++) {
        const graph_member *members = to->members, *one = &members[i];
        const uint32_t last = gathering->last, second = gathering->second;
        const int64_t enter_ns = enter_of_member(to, i);
        const bool is_last = last == GRAPH_NONE || enter_ns > enter_of_member(to, last);
        if (is_last && last != GRAPH_NONE && members[last].lane != one->lane)
            gathering->second = last;
        if (is_last)
            gathering->last = i;
        else if (one->lane != members[last].lane && (second == GRAPH_NONE || enter_ns > enter_of_member(to, second)))
            gathering->second = i;
    }
    gathering->count = (uint32_t)to->member_count - gathering->first;
}

/* All that get something wait for all that give something; with a root, one of both is the root alone. */
static bool gather(graph *to, const trace_call *call, operation_wait kind)
{
    const bool is_of_all = kind == WAIT_MEET || kind == WAIT_FENCE;
    const wait_state state = kind == WAIT_MEET      ? STATE_BARRIER
                             : kind == WAIT_FENCE   ? STATE_FENCE
                             : kind == WAIT_ALL     ? STATE_N_BY_N
                             : kind == WAIT_TO_ROOT ? STATE_EARLY_REDUCE
                                                    : STATE_LATE_BROADCAST;
    const size_t gathering = to->gathering_count;
    bool is_good = add_gathering(to);
    for (int i = 0; is_good && i < call->count; i++) {
        const trace_part *part = &call->parts[i];
        const place_in_graph at = enter_of(to, part);
        if (at.call != GRAPH_NONE && (kind != WAIT_FROM_ROOT || i == call->root) &&
            (is_of_all || call_gives(at.lane->location, part)))
            is_good = add_member(to, &at, gathering);
    }
    if (is_good)
        find_last(to, &to->gatherings[gathering]);
    for (int i = 0; is_good && i < call->count; i++) {
        const trace_part *part = &call->parts[i];
        const place_in_graph at = wait_of(to, part), enter = enter_of(to, part);
        if (at.call != GRAPH_NONE && (kind != WAIT_TO_ROOT || i == call->root) &&
            (kind != WAIT_FROM_ROOT || i != call->root) && (is_of_all || call_gets(enter.lane->location, part)))
            is_good = add_dependency(
                to, call_at(&at), (graph_dependency){.lane = GRAPH_NONE, .call = (uint32_t)gathering, .state = state});
    }
    return is_good;
}

/* Where the processes of an operation entered. */
typedef struct {
    place_in_graph *enters;
    int latest, second; /* the two that entered last, of those that were added; -1: there is none */
} arrivals;

static int64_t arrival_ns(const arrivals *of, int which)
{
    return which >= 0 && of->enters[which].call != GRAPH_NONE ? call_at(&of->enters[which])->enter_ns : INT64_MIN;
}

static void add_arrival(arrivals *to, int which)
{
    const int64_t enter_ns = arrival_ns(to, which);
    if (enter_ns > arrival_ns(to, to->latest)) {
        to->second = to->latest;
        to->latest = which;
    } else if (enter_ns > arrival_ns(to, to->second)) {
        to->second = which;
    }
}

/*
 * Of the first `count` processes without `own`, the one that entered last before a time; -1: there is none. Usually
 * this is the latest of all. If the latest came too late, all are looked at.
 */
static int last_until(const arrivals *of, int count, int own, int64_t ns)
{
    int last = of->latest == own ? of->second : of->latest;
    if (arrival_ns(of, last) <= ns)
        return last;
    last = -1;
    for (int i = 0; i < count; i++)
        if (i != own && arrival_ns(of, i) <= ns && arrival_ns(of, i) > arrival_ns(of, last))
            last = i;
    return last;
}

/* Each waits for the last of the others that came before it left: of all, or of those with lower ranks. */
static bool depend_on_last(graph *to, const trace_call *call, operation_wait kind)
{
    const wait_state state = kind == WAIT_FENCE ? STATE_FENCE : STATE_N_BY_N;
    const bool is_lower = kind == WAIT_LOWER;
    arrivals all = {malloc(((size_t)call->count + 1) * sizeof *all.enters), -1, -1};
    bool is_good = all.enters;
    for (int i = 0; is_good && i < call->count; i++) {
        all.enters[i] = enter_of(to, &call->parts[i]);
        if (!is_lower)
            add_arrival(&all, i);
    }
    for (int i = 0; is_good && i < call->count; i++) {
        const place_in_graph at = wait_of(to, &call->parts[i]);
        const int last =
            at.call != GRAPH_NONE ? last_until(&all, is_lower ? i : call->count, i, call_at(&at)->leave_ns) : -1;
        if (last >= 0)
            is_good = depend_on(to, &at, &all.enters[last], call->parts[last].enter, state);
        if (is_lower)
            add_arrival(&all, i);
    }
    free(all.enters);
    return is_good;
}

static void mark_matched(graph *to, const trace_call *call)
{
    for (int i = 0; i < call->count; i++) {
        const place_in_graph ends[] = {enter_of(to, &call->parts[i]), wait_of(to, &call->parts[i])};
        for (int k = 0; k < 2; k++)
            if (ends[k].call != GRAPH_NONE)
                call_at(&ends[k])->is_matched = true;
    }
}

/* Whether all have entered before the first one leaves. */
static bool is_meeting(const graph *in, const trace_call *call)
{
    int64_t last_enter_ns = INT64_MIN, first_leave_ns = INT64_MAX;
    for (int i = 0; i < call->count; i++) {
        const place_in_graph enter = enter_of(in, &call->parts[i]), leave = wait_of(in, &call->parts[i]);
        if (enter.call == GRAPH_NONE || leave.call == GRAPH_NONE)
            return false;
        last_enter_ns = call_at(&enter)->enter_ns > last_enter_ns ? call_at(&enter)->enter_ns : last_enter_ns;
        first_leave_ns = call_at(&leave)->leave_ns < first_leave_ns ? call_at(&leave)->leave_ns : first_leave_ns;
    }
    return last_enter_ns <= first_leave_ns;
}

bool graph_add_dependencies(graph *to, const trace_matches *matches)
{
    bool is_good = add_messages(to, matches);
    for (size_t i = 0; is_good && i < matches->call_count; i++) {
        const trace_call *call = &matches->calls[i];
        const operation_wait kind = operation_wait_of(to->of->names[call->function]);
        if (kind >= WAIT_MEET || (kind == WAIT_FENCE && is_meeting(to, call)))
            is_good = gather(to, call, kind);
        else if (kind != WAIT_UNKNOWN)
            is_good = depend_on_last(to, call, kind);
        if (kind != WAIT_UNKNOWN)
            mark_matched(to, call);
    }
    return is_good;
}
