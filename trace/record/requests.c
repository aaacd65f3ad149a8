/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * requests.c - from the call that begins a request, or finds a message, to the one that completes it.
 *
 * MPI libraries have a handle that stands for many requests which are complete already. It is kept once, or once by
 * each thread that waits; a request that is begun while its handle is kept is recorded as complete in the call that
 * began it. No such handle is of a receive.
 *
 * MPI frees a handle within the call that completes the request, and may give it to another thread before that call
 * returns. So where there are threads, a call that may complete requests hides them, and shows those that are not
 * complete again.
 */
#include "trace/back/twin.h"
#include "trace/record/calls.h"
#include "trace/record/collectives.h"
#include "trace/record/communicators.h"
#include "trace/record/messages.h"
#include "trace/record/requests.h"
#include "trace/record/table.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKET_BITS = 13, MIN_ROOM = 256 };

static trace_table table = TRACE_TABLE(BUCKET_BITS);
static trace_request kept[TRACE_SLOTS(BUCKET_BITS)];

/* Of a message and a request: they may be the same number. */
static uint64_t request_key(MPI_Request request)
{
    return (uint64_t)(uintptr_t)request << 2 | 1;
}

static uint64_t message_key(MPI_Message message)
{
    return (uint64_t)(uintptr_t)message << 2 | 2;
}

static trace_request *find(MPI_Request request)
{
    int64_t slot = request == MPI_REQUEST_NULL ? TRACE_ABSENT : mh_trace_find(&table, request_key(request));
    return slot >= 0 ? &kept[slot] : NULL;
}

static void put(trace_call *call, const trace_request *its, uint8_t kind)
{
    if (call->is_silent || its->is_silent)
        return;
    mh_trace_put(call->thread, (trace_event){call->leave_ns, 0, -1, 0, its->number, its->comm, kind, 0});
}

/* MPICH 4.0 sets no status for MPI_Isendrecv: then it is of an earlier request. */
static bool is_foreign(const trace_request *its, const MPI_Status *status)
{
    bool is_other_partner = its->partner != MPI_ANY_SOURCE && its->partner != status->MPI_SOURCE;
    bool is_other_tag = its->tag != MPI_ANY_TAG && its->tag != status->MPI_TAG;
    return its->does & TRACE_SENDS && (is_other_partner || is_other_tag);
}

/* A receive from one partner with one tag is known without a status, but for its bytes. */
static void put_untold_receive(const trace_call *call, const trace_request *its)
{
    mh_trace_put(call->thread, (trace_event){.time_ns = call->leave_ns,
                                             .partner = its->partner,
                                             .tag = its->tag,
                                             .request = its->number,
                                             .id = its->comm,
                                             .kind = TRACE_RECEIVE});
}

/* One that takes any message counts as one of those of its kind when it is known. */
static void put_receive(trace_call *call, const trace_request *its, const MPI_Status *status)
{
    const bool counts = mh_trace_takes_any(its) && status->MPI_SOURCE >= 0 && its->mode != TRACE_PARTITIONED;
    if (call->is_silent || its->is_silent) {
        if (counts)
            mh_trace_skip(call, TRACE_WAY_RECEIVED, status->MPI_SOURCE, status->MPI_TAG, its->comm);
        return;
    }
    if (counts)
        mh_trace_put_skipped(call, call->leave_ns, TRACE_WAY_RECEIVED, status->MPI_SOURCE, status->MPI_TAG, its->comm,
                             its->number);
    mh_trace_put_receive(call, its->comm, its->number, status);
}

/* status: NULL if there is none. */
static void put_completion(trace_call *call, const trace_request *its, const MPI_Status *status)
{
    const bool is_receive = its->does & TRACE_RECEIVES && status && !is_foreign(its, status);
    int is_canceled = 0;
    if ((call->is_silent || its->is_silent) && !is_receive)
        return;
    mh_trace_record_enter(call);
    if (its->is_canceled && status)
        PMPI_Test_cancelled(status, &is_canceled);
    if (is_canceled) {
        put(call, its, TRACE_CANCELED);
        return;
    }
    if (its->does & TRACE_SENDS)
        put(call, its, TRACE_SEND_DONE);
    if (is_receive)
        put_receive(call, its, status);
    else if (its->does & TRACE_RECEIVES && status && its->partner >= 0 && its->tag >= 0)
        put_untold_receive(call, its);
    if (its->does & TRACE_COLLECTS)
        put(call, its, TRACE_COLLECTIVE_DONE);
}

/* Returns TRACE_PRESENT if there is one with this key. A receive takes its place: how that one ended was not seen. */
static int64_t keep(uint64_t key, const trace_request *its)
{
    int64_t slot = mh_trace_reserve(&table, key);
    if (slot == TRACE_PRESENT && its->does & TRACE_RECEIVES)
        slot = mh_trace_find(&table, key);
    /* Other threads have hidden the handle that stands for many requests. */
    if (slot == TRACE_ABSENT && !(its->does & TRACE_RECEIVES) && mh_trace_find_any(&table, key) >= 0)
        slot = TRACE_PRESENT;
    if (slot < 0)
        return slot;
    kept[slot] = *its;
    mh_trace_publish(&table, slot, key);
    return slot;
}

void mh_trace_keep(trace_call *call, int result, MPI_Request request)
{
    const trace_request *its = &call->started;
    if (result == MPI_SUCCESS && its->does != 0 && request != MPI_REQUEST_NULL &&
        keep(request_key(request), its) == TRACE_PRESENT)
        put_completion(call, its, NULL);
}

/* ---- Messages that were found, which matches them, and are received later: MPI_Mprobe and its like */

void mh_trace_probed(trace_call *call, int result, int found, int partner, int tag, MPI_Comm comm, MPI_Message message)
{
    mh_trace_tried(call, result, found);
    if (result != MPI_SUCCESS || !found || message == MPI_MESSAGE_NO_PROC)
        return;
    if (call->is_silent) /* it counts when it is received, which may be recorded */
        call->started = (trace_request){
            .does = TRACE_RECEIVES, .comm = mh_trace_comm(comm)->id, .partner = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG};
    else
        mh_trace_irecv(call, result, partner, tag, comm);
    keep(message_key(message), &call->started);
}

void mh_trace_take(trace_call *call, MPI_Message message)
{
    const int64_t slot = mh_trace_find(&table, message_key(message));
    call->started =
        (trace_request){.does = TRACE_RECEIVES, .comm = TRACE_NO_COMM, .partner = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG};
    if (slot < 0)
        return;
    call->started = kept[slot];
    mh_trace_remove(&table, slot);
}

void mh_trace_receive_taken(trace_call *call, int result, const MPI_Status *status)
{
    if (mh_trace_has_come(result))
        put_receive(call, &call->started, status);
}

void mh_trace_irecv_taken(trace_call *call, MPI_Message message)
{
    if (!message || message == MPI_MESSAGE_NO_PROC)
        return;
    mh_trace_take(call, message);
    if (call->started.number == 0 || call->started.is_silent)
        mh_trace_begin_receive(call, &call->started);
    call->started.is_silent = call->is_silent;
}

/* ---- Persistent requests */

void mh_trace_start(trace_call *call, int count, const MPI_Request *requests)
{
    for (int i = 0; requests && i < count; i++) {
        trace_request *its = find(requests[i]);
        if (!its)
            continue;
        its->number = 0;
        its->is_canceled = false;
        if (its->does & TRACE_COLLECTS)
            mh_trace_start_collective(call, its);
        else if (its->does & TRACE_SENDS)
            mh_trace_begin_send(call, its);
        else
            mh_trace_begin_receive(call, its);
    }
}

void mh_trace_ready(trace_call *call, int result, MPI_Request request)
{
    const trace_request *its = find(request);
    if (result == MPI_SUCCESS && its && its->number != 0 && !call->is_silent && !its->is_silent)
        mh_trace_put(call->thread, (trace_event){call->enter_ns, 0, -1, 0, its->number, its->comm, TRACE_READY, 0});
}

void mh_trace_arrived(trace_call *call, int result, int is_there, MPI_Request request)
{
    const trace_request *its = find(request);
    mh_trace_tried(call, result, is_there);
    if (result == MPI_SUCCESS && is_there && its && its->number != 0 && !call->is_silent && !its->is_silent)
        put(call, its, TRACE_ARRIVED);
}

void mh_trace_cancel(MPI_Request request)
{
    /* Another thread may be waiting for it. */
    int64_t slot = mh_trace_find_any(&table, request_key(request));
    if (slot >= 0)
        kept[slot].is_canceled = true;
}

void mh_trace_forget(MPI_Request request)
{
    trace_request *its = find(request);
    if (its)
        mh_trace_remove(&table, its - kept);
}

__attribute__((no_sanitize("thread"))) void mh_trace_tell_request(uintptr_t handle, trace_now *now)
{
    const int64_t slot = mh_trace_find_any(&table, request_key((MPI_Request)handle));
    if (slot < 0)
        return;
    now->request = kept[slot].number;
    now->comm = kept[slot].comm;
    now->partner = kept[slot].partner < 0 ? -1 : kept[slot].partner;
}

/* ---- Completion */

/* All three in one piece of memory, by falling alignment. */
static bool enlarge(trace_room *room, int64_t count)
{
    const size_t size = (size_t)(count < MIN_ROOM ? MIN_ROOM : count);
    free(room->slots);
    room->slots = malloc(size * (sizeof *room->slots + sizeof *room->requests + sizeof *room->statuses));
    room->requests = (MPI_Request *)(room->slots + size);
    room->statuses = (MPI_Status *)(room->requests + size);
    room->size = room->slots ? (int64_t)size : 0;
    return room->slots;
}

/* A call that was left by a jump needs its room no more. NULL: there is no memory, or too many calls are in others. */
static trace_room *take_room(const trace_call *call, int64_t count)
{
    int depth = 0;
    for (const trace_call *outer = call->outer; outer; outer = outer->outer)
        depth++;
    trace_room *room = depth < TRACE_DEPTH ? &call->thread->rooms[depth] : NULL;
    return room && (count <= room->size || enlarge(room, count)) ? room : NULL;
}

static void hide_all(trace_call *call, int64_t *slots)
{
    if (!mh_has_threads)
        return;
    call->slots = slots;
    for (int64_t i = 0; i < call->watched_count; i++)
        slots[i] =
            call->watched[i] == MPI_REQUEST_NULL ? TRACE_ABSENT : mh_trace_hide(&table, request_key(call->watched[i]));
}

/* Those that are not complete. */
static void show_rest(const trace_call *call)
{
    for (int64_t i = 0; call->slots && i < call->watched_count; i++)
        if (call->slots[i] >= 0)
            mh_trace_show(&table, call->slots[i]);
}

static trace_request *find_watched(const trace_call *call, int64_t index)
{
    if (index < 0 || index >= call->watched_count)
        return NULL;
    if (!call->slots)
        return find(call->watched[index]);
    return call->slots[index] >= 0 ? &kept[call->slots[index]] : NULL;
}

MPI_Status *mh_trace_watch(trace_call *call, int64_t count, const MPI_Request *requests, MPI_Status *statuses)
{
    call->watched = NULL;
    call->handles = requests;
    call->watched_count = count;
    call->slots = NULL;
    if (count == 1 && requests) {
        call->one = requests[0];
        call->watched = &call->one;
        if (call->doing)
            call->doing->request = (uintptr_t)call->one;
        hide_all(call, &call->one_slot);
        return statuses == MPI_STATUS_IGNORE ? &call->status : statuses;
    }
    trace_room *room = count > 0 && requests && call->thread ? take_room(call, count) : NULL;
    if (!room)
        return statuses;
    memcpy(room->requests, requests, (size_t)count * sizeof *requests);
    call->watched = room->requests;
    hide_all(call, room->slots);
    return statuses == MPI_STATUSES_IGNORE ? room->statuses : statuses;
}

/* error: by which the request has failed, MPI_SUCCESS, or MPI_ERR_PENDING. */
static void complete(trace_call *call, int64_t index, int error, const MPI_Status *status)
{
    trace_request *its = find_watched(call, index);
    if (!its || (its->is_persistent && its->number == 0) || mh_trace_is_of_class(error, MPI_ERR_PENDING))
        return;
    if (error == MPI_SUCCESS || (its->does & TRACE_RECEIVES && mh_trace_has_come(error)))
        put_completion(call, its, status);
    if (its->is_persistent) {
        its->number = 0;
        return;
    }
    mh_trace_remove(&table, its - kept);
    if (call->slots)
        call->slots[index] = TRACE_ABSENT;
}

/*
 * A call that fails may have ended some requests: their handles are gone. Those of persistent ones stay, so only the
 * call tells which one has failed. index, status: of that one, if it is known.
 */
static void end_failed(trace_call *call, int result, int64_t index, const MPI_Status *status)
{
    for (int64_t i = 0; i < call->watched_count; i++)
        if (call->watched[i] != MPI_REQUEST_NULL && call->handles[i] == MPI_REQUEST_NULL)
            complete(call, i, i == index ? result : MPI_ERR_OTHER, i == index ? status : NULL);
    trace_request *its = mh_interpose_was_refused(result) ? NULL : find_watched(call, index);
    if (its && its->is_persistent)
        complete(call, index, result, status);
}

/* Statuses have errors only if the result says so. */
void mh_trace_done(trace_call *call, int result, int is_done, int64_t count, const int *indices,
                   const MPI_Status *statuses)
{
    const bool has_errors = mh_trace_is_of_class(result, MPI_ERR_IN_STATUS);
    mh_trace_tried(call, result, is_done);
    if (!call->watched)
        return;
    if (result != MPI_SUCCESS && !has_errors)
        end_failed(call, result, call->watched_count == 1 ? 0 : count == 1 && indices ? indices[0] : -1, statuses);
    else if (has_errors || is_done)
        for (int64_t i = 0; i < count; i++)
            complete(call, indices ? indices[i] : i, has_errors ? statuses[i].MPI_ERROR : MPI_SUCCESS, &statuses[i]);
    show_rest(call);
}

/* After other errors than those in statuses, the count is not set. */
void mh_trace_some(trace_call *call, int result, const int *count, const int *indices, const MPI_Status *statuses)
{
    const bool is_set = result == MPI_SUCCESS || mh_trace_is_of_class(result, MPI_ERR_IN_STATUS);
    const int known = is_set ? *count : 0;
    mh_trace_done(call, result, known != 0, known, indices, statuses);
}
