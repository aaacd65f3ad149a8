/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collectives.c - which parts are one call of a collective operation. All processes of a communicator call its
 * operations in the same order, so parts belong together by their number on it, which the recorder counted. Persistent
 * requests may be started in any order; they are made in the same order, and each has starts of its own.
 */
#include "common/cli/memory.h"
#include "trace/read/matching.h"

static int compare_calls(const call_part *x, const call_part *y)
{
    if (x->call.lowest != y->call.lowest)
        return x->call.lowest < y->call.lowest ? -1 : 1;
    if (x->call.context != y->call.context)
        return x->call.context < y->call.context ? -1 : 1;
    if (x->made != y->made)
        return x->made < y->made ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static int compare_parts(const void *a, const void *b)
{
    const call_part *x = a, *y = b;
    int calls = compare_calls(x, y);
    return calls != 0 ? calls : (x->place > y->place) - (x->place < y->place);
}

/* ---- The parts of a process */

/* Where the call ended: it may have been a request. */
static void find_leave(const call_requests *requests, const trace_event *event, trace_part *part)
{
    const trace_location *at = part->enter.at;
    part->wait = part->enter;
    part->leave = (trace_point){at, at->calls[part->enter.event]};
    if (event->request != 0) {
        const call_request *its = request_of(requests, event);
        part->leave = its ? its->done : (trace_point){NULL, 0};
        const size_t wait = part->leave.at ? part->leave.at->calls[part->leave.event] : CALL_NONE;
        part->wait = (trace_point){part->leave.at, wait != CALL_NONE ? wait : part->leave.event};
    } else if (part->leave.event == CALL_NONE) {
        part->leave.at = NULL;
    }
}

/* Of an intercommunicator, the group with the lowest rank comes first. */
static trace_call call_on(const trace_communicator *its, int root, uint16_t function)
{
    trace_call call = {
        .function = function, .root = root, .count = its->size, .lowest = its->lowest, .context = its->context};
    if (!its->is_inter)
        return call;
    const bool is_remote_first = its->lowest < its->local_lowest;
    call.count += its->local_size;
    call.lowest = is_remote_first ? its->lowest : its->local_lowest;
    call.first_group = is_remote_first ? its->size : its->local_size;
    if (root >= its->size)
        call.root = call.count; /* there is no such process */
    else if (root == TRACE_ROOT_SELF)
        call.root = its->place;
    else if (root >= 0 && !is_remote_first)
        call.root = its->local_size + root;
    return call;
}

static void add_event(part_list *parts, const trace_process *process, const call_requests *requests,
                      const trace_location *at, size_t k)
{
    const trace_event *event = &at->events[k];
    const size_t enter = at->calls[k];
    const trace_communicator *communicator =
        event->kind == TRACE_COLLECTIVE && event->id != TRACE_NO_COMM ? &process->communicators[event->id] : NULL;
    if (!communicator || (communicator->is_inter && communicator->local_size == 0) || enter == CALL_NONE)
        return;
    const trace_event *out = call_out(at, k);
    parts->list = grow_or_exit(parts->list, parts->count, sizeof *parts->list);
    call_part *added = &parts->list[parts->count++];
    *added = (call_part){.call = call_on(communicator, event->partner, call_operation(at, enter, k)),
                         .number = (uint32_t)event->tag,
                         .made = out ? out->tag : 0,
                         .place = communicator->place,
                         .part = {.enter = {at, enter}, .record = k}};
    find_leave(requests, event, &added->part);
}

void matching_add(matching *to, const trace_process *process)
{
    call_requests requests;
    requests_find(&requests, process);
    matching_add_messages(to, process, &requests);
    to->parts.last = to->parts.count;
    for (size_t i = 0; i < process->location_count; i++)
        for (size_t k = 0; k < process->locations[i].count; k++)
            add_event(&to->parts, process, &requests, &process->locations[i], k);
    requests_free(&requests);
}

/* ---- Calls */

/* A process of the group of the root, in an intercommunicator, does not know it. */
static bool knows_root(const trace_call *call)
{
    return call->first_group == 0 || call->root != TRACE_ROOT_THIS_GROUP;
}

/* The call of the first of these parts that knows its root. */
static const trace_call *find_call(const call_part *parts, size_t count)
{
    size_t i = 0;
    while (i + 1 < count && !knows_root(&parts[i].call))
        i++;
    return &parts[i].call;
}

/* Whether so many parts with one number on one communicator are a complete call. */
static bool is_whole(const call_part *parts, size_t count, const trace_call *call)
{
    if (count != (size_t)call->count || call->root >= call->count || !knows_root(call))
        return false;
    for (size_t i = 0; i < count; i++) {
        const trace_call *other = &parts[i].call;
        if ((size_t)parts[i].place != i || other->function != call->function || other->count != call->count ||
            other->first_group != call->first_group || (knows_root(other) && other->root != call->root) ||
            !parts[i].part.leave.at)
            return false;
    }
    return true;
}

static void join(const part_list *parts, trace_matches *matches)
{
    size_t used = 0;
    for (size_t first = 0, end; first < parts->count; first = end) {
        const call_part *of = &parts->list[first];
        for (end = first + 1; end < parts->count && compare_calls(of, &parts->list[end]) == 0;)
            end++;
        const trace_call *found = find_call(of, end - first);
        if (!is_whole(of, end - first, found)) {
            matches->calls_incomplete++;
            continue;
        }
        trace_call *call = &matches->calls[matches->call_count++];
        *call = *found;
        call->parts = &matches->parts[used];
        for (size_t i = first; i < end; i++)
            matches->parts[used++] = parts->list[i].part;
    }
}

void matching_join(matching *taken, const trace *of, trace_matches *matches)
{
    part_list *parts = &taken->parts;
    *matches = (trace_matches){.message_count = 0};
    matching_join_messages(taken, of, matches);
    if (parts->count > 1)
        qsort(parts->list, parts->count, sizeof(call_part), compare_parts);
    matches->calls = array_or_exit(parts->count, sizeof *matches->calls);
    matches->parts = array_or_exit(parts->count, sizeof *matches->parts);
    join(parts, matches);
    free(parts->list);
}

void trace_match(const trace *of, trace_matches *matches)
{
    matching all = {.sends = {0}};
    for (int rank = 0; rank < of->size; rank++)
        matching_add(&all, &of->processes[rank]);
    matching_join(&all, of, matches);
}

void trace_matches_free(trace_matches *matches)
{
    free(matches->messages);
    free(matches->calls);
    free(matches->parts);
    *matches = (trace_matches){.message_count = 0};
}
