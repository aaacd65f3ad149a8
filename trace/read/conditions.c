/* SPDX-License-Identifier: BSD-3-Clause */
/* conditions.c - list which event has to wait for which, and apply the controlled logical clock. */
#include "trace/read/conditions.h"

#include "common/cli/memory.h"
#include "trace/read/calls.h"
#include "trace/read/operations.h"

#include <math.h>

/* By how much a local interval may change beside a wait that was too short. */
#define RATIO 0.01

/* ---- Locations */

static void list_locations(const trace *of, conditions *found)
{
    found->location_count = of->location_count;
    found->locations = or_exit(malloc((found->location_count + 1) * sizeof *found->locations));
    found->first = or_exit(malloc((found->location_count + 1) * sizeof *found->first));
    for (trace_location *at = NULL; (at = trace_next_location(of, at));) {
        found->locations[at->index] = at;
        found->first[at->index] = found->event_count;
        found->event_count += at->count;
    }
    found->first[found->location_count] = found->event_count;
}

trace_point conditions_event(const conditions *of, size_t node)
{
    size_t low = 0, high = of->location_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (of->first[middle] <= node)
            low = middle;
        else
            high = middle;
    }
    return (trace_point){of->locations[low], node - of->first[low]};
}

/* ---- Rules */

static void add_member(conditions *to, trace_point of)
{
    to->members = grow_or_exit(to->members, to->member_count, sizeof *to->members);
    to->members[to->member_count++] = (logical_member){to->first[of.at->index] + of.event, of.at->rank};
}

/* A rule that begins with these members; without any of a side it says nothing. */
static void add_rule(conditions *to, size_t before, size_t after, uint16_t function)
{
    if (before == after || after == to->member_count) {
        to->member_count = before;
        return;
    }
    to->functions = grow_or_exit(to->functions, to->rule_count, sizeof *to->functions);
    to->rules = grow_or_exit(to->rules, to->rule_count, sizeof *to->rules);
    to->functions[to->rule_count] = function;
    to->rules[to->rule_count++] = (logical_rule){before, after, to->member_count};
}

static void add_message(conditions *to, const trace_message *message)
{
    const size_t before = to->member_count;
    const trace_point send = message->send;
    if (send.at->rank == message->receive.at->rank || send.at->events[send.event].tag == TRACE_TAG_POST)
        return;
    add_member(to, call_entered(send));
    add_member(to, message->receive);
    add_rule(to, before, before + 1, 0);
}

static void add_call(const trace *of, conditions *to, const trace_call *call)
{
    const operation_wait kind = operation_wait_of(of->names[call->function]);
    for (int part = 0; kind >= WAIT_MEET && part < operation_groups(call); part++) {
        const size_t before = to->member_count;
        for (int i = 0; i < call->count; i++)
            if (operation_gives(kind, call, i, part))
                add_member(to, call->parts[i].enter);
        const size_t after = to->member_count;
        for (int i = 0; i < call->count; i++)
            if (operation_gets(kind, call, i, part))
                add_member(to, call->parts[i].leave);
        add_rule(to, before, after, call->function);
    }
}

/* One thread may begin a request, and another one see its end. */
static void add_requests(conditions *to, const trace_process *process)
{
    call_requests requests;
    if (process->location_count < 2)
        return;
    requests_find(&requests, process);
    for (const call_request *its = requests.list; its < requests.list + requests.count; its++) {
        const size_t before = to->member_count;
        if (!its->done.at || its->done.at == its->begun.at)
            continue;
        add_member(to, its->begun);
        add_member(to, its->done);
        add_rule(to, before, before + 1, 0);
    }
    requests_free(&requests);
}

void conditions_find(const trace *of, const trace_matches *matches, conditions *found)
{
    *found = (conditions){.location_count = 0};
    list_locations(of, found);
    for (size_t i = 0; i < matches->message_count; i++)
        add_message(found, &matches->messages[i]);
    for (size_t i = 0; i < matches->call_count; i++)
        add_call(of, found, &matches->calls[i]);
    for (int rank = 0; rank < of->size; rank++)
        add_requests(found, &of->processes[rank]);
}

void conditions_free(conditions *found)
{
    free(found->locations);
    free(found->first);
    free(found->rules);
    free(found->functions);
    free(found->members);
    *found = (conditions){.location_count = 0};
}

/* ---- Times */

void conditions_times(const conditions *of, int64_t *time_ns)
{
    for (size_t i = 0; i < of->location_count; i++)
        for (size_t k = 0; k < of->locations[i]->count; k++)
            time_ns[of->first[i] + k] = (int64_t)floor(of->locations[i]->global_ns[k]);
}

/* What ends a call, or stands before its end and is of the same time. */
static bool ends_call(const trace_event *event)
{
    return event->kind == TRACE_LEAVE || event->kind == TRACE_RECEIVE || event->kind == TRACE_SEND_DONE ||
           event->kind == TRACE_CANCELED || event->kind == TRACE_COLLECTIVE_DONE || event->kind == TRACE_DROPPED ||
           event->kind == TRACE_ARRIVED || event->kind == TRACE_ACCESS ||
           (event->kind == TRACE_COLLECTIVE && event->request == 0);
}

static bool begins_node(const trace_location *location, size_t k)
{
    if (k == 0)
        return true;
    const trace_event *event = &location->events[k], *last = event - 1;
    if (event->time_ns != last->time_ns || event->kind == TRACE_ENTER || last->kind == TRACE_LEAVE)
        return true;
    return event->kind != TRACE_COLLECTIVE_OUT && ends_call(event) &&
           !(ends_call(last) || last->kind == TRACE_COLLECTIVE_OUT);
}

/* A problem whose nodes are the events of one time in a call. */
typedef struct {
    size_t *node, *first;
    int64_t *time_ns;
    logical_member *members;
} grouped;

static void group(const conditions *of, const int64_t *time_ns, grouped *to)
{
    size_t count = 0;
    for (size_t i = 0; i < of->location_count; i++) {
        to->first[i] = count;
        for (size_t k = 0; k < of->locations[i]->count; k++) {
            if (begins_node(of->locations[i], k))
                to->time_ns[count++] = time_ns[of->first[i] + k];
            to->node[of->first[i] + k] = count - 1;
        }
    }
    to->first[of->location_count] = count;
    for (size_t i = 0; i < of->member_count; i++)
        to->members[i] = (logical_member){to->node[of->members[i].node], of->members[i].rank};
}

bool conditions_correct(const conditions *of, int64_t latency_ns, int64_t *time_ns)
{
    grouped by = {
        array_or_exit(of->event_count, sizeof *by.node), array_or_exit(of->location_count + 1, sizeof *by.first),
        array_or_exit(of->event_count, sizeof *by.time_ns), array_or_exit(of->member_count, sizeof *by.members)};
    group(of, time_ns, &by);
    const logical_problem problem = {.location_count = of->location_count,
                                     .first = by.first,
                                     .time_ns = by.time_ns,
                                     .rule_count = of->rule_count,
                                     .rules = of->rules,
                                     .members = by.members,
                                     .latency_ns = latency_ns};
    const bool is_good = logical_clock(&problem, RATIO);
    for (size_t i = 0; is_good && i < of->event_count; i++)
        time_ns[i] = by.time_ns[by.node[i]];
    free(by.node);
    free(by.first);
    free(by.time_ns);
    free(by.members);
    return is_good;
}
