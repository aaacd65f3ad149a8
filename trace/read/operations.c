/* SPDX-License-Identifier: BSD-3-Clause */
/* operations.c - what processes do in collective operations. */
#include "trace/read/operations.h"

#include "trace/read/calls.h"

operation_wait operation_wait_of(const char *name)
{
    const meaning *found = meaning_of(name);
    return found ? found->wait : WAIT_UNKNOWN;
}

static bool is_of_all(operation_wait kind)
{
    return kind == WAIT_MEET || kind == WAIT_FENCE;
}

static bool is_of_group(const trace_call *call, int place, int group)
{
    return call->first_group == 0 || (place >= call->first_group) == group;
}

bool operation_gives(operation_wait kind, const trace_call *call, int place, int group)
{
    const trace_part *part = &call->parts[place];
    if (call->first_group > 0 && is_of_group(call, place, group))
        return false;
    return (kind != WAIT_FROM_ROOT || place == call->root) &&
           (is_of_all(kind) || part->enter.at->events[part->record].value > 0);
}

bool operation_gets(operation_wait kind, const trace_call *call, int place, int group)
{
    const trace_event *out = call_out(call->parts[place].enter.at, call->parts[place].record);
    return is_of_group(call, place, group) && (kind != WAIT_TO_ROOT || place == call->root) &&
           (kind != WAIT_FROM_ROOT || place != call->root) && (is_of_all(kind) || !out || out->value > 0);
}
