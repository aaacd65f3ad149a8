/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier_tree.c - messages along a binomial tree of all processes, on the private communicator: 2 ceil(log2 p)
 * messages in sequence.
 */
#include "release/barrier_private.h"
#include "release/tree_messages.h"

typedef struct mh_tree_barrier {
    const mh_channel *channel;
    mh_tree all;
} mh_tree_barrier;

static void open_state(void *state, const mh_barrier_site *site)
{
    mh_tree_barrier *own = state;
    own->channel = site->channel;
    own->all = mh_tree_binomial(site->channel->rank, site->channel->size);
}

static int arrive(void *state, const mh_arrival *mine, mh_arrival *all, mh_error *error)
{
    const mh_tree_barrier *own = state;
    *all = *mine;
    return mh_tree_arrive(own->channel, &own->all, all, error);
}

static int release(void *state, mh_release *release, mh_error *error)
{
    const mh_tree_barrier *own = state;
    return mh_tree_release(own->channel, &own->all, release, error);
}

const mh_barrier_kind mh_barrier_tree = {
    .name = "tree",
    .doc = "messages along a binomial tree",
    .state_size = sizeof(mh_tree_barrier),
    .open = open_state,
    .arrive = arrive,
    .release = release,
};
