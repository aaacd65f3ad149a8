/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message.h - the library's own messages, on its private communicator.
 *
 * A blocking MPI call may use its whole time slice (MPICH spins) while another process needs the processor to answer.
 * So functions that wait for one process yield the processor if the wait is long, or at once if earlier waits show that
 * both are on one processor. If a node has more processes than processors, `yields` is set and all of these functions
 * yield at once.
 */
#ifndef MH_MESSAGE_H
#define MH_MESSAGE_H

#include "base/error.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum { MH_ROOM_BYTES = 512 }; /* more than any operation moves but those that send lists */

/*
 * The memory that the operations below give to MPI. After an error, MPI may still use it, when the callers' variables
 * are gone. So it lasts for good after an error, and there is no further operation.
 */
typedef struct mh_room {
    _Alignas(int64_t) char out[MH_ROOM_BYTES];
    _Alignas(int64_t) char in[MH_ROOM_BYTES];
} mh_room;

typedef struct mh_channel {
    MPI_Comm comm; /* private to the library; its error handler returns */
    int rank;
    int size;
    mh_room *room;       /* for one operation at a time */
    _Atomic bool yields; /* more processes than processors on a node. Any thread that waits for an instant reads it */
} mh_channel;

/* Send bytes to peer, which receives as many. Blocking. */
int mh_send(const mh_channel *channel, const void *data, int bytes, int peer, int tag, mh_error *error);

/* Receive bytes from peer. Blocking. */
int mh_recv(const mh_channel *channel, void *data, int bytes, int peer, int tag, mh_error *error);

/*
 * Send to one process and receive the same number of bytes from another one, which may be the same process. At most
 * MH_ROOM_BYTES, as in the collective operations below.
 */
int mh_sendrecv(const mh_channel *channel, const void *mine, void *theirs, int bytes, int to, int from, int tag,
                mh_error *error);

/*
 * Let the MPI library make progress while this process waits for something else: a peer may still be receiving an
 * earlier message of this process. Local.
 */
int mh_make_progress(const mh_channel *channel, mh_error *error);

/* The maximum of each of count values, on rank 0. Collective. */
int mh_reduce_max(const mh_channel *channel, const int64_t *mine, int64_t *max, int count, mh_error *error);

/* Send bytes from root to all. Collective. */
int mh_bcast(const mh_channel *channel, void *data, int bytes, int root, mh_error *error);

/* The maximum of each of count values, on all processes. Collective. */
int mh_allreduce_max(const mh_channel *channel, const int64_t *mine, int64_t *max, int count, mh_error *error);

/* The bits that are set on all processes. Collective. */
int mh_allreduce_and(const mh_channel *channel, int64_t mine, int64_t *common, mh_error *error);

#endif
