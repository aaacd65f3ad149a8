/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier_shm.c - shared memory within a node, messages between nodes.
 *
 * Each process of a node has a slot of two cache lines that it alone writes: one with its arrival, which its parent in
 * the tree of the node polls, and one with the release, which its children poll. A line is whole when it carries the
 * number of the round, so nothing has to be reset: a parent gives the release of a round after it has read its
 * children's arrivals, and a child arrives the next time after it has read the release. The first processes of the
 * nodes meet along a tree of messages.
 *
 * One store and one miss for each level each way; no system call, no lock. While others are missing, the MPI library is
 * called now and then, as they may be waiting for this process's earlier messages to go on.
 */
#include "release/barrier_private.h"
#include "release/tree_messages.h"

typedef struct shm {
    const mh_channel *channel;
    mh_slots *slots;
    mh_tree node;    /* by indexes in the node */
    mh_tree leaders; /* by ranks */
} shm;

static void open_state(void *state, const mh_barrier_site *site)
{
    shm *own = state;
    own->channel = site->channel;
    own->slots = site->slots;
    own->node = mh_tree_of_node(site->places, site->node, site->node->index);
    own->leaders = mh_tree_of_group(site->leaders);
}

static bool is_available(const void *state)
{
    const shm *own = state;
    return own->slots->usable;
}

static int arrive(void *state, const mh_arrival *mine, mh_arrival *all, mh_error *error)
{
    const shm *own = state;
    mh_slots *slots = own->slots;
    *all = *mine;
    slots->round++;
    for (int i = 0; i < own->node.children; i++) {
        mh_arrival_line *child = &mh_slots_of(slots, own->node.child[i])->arrival;
        int code = mh_slots_await(slots, &child->round, error);
        if (code != MPI_SUCCESS)
            return code;
        mh_arrival_combine(all, &child->arrival);
    }
    if (own->node.parent < 0)
        return mh_tree_arrive(own->channel, &own->leaders, all, error);
    mh_slots_arrive(slots, &mh_slots_of(slots, slots->index)->arrival, all);
    return MPI_SUCCESS;
}

static int release(void *state, mh_release *release, mh_error *error)
{
    const shm *own = state;
    mh_slots *slots = own->slots;
    int code;
    if (own->node.parent < 0) {
        code = mh_tree_release(own->channel, &own->leaders, release, error);
    } else {
        mh_release_line *parent = &mh_slots_of(slots, own->node.parent)->release;
        code = mh_slots_await(slots, &parent->round, error);
        *release = parent->release;
    }
    if (code == MPI_SUCCESS && own->node.children > 0)
        mh_slots_release(slots, &mh_slots_of(slots, slots->index)->release, release);
    return code;
}

const mh_barrier_kind mh_barrier_shm = {
    .name = "shm",
    .doc = "shared memory within a node, messages along a binomial tree between nodes",
    .state_size = sizeof(shm),
    .open = open_state,
    .is_available = is_available,
    .arrive = arrive,
    .release = release,
};
