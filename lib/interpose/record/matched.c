/* SPDX-License-Identifier: BSD-3-Clause */
/* matched.c - messages that were found, which matches them, and are received later: MPI_Mprobe and its like. */
#include "interpose/record/calls.h"
#include "interpose/record/communicators.h"
#include "interpose/record/messages.h"
#include "interpose/record/requests.h"

void mh_trace_probed(trace_call *call, int result, int found, int partner, int tag, MPI_Comm comm,
                     const MPI_Message *message)
{
    mh_trace_tried(call, result, found);
    if (result != MPI_SUCCESS || !found || *message == MPI_MESSAGE_NO_PROC)
        return;
    call->started = (trace_request){.comm = mh_trace_comm(comm)->id};
    mh_trace_put_post(call, mh_trace_new_request(call, TRACE_RECEIVES), call->started.comm, partner, tag);
    mh_trace_keep_message(&call->started, message);
}

void mh_trace_take(trace_call *call, const MPI_Message *message)
{
    if (message && *message != MPI_MESSAGE_NO_PROC)
        call->started = mh_trace_take_message(message);
}

void mh_trace_receive_taken(trace_call *call, int result, const MPI_Status *status)
{
    mh_trace_leave_ns(call);
    if (result == MPI_SUCCESS && !call->is_silent)
        mh_trace_put_receive(call, call->started.comm, call->started.is_silent ? 0 : call->started.number, status);
}

void mh_trace_irecv_taken(trace_call *call, const MPI_Message *message)
{
    if (!message || *message == MPI_MESSAGE_NO_PROC)
        return;
    const trace_request found = mh_trace_take_message(message);
    call->started = found;
    const uint32_t number = mh_trace_new_request(call, TRACE_RECEIVES);
    if (found.number == 0 || found.is_silent)
        mh_trace_put_post(call, number, found.comm, MPI_ANY_SOURCE, MPI_ANY_TAG);
}
