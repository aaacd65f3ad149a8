/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * messages.c - which send and which receive are one message. Between two processes, messages of one communicator and
 * tag are received in the order in which they were sent, where receives count by when they were posted: a call that
 * waits sends, or posts its own, when it is entered. Partitioned messages, of MPI_Psend_init, are matched apart from
 * others, and those of each request apart from those of other requests.
 */
#include "common/cli/room.h"
#include "trace/read/bulk.h"
#include "trace/read/calls.h"

/* Where only a part was recorded, so many receives at the start of a stream may be of sends before that part. */
enum { MAX_SKIPPED = 1000 };

/* One end of a message: the event by which it is matched, and the one that completed it; at NULL: nobody saw that. */
typedef struct {
    int source, destination; /* ranks in MPI_COMM_WORLD */
    uint32_t context;
    int32_t tag;
    uint64_t parts; /* which request in parts, or 0 */
    trace_point begun, done;
} message_end;

typedef struct {
    size_t count, lost; /* lost: more ends, of messages in parts, and nobody knows of which request */
    message_end *ends;
} end_list;

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
    return (x->begun.event > y->begun.event) - (x->begun.event < y->begun.event);
}

/* ---- Ends */

/* The PARTS of a send or a receive in parts; NULL if there is none. */
static const trace_event *parts_of(trace_point begun)
{
    const trace_event *next = &begun.at->events[begun.event + 1];
    return begun.event + 1 < begun.at->count && next->kind == TRACE_PARTS ? next : NULL;
}

static void add_end(end_list *list, trace_point of, trace_point begun, trace_point done)
{
    const trace_event *event = &of.at->events[of.event];
    const trace_process *process = of.at->process;
    const int partner = trace_partner(process, event);
    const bool is_send = event->kind == TRACE_SEND,
               is_in_parts = begun.at->events[begun.event].mode == TRACE_PARTITIONED;
    const trace_event *parts = is_in_parts ? parts_of(begun) : NULL;
    if (is_in_parts && !parts)
        list->lost += is_send || done.at;
    else if (partner >= 0)
        list->ends[list->count++] = (message_end){.source = is_send ? of.at->rank : partner,
                                                  .destination = is_send ? partner : of.at->rank,
                                                  .context = process->communicators[event->id].context,
                                                  .tag = event->tag,
                                                  .parts = parts ? parts->value : 0,
                                                  .begun = begun,
                                                  .done = done};
}

/* A receive that was posted for one sender and one tag keeps its place, though it is not known to have come. */
static void add_event(end_list *sends, end_list *receives, const call_request *its, trace_point of)
{
    const trace_event *event = &of.at->events[of.event];
    const size_t call = of.at->calls[of.event];
    const trace_point none = {NULL, 0}, enter = {of.at, call != CALL_NONE ? call : of.event};
    if (event->kind == TRACE_SEND && !(its && its->is_canceled))
        add_end(sends, of, event->request != 0 ? of : enter, its ? its->done : event->request != 0 ? none : of);
    else if (event->kind == TRACE_RECEIVE_POST && its && !its->done.at && event->tag >= 0)
        add_end(receives, of, of, none);
    else if (event->kind == TRACE_RECEIVE)
        add_end(receives, of, its ? its->begun : enter, of);
}

static void add_process(const trace_process *process, end_list *sends, end_list *receives)
{
    call_requests requests;
    requests_find(&requests, process);
    for (size_t i = 0; i < process->location_count; i++)
        for (size_t k = 0; k < process->locations[i].count; k++)
            add_event(sends, receives, request_of(&requests, &process->locations[i].events[k]),
                      (trace_point){&process->locations[i], k});
    requests_free(&requests);
}

/* ---- Pairs */

/* Which ends of the run the trace has: of a part, each process decided by itself what belongs to it. */
typedef struct {
    bool lacks_start, lacks_end;
} extent;

static extent extent_of(const trace *of)
{
    extent found = {trace_is_partial(of), false};
    char value[64];
    for (int rank = 0; rank < of->size; rank++) {
        const trace_process *process = &of->processes[rank];
        found.lacks_end = found.lacks_end || !process->is_finished || process->end.dropped > 0 ||
                          trace_text(process, "to_ns", value, sizeof value)[0] ||
                          trace_text(process, "only", value, sizeof value)[0];
    }
    return found;
}

/* Whether a message would be received before it was sent, by more than the clocks may be wrong. */
static bool is_impossible(const message_end *send, const message_end *receive)
{
    if (!receive->done.at)
        return false;
    const trace_process *source = send->begun.at->process, *destination = receive->done.at->process;
    const int64_t sent_ns = trace_time_ns(&send->begun), received_ns = trace_time_ns(&receive->done);
    return trace_apart_ns(source, sent_ns, destination, received_ns) + trace_bound_ns(source, sent_ns) +
               trace_bound_ns(destination, received_ns) <
           0;
}

/* How many receives, or if it is negative sends, at the start of a stream have their other end before the trace. */
static ptrdiff_t find_shift(const extent *trace, const message_end *sends, size_t send_count,
                            const message_end *receives, size_t receive_count)
{
    if (!trace->lacks_start)
        return 0;
    const ptrdiff_t first = trace->lacks_end ? 0 : (ptrdiff_t)receive_count - (ptrdiff_t)send_count;
    for (ptrdiff_t shift = first; shift < (ptrdiff_t)receive_count && shift - first <= MAX_SKIPPED; shift++) {
        size_t s = shift < 0 ? (size_t)-shift : 0, r = shift < 0 ? 0 : (size_t)shift;
        while (s < send_count && r < receive_count && !is_impossible(&sends[s], &receives[r]))
            s++, r++;
        if (s == send_count || r == receive_count)
            return shift;
    }
    return (ptrdiff_t)receive_count;
}

/* Its SEND. */
static trace_point send_of(const message_end *send)
{
    return send->begun.at->events[send->begun.event].kind == TRACE_ENTER ? send->done : send->begun;
}

static void pair_stream(const extent *trace, const message_end *sends, size_t send_count, const message_end *receives,
                        size_t receive_count, trace_matches *matches)
{
    const ptrdiff_t shift = find_shift(trace, sends, send_count, receives, receive_count);
    size_t s = shift < 0 ? (size_t)-shift : 0, r = shift < 0 ? 0 : (size_t)shift;
    for (; s < send_count && r < receive_count; s++, r++)
        if (receives[r].done.at)
            matches->messages[matches->message_count++] = (trace_message){.send = send_of(&sends[s]),
                                                                          .sent = sends[s].done,
                                                                          .receive = receives[r].done,
                                                                          .post = receives[r].begun};
}

/* The end of the stream that begins at `first`. */
static size_t stream_end(const end_list *list, size_t first, size_t limit)
{
    size_t end = first + 1;
    while (end < limit && compare_streams(&list->ends[first], &list->ends[end]) == 0)
        end++;
    return end;
}

/* Sends are in the order of streams. Receives are so at each destination: those of a rank begin at first[rank]. */
static void pair_ends(const trace *of, const end_list *sends, const end_list *receives, const size_t *first,
                      size_t *next, trace_matches *matches)
{
    const extent trace = extent_of(of);
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
        pair_stream(&trace, send, next_s - s, &receives->ends[*r], next_r - *r, matches);
        *r = next_r;
    }
    matches->sends_alone = sends->count + sends->lost - matches->message_count;
    matches->receives_alone = receives->lost;
    for (size_t i = 0; i < receives->count; i++)
        matches->receives_alone += receives->ends[i].done.at != NULL;
    matches->receives_alone -= matches->message_count;
}

static void sort_ends(const end_list *list, size_t from)
{
    bulk_sort(list->ends + from, list->count - from, sizeof(message_end), compare_ends);
}

void trace_match_messages(const trace *of, trace_matches *matches)
{
    size_t send_room = 0, receive_room = 0;
    for (const trace_location *at = NULL; (at = trace_next_location(of, at));)
        for (size_t k = 0; k < at->count; k++) {
            send_room += at->events[k].kind == TRACE_SEND;
            receive_room += at->events[k].kind == TRACE_RECEIVE || at->events[k].kind == TRACE_RECEIVE_POST;
        }
    end_list sends = {0, 0, bulk_array(send_room, sizeof(message_end))};
    end_list receives = {0, 0, bulk_array(receive_room, sizeof(message_end))};
    /* Where the receives of each rank begin, and how far they are matched. */
    size_t *first = need(calloc(2 * (size_t)of->size + 1, sizeof *first)), *next = first + of->size + 1;
    matches->messages = bulk_array(send_room, sizeof(trace_message));
    for (int rank = 0; rank < of->size; rank++) {
        const size_t first_send = sends.count;
        first[rank] = next[rank] = receives.count;
        add_process(&of->processes[rank], &sends, &receives);
        sort_ends(&sends, first_send);
        sort_ends(&receives, first[rank]);
    }
    first[of->size] = receives.count;
    pair_ends(of, &sends, &receives, first, next, matches);
    bulk_free(sends.ends);
    bulk_free(receives.ends);
    free(first);
}
