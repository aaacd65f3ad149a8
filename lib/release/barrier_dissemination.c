/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier_dissemination.c - in step k, each process sends what it knows to the process 2^k ranks further. After
 * ceil(log2 p) steps, each has the combined arrivals of all. Through shared memory if all processes share a node,
 * otherwise by messages.
 *
 * This takes half the steps of a tree: each process computes the release from all arrivals, and the deadline is a slack
 * after the last arrival. A tree is better if steps take very different times: its root decides after it has received
 * all arrivals, so the slack covers the way back only.
 */
#include "release/barrier_private.h"
#include "transport/tags.h"

typedef struct mh_dissemination {
    const mh_channel *channel;
    mh_slots *slots;
    bool on_one_node;
} mh_dissemination;

static void open_state(void *state, const mh_barrier_site *site)
{
    mh_dissemination *own = state;
    own->channel = site->channel;
    own->slots = site->slots;
    own->on_one_node = site->sites->node.size == site->channel->size;
}

static bool goes_through_slots(const void *state)
{
    const mh_dissemination *own = state;
    return own->on_one_node && own->slots->usable;
}

static void announce(void *state, const mh_arrival *mine)
{
    const mh_dissemination *own = state;
    own->slots->round++;
    if (own->channel->size > 1 && goes_through_slots(own))
        mh_slots_arrive(own->slots, mh_slots_step(own->slots, own->slots->index, 0), mine);
}

static int swap_through_slots(mh_slots *slots, int step, int from, mh_arrival *all, mh_error *error)
{
    mh_arrival_line *theirs = mh_slots_step(slots, from, step);
    if (step > 0)
        mh_slots_arrive(slots, mh_slots_step(slots, slots->index, step), all);
    int code = mh_slots_await(slots, &theirs->round, error);
    if (code == MPI_SUCCESS)
        mh_arrival_combine(all, &theirs->arrival);
    return code;
}

static int swap_by_messages(const mh_channel *channel, int to, int from, mh_arrival *all, mh_error *error)
{
    mh_arrival theirs;
    int code = mh_sendrecv(channel, all, &theirs, sizeof theirs, to, from, MH_TAG_BARRIER, error);
    if (code == MPI_SUCCESS)
        mh_arrival_combine(all, &theirs);
    return code;
}

static int arrive(void *state, const mh_arrival *mine, mh_arrival *all, mh_error *error)
{
    const mh_dissemination *own = state;
    const mh_channel *channel = own->channel;
    bool through_slots = goes_through_slots(own);
    int code = MPI_SUCCESS, rank = channel->rank, size = channel->size;
    *all = *mine;
    int64_t distance = 1;
    for (int step = 0; distance < size && code == MPI_SUCCESS; step++, distance *= 2) {
        int from = (int)(rank < distance ? rank - distance + size : rank - distance);
        int to = (int)(rank + distance < size ? rank + distance : rank + distance - size);
        code = through_slots ? swap_through_slots(own->slots, step, from, all, error)
                             : swap_by_messages(channel, to, from, all, error);
    }
    return code;
}

const mh_barrier_kind mh_barrier_dissemination = {
    .name = "dissemination",
    .doc = "without a root, through shared memory if all processes share a node, otherwise by messages",
    .state_size = sizeof(mh_dissemination),
    .open = open_state,
    .announce = announce,
    .arrive = arrive,
    .is_heard_outside_mpi = goes_through_slots,
};
