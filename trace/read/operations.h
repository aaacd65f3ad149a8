/* SPDX-License-Identifier: BSD-3-Clause */
/* operations.h - which processes wait for which others in a collective operation. */
#ifndef TRACE_OPERATIONS_H
#define TRACE_OPERATIONS_H

#include "trace/read/meanings.h"
#include "trace/read/trace.h"

/* Of a function by its name, in any of its forms: MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, MPI_Bcast_c. */
operation_wait operation_wait_of(const char *name);

/*
 * From WAIT_MEET on, or WAIT_FENCE: whether those of a group wait for the process at a place, and whether it is one of
 * them that waits. In an intercommunicator, each of both groups waits for the other one; else there is one group.
 */
bool operation_gives(operation_wait kind, const trace_call *call, int place, int group);
bool operation_gets(operation_wait kind, const trace_call *call, int place, int group);

static inline int operation_groups(const trace_call *call)
{
    return call->first_group > 0 ? 2 : 1;
}

#endif
