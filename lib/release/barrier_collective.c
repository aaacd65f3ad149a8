/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier_collective.c - MPI_Reduce of the arrivals and MPI_Bcast of the release, by the algorithms of the MPI library,
 * as in Schuchart, Hunold and Bosilca, EuroMPI 2023. With two operations instead of one MPI_Allreduce, the deadline is
 * decided after all have arrived.
 */
#include "release/barrier_private.h"

typedef struct mh_collective {
    const mh_channel *channel;
} mh_collective;

static void open_state(void *state, const mh_barrier_site *site)
{
    mh_collective *own = state;
    own->channel = site->channel;
}

static int arrive(void *state, const mh_arrival *mine, mh_arrival *all, mh_error *error)
{
    const mh_collective *own = state;
    return mh_reduce_max(own->channel, &mine->order, &all->order, MH_ARRIVAL_FIELDS, error);
}

static int release(void *state, mh_release *release, mh_error *error)
{
    const mh_collective *own = state;
    return mh_bcast(own->channel, release, sizeof *release, 0, error);
}

const mh_barrier_kind mh_barrier_collective = {
    .name = "collective",
    .doc = "MPI_Reduce and MPI_Bcast",
    .state_size = sizeof(mh_collective),
    .open = open_state,
    .arrive = arrive,
    .release = release,
};
