/* SPDX-License-Identifier: BSD-3-Clause */
/* accesses.c - what goes to and from windows and files, and the calls of passive targets: locks, unlocks, flushes. */
#include "trace/record/buffer.h"
#include "trace/record/communicators.h"
#include "trace/record/messages.h"

static void put(trace_call *call, trace_access mode, int64_t bytes, int target, const trace_known_comm *of)
{
    mh_trace_put(call->thread, (trace_event){call->leave_ns, (uint64_t)bytes, target < 0 ? -1 : target, 0, 0, of->id,
                                             TRACE_ACCESS, (uint8_t)mode});
}

/* Handles are good only if MPI took them. MPI_ANY_SOURCE are all targets. */
static bool is_recorded(const trace_call *call, int result, int target)
{
    return !call->is_silent && result == MPI_SUCCESS && target != MPI_PROC_NULL;
}

void mh_trace_transfer(trace_call *call, int result, trace_access mode, int64_t count, MPI_Datatype type, int target,
                       MPI_Win window)
{
    if (is_recorded(call, result, target))
        put(call, mode, mh_trace_bytes(count, type), target, mh_trace_window(window));
}

/* In the back, as MPI_NO_OP may be an object of the MPI library, without which the front has to be loaded. */
void mh_trace_update(trace_call *call, int result, MPI_Op op, int64_t count, MPI_Datatype type, int target,
                     MPI_Win window)
{
    mh_trace_transfer(call, result, TRACE_UPDATE, count, type, op == MPI_NO_OP ? MPI_PROC_NULL : target, window);
}

void mh_trace_transfer_file(trace_call *call, int result, trace_access mode, int64_t count, MPI_Datatype type,
                            MPI_File file)
{
    if (is_recorded(call, result, MPI_ANY_SOURCE))
        put(call, mode, mh_trace_bytes(count, type), MPI_ANY_SOURCE, mh_trace_file(file));
}

void mh_trace_synchronize(trace_call *call, int result, trace_access mode, int target, MPI_Win window)
{
    if (is_recorded(call, result, target))
        put(call, mode, 0, target, mh_trace_window(window));
}
