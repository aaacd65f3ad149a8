/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collectives.c - collective operations: the bytes that a process contributes and receives, their numbers, and what is
 * done before them.
 */
#include "trace/record/collectives.h"

#include "trace/back/twin.h"
#include "trace/record/calls.h"
#include "trace/record/clock.h"
#include "trace/record/communicators.h"
#include "trace/record/messages.h"

/* Of the root, or of all others. */
static bool is_of_some(const trace_share *share)
{
    return share->whose == TRACE_ON_ROOT || share->whose == TRACE_ON_OTHERS;
}

/* Whether a share is one of this process. */
static bool is_mine(const trace_share *share, const trace_known_comm *comm, int root)
{
    bool is_root = comm->is_inter ? root == MPI_ROOT : root == comm->rank;
    /* In an intercommunicator, the group of the root has others that take no part. */
    bool is_other = comm->is_inter ? root >= 0 : !is_root;
    return !is_of_some(share) || (share->whose == TRACE_ON_ROOT ? is_root : is_other);
}

static int64_t count_at(const trace_share *share, int index)
{
    return share->count_bytes == sizeof(int) ? ((const int *)share->counts)[index]
                                             : ((const int64_t *)share->counts)[index];
}

/* Of one process, if counts are listed, else of any. */
static int64_t bytes_of_one(const trace_share *share, int index)
{
    if (!share->counts)
        return mh_trace_bytes(share->count, share->type);
    return mh_trace_bytes(count_at(share, index), share->types ? share->types[index] : share->type);
}

/* A Cartesian topology has no neighbors beyond its ends, but counts them: MPI_PROC_NULL. */
static bool is_missing(const trace_known_comm *comm, int neighbor)
{
    return neighbor < TRACE_MAX_MISSING && comm->missing >> neighbor & 1;
}

static int64_t bytes_of_all(const trace_share *share, const trace_known_comm *comm)
{
    const bool is_of_neighbors = share->whose == TRACE_ON_SOURCES || share->whose == TRACE_ON_TARGETS;
    const int size = !is_of_neighbors ? comm->size : share->whose == TRACE_ON_SOURCES ? comm->sources : comm->targets;
    int64_t sum = 0;
    if (share->times == TRACE_ONCE || share->times == TRACE_OWN_OF_LIST)
        return bytes_of_one(share, comm->rank);
    if (!share->counts)
        return bytes_of_one(share, 0) * (size - (is_of_neighbors ? __builtin_popcountll(comm->missing) : 0));
    for (int i = 0; i < size; i++)
        if (!is_of_neighbors || !is_missing(comm, i))
            sum += share->types ? bytes_of_one(share, i) : count_at(share, i);
    return share->types ? sum : mh_trace_bytes(sum, share->type);
}

/*
 * In an intercommunicator, arguments of the processes in the root's group mean nothing, and the counts of
 * MPI_Reduce_scatter are of the local group, whose size is not kept.
 */
static bool is_unknowable(const trace_share *share, const trace_share *other, const trace_known_comm *comm, int root)
{
    bool is_rooted = is_of_some(share) || is_of_some(other);
    bool is_own = share->times == TRACE_OWN_OF_LIST || other->times == TRACE_OWN_OF_LIST;
    return comm->is_inter && (is_own || (is_rooted && share->whose == TRACE_ON_ALL && root < 0));
}

/* other: the opposite share, which says what an operation in place does. */
static uint64_t bytes_of(const trace_share *share, const trace_share *other, const trace_known_comm *comm, int root)
{
    if (!is_mine(share, comm, root) || is_unknowable(share, other, comm, root))
        return 0;
    if (share->buffer != MPI_IN_PLACE)
        return (uint64_t)bytes_of_all(share, comm);
    trace_share in_place = *other;
    in_place.times = share->times;
    return (uint64_t)bytes_of_all(&in_place, comm);
}

/* The number of the next one on a communicator: the same on all processes, whichever part of the run they record. */
static uint32_t count(_Atomic uint32_t *those)
{
    return atomic_fetch_add(those, 1) + 1;
}

/* A collective call is the time to write what is in memory: processes wait for each other there anyway. */
void mh_trace_before_together(trace_call *call)
{
    if (!mh_trace_is_half_full())
        return;
    mh_trace_put_region(call, mh_trace.flush_id, true);
    mh_trace_flush(TRACE_AT_ONCE, false);
    mh_trace_put_region(call, mh_trace.flush_id, false);
}

void mh_trace_after_together(trace_call *call, int result, MPI_Comm comm)
{
    if (mh_interpose_is_of_all(comm, result))
        mh_trace_look_after_clock(call);
}

/* MPI may have refused the communicator, and must not be asked about it again. */
void mh_trace_left_together(trace_call *call, MPI_Comm comm, bool is_operation)
{
    if (!mh_trace_is_known(comm))
        return;
    if (is_operation)
        count(&mh_trace_comm(comm)->operations);
    mh_trace_after_together(call, MPI_SUCCESS, comm);
}

/* number: on its communicator, or of its starts. */
static void put(trace_call *call, int64_t time_ns, const trace_request *its, uint32_t number)
{
    if (call->is_silent)
        return;
    mh_trace_put(call->thread, (trace_event){time_ns, its->bytes_in, its->partner, (int32_t)number, its->number,
                                             its->comm, TRACE_COLLECTIVE, 0});
    mh_trace_put(call->thread, (trace_event){time_ns, its->bytes_out, its->partner, its->tag, its->number,
                                             its->function, TRACE_COLLECTIVE_OUT, 0});
}

static void begin(trace_call *call, trace_request *its, uint32_t number)
{
    mh_trace_number(call, its);
    put(call, call->enter_ns, its, number);
}

void mh_trace_start_collective(trace_call *call, trace_request *its)
{
    begin(call, its, ++its->starts);
}

static int32_t root_of(const trace_known_comm *comm, int root, bool is_rooted)
{
    if (root >= 0 || !is_rooted || !comm->is_inter)
        return root >= 0 ? root : TRACE_ROOT_NONE;
    return root == MPI_ROOT ? TRACE_ROOT_SELF : TRACE_ROOT_THIS_GROUP;
}

/* Returns the communicator. */
static trace_known_comm *describe(trace_request *its, const trace_call *call, MPI_Comm handle, int root,
                                  const trace_share *in, const trace_share *out)
{
    trace_known_comm *comm = mh_trace_comm(handle);
    its->does = TRACE_COLLECTS;
    its->comm = comm->id;
    its->function = call->id;
    its->partner = root_of(comm, root, is_of_some(in) || is_of_some(out));
    its->bytes_in = bytes_of(in, out, comm, root);
    its->bytes_out = bytes_of(out, in, comm, root);
    return comm;
}

/* After a failure, its bytes are unknown. */
void mh_trace_collective(trace_call *call, int result, MPI_Comm comm, int root, trace_share in, trace_share out)
{
    trace_request its = {0};
    if (mh_interpose_was_refused(result))
        return;
    if (result != MPI_SUCCESS)
        in = out = TRACE_NOTHING;
    put(call, call->leave_ns, &its, count(&describe(&its, call, comm, root, &in, &out)->operations));
}

/* Persistent ones are made in the same order everywhere, but may be started in any. */
void mh_trace_icollective(trace_call *call, int result, MPI_Comm comm, int root, trace_share in, trace_share out)
{
    if (result != MPI_SUCCESS)
        return;
    trace_known_comm *known = describe(&call->started, call, comm, root, &in, &out);
    if (call->started.is_persistent)
        call->started.tag = (int32_t)count(&known->persistent);
    else
        begin(call, &call->started, count(&known->operations));
}

/* ---- What processes do together, and there are no bytes of */

static void put_meeting(trace_call *call, int result, uint32_t comm, uint32_t number)
{
    if (!mh_interpose_was_refused(result))
        put(call, call->leave_ns, &(trace_request){.comm = comm, .function = call->id, .partner = TRACE_ROOT_NONE},
            number);
}

static void meet(trace_call *call, int result, trace_known_comm *known)
{
    if (!mh_interpose_was_refused(result))
        put_meeting(call, result, known->id, count(&known->operations));
}

void mh_trace_meet(trace_call *call, int result, MPI_Comm comm)
{
    meet(call, result, mh_trace_comm(comm));
}

void mh_trace_made(trace_call *call, int result, MPI_Comm comm)
{
    if (result == MPI_SUCCESS && comm != MPI_COMM_NULL)
        mh_trace_meet(call, result, comm);
}

void mh_trace_fence(trace_call *call, int result, MPI_Win window)
{
    meet(call, result, mh_trace_window(window));
}

void mh_trace_share(trace_call *call, int result, MPI_File file)
{
    meet(call, result, mh_trace_file(file));
}

void mh_trace_dropped(trace_call *call, int result)
{
    put_meeting(call, result, call->started.comm, call->started.starts);
}
