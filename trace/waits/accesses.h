/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * accesses.h - the dependencies of calls that access windows, or complete what was begun before, which dependencies_add
 * adds, too. MPI says for whom they may wait, but not in which of several calls: the times of the trace show it.
 */
#ifndef TRACE_ACCESSES_H
#define TRACE_ACCESSES_H

#include "trace/waits/graph.h"

/* On processes that have a lock, which others ask for. */
void locks_add(graph *to);

/* On targets that do nothing for an access before they call MPI. What is left of a call is the access itself. */
void progress_add(graph *to);

/* On processes that compute before they complete a message or an operation, which does not go on before that. */
void overlaps_add(graph *to, const trace_matches *matches);

/* The window, or file, of an ACCESS; NULL: it is not known. */
static inline const trace_communicator *access_window(const trace_process *process, const trace_event *event)
{
    return event->id != TRACE_NO_COMM ? &process->communicators[event->id] : NULL;
}

static inline bool access_is_lock(const trace_event *event)
{
    return event->mode == TRACE_LOCK_SHARED || event->mode == TRACE_LOCK_EXCLUSIVE;
}

/* Whether windows of two processes are the same: 0. Else an order. */
static inline int access_compare_windows(const trace_communicator *a, const trace_communicator *b)
{
    if (a->lowest != b->lowest)
        return a->lowest < b->lowest ? -1 : 1;
    return (a->context > b->context) - (a->context < b->context);
}

/* Targets are ranks of the window, or below 0: all. */
static inline bool access_has_target(int of, int target)
{
    return of == target || of < 0 || target < 0;
}

#endif
