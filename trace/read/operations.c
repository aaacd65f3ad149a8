/* SPDX-License-Identifier: BSD-3-Clause */
/* operations.c - the table of collective operations. */
#include "trace/read/operations.h"

#include "trace/read/calls.h"

#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    operation_wait wait;
} operations[] = {
    {"Barrier", WAIT_MEET},    {"Allreduce", WAIT_ALL},      {"Allgather", WAIT_ALL},
    {"Allgatherv", WAIT_ALL},  {"Alltoall", WAIT_ALL},       {"Alltoallv", WAIT_MAYBE},
    {"Alltoallw", WAIT_MAYBE}, {"Reduce_scatter", WAIT_ALL}, {"Reduce_scatter_block", WAIT_ALL},
    {"Bcast", WAIT_FROM_ROOT}, {"Scatter", WAIT_FROM_ROOT},  {"Scatterv", WAIT_FROM_ROOT},
    {"Reduce", WAIT_TO_ROOT},  {"Gather", WAIT_TO_ROOT},     {"Gatherv", WAIT_TO_ROOT},
    {"Scan", WAIT_LOWER},      {"Exscan", WAIT_LOWER},       {"Win_fence", WAIT_FENCE},
};

operation_wait operation_wait_of(const char *name)
{
    if (strncmp(name, "MPI_", 4) != 0)
        return WAIT_UNKNOWN;
    size_t length = call_name_length(name) - 4;
    name += 4;
    if (name[0] == 'I')
        name++, length--;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (length == strlen(operations[i].name) && strncasecmp(name, operations[i].name, length) == 0)
            return operations[i].wait;
    return WAIT_UNKNOWN;
}

static bool is_of_all(operation_wait kind)
{
    return kind == WAIT_MEET || kind == WAIT_FENCE;
}

bool operation_gives(operation_wait kind, const trace_call *call, int place)
{
    const trace_part *part = &call->parts[place];
    return (kind != WAIT_FROM_ROOT || place == call->root) &&
           (is_of_all(kind) || part->enter.at->events[part->record].value > 0);
}

bool operation_gets(operation_wait kind, const trace_call *call, int place)
{
    const trace_event *out = call_out(call->parts[place].enter.at, call->parts[place].record);
    return (kind != WAIT_TO_ROOT || place == call->root) && (kind != WAIT_FROM_ROOT || place != call->root) &&
           (is_of_all(kind) || !out || out->value > 0);
}
