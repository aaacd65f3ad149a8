/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calls.h - which call the events of a thread belong to, and which events belong to a request.
 */
#ifndef TRACE_CALLS_H
#define TRACE_CALLS_H

#include "trace/read/trace.h"

#define CALL_NONE UINT32_MAX

/*
 * calls_find - find the other end of each call, and the call of each other event: location->calls has, of an ENTER, the
 * position of its LEAVE, of a LEAVE that of its ENTER, of any other event that of the ENTER of the innermost call it is
 * in. CALL_NONE if there is none. trace_read does this.
 */
void calls_find(trace_location *location);

/* Where a send begins: its event may come after those of calls in callbacks. */
static inline trace_point call_entered(trace_point of)
{
    const uint32_t enter = of.at->calls[of.event];
    return enter == CALL_NONE ? of : (trace_point){of.at, enter};
}

/* A request: where it began, and where it was seen to be complete, which may be another thread. */
typedef struct {
    uint32_t number;
    uint8_t kind; /* of its first event: TRACE_SEND, TRACE_RECEIVE_POST or TRACE_COLLECTIVE */
    bool is_canceled;
    trace_point begun, done; /* done.at: NULL if it was never complete */
    trace_point last_part;   /* its last READY, or ARRIVED; at NULL: there is none */
} call_request;

/* The requests of a process, by number and kind. */
typedef struct {
    size_t count;
    call_request *list;
} call_requests;

/* requests_find - find those of a process; to be freed. */
void requests_find(call_requests *found, const trace_process *process);
void requests_free(call_requests *requests);

/* request_of - the request that an event began or completed; NULL if there is none. */
call_request *request_of(const call_requests *all, const trace_event *event);

/* The COLLECTIVE_OUT of a COLLECTIVE; NULL if there is none. */
const trace_event *call_out(const trace_location *location, size_t record);

/* The operation of a COLLECTIVE in a call that begins at `enter`: of a persistent request, the one that made it. */
uint16_t call_operation(const trace_location *location, size_t enter, size_t record);

/* The length of a function's name without the endings of its forms: MPI_Bcast of MPI_Bcast_c and MPI_Bcast_init_c. */
size_t call_name_length(const char *name);

/* The part of trace_match that finds messages. */
void trace_match_messages(const trace *of, trace_matches *matches);

#endif
