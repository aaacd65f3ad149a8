/* SPDX-License-Identifier: BSD-3-Clause */
/* dependencies.c - what each call of the graph depends on, by the matches of the trace. */
#include "common/cli/memory.h"
#include "trace/read/logical_clock.h"
#include "trace/read/operations.h"
#include "trace/waits/graph.h"

#include <math.h>
#include <string.h>

/* An event of a lane, and the call that it is in; GRAPH_NONE: it is in none. */
typedef struct {
    graph_lane *lane;
    uint32_t index, call;
    size_t event;
} place_in_graph;

static place_in_graph find(const graph *in, trace_point of)
{
    if (!of.at)
        return (place_in_graph){.call = GRAPH_NONE};
    graph_lane *lane = &in->lanes[of.at->index];
    return (place_in_graph){lane, (uint32_t)of.at->index, (uint32_t)graph_call_of(lane, of.event), of.event};
}

static bool is_in_call(const place_in_graph *at)
{
    return at->call != GRAPH_NONE;
}

static graph_call *call_at(const place_in_graph *at)
{
    return &at->lane->calls[at->call];
}

static int64_t time_ns(const place_in_graph *at)
{
    return graph_time_ns(at->lane, at->event);
}

static void mark_matched(const place_in_graph *at)
{
    if (is_in_call(at))
        call_at(at)->is_matched = true;
}

static void add_dependency(const place_in_graph *waits, graph_dependency dependency)
{
    graph_call *call = call_at(waits);
    graph_lane *to = waits->lane;
    to->dependencies = graph_room(to->dependencies, to->dependency_count, sizeof dependency);
    dependency.next = call->dependency;
    call->dependency = (uint32_t)to->dependency_count;
    to->dependencies[to->dependency_count++] = dependency;
}

/* On an event of another lane. */
static void depend_on(const place_in_graph *waits, const place_in_graph *late, wait_state state)
{
    if (is_in_call(waits) && is_in_call(late))
        add_dependency(waits, (graph_dependency){.lane = late->index,
                                                 .call = late->call,
                                                 .after_ns = time_ns(late) - call_at(late)->enter_ns,
                                                 .state = state});
}

/* ---- Messages */

/* The beginnings of the names of probes, and of what programs call between a probe and its receive. */
static const char *const probes[] = {"MPI_Probe", "MPI_Mprobe", "MPI_Iprobe", "MPI_Improbe", NULL};
static const char *const questions[] = {"MPI_Get_count", "MPI_Get_elements", "MPI_Status_",   "MPI_Type_size",
                                        "MPI_Comm_rank", "MPI_Comm_size",    "MPI_Alloc_mem", NULL};

static bool is_one_of(const char *const *beginnings, const char *name)
{
    while (*beginnings && strncmp(name, *beginnings, strlen(*beginnings)) != 0)
        beginnings++;
    return *beginnings;
}

/*
 * A message that was probed, and found, directly before its receive was posted was waited for there. MPI_Mprobe posts
 * the receive itself.
 */
static void add_probe(graph *to, const place_in_graph *post, const place_in_graph *send)
{
    place_in_graph before = *post;
    if (!is_in_call(post))
        return;
    if (is_one_of(probes, graph_name(to, call_at(post)))) {
        depend_on(post, send, STATE_LATE_SENDER);
        return;
    }
    for (const graph_call *call; before.call > 0; before.call--) {
        call = &before.lane->calls[before.call - 1];
        if (!graph_is_recorder(to, call) && !is_one_of(questions, graph_name(to, call)))
            break;
    }
    if (before.call-- == 0)
        return;
    const graph_call *call = call_at(&before);
    if (is_one_of(probes, graph_name(to, call)) && call->dependency == GRAPH_NONE &&
        before.lane->location->events[call->leave].value == 0)
        depend_on(&before, send, STATE_LATE_SENDER);
}

/* A message, in the calls that begin and end it. */
typedef struct {
    place_in_graph send, sent, receive, post;
    const trace_event *event; /* its SEND */
} message_calls;

static const trace_event *send_of(const trace_message *message)
{
    return &message->send.at->events[message->send.event];
}

static message_calls calls_of(const graph *in, const trace_message *message)
{
    return (message_calls){.send = find(in, message->send),
                           .sent = find(in, message->sent),
                           .receive = find(in, message->receive),
                           .post = find(in, message->post),
                           .event = send_of(message)};
}

/* Whether it is known when its send was complete, and its receive was posted; of a send that does not use a buffer. */
static bool may_wait(const message_calls *of)
{
    return is_in_call(&of->send) && is_in_call(&of->sent) && is_in_call(&of->post) && of->event->mode != TRACE_BUFFERED;
}

/* A send that was complete before its receive was posted did not wait, nor do those of fewer bytes. */
static bool is_eager(const message_calls *of)
{
    if (!may_wait(of))
        return false;
    const trace_location *source = of->sent.lane->location, *destination = of->post.lane->location;
    const double bound_ns = trace_bound_ns(source->process, source->events[call_at(&of->sent)->leave].time_ns) +
                            trace_bound_ns(destination->process, destination->events[of->post.event].time_ns);
    return (double)(time_ns(&of->post) - call_at(&of->sent)->leave_ns) > (isfinite(bound_ns) ? bound_ns : 0);
}

/* A larger message may wait for its receive. It did if it was under way when the receive was posted. */
static void add_send(const message_calls *of, uint64_t eager_bytes)
{
    if (!may_wait(of))
        return;
    const graph_call *call = call_at(&of->sent);
    const int64_t ns = time_ns(&of->post);
    const bool has_waited = of->event->value > eager_bytes && ns >= call->enter_ns && ns <= call->leave_ns;
    if (of->event->mode == TRACE_SYNCHRONOUS || has_waited)
        depend_on(&of->sent, &of->post, STATE_LATE_RECEIVER);
}

/* What is told in an epoch of a window. MPI_Win_start and MPI_Win_complete may end before MPI_Win_post was called. */
static void add_signal(const message_calls *of, bool is_own)
{
    const bool is_post = of->event->tag == TRACE_TAG_POST;
    const place_in_graph *waiting[] = {&of->receive, &of->post};
    if (!is_in_call(&of->send))
        return;
    mark_matched(&of->send);
    for (int i = 0; i < (is_post ? 2 : 1); i++) {
        mark_matched(waiting[i]);
        if (!is_own && is_in_call(waiting[i]) && (!is_post || time_ns(&of->send) <= call_at(waiting[i])->leave_ns))
            depend_on(waiting[i], &of->send, is_post ? STATE_LATE_POST : STATE_LATE_COMPLETE);
    }
}

static void add_message(graph *to, const trace_message *message, uint64_t eager_bytes)
{
    const message_calls of = calls_of(to, message);
    const bool is_own = message->send.at->rank == message->receive.at->rank;
    if (of.event->tag <= TRACE_TAG_COMPLETE) {
        add_signal(&of, is_own);
        return;
    }
    mark_matched(&of.receive);
    if (is_own)
        return;
    depend_on(&of.receive, &of.send, STATE_LATE_SENDER);
    add_probe(to, &of.post, &of.send);
    add_send(&of, eager_bytes);
}

/* A late sender is waited for in the wrong order if a message had been sent before that a later call receives. */
static void mark_wrong_order(const graph *to, const graph_lane *lane)
{
    int64_t first_sent_ns = INT64_MAX; /* of the messages that are received in later calls */
    for (size_t i = lane->count; i > 0; i--) {
        const graph_call *call = &lane->calls[i - 1];
        int64_t sent_ns = first_sent_ns;
        for (size_t k = call->dependency; k != GRAPH_NONE; k = lane->dependencies[k].next) {
            graph_dependency *one = &lane->dependencies[k];
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

static void add_messages(graph *to, const trace_matches *matches)
{
    uint64_t eager_bytes = 0;
    for (size_t i = 0; i < matches->message_count; i++) {
        if (send_of(&matches->messages[i])->value <= eager_bytes)
            continue;
        const message_calls calls = calls_of(to, &matches->messages[i]);
        if (is_eager(&calls))
            eager_bytes = calls.event->value;
    }
    for (size_t i = 0; i < matches->message_count; i++)
        add_message(to, &matches->messages[i], eager_bytes);
    for (size_t lane = 0; lane < to->lane_count; lane++)
        mark_wrong_order(to, &to->lanes[lane]);
}

/* ---- Collective operations */

static void add_member(graph *to, const place_in_graph *at, size_t gathering)
{
    to->members = graph_room(to->members, to->member_count, sizeof *to->members);
    to->members[to->member_count] = (graph_member){(uint32_t)gathering, call_at(at)->member};
    call_at(at)->member = (uint32_t)to->member_count++;
}

static graph_arrival arrival_of(const graph *in, int64_t enter_ns, const trace_part *part)
{
    if (enter_ns == LOGICAL_NONE_NS)
        return (graph_arrival){.lane = GRAPH_NONE};
    const place_in_graph at = find(in, part->enter);
    return (graph_arrival){enter_ns, graph_bound_ns(in, at.index, at.call), at.index, at.call};
}

/* All that get something wait for all that give something; with a root, one of both is the root alone. */
static void gather(graph *to, const trace_call *call, operation_wait kind)
{
    static const wait_state states[] = {[WAIT_MEET] = STATE_BARRIER,
                                        [WAIT_FENCE] = STATE_FENCE,
                                        [WAIT_ALL] = STATE_N_BY_N,
                                        [WAIT_TO_ROOT] = STATE_EARLY_REDUCE,
                                        [WAIT_FROM_ROOT] = STATE_LATE_BROADCAST};
    const size_t gathering = to->gathering_count++, first = to->member_count;
    logical_latest last; /* of the parts, by lane */
    logical_latest_begin(&last);
    to->gatherings = graph_room(to->gatherings, gathering, sizeof *to->gatherings);
    for (int i = 0; i < call->count; i++) {
        const place_in_graph at = find(to, call->parts[i].enter);
        if (!is_in_call(&at) || !operation_gives(kind, call, i))
            continue;
        logical_latest_add(&last, call_at(&at)->enter_ns, (logical_member){(size_t)i, (int)at.index});
        add_member(to, &at, gathering);
    }
    to->gatherings[gathering] = (graph_gathering){.count = (uint32_t)(to->member_count - first),
                                                  .last = arrival_of(to, last.best_ns, &call->parts[last.best]),
                                                  .second = arrival_of(to, last.second_ns, &call->parts[last.second])};
    for (int i = 0; i < call->count; i++) {
        const place_in_graph at = find(to, call->parts[i].leave);
        if (is_in_call(&at) && operation_gets(kind, call, i))
            add_dependency(&at,
                           (graph_dependency){.lane = GRAPH_NONE, .call = (uint32_t)gathering, .state = states[kind]});
    }
}

/* The processes of a call, in the order in which they entered. */
typedef struct {
    int64_t enter_ns;
    int which;
} entry;

static int by_enter(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    return a->enter_ns != b->enter_ns ? (a->enter_ns > b->enter_ns) - (a->enter_ns < b->enter_ns)
                                      : (a->which < b->which) - (a->which > b->which);
}

static int sort_entries(const place_in_graph *enters, int count, entry *entries)
{
    int sorted = 0;
    for (int i = 0; i < count; i++)
        if (is_in_call(&enters[i]))
            entries[sorted++] = (entry){call_at(&enters[i])->enter_ns, i};
    qsort(entries, (size_t)sorted, sizeof *entries, by_enter);
    return sorted;
}

/* Of the processes without `own` and with a rank below `limit`, the one that entered last before a time, or -1. */
static int last_until(const entry *entries, int count, int own, int limit, int64_t ns)
{
    int low = 0, high = count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (entries[middle].enter_ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    while (low > 0 && (entries[low - 1].which == own || entries[low - 1].which >= limit))
        low--;
    return low > 0 ? entries[low - 1].which : -1;
}

/* Each waits for the last of the others that came before it left: of all, or of those with lower ranks. */
static void depend_on_last(graph *to, const trace_call *call, operation_wait kind)
{
    const wait_state state = kind == WAIT_FENCE ? STATE_FENCE : STATE_N_BY_N;
    place_in_graph *enters = or_exit(malloc(((size_t)call->count + 1) * sizeof *enters));
    entry *entries = or_exit(malloc(((size_t)call->count + 1) * sizeof *entries));
    for (int i = 0; i < call->count; i++)
        enters[i] = find(to, call->parts[i].enter);
    const int count = sort_entries(enters, call->count, entries);
    entry lower = {INT64_MIN, -1}; /* of lower ranks, the one that entered last: no need to search for it, mostly */
    for (int i = 0; i < call->count; i++) {
        const place_in_graph at = find(to, call->parts[i].leave);
        const int limit = kind == WAIT_LOWER ? i : call->count;
        const int64_t leave_ns = is_in_call(&at) ? call_at(&at)->leave_ns : INT64_MIN;
        const bool is_lower = kind == WAIT_LOWER && lower.enter_ns <= leave_ns;
        const int last = is_lower ? lower.which : last_until(entries, count, i, limit, leave_ns);
        if (last >= 0)
            depend_on(&at, &enters[last], state);
        if (is_in_call(&enters[i]) && call_at(&enters[i])->enter_ns > lower.enter_ns)
            lower = (entry){call_at(&enters[i])->enter_ns, i};
    }
    free(enters);
    free(entries);
}

/* Whether all have entered before the first one leaves. */
static bool is_meeting(const graph *in, const trace_call *call)
{
    int64_t last_enter_ns = INT64_MIN, first_leave_ns = INT64_MAX;
    for (int i = 0; i < call->count; i++) {
        const place_in_graph enter = find(in, call->parts[i].enter), leave = find(in, call->parts[i].leave);
        if (!is_in_call(&enter) || !is_in_call(&leave))
            return false;
        last_enter_ns = call_at(&enter)->enter_ns > last_enter_ns ? call_at(&enter)->enter_ns : last_enter_ns;
        first_leave_ns = call_at(&leave)->leave_ns < first_leave_ns ? call_at(&leave)->leave_ns : first_leave_ns;
    }
    return last_enter_ns <= first_leave_ns;
}

void graph_add_dependencies(graph *to, const trace_matches *matches)
{
    add_messages(to, matches);
    for (size_t i = 0; i < matches->call_count; i++) {
        const trace_call *call = &matches->calls[i];
        const operation_wait kind = operation_wait_of(to->of->names[call->function]);
        if (kind == WAIT_UNKNOWN)
            continue;
        if (kind >= WAIT_MEET || (kind == WAIT_FENCE && is_meeting(to, call)))
            gather(to, call, kind);
        else
            depend_on_last(to, call, kind);
        for (int k = 0; k < call->count; k++) {
            const place_in_graph enter = find(to, call->parts[k].enter), leave = find(to, call->parts[k].leave);
            mark_matched(&enter);
            mark_matched(&leave);
        }
    }
}
