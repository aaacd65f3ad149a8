/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * messages.c - which send and which receive are one message. Between two processes, messages of one communicator and
 * tag are received in the order in which they were sent; receives that do not wait, in the order of their posting.
 */
#include "trace/match.h"

#include <stdlib.h>

/* One end of a message. */
typedef struct {
    int source, destination; /* ranks in MPI_COMM_WORLD */
    uint32_t context;
    int32_t tag;
    uint32_t thread;
    size_t event;
    int64_t order_ns; /* by which it is matched */
    size_t order;
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
    int streams = compare_streams(x, y);
    if (streams != 0)
        return streams;
    if (x->order_ns != y->order_ns)
        return x->order_ns < y->order_ns ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* ---- Requests */

/* Where a request was made: it may be complete in another thread. */
typedef struct {
    uint32_t request, thread;
    size_t event;
    int64_t time_ns;
    bool is_send;
    bool is_canceled;
} started;

typedef struct {
    size_t count;
    started *list;
} started_list;

static int compare_started(const void *a, const void *b)
{
    const started *x = a, *y = b;
    if (x->request != y->request)
        return x->request < y->request ? -1 : 1;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

/* The last one of a request that was started no later; NULL: none. */
static started *find_started(const started_list *all, uint32_t request, int64_t time_ns)
{
    size_t low = 0, high = all->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const started *at = &all->list[middle];
        if (at->request < request || (at->request == request && at->time_ns <= time_ns))
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && all->list[low - 1].request == request ? &all->list[low - 1] : NULL;
}

static bool list_started(const trace_process *process, started_list *all)
{
    size_t room = 0;
    for (size_t i = 0; i < process->location_count; i++)
        room += process->locations[i].count;
    *all = (started_list){0, malloc((room + 1) * sizeof(started))};
    if (!all->list)
        return false;
    for (size_t i = 0; i < process->location_count; i++)
        for (size_t k = 0; k < process->locations[i].count; k++) {
            const trace_event *event = &process->locations[i].events[k];
            bool is_send = event->kind == TRACE_SEND;
            if (event->request != 0 && (is_send || event->kind == TRACE_RECEIVE_POST))
                all->list[all->count++] = (started){
                    event->request, (uint32_t)process->locations[i].thread, k, event->time_ns, is_send, false};
        }
    qsort(all->list, all->count, sizeof(started), compare_started);
    for (size_t i = 0; i < process->location_count; i++)
        for (size_t k = 0; k < process->locations[i].count; k++) {
            const trace_event *event = &process->locations[i].events[k];
            started *found = event->kind == TRACE_CANCELED && event->request != 0
                                 ? find_started(all, event->request, event->time_ns)
                                 : NULL;
            if (found)
                found->is_canceled = true;
        }
    return true;
}

/* ---- Ends */

static bool was_canceled(const started_list *all, const trace_event *send)
{
    const started *found = send->request != 0 ? find_started(all, send->request, send->time_ns) : NULL;
    return found && found->is_send && found->is_canceled;
}

static void add_end(end_list *sends, end_list *receives, const trace_process *process, const trace_location *location,
                    const started_list *all, size_t k)
{
    const trace_event *event = &location->events[k];
    const int partner = trace_partner(process, event);
    const bool is_send = event->kind == TRACE_SEND;
    if (partner < 0 || (is_send && was_canceled(all, event)))
        return;
    message_end end = {.source = is_send ? location->rank : partner,
                       .destination = is_send ? partner : location->rank,
                       .context = process->communicators[event->id].context,
                       .tag = event->tag,
                       .thread = (uint32_t)location->thread,
                       .event = k,
                       .order_ns = event->time_ns,
                       .order = k};
    const started *posted = !is_send && event->request != 0 ? find_started(all, event->request, event->time_ns) : NULL;
    if (posted && !posted->is_send) {
        end.order_ns = posted->time_ns;
        end.order = posted->event;
    }
    end_list *list = is_send ? sends : receives;
    list->ends[list->count++] = end;
}

static bool add_ends(const trace_process *process, end_list *sends, end_list *receives)
{
    started_list all;
    if (!list_started(process, &all))
        return false;
    for (size_t i = 0; i < process->location_count; i++) {
        const trace_location *location = &process->locations[i];
        for (size_t k = 0; k < location->count; k++)
            if (location->events[k].kind == TRACE_SEND || location->events[k].kind == TRACE_RECEIVE)
                add_end(sends, receives, process, location, &all, k);
    }
    free(all.list);
    return true;
}

static void pair_ends(const end_list *sends, const end_list *receives, trace_matches *matches)
{
    size_t s = 0, r = 0;
    while (s < sends->count && r < receives->count) {
        const message_end *send = &sends->ends[s], *receive = &receives->ends[r];
        int order = compare_streams(send, receive);
        if (order == 0)
            matches->messages[matches->message_count++] = (trace_message){.source = send->source,
                                                                          .destination = send->destination,
                                                                          .source_thread = send->thread,
                                                                          .destination_thread = receive->thread,
                                                                          .send = send->event,
                                                                          .receive = receive->event};
        s += order <= 0;
        r += order >= 0;
    }
    matches->sends_alone = sends->count - matches->message_count;
    matches->receives_alone = receives->count - matches->message_count;
}

static size_t count_kind(const trace *of, int kind)
{
    size_t count = 0;
    for (int rank = 0; rank < of->size; rank++)
        for (size_t i = 0; i < of->processes[rank].location_count; i++) {
            const trace_location *location = &of->processes[rank].locations[i];
            for (size_t k = 0; k < location->count; k++)
                count += location->events[k].kind == kind;
        }
    return count;
}

bool trace_match_messages(const trace *of, trace_matches *matches)
{
    const size_t send_room = count_kind(of, TRACE_SEND) + 1, receive_room = count_kind(of, TRACE_RECEIVE) + 1;
    end_list sends = {0, malloc(send_room * sizeof(message_end))};
    end_list receives = {0, malloc(receive_room * sizeof(message_end))};
    matches->messages = malloc((send_room < receive_room ? send_room : receive_room) * sizeof(trace_message));
    bool is_good = sends.ends && receives.ends && matches->messages;
    for (int rank = 0; is_good && rank < of->size; rank++)
        is_good = add_ends(&of->processes[rank], &sends, &receives);
    if (is_good) {
        qsort(sends.ends, sends.count, sizeof(message_end), compare_ends);
        qsort(receives.ends, receives.count, sizeof(message_end), compare_ends);
        pair_ends(&sends, &receives, matches);
    }
    free(sends.ends);
    free(receives.ends);
    return is_good;
}
