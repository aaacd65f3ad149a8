/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * overlaps.c - processes that begin a message, or an operation that does not wait, and compute before they complete it.
 *
 * Some MPI libraries and networks go on with it meanwhile; with others, or if it is large, nothing happens before the
 * process calls MPI again, and the one at its other end waits. The trace shows it by times: a call that lasts long
 * after all that it depends on has begun, while the other process computes, waited until that one called MPI, if it
 * ended soon after that. Of a message, soon is within a tenth of this time, or after no less than the shortest call
 * that completed no fewer bytes; but not if a message of no fewer bytes, of processes on the same host or not, as this
 * one, was complete while the other process computed all the time: except for MPI_Send itself, which may have found no
 * buffer. If it did not end soon, it may have waited, or may have moved data. Of operations, overlaps_operations.c says
 * the same.
 */
#include "trace/waits/accesses.h"

#include "common/cli/memory.h"
#include "pure/order_statistics.h"
#include "trace/waits/overlaps.h"

#include <math.h>
#include <stdlib.h>

/* What is no more than this part of something is little of it. */
enum { MUCH = 10 };

typedef enum { RECEIVES, COMPLETES_SEND, SENDS } end_kind;

/* A call that may wait for the process at the other end of a message. */
typedef struct {
    end_kind kind;
    bool is_same_host;
    uint64_t bytes;
    uint32_t lane, call;
    const graph_lane *other;
    size_t first, last; /* that process may be needed in calls after the first one of these, up to the last one */
    int64_t begun_ns;   /* since then it would have done without, if it did nothing in MPI */
} overlap_end;

/* It computes, and then calls MPI. */
typedef struct candidate {
    overlap_end end;
    size_t next;
    int64_t since_ns;
    /* Of all ends with no fewer bytes: */
    bool is_alone; /* one was complete while the other process computed */
    int64_t shortest_ns;
} candidate;

int64_t overlap_known_until_ns(overlaps *in, uint32_t lane, uint32_t call)
{
    if (!in->known_ns[lane])
        in->known_ns[lane] = zeros_or_exit(in->to->lanes[lane].count, sizeof **in->known_ns);
    int64_t *known_ns = &in->known_ns[lane][call];
    if (*known_ns == 0)
        *known_ns = busy_known_until_ns(in->to, lane, call);
    return *known_ns;
}

void overlap_wait_for(overlaps *in, uint32_t lane, uint32_t call, const graph_lane *late, size_t next, int64_t since_ns,
                      bool is_shown)
{
    graph_lane *own = &in->to->lanes[lane];
    const graph_dependency on = {
        .lane = (uint32_t)late->location->index, .call = (uint32_t)next, .state = STATE_PROGRESS};
    const uint32_t first = own->calls[call].dependency;
    const graph_dependency *before = first != GRAPH_NONE ? &own->dependencies[first] : NULL;
    const int64_t called_ns = late->calls[next].enter_ns, after_ns = own->calls[call].leave_ns - called_ns;
    if (before && before->state == on.state && before->lane == on.lane && before->call == on.call)
        return; /* as for another operation that the call completes */
    if (is_shown && !graph_is_off(in->to, &late->calls[next]))
        graph_depend(own, call, on);
    else if (called_ns - since_ns >= after_ns / MUCH)
        own->calls[call].is_unclear = true;
}

/* The first call that ends after a time and may make progress, after what the process computed for long; the count, if
   it did not. */
static size_t call_after_work(const graph *in, const graph_lane *lane, int64_t ns)
{
    size_t next = busy_call_after(in, lane, ns);
    while (next < lane->count &&
           (graph_is_recorder(in, &lane->calls[next]) || graph_means(in, &lane->calls[next], MEANS_LOCAL)))
        next++;
    const bool is_known = next < lane->count && !busy_may_lack_call(in, lane, next);
    return is_known && busy_has_computed(in, lane, next) ? next : lane->count;
}

/* ---- Messages */

static const trace_event *send_of(const trace_message *message)
{
    return &message->send.at->events[message->send.event];
}

/* A call that completes a receive, of a message whose send may not have been complete when it returned. */
static bool find_receive(const overlaps *in, const trace_message *of, bool is_any, overlap_end *found)
{
    const bool has_end = of->sent.at && send_of(of)->mode != TRACE_BUFFERED;
    if (has_end && of->sent.at == of->send.at && of->sent.event == of->send.event)
        return false;
    const uint32_t receive = call_of(in->to, &of->receive), lane = (uint32_t)of->receive.at->index;
    if (receive == GRAPH_NONE || (!is_any && !is_long(call_at(in->to, lane, receive))))
        return false;
    const uint32_t send = call_of(in->to, &of->send);
    const uint32_t sent = has_end ? call_of(in->to, &of->sent) : GRAPH_NONE;
    const graph_lane *other = busy_lane(&in->facts, of->send.at->rank);
    if (send == GRAPH_NONE || (has_end && sent == GRAPH_NONE) || !other)
        return false;
    *found = (overlap_end){.kind = RECEIVES,
                           .lane = lane,
                           .call = receive,
                           .other = other,
                           .first = send,
                           .last = has_end ? sent : other->count - 1,
                           .begun_ns = other->calls[send].leave_ns};
    return true;
}

/* A call that completes a send. One that sends itself, and receives, is left out: it hardly waits for both. */
static bool find_send(const overlaps *in, const trace_message *of, bool is_any, overlap_end *found)
{
    const uint32_t sent = send_of(of)->mode != TRACE_BUFFERED ? call_of(in->to, &of->sent) : GRAPH_NONE;
    if (sent == GRAPH_NONE)
        return false;
    const uint32_t lane = (uint32_t)of->sent.at->index;
    const graph_call *call = call_at(in->to, lane, sent);
    if (!is_any && !is_long(call))
        return false;
    const uint32_t send = call_of(in->to, &of->send), post = call_of(in->to, &of->post);
    const uint32_t receive = call_of(in->to, &of->receive);
    const graph_lane *other = busy_lane(&in->facts, of->receive.at->rank);
    const bool sends = of->send.at == of->sent.at && send == sent;
    if (send == GRAPH_NONE || post == GRAPH_NONE || receive == GRAPH_NONE || !other || (sends && call->has_partners))
        return false;
    const int64_t posted_ns = other->calls[post].leave_ns,
                  began_ns = call_at(in->to, (uint32_t)of->send.at->index, send)->enter_ns;
    const bool is_posted = posted_ns < call->leave_ns;
    *found = (overlap_end){.kind = sends ? SENDS : COMPLETES_SEND,
                           .lane = lane,
                           .call = sent,
                           .other = other,
                           .first = is_posted ? post : 0,
                           .last = receive,
                           .begun_ns = is_posted ? greater(posted_ns, began_ns)
                                       : sends   ? INT64_MAX
                                                 : began_ns};
    return true;
}

/* Both ends, of calls that are long, or of any; returns how many there are. */
static int find_ends(const overlaps *in, const trace_message *of, bool is_any, overlap_end ends[2])
{
    const int source = of->send.at->rank, destination = of->receive.at->rank;
    int count = 0;
    if (source == destination || trace_is_signal(send_of(of)) || send_of(of)->mode == TRACE_PARTITIONED)
        return 0;
    count += find_receive(in, of, is_any, &ends[count]);
    count += find_send(in, of, is_any, &ends[count]);
    for (int i = 0; i < count; i++) {
        ends[i].bytes = send_of(of)->value;
        ends[i].is_same_host = busy_share_host(&in->facts, source, destination);
    }
    return count;
}

static void add_candidate(overlaps *to, const overlap_end *end)
{
    const int64_t leave_ns = call_at(to->to, end->lane, end->call)->leave_ns;
    const int64_t since_ns = overlap_known_until_ns(to, end->lane, end->call);
    const size_t next = call_after_work(to->to, end->other, since_ns + BUSY_LONG_NS);
    if (next <= end->first || next > end->last || next == end->other->count ||
        end->other->calls[next].enter_ns <= since_ns || end->other->calls[next].enter_ns > leave_ns)
        return;
    to->list = grow_or_exit(to->list, to->count, sizeof *to->list);
    to->list[to->count++] = (candidate){.end = *end, .next = next, .since_ns = since_ns, .shortest_ns = INT64_MAX};
}

/* ---- What one message tells of others */

static int compare_ends(const overlap_end *a, const overlap_end *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->is_same_host != b->is_same_host)
        return a->is_same_host ? 1 : -1;
    return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

static int by_bytes(const void *left, const void *right)
{
    const candidate *a = left, *b = right;
    const int ends = compare_ends(&a->end, &b->end);
    if (ends != 0)
        return ends;
    if (a->end.lane != b->end.lane)
        return a->end.lane < b->end.lane ? -1 : 1;
    if (a->end.call != b->end.call)
        return a->end.call < b->end.call ? -1 : 1;
    return (a->end.other > b->end.other) - (a->end.other < b->end.other);
}

/* The candidate with the most bytes of those that an end tells something of; NULL: there is none. */
static candidate *told_by(const overlaps *in, const overlap_end *end)
{
    size_t low = 0, high = in->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_ends(&in->list[middle].end, end) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    candidate *found = low > 0 ? &in->list[low - 1] : NULL;
    return found && found->end.kind == end->kind && found->end.is_same_host == end->is_same_host ? found : NULL;
}

/* Whether the other process computed from when it had begun its end until the call ended. */
static bool was_alone(const overlaps *in, const overlap_end *end)
{
    const graph *of = in->to;
    const int64_t leave_ns = call_at(of, end->lane, end->call)->leave_ns;
    const size_t next = end->begun_ns < leave_ns ? busy_call_after(of, end->other, end->begun_ns) : 0;
    if (next <= end->first || next > end->last || busy_may_lack_call(of, end->other, next))
        return false;
    const double bound_ns =
        graph_bound_ns(of, end->lane, end->call) + graph_bound_ns(of, end->other->location->index, next);
    const size_t last = busy_call_before(of, end->other, next);
    const bool has_left = last == end->first || busy_has_left(end->other, last, end->begun_ns, bound_ns);
    return isfinite(bound_ns) && has_left && (double)(end->other->calls[next].enter_ns - leave_ns) > bound_ns;
}

static void tell(overlaps *in, const overlap_end *end)
{
    candidate *of = told_by(in, end);
    if (!of)
        return;
    const int64_t ns =
        call_at(in->to, end->lane, end->call)->leave_ns - overlap_known_until_ns(in, end->lane, end->call);
    of->shortest_ns = lesser(of->shortest_ns, ns);
    of->is_alone = of->is_alone || was_alone(in, end);
}

/* What is told of many bytes holds for fewer. */
static void spread(overlaps *in)
{
    for (size_t i = in->count; i > 1; i--) {
        const candidate *more = &in->list[i - 1];
        candidate *less = &in->list[i - 2];
        if (less->end.kind != more->end.kind || less->end.is_same_host != more->end.is_same_host)
            continue;
        less->is_alone = less->is_alone || more->is_alone;
        less->shortest_ns = lesser(less->shortest_ns, more->shortest_ns);
    }
}

/* ---- What calls wait for */

static void decide(overlaps *in, const candidate *of)
{
    const overlap_end *end = &of->end;
    const int64_t called_ns = end->other->calls[of->next].enter_ns;
    const int64_t after_ns = call_at(in->to, end->lane, end->call)->leave_ns - called_ns;
    const bool is_soon = after_ns <= (called_ns - of->since_ns) / MUCH;
    if (!of->is_alone || (end->kind == SENDS && is_soon))
        overlap_wait_for(in, end->lane, end->call, end->other, of->next, of->since_ns,
                         is_soon || after_ns >= of->shortest_ns);
}

static void add_messages(overlaps *to, const trace_matches *matches)
{
    overlap_end ends[2];
    for (size_t i = 0; i < matches->message_count; i++)
        for (int k = find_ends(to, &matches->messages[i], false, ends); k > 0; k--)
            add_candidate(to, &ends[k - 1]);
    if (to->count == 0)
        return;
    qsort(to->list, to->count, sizeof *to->list, by_bytes);
    for (size_t i = 0; i < matches->message_count; i++)
        for (int k = find_ends(to, &matches->messages[i], true, ends); k > 0; k--)
            tell(to, &ends[k - 1]);
    spread(to);
    for (size_t i = 0; i < to->count; i++)
        decide(to, &to->list[i]);
}

void overlaps_add(graph *to, const trace_matches *matches)
{
    overlaps in = {.to = to, .facts = busy_learn(to)};
    in.known_ns = zeros_or_exit(to->lane_count, sizeof *in.known_ns);
    add_messages(&in, matches);
    overlap_add_operations(&in, matches);
    for (size_t lane = 0; lane < to->lane_count; lane++)
        free(in.known_ns[lane]);
    free(in.known_ns);
    free(in.list);
    free(in.facts.ranks);
}
