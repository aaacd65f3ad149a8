/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * messages.c - which send and which receive are one message. Between two processes, messages of one communicator and
 * tag are received in the order in which they were sent, where receives count by when they were posted: a call that
 * waits sends, or posts its own, when it is entered. Partitioned messages, of MPI_Psend_init, are matched apart from
 * others, and those of each request apart from those of other requests.
 *
 * Of calls of several threads at the same time, nobody knows which one was first. Their messages are matched so that
 * the first one that was sent is the first one that is complete: if one is too early then, it is so in any order.
 */
#include "common/cli/memory.h"
#include "trace/read/matching.h"

#include <string.h>

static int compare_streams(const message_end *x, const message_end *y)
{
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->destination != y->destination)
        return x->destination < y->destination ? -1 : 1;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    if (x->tag != y->tag)
        return x->tag < y->tag ? -1 : 1;
    return (x->parts > y->parts) - (x->parts < y->parts);
}

static int compare_ends(const void *a, const void *b)
{
    const message_end *x = a, *y = b;
    const int streams = compare_streams(x, y);
    if (streams != 0)
        return streams;
    const int64_t x_ns = trace_time_ns(&x->begun), y_ns = trace_time_ns(&y->begun);
    if (x_ns != y_ns)
        return x_ns < y_ns ? -1 : 1;
    if (x->begun.at != y->begun.at)
        return x->begun.at->thread < y->begun.at->thread ? -1 : 1;
    if (x->begun.event == y->begun.event)
        return (y->skipped > 0) - (x->skipped > 0); /* these came before */
    return (x->begun.event > y->begun.event) - (x->begun.event < y->begun.event);
}

/* ---- Ends */

/* The PARTS of a send or a receive in parts; NULL if there is none. */
static const trace_event *parts_of(trace_point begun)
{
    const trace_event *next = &begun.at->events[begun.event + 1];
    return begun.event + 1 < begun.at->count && next->kind == TRACE_PARTS ? next : NULL;
}

static void add_end(end_list *list, trace_point of, trace_point begun, trace_point done, trace_point last_part)
{
    const trace_event *event = &of.at->events[of.event];
    const trace_process *process = of.at->process;
    const int partner = trace_partner(process, event);
    const bool is_skipped_send = event->kind == TRACE_SKIPPED && event->mode == TRACE_WAY_SENT;
    const bool is_send = event->kind == TRACE_SEND || is_skipped_send,
               is_in_parts = begun.at->events[begun.event].mode == TRACE_PARTITIONED;
    const trace_event *parts = is_in_parts ? parts_of(begun) : NULL;
    if (is_in_parts && !parts)
        list->lost += is_send || done.at;
    if (partner < 0 || (is_in_parts && !parts))
        return;
    list->ends = grow_or_exit(list->ends, list->count, sizeof *list->ends);
    list->ends[list->count++] = (message_end){.source = is_send ? of.at->rank : partner,
                                              .destination = is_send ? partner : of.at->rank,
                                              .context = process->communicators[event->id].context,
                                              .tag = event->tag,
                                              .parts = parts ? parts->value : 0,
                                              .begun = begun,
                                              .done = done,
                                              .last_part = last_part};
}

/* Ends that were not recorded, before one that was. */
static void add_skipped(end_list *list, const call_requests *requests, trace_point of, trace_point enter)
{
    const trace_event *event = &of.at->events[of.event];
    const trace_event receive = {.request = event->request, .kind = TRACE_RECEIVE, .time_ns = event->time_ns};
    const call_request *its = request_of(requests, &receive);
    const size_t count = list->count;
    add_end(list, of, its ? its->begun : enter, (trace_point){NULL, 0}, (trace_point){NULL, 0});
    if (list->count > count)
        list->ends[count].skipped = event->value < UINT32_MAX ? (uint32_t)event->value : UINT32_MAX;
}

/* A receive that was posted for one sender and one tag keeps its place, though it is not known to have come. */
static void add_event(end_list *sends, end_list *receives, const call_requests *requests, trace_point of)
{
    const trace_event *event = &of.at->events[of.event];
    const call_request *its = request_of(requests, event);
    const size_t call = of.at->calls[of.event];
    const trace_point none = {NULL, 0}, enter = {of.at, call != CALL_NONE ? call : of.event};
    if (event->kind == TRACE_SEND && !(its && its->is_canceled))
        add_end(sends, of, event->request != 0 ? of : enter,
                its                   ? its->done
                : event->request != 0 ? none
                                      : of,
                its ? its->last_part : none);
    else if (event->kind == TRACE_RECEIVE_POST && its && !its->done.at && event->tag >= 0)
        add_end(receives, of, of, none, none);
    else if (event->kind == TRACE_RECEIVE)
        add_end(receives, of, its ? its->begun : enter, of, its ? its->last_part : none);
    else if (event->kind == TRACE_SKIPPED)
        add_skipped(event->mode == TRACE_WAY_SENT ? sends : receives, requests, of, enter);
}

/* The end of the stream that begins at `first`. */
static size_t stream_end(const end_list *list, size_t first, size_t limit)
{
    size_t end = first + 1;
    while (end < limit && compare_streams(&list->ends[first], &list->ends[end]) == 0)
        end++;
    return end;
}

/* Those that stand for others, which were not recorded, count and go. */
static void number_last(end_list *list)
{
    size_t kept = list->last;
    if (list->count > list->last)
        qsort(list->ends + list->last, list->count - list->last, sizeof(message_end), compare_ends);
    for (size_t first = list->last, end; first < list->count; first = end) {
        end = stream_end(list, first, list->count);
        uint64_t number = 0;
        for (size_t i = first; i < end; i++) {
            message_end its = list->ends[i];
            its.number = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
            number += its.skipped > 0 ? its.skipped : 1;
            if (its.skipped == 0)
                list->ends[kept++] = its;
        }
    }
    list->count = kept;
}

void matching_add_messages(matching *to, const trace_process *process, const call_requests *requests)
{
    to->sends.last = to->sends.count;
    to->receives.last = to->receives.count;
    for (size_t i = 0; i < process->location_count; i++)
        for (size_t k = 0; k < process->locations[i].count; k++)
            add_event(&to->sends, &to->receives, requests, (trace_point){&process->locations[i], k});
    number_last(&to->sends);
    number_last(&to->receives);
}

/* ---- Pairs */

/* How far the calls of one side of a stream reach, so far. */
typedef struct {
    const trace_location *at;       /* the thread whose calls reach farthest, */
    int64_t left_ns, other_left_ns; /* when it has left them, and when all others have */
} reach;

static int64_t left_ns_of(const trace_location *at, uint32_t enter)
{
    const uint32_t leave = at->events[enter].kind == TRACE_ENTER ? at->calls[enter] : enter;
    return leave == CALL_NONE ? INT64_MAX : at->events[leave].time_ns;
}

/* Whether the call of this end began before another thread had left one of those before it. Adds it to these. */
static bool is_at_once(reach *before, const message_end *end)
{
    const trace_location *at = end->begun.at;
    const uint32_t call = at->calls[end->begun.event];
    const bool is_enter = at->events[end->begun.event].kind == TRACE_ENTER;
    const uint32_t enter = is_enter || call == CALL_NONE ? (uint32_t)end->begun.event : call;
    const int64_t left_ns = left_ns_of(at, enter);
    const bool is_before = at->events[enter].time_ns < (at == before->at ? before->other_left_ns : before->left_ns);
    if (left_ns > before->left_ns && at != before->at)
        *before = (reach){at, left_ns, before->left_ns};
    else if (at == before->at)
        before->left_ns = left_ns > before->left_ns ? left_ns : before->left_ns;
    else
        before->other_left_ns = left_ns > before->other_left_ns ? left_ns : before->other_left_ns;
    return is_before;
}

static int by_completion(const void *a, const void *b)
{
    const trace_message *x = a, *y = b;
    const int64_t x_ns = trace_time_ns(&x->receive), y_ns = trace_time_ns(&y->receive);
    if (x_ns != y_ns)
        return x_ns < y_ns ? -1 : 1;
    if (x->receive.at != y->receive.at)
        return x->receive.at->thread < y->receive.at->thread ? -1 : 1;
    return (x->receive.event > y->receive.event) - (x->receive.event < y->receive.event);
}

/* Gives these messages, by their sends, the receives in the order in which they were complete. */
static void order_receives(trace_message *messages, size_t count)
{
    trace_message *ordered = array_or_exit(count, sizeof *ordered);
    memcpy(ordered, messages, count * sizeof *ordered);
    qsort(ordered, count, sizeof *ordered, by_completion);
    for (size_t i = 0; i < count; i++) {
        messages[i].receive = ordered[i].receive;
        messages[i].post = ordered[i].post;
    }
    free(ordered);
}

/* Of the messages from this one on, which were at once, nobody knows the order. */
static void end_series(trace_matches *matches, size_t first)
{
    const size_t count = matches->message_count - first;
    if (count < 2)
        return;
    order_receives(&matches->messages[first], count);
    matches->messages_at_once += count;
}

/* Both ends of a stream, or what is left of them: those with the same place are one message. */
static void pair_stream(const message_end *sends, size_t send_count, const message_end *receives, size_t receive_count,
                        trace_matches *matches)
{
    reach sent = {NULL, INT64_MIN, INT64_MIN}, received = sent;
    size_t first = matches->message_count;
    for (size_t s = 0, r = 0; s < send_count && r < receive_count;) {
        const message_end *send = &sends[s], *receive = &receives[r];
        s += send->number <= receive->number;
        r += send->number >= receive->number;
        if (send->number != receive->number)
            continue;
        const bool are_sent_at_once = is_at_once(&sent, send), are_received_at_once = is_at_once(&received, receive);
        if (!are_sent_at_once && !are_received_at_once) {
            end_series(matches, first);
            first = matches->message_count;
        }
        if (receive->done.at)
            matches->messages[matches->message_count++] = (trace_message){.send = message_send(send),
                                                                          .sent = send->done,
                                                                          .ready = send->last_part,
                                                                          .arrived = receive->last_part,
                                                                          .receive = receive->done,
                                                                          .post = receive->begun};
    }
    end_series(matches, first);
}

/* Sends are in the order of streams, and so are the receives of each rank. */
void matching_join_messages(matching *taken, const trace *of, trace_matches *matches)
{
    end_list *sends = &taken->sends, *receives = &taken->receives;
    /* Where the receives of each rank begin, and how far they are matched. */
    size_t *first = zeros_or_exit(2 * (size_t)of->size + 1, sizeof *first), *next = first + of->size + 1;
    for (size_t i = 0; i < receives->count; i++)
        first[receives->ends[i].destination + 1]++;
    for (int rank = 0; rank < of->size; rank++) {
        next[rank] = first[rank];
        first[rank + 1] += first[rank];
    }
    matches->messages = array_or_exit(sends->count, sizeof(trace_message));
    for (size_t s = 0, next_s; s < sends->count; s = next_s) {
        const message_end *send = &sends->ends[s];
        const size_t end = first[send->destination + 1];
        size_t *r = &next[send->destination];
        next_s = stream_end(sends, s, sends->count);
        while (*r < end && compare_streams(&receives->ends[*r], send) < 0)
            ++*r;
        if (*r == end || compare_streams(&receives->ends[*r], send) > 0)
            continue;
        const size_t next_r = stream_end(receives, *r, end);
        pair_stream(send, next_s - s, &receives->ends[*r], next_r - *r, matches);
        *r = next_r;
    }
    matches->sends_alone = sends->count + sends->lost - matches->message_count;
    matches->receives_alone = receives->lost;
    for (size_t i = 0; i < receives->count; i++)
        matches->receives_alone += receives->ends[i].done.at != NULL;
    matches->receives_alone -= matches->message_count;
    free(sends->ends);
    free(receives->ends);
    free(first);
}
