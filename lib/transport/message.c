/* SPDX-License-Identifier: BSD-3-Clause */
/* message.c - the library's messages: blocking calls of MPI, or tests with yields between them. */
#include "transport/message.h"

#include "transport/tags.h"
#include "transport/test_hook.h"

#include <sched.h>
#include <string.h>

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

static int await(const mh_channel *channel, MPI_Request *request, mh_error *error)
{
    int done = 0;
#ifdef SMPI_H
    /* A simulated process uses no processor while it waits, but each test takes simulated time. */
    MH_TRY(error, PMPI_Wait, (request, MPI_STATUS_IGNORE));
    return MPI_SUCCESS;
#endif
    bool shares = yielding_waits >= WAITS_OF_SHARING && yielding_waits % WAITS_UNTIL_TRIAL != 0;
    int left = channel->yields || shares ? 0 : TESTS_BEFORE_YIELD, yields = 0;
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
        MPI_Request request_;                                            \
        if (!(channel)->yields) {                                        \
            MH_TRY(error, blocking, (__VA_ARGS__));                      \
            break;                                                       \
        }                                                                \
        MH_TRY(error, nonblocking, (__VA_ARGS__, &request_));            \
        int code_ = await(channel, &request_, error);                    \
        if (code_ != MPI_SUCCESS)                                        \
            return code_;                                                \
    } while (0)

static int part_of(int bytes)
{
    return bytes < MH_ROOM_BYTES ? bytes : MH_ROOM_BYTES;
}

int mh_send(const mh_channel *channel, const void *data, int bytes, int peer, int tag, mh_error *error)
{
    char *out = channel->room->out;
    mh_delay_message(channel->rank, peer);
    for (const char *next = data, *end = next + bytes; next < end; next += MH_ROOM_BYTES) {
        int part = part_of((int)(end - next));
        memcpy(out, next, (size_t)part);
        BLOCKING_OR_YIELDING(channel, error, PMPI_Send, PMPI_Isend, out, part, MPI_BYTE, peer, tag, channel->comm);
    }
    return MPI_SUCCESS;
}

int mh_recv(const mh_channel *channel, void *data, int bytes, int peer, int tag, mh_error *error)
{
    char *in = channel->room->in;
    for (char *next = data, *end = next + bytes; next < end; next += MH_ROOM_BYTES) {
        MPI_Request request;
        int part = part_of((int)(end - next));
        MH_TRY(error, PMPI_Irecv, (in, part, MPI_BYTE, peer, tag, channel->comm, &request));
        int code = await(channel, &request, error);
        if (code != MPI_SUCCESS)
            return code;
        memcpy(next, in, (size_t)part);
    }
    return MPI_SUCCESS;
}

int mh_sendrecv(const mh_channel *channel, const void *mine, void *theirs, int bytes, int to, int from, int tag,
                mh_error *error)
{
    char *out = memcpy(channel->room->out, mine, (size_t)bytes);
    mh_delay_message(channel->rank, to);
    MPI_Request sent;
    MH_TRY(error, PMPI_Isend, (out, bytes, MPI_BYTE, to, tag, channel->comm, &sent));
    int code = mh_recv(channel, theirs, bytes, from, tag, error);
    return code != MPI_SUCCESS ? code : await(channel, &sent, error);
}

/* A look at a generalized request takes less time with Open MPI, but its errors go to the handler of MPI_COMM_WORLD. */
int mh_make_progress(const mh_channel *channel, mh_error *error)
{
    int found;
    MH_TRY(error, PMPI_Iprobe, (MPI_ANY_SOURCE, MH_TAG_NEVER, channel->comm, &found, MPI_STATUS_IGNORE));
    return MPI_SUCCESS;
}

int mh_reduce_max(const mh_channel *channel, const int64_t *mine, int64_t *max, int count, mh_error *error)
{
    size_t bytes = (size_t)count * sizeof *mine;
    char *out = memcpy(channel->room->out, mine, bytes), *in = channel->room->in;
    BLOCKING_OR_YIELDING(channel, error, PMPI_Reduce, PMPI_Ireduce, out, in, count, MPI_INT64_T, MPI_MAX, 0,
                         channel->comm);
    if (channel->rank == 0)
        memcpy(max, in, bytes);
    return MPI_SUCCESS;
}

int mh_bcast(const mh_channel *channel, void *data, int bytes, int root, mh_error *error)
{
    char *room = memcpy(channel->room->in, data, (size_t)bytes);
    BLOCKING_OR_YIELDING(channel, error, PMPI_Bcast, PMPI_Ibcast, room, bytes, MPI_BYTE, root, channel->comm);
    memcpy(data, room, (size_t)bytes);
    return MPI_SUCCESS;
}

static int allreduce(const mh_channel *channel, const int64_t *mine, int64_t *all, int count, MPI_Op how,
                     mh_error *error)
{
    size_t bytes = (size_t)count * sizeof *mine;
    char *out = memcpy(channel->room->out, mine, bytes), *in = channel->room->in;
    BLOCKING_OR_YIELDING(channel, error, PMPI_Allreduce, PMPI_Iallreduce, out, in, count, MPI_INT64_T, how,
                         channel->comm);
    memcpy(all, in, bytes);
    return MPI_SUCCESS;
}

int mh_allreduce_max(const mh_channel *channel, const int64_t *mine, int64_t *max, int count, mh_error *error)
{
    return allreduce(channel, mine, max, count, MPI_MAX, error);
}

int mh_allreduce_and(const mh_channel *channel, int64_t mine, int64_t *common, mh_error *error)
{
    return allreduce(channel, &mine, common, 1, MPI_BAND, error);
}
