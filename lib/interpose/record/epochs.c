/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * epochs.c - MPI_Win_post and MPI_Win_start, to MPI_Win_wait and MPI_Win_complete. What a process thereby tells others
 * is recorded as signals; see trace_format.h.
 */
#include "interpose/record/calls.h"
#include "interpose/record/communicators.h"
#include "interpose/record/messages.h"

#include <stdlib.h>

/* The processes at the other end, by their ranks in the window. */
struct trace_epoch {
    uint32_t request; /* of MPI_Win_start */
    int count;
    int ranks[];
};

/* NULL if there is no memory. */
static trace_epoch *make(MPI_Group group, MPI_Win window)
{
    MPI_Group all;
    int count = 0;
    PMPI_Group_size(group, &count);
    trace_epoch *made = malloc(sizeof *made + (size_t)count * sizeof made->ranks[0]);
    int *own = malloc((size_t)count * sizeof *own + 1);
    if (made && own) {
        *made = (trace_epoch){.count = count};
        for (int i = 0; i < count; i++)
            own[i] = i;
        PMPI_Win_get_group(window, &all);
        PMPI_Group_translate_ranks(group, count, own, all, made->ranks);
        PMPI_Group_free(&all);
    } else {
        free(made);
        made = NULL;
    }
    free(own);
    return made;
}

static void put(trace_call *call, int64_t time_ns, const trace_known_comm *window, const trace_epoch *epoch,
                trace_event_kind kind, int32_t tag)
{
    const uint32_t request = kind == TRACE_RECEIVE ? epoch->request : 0;
    for (int i = 0; !call->is_silent && i < epoch->count; i++)
        mh_trace_put(call->thread,
                     (trace_event){time_ns, 0, epoch->ranks[i], tag, request, window->id, (uint8_t)kind, 0});
}

static void end(trace_epoch **epoch)
{
    free(*epoch);
    *epoch = NULL;
}

/* Returns whether it began. */
static bool begin(trace_call *call, int result, trace_epoch **epoch, MPI_Group group, MPI_Win window)
{
    mh_trace_leave_ns(call);
    if (result != MPI_SUCCESS || mh_trace_window(window)->id == TRACE_NO_COMM)
        return false;
    end(epoch);
    *epoch = make(group, window);
    return *epoch;
}

void mh_trace_post(trace_call *call, int result, MPI_Group group, MPI_Win window)
{
    trace_known_comm *known = mh_trace_window(window);
    if (begin(call, result, &known->exposed, group, window))
        put(call, call->enter_ns, known, known->exposed, TRACE_SEND, TRACE_TAG_POST);
}

/* MPI_Win_start or MPI_Win_complete waits for the targets. The times in the trace show which one. */
void mh_trace_access(trace_call *call, int result, MPI_Group group, MPI_Win window)
{
    trace_known_comm *known = mh_trace_window(window);
    if (!begin(call, result, &known->accessed, group, window))
        return;
    known->accessed->request = mh_trace_new_request(call, 0);
    mh_trace_put_post(call, known->accessed->request, known->id, MPI_ANY_SOURCE, TRACE_TAG_POST);
}

void mh_trace_accessed(trace_call *call, int result, MPI_Win window)
{
    trace_known_comm *known = mh_trace_window(window);
    const int64_t leave_ns = mh_trace_leave_ns(call);
    if (result != MPI_SUCCESS || !known->accessed)
        return;
    put(call, call->enter_ns, known, known->accessed, TRACE_SEND, TRACE_TAG_COMPLETE);
    put(call, leave_ns, known, known->accessed, TRACE_RECEIVE, TRACE_TAG_POST);
    end(&known->accessed);
}

void mh_trace_exposed(trace_call *call, int result, int is_done, MPI_Win window)
{
    trace_known_comm *known = mh_trace_window(window);
    mh_trace_tried(call, result, is_done);
    if (result != MPI_SUCCESS || !is_done || !known->exposed)
        return;
    put(call, mh_trace_leave_ns(call), known, known->exposed, TRACE_RECEIVE, TRACE_TAG_COMPLETE);
    end(&known->exposed);
}
