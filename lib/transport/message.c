/* SPDX-License-Identifier: BSD-3-Clause */
/* message.c - the library's messages: blocking calls of MPI, or tests with yields between them. */
#include "transport/message.h"

#include "transport/tags.h"
#include "transport/test_hook.h"

#include <sched.h>

/* These tests take some tens of microseconds or more: longer than most messages from a process that runs. */
enum { TESTS_BEFORE_YIELD = 500 };

/*
 * Two processes may be on one processor though each may use several. Then a wait ends by yielding only, and soon: a
 * peer that is late takes longer. After some such waits in a row, waits yield at once, because the tests would be a
 * part of each round trip. Now and then, a wait tests first, which shows whether the peer has a processor of its own
 * again.
 */
enum { WAITS_OF_SHARING = 4, WAITS_UNTIL_TRIAL = 8, SOON_YIELDS = 16 };
static _Thread_local unsigned yielding_waits; /* in a row */

static int tests_before_yield(const mh_channel *channel)
{
    bool shares = yielding_waits >= WAITS_OF_SHARING && yielding_waits % WAITS_UNTIL_TRIAL != 0;
    return channel->yields || shares ? 0 : TESTS_BEFORE_YIELD;
}

static int await(const mh_channel *channel, MPI_Request *request, mh_error *error)
{
    int done = 0;
#ifdef SMPI_H
    /* A simulated process uses no processor while it waits, but each test takes simulated time. */
    MH_TRY(error, PMPI_Wait, (request, MPI_STATUS_IGNORE));
    return MPI_SUCCESS;
#endif
    int left = tests_before_yield(channel), yields = 0;
    for (;;) {
        MH_TRY(error, PMPI_Test, (request, &done, MPI_STATUS_IGNORE));
        if (done)
            break;
        if (left > 0) {
            left--;
        } else {
            sched_yield();
            yields += yields < SOON_YIELDS;
        }
    }
    if (!channel->yields)
        yielding_waits = left == 0 && yields < SOON_YIELDS ? yielding_waits + 1 : 0;
    return MPI_SUCCESS;
}

/* Call an operation in its blocking form, or in its non-blocking form with yields while it is under way. */
#define BLOCKING_OR_YIELDING(channel, error, blocking, nonblocking, ...) \
    do {                                                                 \
        if (!(channel)->yields) {                                        \
            MH_TRY(error, blocking, (__VA_ARGS__));                      \
            return MPI_SUCCESS;                                          \
        }                                                                \
        MPI_Request request_;                                            \
        MH_TRY(error, nonblocking, (__VA_ARGS__, &request_));            \
        return await(channel, &request_, error);                         \
    } while (0)

int mh_send(const mh_channel *channel, const void *data, int bytes, int peer, int tag, mh_error *error)
{
    mh_delay_message(channel->rank, peer);
    BLOCKING_OR_YIELDING(channel, error, PMPI_Send, PMPI_Isend, data, bytes, MPI_BYTE, peer, tag, channel->comm);
}

int mh_recv(const mh_channel *channel, void *data, int bytes, int peer, int tag, mh_error *error)
{
    MPI_Request request;
    MH_TRY(error, PMPI_Irecv, (data, bytes, MPI_BYTE, peer, tag, channel->comm, &request));
    int code = await(channel, &request, error);
    /* A late message must not be written to memory that the caller reuses. */
    if (code != MPI_SUCCESS && request != MPI_REQUEST_NULL && PMPI_Cancel(&request) == MPI_SUCCESS)
        PMPI_Wait(&request, MPI_STATUS_IGNORE);
    return code;
}

int mh_sendrecv(const mh_channel *channel, const void *mine, void *theirs, int bytes, int to, int from, int tag,
                mh_error *error)
{
    mh_delay_message(channel->rank, to);
    MPI_Request sent;
    MH_TRY(error, PMPI_Isend, (mine, bytes, MPI_BYTE, to, tag, channel->comm, &sent));
    int code = mh_recv(channel, theirs, bytes, from, tag, error);
    return code != MPI_SUCCESS ? code : await(channel, &sent, error);
}

int mh_make_progress(const mh_channel *channel, mh_error *error)
{
    int found;
    MH_TRY(error, PMPI_Iprobe, (MPI_ANY_SOURCE, MH_TAG_NEVER, channel->comm, &found, MPI_STATUS_IGNORE));
    return MPI_SUCCESS;
}

int mh_reduce_max(const mh_channel *channel, const int64_t *mine, int64_t *max, int count, mh_error *error)
{
    BLOCKING_OR_YIELDING(channel, error, PMPI_Reduce, PMPI_Ireduce, mine, max, count, MPI_INT64_T, MPI_MAX, 0,
                         channel->comm);
}

int mh_bcast(const mh_channel *channel, void *data, int bytes, int root, mh_error *error)
{
    BLOCKING_OR_YIELDING(channel, error, PMPI_Bcast, PMPI_Ibcast, data, bytes, MPI_BYTE, root, channel->comm);
}

int mh_allreduce_max(const mh_channel *channel, const int64_t *mine, int64_t *max, int count, mh_error *error)
{
    BLOCKING_OR_YIELDING(channel, error, PMPI_Allreduce, PMPI_Iallreduce, mine, max, count, MPI_INT64_T, MPI_MAX,
                         channel->comm);
}

int mh_allreduce_and(const mh_channel *channel, int64_t mine, int64_t *common, mh_error *error)
{
    BLOCKING_OR_YIELDING(channel, error, PMPI_Allreduce, PMPI_Iallreduce, &mine, common, 1, MPI_INT64_T, MPI_BAND,
                         channel->comm);
}
