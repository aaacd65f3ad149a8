/* SPDX-License-Identifier: BSD-3-Clause */
/* operations.h - which processes wait for which others in a collective operation. */
#ifndef TRACE_OPERATIONS_H
#define TRACE_OPERATIONS_H

#include "trace/read/trace.h"

/*
 * From WAIT_MEET on, nobody leaves before those whom it waits for have entered. Before WAIT_MEET, two processes may
 * have nothing for each other, so it depends on the counts and asserts.
 */
typedef enum {
    WAIT_UNKNOWN,
    WAIT_MAYBE, /* each process for those that send it something */
    WAIT_FENCE, /* all for all, but for those of which asserts say that they do not wait */
    WAIT_LOWER, /* each process for those with lower ranks */
    WAIT_MEET,  /* all for all */
    WAIT_ALL,   /* all that get something for all that give something */
    WAIT_FROM_ROOT,
    WAIT_TO_ROOT
} operation_wait;

/* Of a function by its name, in any of its forms: MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, MPI_Bcast_c. */
operation_wait operation_wait_of(const char *name);

/* From WAIT_MEET on, or WAIT_FENCE: whether others wait for the process at a place, and whether it waits for others. */
bool operation_gives(operation_wait kind, const trace_call *call, int place);
bool operation_gets(operation_wait kind, const trace_call *call, int place);

#endif
