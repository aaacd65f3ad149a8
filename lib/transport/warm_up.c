/* SPDX-License-Identifier: BSD-3-Clause */
/* warm_up.c - messages to sleeping neighbors, which stop helper threads of the MPI library. */
#include "transport/warm_up.h"

#include "transport/tags.h"

#include <time.h>

enum {
    ROUNDS = 2, /* the first may find processes that have not fallen asleep yet */
    SLEEP_NS = 150 * 1000
};

static int exchange_asleep(const mh_channel *channel, const int *neighbors, int count, mh_error *error)
{
    static const struct timespec sleep = {0, SLEEP_NS};
    static const char token = 0;
    MPI_Request sent[MH_WARM_UP_MAX_NEIGHBORS];
    nanosleep(&sleep, NULL);
    for (int i = 0; i < count; i++)
        MH_TRY(error, PMPI_Isend, (&token, 1, MPI_BYTE, neighbors[i], MH_TAG_WARM_UP, channel->comm, &sent[i]));
    nanosleep(&sleep, NULL);
    int code = MPI_SUCCESS;
    for (int i = 0; i < count && code == MPI_SUCCESS; i++) {
        char received;
        code = mh_recv(channel, &received, 1, neighbors[i], MH_TAG_WARM_UP, error);
    }
    for (int i = 0; i < count && code == MPI_SUCCESS; i++)
        code = mh_check_mpi(error, PMPI_Wait(&sent[i], MPI_STATUS_IGNORE), "MPI_Wait");
    return code;
}

int mh_warm_up(const mh_channel *channel, const int *neighbors, int count, mh_error *error)
{
    int code = MPI_SUCCESS;
    for (int i = 0; i < ROUNDS && code == MPI_SUCCESS; i++)
        code = exchange_asleep(channel, neighbors, count, error);
    return code;
}
