/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collectives.c - which parts are one call of a collective operation. All processes of a communicator call its
 * operations in the same order, so parts belong together by their number on it, which the recorder counted.
 */
#include "trace/bulk.h"
#include "trace/calls.h"

#include <stdlib.h>

/* Of one process, and the call as all processes name it. */
typedef struct {
    trace_call call; /* without its parts */
    uint32_t number; /* on this communicator */
    int place;       /* in it */
    trace_part part;
} call_part;

typedef struct {
    size_t count;
    call_part *list;
} part_list;

static int compare_calls(const call_part *x, const call_part *y)
{
    if (x->call.lowest != y->call.lowest)
        return x->call.lowest < y->call.lowest ? -1 : 1;
    if (x->call.context != y->call.context)
        return x->call.context < y->call.context ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static int compare_parts(const void *a, const void *b)
{
    const call_part *x = a, *y = b;
    int calls = compare_calls(x, y);
    return calls != 0 ? calls : (x->place > y->place) - (x->place < y->place);
}

/* ---- The parts of a process */

/* A process, and of each of its communicators the lowest rank and its own place. */
typedef struct {
    const trace_process *process;
    call_requests requests;
    size_t **calls; /* by index of a location */
    int *lowest, *place;
} member;

static void find_places(member *of, int own_rank)
{
    for (size_t id = 0; id < of->process->communicator_count; id++) {
        const trace_communicator *communicator = &of->process->communicators[id];
        of->lowest[id] = of->place[id] = -1;
        for (int i = 0; i < communicator->size; i++) {
            const int rank = communicator->ranks[i];
            if (rank == own_rank)
                of->place[id] = i;
            if (rank >= 0 && (of->lowest[id] < 0 || rank < of->lowest[id]))
                of->lowest[id] = rank;
        }
    }
}

/* Where the call ended: it may have been a request. */
static void find_leave(const member *of, size_t index, trace_part *part)
{
    const trace_event *event = &of->process->locations[index].events[part->record];
    part->leave = of->calls[index][part->enter];
    part->leave_thread = part->thread;
    part->wait = part->enter;
    if (event->request == 0)
        return;
    const call_request *its = request_of(&of->requests, event);
    part->leave = its && its->done_by ? its->done : CALL_NONE;
    if (part->leave == CALL_NONE)
        return;
    const size_t wait = of->calls[its->done_by - of->process->locations][its->done];
    part->leave_thread = (uint32_t)its->done_by->thread;
    part->wait = wait != CALL_NONE ? wait : its->done;
}

static bool add_event(part_list *parts, const member *of, size_t index, size_t k)
{
    const trace_location *location = &of->process->locations[index];
    const trace_event *event = &location->events[k];
    const trace_communicator *communicator = &of->process->communicators[event->id];
    const size_t enter = of->calls[index][k];
    call_part part = {.call = {.function = call_operation(location, enter, k),
                               .root = event->partner,
                               .count = communicator->size,
                               .lowest = of->lowest[event->id],
                               .context = communicator->context},
                      .number = (uint32_t)event->tag,
                      .place = of->place[event->id],
                      .part = {location->rank, (uint32_t)location->thread, enter, k, 0, 0, 0}};
    find_leave(of, index, &part.part);
    call_part *list = bulk_for_another(parts->list, parts->count, sizeof part);
    if (!list)
        return false;
    parts->list = list;
    parts->list[parts->count++] = part;
    return true;
}

static bool add_location(part_list *parts, const member *of, size_t index)
{
    const trace_location *location = &of->process->locations[index];
    bool is_good = true;
    for (size_t k = 0; is_good && k < location->count; k++) {
        const trace_event *event = &location->events[k];
        if (event->kind == TRACE_COLLECTIVE && event->id != TRACE_NO_COMM && of->calls[index][k] != CALL_NONE &&
            !of->process->communicators[event->id].is_inter)
            is_good = add_event(parts, of, index, k);
    }
    return is_good;
}

static bool add_process(part_list *parts, const trace_process *process, int rank)
{
    const size_t communicators = process->communicator_count + 1, locations = process->location_count;
    member of = {.process = process,
                 .calls = calloc(locations + 1, sizeof *of.calls),
                 .lowest = malloc(communicators * sizeof(int)),
                 .place = malloc(communicators * sizeof(int))};
    bool is_good = requests_find(&of.requests, process) && of.calls && of.lowest && of.place;
    if (is_good)
        find_places(&of, rank);
    for (size_t i = 0; is_good && i < locations; i++)
        is_good = (of.calls[i] = calls_find(&process->locations[i]));
    for (size_t i = 0; is_good && i < locations; i++)
        is_good = add_location(parts, &of, i);
    for (size_t i = 0; of.calls && i < locations; i++)
        free(of.calls[i]);
    requests_free(&of.requests);
    free(of.calls);
    free(of.lowest);
    free(of.place);
    return is_good;
}

/* ---- Calls */

/* Whether so many parts with one number on one communicator are a complete call. */
static bool is_whole(const call_part *parts, size_t count)
{
    const trace_call *call = &parts[0].call;
    if (count != (size_t)call->count)
        return false;
    for (size_t i = 0; i < count; i++)
        if ((size_t)parts[i].place != i || parts[i].call.function != call->function ||
            parts[i].call.count != call->count || parts[i].call.root != call->root || parts[i].part.leave == CALL_NONE)
            return false;
    return true;
}

static void join(const part_list *parts, trace_matches *matches)
{
    size_t used = 0;
    for (size_t first = 0, end; first < parts->count; first = end) {
        const call_part *of = &parts->list[first];
        for (end = first + 1; end < parts->count && compare_calls(of, &parts->list[end]) == 0;)
            end++;
        if (!is_whole(of, end - first)) {
            matches->calls_incomplete++;
            continue;
        }
        trace_call *call = &matches->calls[matches->call_count++];
        *call = of->call;
        call->parts = &matches->parts[used];
        for (size_t i = first; i < end; i++)
            matches->parts[used++] = parts->list[i].part;
    }
}

static bool match_calls(const trace *of, trace_matches *matches)
{
    part_list parts = {0, NULL};
    bool is_good = true;
    for (int rank = 0; is_good && rank < of->size; rank++)
        is_good = add_process(&parts, &of->processes[rank], rank);
    matches->calls = bulk_array(parts.count, sizeof *matches->calls);
    matches->parts = bulk_array(parts.count, sizeof *matches->parts);
    is_good = is_good && matches->calls && matches->parts &&
              bulk_sort(parts.list, parts.count, sizeof(call_part), compare_parts);
    if (is_good)
        join(&parts, matches);
    bulk_free(parts.list);
    return is_good;
}

/* ---- Both */

bool trace_match(const trace *of, trace_matches *matches)
{
    *matches = (trace_matches){.message_count = 0};
    bool is_good = trace_match_messages(of, matches) && match_calls(of, matches);
    if (!is_good)
        trace_matches_free(matches);
    return is_good;
}

void trace_matches_free(trace_matches *matches)
{
    bulk_free(matches->messages);
    bulk_free(matches->calls);
    bulk_free(matches->parts);
    *matches = (trace_matches){.message_count = 0};
}

const trace_location *trace_find_location(const trace *of, int rank, uint32_t thread)
{
    const trace_process *process = &of->processes[rank];
    for (size_t i = 0; i < process->location_count; i++)
        if ((uint32_t)process->locations[i].thread == thread)
            return &process->locations[i];
    return NULL;
}
