/* SPDX-License-Identifier: BSD-3-Clause */
/* operations.h - which processes wait for which others in a collective operation. */
#ifndef TRACE_OPERATIONS_H
#define TRACE_OPERATIONS_H

#include "trace/read/meanings.h"
#include "trace/read/trace.h"

/* Of a function by its name, in any of its forms: MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, MPI_Bcast_c. */
operation_wait operation_wait_of(const char *name);

/* From WAIT_MEET on, or WAIT_FENCE: whether others wait for the process at a place, and whether it waits for others. */
bool operation_gives(operation_wait kind, const trace_call *call, int place);
bool operation_gets(operation_wait kind, const trace_call *call, int place);

#endif
