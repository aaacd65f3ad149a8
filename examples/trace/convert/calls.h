/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calls.h - which call the events of a thread belong to.
 */
#ifndef TRACE_CONVERT_CALLS_H
#define TRACE_CONVERT_CALLS_H

#include "trace/trace.h"

#define CALL_NONE SIZE_MAX

/*
 * calls_find - find the other end of each call, and the call of each other event.
 *
 * Returns an array by position, which the caller frees: of an ENTER the position of its LEAVE, of a LEAVE that of its
 * ENTER, of any other event that of the ENTER of the innermost call it is in. CALL_NONE if there is none. NULL without
 * memory.
 */
size_t *calls_find(const trace_location *location);

#endif
