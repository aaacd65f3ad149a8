/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * epochs.c - MPI_Win_post and MPI_Win_start, to MPI_Win_wait and MPI_Win_complete. What a process thereby tells others
 * is recorded as signals; see trace_format.h.
 */
#include "trace/record/calls.h"
#include "trace/record/communicators.h"
#include "trace/record/messages.h"

#include <stdlib.h>

/* Those that are left out count, as messages do. */
static void put(trace_call *call, int64_t time_ns, const trace_known_comm *window, const trace_epoch *epoch,
                trace_event_kind kind, int32_t tag)
{
    const trace_way way = kind == TRACE_SEND ? TRACE_WAY_SENT : TRACE_WAY_RECEIVED;
    const uint32_t request = kind == TRACE_RECEIVE ? epoch->request : 0;
    for (int i = 0; i < epoch->count; i++) {
        const int rank = epoch->ranks[i];
        if (call->is_silent) {
            mh_trace_skip(call, way, rank, tag, window->id);
            continue;
        }
        mh_trace_put_skipped(call, time_ns, way, rank, tag, window->id, request);
        mh_trace_put(call->thread, (trace_event){time_ns, 0, rank, tag, request, window->id, (uint8_t)kind, 0});
    }
}

static void end(trace_epoch *epoch)
{
    free(epoch->ranks);
    *epoch = (trace_epoch){0};
}

/* Returns whether it began. */
static bool begin(int result, trace_epoch *epoch, MPI_Group group, MPI_Win window)
{
    MPI_Group all;
    if (result != MPI_SUCCESS || mh_trace_window(window)->id == TRACE_NO_COMM)
        return false;
    end(epoch);
    PMPI_Win_get_group(window, &all);
    epoch->ranks = mh_interpose_ranks(group, all, &epoch->count);
    PMPI_Group_free(&all);
    epoch->count = epoch->ranks ? epoch->count : 0;
    return epoch->ranks;
}

void mh_trace_post(trace_call *call, int result, MPI_Group group, MPI_Win window)
{
    trace_known_comm *known = mh_trace_window(window);
    if (begin(result, &known->exposed, group, window))
        put(call, call->enter_ns, known, &known->exposed, TRACE_SEND, TRACE_TAG_POST);
}

/* MPI_Win_start or MPI_Win_complete waits for the targets. The times in the trace show which one. */
void mh_trace_access(trace_call *call, int result, MPI_Group group, MPI_Win window)
{
    trace_known_comm *known = mh_trace_window(window);
    trace_request all = {.comm = known->id, .partner = MPI_ANY_SOURCE, .tag = TRACE_TAG_POST};
    if (!begin(result, &known->accessed, group, window))
        return;
    mh_trace_begin_receive(call, &all);
    known->accessed.request = all.number;
}

void mh_trace_accessed(trace_call *call, int result, MPI_Win window)
{
    trace_known_comm *known = mh_trace_window(window);
    if (result != MPI_SUCCESS)
        return;
    put(call, call->enter_ns, known, &known->accessed, TRACE_SEND, TRACE_TAG_COMPLETE);
    put(call, call->leave_ns, known, &known->accessed, TRACE_RECEIVE, TRACE_TAG_POST);
    end(&known->accessed);
}

void mh_trace_exposed(trace_call *call, int result, int is_done, MPI_Win window)
{
    trace_known_comm *known = mh_trace_window(window);
    mh_trace_tried(call, result, is_done);
    if (result != MPI_SUCCESS || !is_done)
        return;
    put(call, call->leave_ns, known, &known->exposed, TRACE_RECEIVE, TRACE_TAG_COMPLETE);
    end(&known->exposed);
}
