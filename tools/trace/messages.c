/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * messages.c - which send and which receive are one message. Between two processes, messages of one communicator and
 * tag are received in the order in which they were sent, where receives count by when they were posted: a call that
 * waits posts its own when it is entered.
 */
#include "trace/bulk.h"
#include "trace/calls.h"

#include <stdlib.h>

/* Where only a part was recorded, so many receives at the start of a stream may be of sends before that part. */
enum { MAX_SKIPPED = 1000 };

/* One end of a message. */
typedef struct {
    int source, destination; /* ranks in MPI_COMM_WORLD */
    uint32_t context;
    int32_t tag;
    const trace_location *location;
    size_t event; /* CALL_NONE: a receive that was posted, but nobody saw it complete */
    const trace_location *posted_by;
    size_t posted; /* the event by which it is matched */
} message_end;

typedef struct {
    size_t count;
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
    return (x->tag > y->tag) - (x->tag < y->tag);
}

static int compare_ends(const void *a, const void *b)
{
    const message_end *x = a, *y = b;
    const int streams = compare_streams(x, y);
    if (streams != 0)
        return streams;
    const int64_t x_ns = x->posted_by->events[x->posted].time_ns, y_ns = y->posted_by->events[y->posted].time_ns;
    if (x_ns != y_ns)
        return x_ns < y_ns ? -1 : 1;
    if (x->posted_by != y->posted_by)
        return x->posted_by->thread < y->posted_by->thread ? -1 : 1;
    return (x->posted > y->posted) - (x->posted < y->posted);
}

/* ---- Ends */

static void add_end(end_list *list, const trace_process *process, message_end end, const trace_event *event)
{
    const int partner = trace_partner(process, event);
    if (partner < 0)
        return;
    end.source = event->kind == TRACE_SEND ? end.location->rank : partner;
    end.destination = event->kind == TRACE_SEND ? partner : end.location->rank;
    end.context = process->communicators[event->id].context;
    end.tag = event->tag;
    list->ends[list->count++] = end;
}

/* A receive that was posted for one sender and one tag keeps its place, though it is not known to have come. */
static void add_event(end_list *sends, end_list *receives, const trace_process *process, const trace_location *location,
                      const call_request *its, const size_t *calls, size_t k)
{
    const trace_event *event = &location->events[k];
    message_end end = {.location = location, .event = k, .posted_by = location, .posted = k};
    if (event->kind == TRACE_SEND && !(its && its->is_canceled))
        add_end(sends, process, end, event);
    if (event->kind == TRACE_RECEIVE_POST && its && !its->done_by && event->tag >= 0) {
        end.event = CALL_NONE;
        add_end(receives, process, end, event);
    }
    if (event->kind != TRACE_RECEIVE)
        return;
    if (its) {
        end.posted_by = its->begun_by;
        end.posted = its->begin;
    } else if (calls[k] != CALL_NONE) {
        end.posted = calls[k];
    }
    add_end(receives, process, end, event);
}

static bool add_process(const trace_process *process, end_list *sends, end_list *receives)
{
    call_requests requests;
    bool is_good = requests_find(&requests, process);
    for (size_t i = 0; is_good && i < process->location_count; i++) {
        const trace_location *location = &process->locations[i];
        size_t *calls = calls_find(location);
        is_good = calls;
        for (size_t k = 0; calls && k < location->count; k++)
            add_event(sends, receives, process, location, request_of(&requests, &location->events[k]), calls, k);
        free(calls);
    }
    requests_free(&requests);
    return is_good;
}

/* ---- Pairs */

/* Which ends of the run the trace has: of a part, each process decided by itself what belongs to it. */
typedef struct {
    const trace *of;
    bool lacks_start, lacks_end;
} extent;

static extent extent_of(const trace *of)
{
    extent found = {of, trace_is_partial(of), false};
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
static bool is_impossible(const trace *of, const message_end *send, const message_end *receive)
{
    const trace_process *source = &of->processes[send->source], *destination = &of->processes[send->destination];
    if (receive->event == CALL_NONE)
        return false;
    const int64_t sent_ns = send->location->events[send->event].time_ns;
    const int64_t received_ns = receive->location->events[receive->event].time_ns;
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
        while (s < send_count && r < receive_count && !is_impossible(trace->of, &sends[s], &receives[r]))
            s++, r++;
        if (s == send_count || r == receive_count)
            return shift;
    }
    return (ptrdiff_t)receive_count;
}

static void pair_stream(const extent *trace, const message_end *sends, size_t send_count, const message_end *receives,
                        size_t receive_count, trace_matches *matches)
{
    const ptrdiff_t shift = find_shift(trace, sends, send_count, receives, receive_count);
    size_t s = shift < 0 ? (size_t)-shift : 0, r = shift < 0 ? 0 : (size_t)shift;
    for (; s < send_count && r < receive_count; s++, r++)
        if (receives[r].event != CALL_NONE)
            matches->messages[matches->message_count++] =
                (trace_message){.source = sends[s].source,
                                .destination = sends[s].destination,
                                .source_thread = (uint32_t)sends[s].location->thread,
                                .destination_thread = (uint32_t)receives[r].location->thread,
                                .post_thread = (uint32_t)receives[r].posted_by->thread,
                                .send = sends[s].event,
                                .receive = receives[r].event,
                                .post = receives[r].posted};
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
    matches->sends_alone = sends->count - matches->message_count;
    matches->receives_alone = 0;
    for (size_t i = 0; i < receives->count; i++)
        matches->receives_alone += receives->ends[i].event != CALL_NONE;
    matches->receives_alone -= matches->message_count;
}

typedef struct {
    size_t sends, receives;
} end_counts;

static end_counts count_ends(const trace *of)
{
    end_counts counts = {0, 0};
    for (const trace_location *at = NULL; (at = trace_next_location(of, at));)
        for (size_t k = 0; k < at->count; k++) {
            const uint8_t kind = at->events[k].kind;
            counts.sends += kind == TRACE_SEND;
            counts.receives += kind == TRACE_RECEIVE || kind == TRACE_RECEIVE_POST;
        }
    return counts;
}

static bool sort_ends(const end_list *list, size_t from)
{
    return bulk_sort(list->ends + from, list->count - from, sizeof(message_end), compare_ends);
}

/* All ends, those of each process sorted. Fills where the receives of each rank begin: first, and its copy next. */
static bool list_ends(const trace *of, end_list *sends, end_list *receives, size_t *first, size_t *next)
{
    bool is_good = true;
    for (int rank = 0; is_good && rank < of->size; rank++) {
        const size_t first_send = sends->count;
        first[rank] = next[rank] = receives->count;
        is_good = add_process(&of->processes[rank], sends, receives) && sort_ends(sends, first_send) &&
                  sort_ends(receives, first[rank]);
    }
    first[of->size] = receives->count;
    return is_good;
}

bool trace_match_messages(const trace *of, trace_matches *matches)
{
    const end_counts room = count_ends(of);
    end_list sends = {0, bulk_array(room.sends, sizeof(message_end))};
    end_list receives = {0, bulk_array(room.receives, sizeof(message_end))};
    size_t *first = malloc(((size_t)of->size + 1) * sizeof *first),
           *next = malloc(((size_t)of->size + 1) * sizeof *next);
    matches->messages = bulk_array(room.sends, sizeof(trace_message));
    const bool is_good = sends.ends && receives.ends && first && next && matches->messages &&
                         list_ends(of, &sends, &receives, first, next);
    if (is_good)
        pair_ends(of, &sends, &receives, first, next, matches);
    bulk_free(sends.ends);
    bulk_free(receives.ends);
    free(first);
    free(next);
    return is_good;
}
