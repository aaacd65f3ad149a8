/* SPDX-License-Identifier: BSD-3-Clause */
/* messages.c - what is sent and received, by calls that wait and by those that begin a request. */
#include "trace/back.h"

int64_t mh_trace_bytes(int64_t count, MPI_Datatype type)
{
    int size = 0;
    if (count > 0 && type != MPI_DATATYPE_NULL)
        PMPI_Type_size(type, &size);
    return size > 0 ? count * size : 0;
}

/* ---- Sending */

void mh_trace_put_send(trace_call *call, const trace_request *message)
{
    if (!call->is_silent)
        mh_trace_put(call->thread, (trace_event){call->enter_ns, message->bytes_in, message->partner, message->tag,
                                                 message->number, message->comm, TRACE_SEND, 0});
}

void mh_trace_send(trace_call *call, int64_t count, MPI_Datatype type, int partner, int tag, MPI_Comm comm)
{
    if (partner != MPI_PROC_NULL && !call->is_silent)
        mh_trace_put(call->thread, (trace_event){call->enter_ns, (uint64_t)mh_trace_bytes(count, type), partner, tag, 0,
                                                 mh_trace_comm(comm)->id, TRACE_SEND, 0});
}

void mh_trace_isend(trace_call *call, int64_t count, MPI_Datatype type, int partner, int tag, MPI_Comm comm)
{
    trace_request *its = &call->started;
    if (partner == MPI_PROC_NULL)
        return;
    mh_trace_new_request(call, TRACE_SENDS);
    its->partner = partner;
    its->tag = tag;
    its->comm = mh_trace_comm(comm)->id;
    its->bytes_in = (uint64_t)mh_trace_bytes(count, type);
    mh_trace_put_send(call, its);
}

void mh_trace_send_init(trace_call *call, int64_t count, MPI_Datatype type, int partner, int tag, MPI_Comm comm)
{
    if (partner == MPI_PROC_NULL)
        return;
    call->started = (trace_request){.does = TRACE_SENDS,
                                    .is_persistent = true,
                                    .partner = partner,
                                    .tag = tag,
                                    .comm = mh_trace_comm(comm)->id,
                                    .bytes_in = (uint64_t)mh_trace_bytes(count, type)};
}

/* ---- Receiving */

void mh_trace_put_post(trace_call *call, uint32_t request, uint16_t comm, int partner, int tag)
{
    if (!call->is_silent)
        mh_trace_put(call->thread, (trace_event){call->enter_ns, 0, partner == MPI_ANY_SOURCE ? -1 : partner, tag,
                                                 request, comm, TRACE_RECEIVE_POST, 0});
}

void mh_trace_irecv(trace_call *call, int partner, int tag, MPI_Comm comm)
{
    trace_request *its = &call->started;
    if (partner == MPI_PROC_NULL)
        return;
    mh_trace_new_request(call, TRACE_RECEIVES);
    its->partner = partner;
    its->tag = tag;
    its->comm = mh_trace_comm(comm)->id;
    mh_trace_put_post(call, its->number, its->comm, partner, tag);
}

void mh_trace_recv_init(trace_call *call, int partner, int tag, MPI_Comm comm)
{
    if (partner == MPI_PROC_NULL)
        return;
    call->started = (trace_request){
        .does = TRACE_RECEIVES, .is_persistent = true, .partner = partner, .tag = tag, .comm = mh_trace_comm(comm)->id};
}

static uint64_t bytes_of(const MPI_Status *status)
{
    int count = 0;
    MPI_Count large = 0;
    if (PMPI_Get_count(status, MPI_BYTE, &count) == MPI_SUCCESS && count != MPI_UNDEFINED)
        return (uint64_t)count;
    return PMPI_Get_elements_x(status, MPI_BYTE, &large) == MPI_SUCCESS && large > 0 ? (uint64_t)large : 0;
}

void mh_trace_put_receive(trace_call *call, uint16_t comm, uint32_t request, const MPI_Status *status)
{
    if (status->MPI_SOURCE >= 0) /* else there was no message */
        mh_trace_put(call->thread, (trace_event){mh_trace_leave_ns(call), bytes_of(status), status->MPI_SOURCE,
                                                 status->MPI_TAG, request, comm, TRACE_RECEIVE, 0});
}

void mh_trace_receive(trace_call *call, int result, MPI_Comm comm, const MPI_Status *status)
{
    mh_trace_leave_ns(call);
    if (result == MPI_SUCCESS && !call->is_silent)
        mh_trace_put_receive(call, mh_trace_comm(comm)->id, 0, status);
}

/* ---- Messages that were found, which matches them, and are received later */

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
    if (*message != MPI_MESSAGE_NO_PROC)
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
    if (*message == MPI_MESSAGE_NO_PROC)
        return;
    const trace_request found = mh_trace_take_message(message);
    call->started = found;
    const uint32_t number = mh_trace_new_request(call, TRACE_RECEIVES);
    if (found.number == 0 || found.is_silent)
        mh_trace_put_post(call, number, found.comm, MPI_ANY_SOURCE, MPI_ANY_TAG);
}
