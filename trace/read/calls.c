/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c - match the beginning and end of calls, and the events of requests. */
#include "trace/read/calls.h"

#include "common/cli/memory.h"

#include <stdlib.h>
#include <string.h>

void calls_find(trace_location *location)
{
    free(location->calls);
    uint32_t *calls = location->calls = array_or_exit(location->count, sizeof *calls), innermost = CALL_NONE;
    for (uint32_t i = 0; i < location->count; i++) {
        const trace_event *event = &location->events[i];
        calls[i] = innermost; /* of an ENTER, as long as its call is open: the call around it */
        if (event->kind == TRACE_ENTER) {
            innermost = i;
        } else if (event->kind == TRACE_LEAVE && innermost != CALL_NONE &&
                   location->events[innermost].id == event->id) {
            const uint32_t outer = calls[innermost];
            calls[innermost] = i;
            innermost = outer;
        } else if (event->kind == TRACE_LEAVE) {
            calls[i] = CALL_NONE;
        }
    }
    while (innermost != CALL_NONE) {
        const uint32_t outer = calls[innermost];
        calls[innermost] = CALL_NONE;
        innermost = outer;
    }
}

const trace_event *call_out(const trace_location *location, size_t record)
{
    const bool has_next = record + 1 < location->count;
    return has_next && location->events[record + 1].kind == TRACE_COLLECTIVE_OUT ? &location->events[record + 1] : NULL;
}

uint16_t call_operation(const trace_location *location, size_t enter, size_t record)
{
    const trace_event *out = call_out(location, record);
    return out && out->id != 0 ? out->id : location->events[enter].id;
}

size_t call_name_length(const char *name)
{
    static const char *const endings[] = {"_c", "_init"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t less = strlen(endings[i]);
        if (length > less && strncmp(name + length - less, endings[i], less) == 0)
            length -= less;
    }
    return length;
}

/* ---- Requests */

static bool begins(const trace_event *event)
{
    return event->request != 0 &&
           (event->kind == TRACE_SEND || event->kind == TRACE_RECEIVE_POST || event->kind == TRACE_COLLECTIVE);
}

static int compare_requests(const void *a, const void *b)
{
    const call_request *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (trace_time_ns(&x->begun) > trace_time_ns(&y->begun)) -
           (trace_time_ns(&x->begun) < trace_time_ns(&y->begun));
}

/* The last one of a number and kind that was begun no later than this. */
static call_request *find(const call_requests *all, const trace_event *event, uint8_t kind)
{
    size_t low = 0, high = all->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const call_request *at = &all->list[middle];
        if (at->number < event->request || (at->number == event->request && at->kind < kind) ||
            (at->number == event->request && at->kind == kind && trace_time_ns(&at->begun) <= event->time_ns))
            low = middle + 1;
        else
            high = middle;
    }
    call_request *last = low > 0 ? &all->list[low - 1] : NULL;
    return last && last->number == event->request && last->kind == kind ? last : NULL;
}

call_request *request_of(const call_requests *all, const trace_event *event)
{
    static const uint8_t begun_as[] = {[TRACE_SEND] = TRACE_SEND,
                                       [TRACE_SEND_DONE] = TRACE_SEND,
                                       [TRACE_RECEIVE_POST] = TRACE_RECEIVE_POST,
                                       [TRACE_RECEIVE] = TRACE_RECEIVE_POST,
                                       [TRACE_CANCELED] = TRACE_SEND,
                                       [TRACE_COLLECTIVE] = TRACE_COLLECTIVE,
                                       [TRACE_COLLECTIVE_DONE] = TRACE_COLLECTIVE,
                                       [TRACE_DROPPED] = 0,
                                       [TRACE_READY] = TRACE_SEND,
                                       [TRACE_ARRIVED] = TRACE_RECEIVE_POST,
                                       [TRACE_SKIPPED] = 0,
                                       [TRACE_ACCESS] = 0};
    const uint8_t kind = begun_as[event->kind];
    call_request *found = event->request != 0 && kind != 0 ? find(all, event, kind) : NULL;
    return found || event->kind != TRACE_CANCELED ? found : find(all, event, TRACE_RECEIVE_POST);
}

static void note_end(const call_requests *all, const trace_location *location, size_t k)
{
    const trace_event *event = &location->events[k];
    call_request *its = begins(event) ? NULL : request_of(all, event);
    const bool is_part = event->kind == TRACE_READY || event->kind == TRACE_ARRIVED;
    if (its && is_part)
        its->last_part = (trace_point){location, k};
    if (!its || its->done.at || is_part)
        return;
    its->done = (trace_point){location, k};
    its->is_canceled = event->kind == TRACE_CANCELED;
}

void requests_find(call_requests *found, const trace_process *process)
{
    size_t room = 1;
    for (size_t i = 0; i < process->location_count; i++)
        for (size_t k = 0; k < process->locations[i].count; k++)
            room += begins(&process->locations[i].events[k]);
    *found = (call_requests){0, or_exit(malloc(room * sizeof(call_request)))};
    for (size_t i = 0; i < process->location_count; i++)
        for (size_t k = 0; k < process->locations[i].count; k++) {
            const trace_event *event = &process->locations[i].events[k];
            if (begins(event))
                found->list[found->count++] =
                    (call_request){.number = event->request, .kind = event->kind, .begun = {&process->locations[i], k}};
        }
    qsort(found->list, found->count, sizeof(call_request), compare_requests);
    for (size_t i = 0; i < process->location_count; i++)
        for (size_t k = 0; k < process->locations[i].count; k++)
            note_end(found, &process->locations[i], k);
}

void requests_free(call_requests *requests)
{
    free(requests->list);
    *requests = (call_requests){0, NULL};
}
