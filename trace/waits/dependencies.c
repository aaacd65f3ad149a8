/* SPDX-License-Identifier: BSD-3-Clause */
/* dependencies.c - what each call of the graph depends on, by the matches of the trace. */
#include "trace/waits/dependencies.h"

#include "common/cli/memory.h"
#include "pure/order_statistics.h"
#include "trace/read/calls.h"
#include "trace/read/logical_clock.h"
#include "trace/read/operations.h"
#include "trace/waits/accesses.h"

#include <math.h>
#include <string.h>

/*
 * A send that takes longer waits for something: those that wait for nothing take some microseconds. No MPI library lets
 * so few bytes wait for their receive, if its buffers are not full.
 */
enum { LONG_SEND_NS = 50000, LEAST_EAGER_BYTES = 64 };

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
    graph_depend(waits->lane, waits->call, dependency);
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

static const trace_event *send_of(const trace_message *message)
{
    return &message->send.at->events[message->send.event];
}

/* Whether an event begins or ends a call of a function that looks for a message. */
static bool is_probe(const graph *in, const graph_lane *lane, size_t event)
{
    const trace_event *at = event != CALL_NONE ? &lane->location->events[event] : NULL;
    const bool is_edge = at && (at->kind == TRACE_ENTER || at->kind == TRACE_LEAVE);
    const meaning *its = is_edge ? in->meanings[at->id] : NULL;
    return its && (its->means & MEANS_PROBE) != 0;
}

/* Whether a call, or the last of several tests, looked for a message, and found one. */
static bool has_found(const graph *in, const place_in_graph *at)
{
    const graph_call *call = call_at(at);
    return is_probe(in, at->lane, call->leave) && !call->is_open;
}

/*
 * A message that was probed, and found, directly before its receive was posted was waited for there. MPI_Mprobe posts
 * the receive itself. If the message had been there before the probe, the probe found it at once, or found another one.
 */
static void add_probe(graph *to, const place_in_graph *post, const place_in_graph *send)
{
    place_in_graph before = *post;
    if (!is_in_call(post))
        return;
    if (is_probe(to, post->lane, post->lane->location->calls[post->event])) {
        depend_on(post, send, STATE_LATE_SENDER);
        call_at(post)->is_found = true;
        return;
    }
    for (const graph_call *call; before.call > 0; before.call--) {
        call = &before.lane->calls[before.call - 1];
        if (!graph_is_recorder(to, call) && !graph_means(to, call, MEANS_QUESTION))
            break;
    }
    if (before.call-- == 0 || !is_in_call(send) || !has_found(to, &before) || call_at(&before)->is_found)
        return;
    depend_on(&before, send, STATE_LATE_SENDER);
    call_at(&before)->is_found = time_ns(send) >= call_at(&before)->enter_ns;
}

/* The last call of a lane that began by a time, or GRAPH_NONE. */
static uint32_t last_call_until(const graph_lane *lane, int64_t ns)
{
    size_t low = 0, high = lane->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (lane->calls[middle].enter_ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? (uint32_t)(low - 1) : GRAPH_NONE;
}

/*
 * The trace does not have which message a probe found. If none is received directly after it, or one that had been
 * there before, it waited for the last one that was sent meanwhile and is received later. A probe sees a message soon,
 * so it does not end much later.
 */
static void add_early_probe(graph *to, const place_in_graph *post, const place_in_graph *send)
{
    place_in_graph probe = *post;
    if (!is_in_call(post) || !is_in_call(send))
        return;
    probe.call = last_call_until(post->lane, time_ns(send));
    if (!is_in_call(&probe) || probe.call >= post->call || !has_found(to, &probe) || call_at(&probe)->is_found)
        return;
    const int64_t until_found_ns = call_at(&probe)->leave_ns - time_ns(send);
    if (until_found_ns > 0 && until_found_ns <= GRAPH_POLL_NS)
        depend_on(&probe, send, STATE_LATE_SENDER);
}

static bool has_probes(const graph *in)
{
    for (size_t i = 0; i < in->places.count; i++) {
        const meaning *its = in->meanings[in->places.list[i].function];
        if (its && (its->means & MEANS_PROBE) != 0)
            return true;
    }
    return false;
}

static void add_early_probes(graph *to, const trace_matches *matches)
{
    for (size_t i = 0; i < matches->message_count; i++) {
        const trace_message *message = &matches->messages[i];
        const place_in_graph send = find(to, message->send), post = find(to, message->post);
        if (send_of(message)->tag > TRACE_TAG_COMPLETE && message->send.at->rank != message->receive.at->rank)
            add_early_probe(to, &post, &send);
    }
}

/* A message, in the calls that begin and end it. */
typedef struct {
    place_in_graph send, sent, receive, post, ready, arrived;
    const trace_event *event; /* its SEND */
} message_calls;

static message_calls calls_of(const graph *in, const trace_message *message)
{
    return (message_calls){.send = find(in, message->send),
                           .sent = find(in, message->sent),
                           .receive = find(in, message->receive),
                           .post = find(in, message->post),
                           .ready = find(in, message->ready),
                           .arrived = find(in, message->arrived),
                           .event = send_of(message)};
}

/* Whether it is known when its send was complete, and its receive was posted; of a send that does not use a buffer. */
static bool may_wait(const message_calls *of)
{
    return is_in_call(&of->send) && is_in_call(&of->sent) && is_in_call(&of->post) && of->event->mode != TRACE_BUFFERED;
}

/* A send that was complete before its receive was posted did not wait. */
static bool is_eager(const message_calls *of)
{
    if (!may_wait(of))
        return false;
    const trace_location *source = of->sent.lane->location, *destination = of->post.lane->location;
    const double bound_ns = trace_bound_ns(source->process, source->events[call_at(&of->sent)->leave].time_ns) +
                            trace_bound_ns(destination->process, destination->events[of->post.event].time_ns);
    return (double)(time_ns(&of->post) - call_at(&of->sent)->leave_ns) > (isfinite(bound_ns) ? bound_ns : 0);
}

/*
 * A send waited for its receive if it was under way when the receive was posted: but messages as short as one that did
 * not wait may have been under way by chance, so drop_short_sends decides.
 */
static void add_send(const message_calls *of, uint64_t eager_bytes)
{
    if (!may_wait(of))
        return;
    const graph_call *call = call_at(&of->sent);
    const int64_t ns = time_ns(&of->post);
    const bool is_synchronous = of->event->mode == TRACE_SYNCHRONOUS;
    if (is_synchronous || (ns >= call->enter_ns && ns <= call->leave_ns))
        add_dependency(&of->sent,
                       (graph_dependency){.lane = of->post.index,
                                          .call = of->post.call,
                                          .after_ns = ns - call_at(&of->post)->enter_ns,
                                          .state = STATE_LATE_RECEIVER,
                                          .is_short_send = !is_synchronous && of->event->value <= eager_bytes});
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

/* In parts, a receive is complete when the last part is ready; and so is what asked for it, if that was before. */
static void add_parts(const message_calls *of)
{
    depend_on(&of->receive, &of->ready, STATE_LATE_SENDER);
    if (!is_in_call(&of->arrived) || time_ns(&of->ready) > call_at(&of->arrived)->leave_ns)
        return;
    mark_matched(&of->arrived);
    depend_on(&of->arrived, &of->ready, STATE_LATE_SENDER);
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
    if (is_in_call(&of.ready))
        add_parts(&of);
    else
        depend_on(&of.receive, &of.send, STATE_LATE_SENDER);
    add_probe(to, &of.post, &of.send);
    add_send(&of, eager_bytes);
}

static int64_t dependency_ns(const graph *in, const graph_dependency *on)
{
    return in->lanes[on->lane].calls[on->call].enter_ns + on->after_ns;
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
            const int64_t its_ns = dependency_ns(to, one);
            sent_ns = its_ns < sent_ns ? its_ns : sent_ns;
            if (first_sent_ns < call->enter_ns)
                one->state = STATE_WRONG_ORDER;
        }
        first_sent_ns = sent_ns;
    }
}

/*
 * A short send waited if its call took long, and neither the messages that the call received nor long sends explain the
 * length.
 */
static void drop_short_sends(const graph *in, graph_lane *lane)
{
    for (size_t i = 0; i < lane->count; i++) {
        int64_t explained_ns = lane->calls[i].enter_ns;
        for (size_t k = lane->calls[i].dependency; k != GRAPH_NONE; k = lane->dependencies[k].next) {
            const graph_dependency *one = &lane->dependencies[k];
            if (!one->is_short_send && dependency_ns(in, one) > explained_ns)
                explained_ns = dependency_ns(in, one);
        }
        for (uint32_t *k = &lane->calls[i].dependency; *k != GRAPH_NONE;) {
            graph_dependency *one = &lane->dependencies[*k];
            if (one->is_short_send && dependency_ns(in, one) - explained_ns <= LONG_SEND_NS)
                *k = one->next;
            else
                k = &one->next;
        }
    }
}

static void add_messages(graph *to, const trace_matches *matches)
{
    uint64_t eager_bytes = LEAST_EAGER_BYTES;
    for (size_t i = 0; i < matches->message_count; i++) {
        if (send_of(&matches->messages[i])->value <= eager_bytes)
            continue;
        const message_calls calls = calls_of(to, &matches->messages[i]);
        if (is_eager(&calls))
            eager_bytes = calls.event->value;
    }
    for (size_t i = 0; i < matches->message_count; i++)
        add_message(to, &matches->messages[i], eager_bytes);
    if (has_probes(to))
        add_early_probes(to, matches);
    for (size_t lane = 0; lane < to->lane_count; lane++) {
        mark_wrong_order(to, &to->lanes[lane]);
        drop_short_sends(to, &to->lanes[lane]);
    }
}

/* ---- Operations of several processes */

/* A process in an operation: the calls that begin and end it. */
typedef struct {
    place_in_graph enter, leave;
    bool gives, gets;
    const trace_communicator *on; /* with its own neighbors; NULL: on none */
} party;

typedef struct {
    int count;
    party *list;
} parties;

/*
 * For whom processes wait: all that get something for all that give something; or each for the last one that entered
 * before it left, because the algorithm of the MPI library decides for whom; or for those of its neighbors that entered
 * before it left; or as in the first case, if all had entered before the first one left.
 */
typedef enum { FOR_NONE, FOR_GIVERS, FOR_LAST, FOR_NEIGHBORS, FOR_GIVERS_IF_MET } whom;

static const struct {
    whom whom;
    wait_state state;
    bool has_inner; /* those that wait for nobody by the rule wait inside the algorithm, for the last one */
} rules[] = {[WAIT_UNKNOWN] = {.whom = FOR_NONE},
             [WAIT_MAYBE] = {FOR_LAST, STATE_N_BY_N, false},
             [WAIT_NEIGHBORS] = {FOR_NEIGHBORS, STATE_NEIGHBOR, false},
             [WAIT_FENCE] = {FOR_GIVERS_IF_MET, STATE_FENCE, false},
             [WAIT_MEET] = {FOR_GIVERS, STATE_BARRIER, false},
             [WAIT_ALL] = {FOR_GIVERS, STATE_N_BY_N, false},
             [WAIT_FROM_ROOT] = {FOR_GIVERS, STATE_LATE_BROADCAST, true},
             [WAIT_TO_ROOT] = {FOR_GIVERS, STATE_EARLY_REDUCE, true}};

static void add_member(graph *to, const place_in_graph *at, size_t gathering)
{
    to->members = graph_room(to->members, to->member_count, sizeof *to->members);
    to->members[to->member_count] = (graph_member){(uint32_t)gathering, call_at(at)->member};
    call_at(at)->member = (uint32_t)to->member_count++;
}

static graph_arrival arrival_of(const graph *in, int64_t enter_ns, const party *of)
{
    if (enter_ns == LOGICAL_NONE_NS)
        return (graph_arrival){.lane = GRAPH_NONE};
    const place_in_graph *at = &of->enter;
    return (graph_arrival){enter_ns, graph_bound_ns(in, at->index, at->call), at->index, at->call};
}

static void gather(graph *to, const parties *all, wait_state state)
{
    const size_t gathering = to->gathering_count++, first = to->member_count;
    logical_latest last; /* of those that give, by lane */
    logical_latest_begin(&last);
    to->gatherings = graph_room(to->gatherings, gathering, sizeof *to->gatherings);
    for (int i = 0; i < all->count; i++) {
        const place_in_graph *at = &all->list[i].enter;
        if (!is_in_call(at) || !all->list[i].gives)
            continue;
        logical_latest_add(&last, call_at(at)->enter_ns, (logical_member){(size_t)i, (int)at->index});
        add_member(to, at, gathering);
    }
    to->gatherings[gathering] = (graph_gathering){.count = (uint32_t)(to->member_count - first),
                                                  .last = arrival_of(to, last.best_ns, &all->list[last.best]),
                                                  .second = arrival_of(to, last.second_ns, &all->list[last.second])};
    for (int i = 0; i < all->count; i++)
        if (is_in_call(&all->list[i].leave) && all->list[i].gets)
            add_dependency(&all->list[i].leave,
                           (graph_dependency){.lane = GRAPH_NONE, .call = (uint32_t)gathering, .state = state});
}

/* The parties of an operation, in the order in which they entered. */
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

static int sort_entries(const parties *all, entry *entries)
{
    int sorted = 0;
    for (int i = 0; i < all->count; i++)
        if (is_in_call(&all->list[i].enter))
            entries[sorted++] = (entry){call_at(&all->list[i].enter)->enter_ns, i};
    if (sorted > 1)
        qsort(entries, (size_t)sorted, sizeof *entries, by_enter);
    return sorted;
}

/* Of the others, the one that entered last before a time, or -1. */
static int last_until(const entry *entries, int count, int own, int64_t ns)
{
    int low = 0, high = count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (entries[middle].enter_ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && entries[low - 1].which == own)
        low--;
    return low > 0 ? entries[low - 1].which : -1;
}

/* All of these depend on the last of the others that entered before they left. inner: only those that get nothing of
 * those that give, and for those that give. */
static void depend_on_last(const parties *all, wait_state state, bool is_inner)
{
    entry *entries = array_or_exit((size_t)all->count, sizeof *entries);
    const int count = sort_entries(all, entries);
    for (int i = 0; i < all->count; i++) {
        const place_in_graph *at = &all->list[i].leave;
        const int last = is_in_call(at) ? last_until(entries, count, i, call_at(at)->leave_ns) : -1;
        if (last >= 0 && !(is_inner && all->list[i].gets && all->list[last].gives))
            depend_on(at, &all->list[last].enter, state);
    }
    free(entries);
}

/* Where the trace has no topology, nothing is known. */
static void depend_on_neighbors(const parties *all)
{
    for (int i = 0; i < all->count; i++) {
        const party *at = &all->list[i];
        if (!at->on->neighbors)
            continue;
        mark_matched(&at->enter);
        mark_matched(&at->leave);
        for (int k = 0; k < at->on->neighbor_count; k++) {
            const int neighbor = at->on->neighbors[k];
            const place_in_graph *late = neighbor >= 0 && neighbor != i ? &all->list[neighbor].enter : NULL;
            if (late && is_in_call(late) && is_in_call(&at->leave) &&
                call_at(late)->enter_ns <= call_at(&at->leave)->leave_ns)
                depend_on(&at->leave, late, STATE_NEIGHBOR);
        }
    }
}

/* Whether all have entered before the first one leaves. */
static bool is_meeting(const parties *all)
{
    int64_t last_enter_ns = INT64_MIN, first_leave_ns = INT64_MAX;
    for (int i = 0; i < all->count; i++) {
        if (!is_in_call(&all->list[i].enter) || !is_in_call(&all->list[i].leave))
            return false;
        last_enter_ns = greater(last_enter_ns, call_at(&all->list[i].enter)->enter_ns);
        first_leave_ns = lesser(first_leave_ns, call_at(&all->list[i].leave)->leave_ns);
    }
    return last_enter_ns <= first_leave_ns;
}

/* Between the groups of an intercommunicator, data goes from or to a root in one direction. */
static bool has_giver(const parties *all)
{
    int i = 0;
    while (i < all->count && !all->list[i].gives)
        i++;
    return i < all->count;
}

static void add_operation(graph *to, const parties *all, operation_wait kind)
{
    const whom whom = rules[kind].whom;
    if (whom == FOR_NEIGHBORS) {
        depend_on_neighbors(all);
        return;
    }
    if (whom == FOR_GIVERS || (whom == FOR_GIVERS_IF_MET && is_meeting(all)))
        gather(to, all, rules[kind].state);
    else
        depend_on_last(all, rules[kind].state, false);
    if (rules[kind].has_inner && has_giver(all))
        depend_on_last(all, STATE_INNER, true);
}

/* Neighbors are marked where they are known. */
static void mark_all(const parties *all, operation_wait kind)
{
    for (int i = 0; rules[kind].whom != FOR_NEIGHBORS && i < all->count; i++) {
        mark_matched(&all->list[i].enter);
        mark_matched(&all->list[i].leave);
    }
}

/* group: see operations.h. */
static void list_parties(const graph *in, const trace_call *call, operation_wait kind, int group, parties *all)
{
    all->count = call->count;
    for (int i = 0; i < call->count; i++) {
        const trace_part *part = &call->parts[i];
        const trace_process *process = part->enter.at->process;
        all->list[i] = (party){find(in, part->enter), find(in, part->leave), operation_gives(kind, call, i, group),
                               operation_gets(kind, call, i, group),
                               &process->communicators[part->enter.at->events[part->record].id]};
    }
}

static void add_operations(graph *to, const trace_matches *matches)
{
    for (size_t i = 0; i < matches->call_count; i++) {
        const trace_call *call = &matches->calls[i];
        const meaning *its = to->meanings[call->function];
        const operation_wait kind = its ? its->wait : WAIT_UNKNOWN;
        if (rules[kind].whom == FOR_NONE)
            continue;
        parties all = {call->count, array_or_exit((size_t)call->count, sizeof *all.list)};
        const int groups = rules[kind].whom == FOR_GIVERS ? operation_groups(call) : 1;
        /* Between groups, the bytes of MPI_Reduce_scatter are not known. */
        bool is_known = call->first_group == 0 || rules[kind].whom != FOR_GIVERS;
        for (int group = 0; group < groups; group++) {
            list_parties(to, call, kind, group, &all);
            add_operation(to, &all, kind);
            is_known = is_known || has_giver(&all);
        }
        if (is_known)
            mark_all(&all, kind);
        free(all.list);
    }
}

/* ---- The edges of the run */

/* Processes wait in MPI_Init, or in MPI_Finalize. */
static void add_edge(graph *to, bool is_end)
{
    const wait_state state = is_end ? STATE_FINALIZE : STATE_INIT;
    parties all = {0, array_or_exit(to->lane_count, sizeof *all.list)};
    for (size_t i = 0; i < to->lane_count; i++) {
        graph_lane *lane = &to->lanes[i];
        const size_t call = is_end ? lane->count - 1 : 0;
        if (!(is_end ? lane->has_finalize : lane->has_init))
            continue;
        const place_in_graph at = {lane, (uint32_t)i, (uint32_t)call, lane->calls[call].enter};
        all.list[all.count++] = (party){at, at, true, true, NULL};
    }
    if (is_meeting(&all))
        gather(to, &all, state);
    else
        depend_on_last(&all, state, false);
    free(all.list);
}

/* ---- What the recorder does between calls: all processes look after the clocks as often, in the same order */

typedef struct {
    int rank;
    size_t number; /* of those of the rank */
    int64_t enter_ns;
    place_in_graph at;
} look;

static int by_rank_and_time(const void *left, const void *right)
{
    const look *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->enter_ns > b->enter_ns) - (a->enter_ns < b->enter_ns);
}

static int by_number(const void *left, const void *right)
{
    const look *a = left, *b = right;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static size_t looks_before(const graph *in, int rank)
{
    const trace_process *process = &in->of->processes[rank];
    size_t count = 0;
    for (size_t i = 0; i < process->location_count; i++)
        count += process->locations[i].looks_before;
    return count;
}

/* By number and rank. */
static look *list_looks(graph *to, size_t *count)
{
    look *list = NULL;
    *count = 0;
    for (size_t i = 0; i < to->lane_count; i++)
        for (size_t k = 0; k < to->lanes[i].count; k++) {
            const graph_call *call = &to->lanes[i].calls[k];
            if (to->kinds[to->places.list[call->place].function] != NAME_CLOCK)
                continue;
            list = grow_or_exit(list, *count, sizeof *list);
            list[(*count)++] = (look){to->lanes[i].location->rank, 0, call->enter_ns,
                                      (place_in_graph){&to->lanes[i], (uint32_t)i, (uint32_t)k, call->enter}};
        }
    if (*count > 1)
        qsort(list, *count, sizeof *list, by_rank_and_time);
    for (size_t i = 0; i < *count; i++) {
        const bool is_next = i > 0 && list[i - 1].rank == list[i].rank;
        list[i].number = is_next ? list[i - 1].number + 1 : looks_before(to, list[i].rank);
    }
    if (*count > 1)
        qsort(list, *count, sizeof *list, by_number);
    return list;
}

/* Those of all processes that they were in at one time: it is a sign that none was lost before. */
static void add_looks(graph *to)
{
    const size_t ranks = (size_t)to->of->size;
    size_t count;
    look *list = list_looks(to, &count);
    parties all = {(int)ranks, array_or_exit(ranks, sizeof *all.list)};
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first; end < count && list[end].number == list[first].number && end - first < ranks; end++)
            all.list[end - first] = (party){list[end].at, list[end].at, true, true, NULL};
        const bool is_init = list[first].at.call == 1 && graph_has_init_clock(to, list[first].at.lane);
        if (end - first == ranks && is_meeting(&all))
            gather(to, &all, is_init ? STATE_INIT : STATE_CLOCK);
    }
    free(all.list);
    free(list);
}

void dependencies_add(graph *to, const trace_matches *matches)
{
    add_messages(to, matches);
    add_operations(to, matches);
    locks_add(to);
    progress_add(to);
    overlaps_add(to, matches);
    add_looks(to);
    add_edge(to, false);
    add_edge(to, true);
}
