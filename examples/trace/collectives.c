/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collectives.c - which parts are one call of a collective operation. All processes of a communicator call its
 * operations in the same order, so parts belong together by their number on it.
 */
#include "trace/match.h"

#include <stdlib.h>

/* Of one process, and the communicator as all of its processes name it. */
typedef struct {
    int lowest; /* rank in it */
    uint32_t context;
    uint16_t communicator, function;
    int size, place, root;
    size_t number; /* of this call on this communicator */
    int64_t time_ns;
    trace_part part;
} call_part;

typedef struct {
    size_t count, room;
    call_part *list;
} part_list;

static int compare_by_time(const void *a, const void *b)
{
    const call_part *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    if (x->part.thread != y->part.thread)
        return x->part.thread < y->part.thread ? -1 : 1;
    return (x->part.record > y->part.record) - (x->part.record < y->part.record);
}

static int compare_calls(const call_part *x, const call_part *y)
{
    if (x->lowest != y->lowest)
        return x->lowest < y->lowest ? -1 : 1;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static int compare_parts(const void *a, const void *b)
{
    const call_part *x = a, *y = b;
    int calls = compare_calls(x, y);
    return calls != 0 ? calls : (x->place > y->place) - (x->place < y->place);
}

/* ---- The parts of a process */

/* A communicator as its process sees it. */
typedef struct {
    int lowest, place;
    size_t calls;
} membership;

static membership membership_of(const trace_communicator *communicator, int own_rank)
{
    membership of = {-1, -1, 0};
    for (int i = 0; i < communicator->size; i++) {
        int rank = communicator->ranks[i];
        if (rank == own_rank)
            of.place = i;
        if (rank >= 0 && (of.lowest < 0 || rank < of.lowest))
            of.lowest = rank;
    }
    return of;
}

/* The first event after this one that completes its request. */
static size_t find_done(const trace_location *location, size_t k)
{
    const uint32_t request = location->events[k].request;
    while (++k < location->count)
        if (location->events[k].kind == TRACE_COLLECTIVE_DONE && location->events[k].request == request)
            return k;
    return SIZE_MAX;
}

static size_t find_leave(const trace_location *location, size_t k)
{
    size_t depth = 0;
    for (; k < location->count; k++) {
        if (location->events[k].kind == TRACE_LEAVE && depth-- == 0)
            return k;
        depth += location->events[k].kind == TRACE_ENTER;
    }
    return SIZE_MAX;
}

static bool add_part(part_list *parts, const call_part *part)
{
    if (parts->count == parts->room) {
        size_t room = parts->room * 2 + 64;
        call_part *list = realloc(parts->list, room * sizeof *list);
        if (!list)
            return false;
        parts->list = list;
        parts->room = room;
    }
    parts->list[parts->count++] = *part;
    return true;
}

static bool add_event(part_list *parts, const trace_process *process, const trace_location *location, size_t enter,
                      size_t k)
{
    const trace_event *event = &location->events[k];
    const trace_communicator *communicator = &process->communicators[event->id];
    call_part part = {.context = communicator->context,
                      .communicator = event->id,
                      .function = location->events[enter].id,
                      .size = communicator->size,
                      .root = event->partner,
                      .time_ns = event->time_ns,
                      .part = {.rank = location->rank, .thread = (uint32_t)location->thread}};
    part.part.enter = enter;
    part.part.leave = event->request == 0 ? find_leave(location, k) : find_done(location, k);
    part.part.record = k;
    return add_part(parts, &part);
}

static bool add_location(part_list *parts, const trace_process *process, const trace_location *location)
{
    size_t depth = 0, *open = malloc((location->count + 1) * sizeof *open); /* positions of ENTERs */
    bool is_good = open != NULL;
    for (size_t k = 0; is_good && k < location->count; k++) {
        const trace_event *event = &location->events[k];
        if (event->kind == TRACE_ENTER)
            open[depth++] = k;
        else if (event->kind == TRACE_LEAVE && depth > 0)
            depth--;
        else if (event->kind == TRACE_COLLECTIVE && event->id != TRACE_NO_COMM && depth > 0 &&
                 !process->communicators[event->id].is_inter)
            is_good = add_event(parts, process, location, open[depth - 1], k);
    }
    free(open);
    return is_good;
}

/* Parts in the order of the calls get their numbers. */
static void number_parts(part_list *parts, size_t first, membership *of)
{
    if (parts->count > first)
        qsort(&parts->list[first], parts->count - first, sizeof(call_part), compare_by_time);
    for (size_t i = first; i < parts->count; i++) {
        call_part *part = &parts->list[i];
        part->lowest = of[part->communicator].lowest;
        part->place = of[part->communicator].place;
        part->number = of[part->communicator].calls++;
    }
}

static bool add_process(part_list *parts, const trace_process *process, int rank)
{
    const size_t first = parts->count;
    membership *of = malloc((process->communicator_count + 1) * sizeof *of);
    bool is_good = of != NULL;
    for (size_t i = 0; is_good && i < process->location_count; i++)
        is_good = add_location(parts, process, &process->locations[i]);
    for (size_t id = 0; is_good && id < process->communicator_count; id++)
        of[id] = membership_of(&process->communicators[id], rank);
    if (is_good)
        number_parts(parts, first, of);
    free(of);
    return is_good;
}

/* ---- Calls */

/* Whether so many parts, of one number on one communicator, are a whole call. */
static bool is_whole(const call_part *parts, size_t count)
{
    if (count != (size_t)parts[0].size)
        return false;
    for (size_t i = 0; i < count; i++)
        if ((size_t)parts[i].place != i || parts[i].function != parts[0].function || parts[i].size != parts[0].size ||
            parts[i].root != parts[0].root || parts[i].part.leave == SIZE_MAX)
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
        matches->calls[matches->call_count++] =
            (trace_call){.function = of->function, .root = of->root, .count = of->size, .parts = &matches->parts[used]};
        for (size_t i = first; i < end; i++)
            matches->parts[used++] = parts->list[i].part;
    }
}

bool trace_match_calls(const trace *of, trace_matches *matches)
{
    part_list parts = {0, 0, NULL};
    bool is_good = true;
    for (int rank = 0; is_good && rank < of->size; rank++)
        is_good = add_process(&parts, &of->processes[rank], rank);
    matches->calls = malloc((parts.count + 1) * sizeof *matches->calls);
    matches->parts = malloc((parts.count + 1) * sizeof *matches->parts);
    is_good = is_good && matches->calls && matches->parts;
    if (is_good && parts.count > 0) {
        qsort(parts.list, parts.count, sizeof(call_part), compare_parts);
        join(&parts, matches);
    }
    free(parts.list);
    return is_good;
}

/* ---- Both */

bool trace_match(const trace *of, trace_matches *matches)
{
    *matches = (trace_matches){.message_count = 0};
    bool is_good = trace_match_messages(of, matches) && trace_match_calls(of, matches);
    if (!is_good)
        trace_matches_free(matches);
    return is_good;
}

void trace_matches_free(trace_matches *matches)
{
    free(matches->messages);
    free(matches->calls);
    free(matches->parts);
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
