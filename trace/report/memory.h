/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.h - whether there is the memory that the report of a trace takes. */
#ifndef TRACE_MEMORY_H
#define TRACE_MEMORY_H

#include "trace/read/trace.h"

/*
 * memory_suffices - for what has so many events. False: it does not, and the message says how much the events take, and
 * that a part, or a shorter part, of the run can be reported. What or_exit says says so from then on, too.
 */
bool memory_suffices(const char *what, uint64_t events, const char *part, char message[TRACE_MESSAGE_SIZE]);

#endif
