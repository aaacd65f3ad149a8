/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier_shm.c - shared memory within a node, messages between nodes.
 *
 * Each process of a node has a slot of two cache lines that only it writes. One line contains its arrival and is polled
 * by its parent in the tree of the node. The other contains the release and is polled by its children. A line is
 * complete when it contains the number of the round. Lines are never reset: a parent writes the release of a round
 * after it has read its children's arrivals, and a child writes its next arrival after it has read the release. The
 * first processes of the nodes exchange messages along a tree.
 *
 * Each level costs one store and one cache miss in each direction, no system call and no lock. While processes are
 * missing, the MPI library is called from time to time: they may be waiting for earlier messages of this process.
 */
#include "release/barrier_private.h"
#include "release/tree_messages.h"

typedef struct mh_shm {
    const mh_channel *channel;
    mh_slots *slots;
    mh_tree node;    /* by indexes in the node */
    mh_tree leaders; /* by ranks */
} mh_shm;

static void open_state(void *state, const mh_barrier_site *site)
{
    mh_shm *own = state;
    own->channel = site->channel;
    own->slots = site->slots;
    own->node = mh_tree_of_node(site->sites->places, site->sites->node.size, site->sites->node.index);
    own->leaders = mh_tree_of_group(&site->sites->leaders);
}

static bool is_available(const void *state)
{
    const mh_shm *own = state;
    return own->slots->usable;
}

static int arrive(void *state, const mh_arrival *mine, mh_arrival *all, mh_error *error)
{
    const mh_shm *own = state;
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
    const mh_shm *own = state;
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

static bool is_heard_outside_mpi(const void *state)
{
    const mh_shm *own = state;
    bool is_told = own->node.parent >= 0, is_alone = own->leaders.parent < 0 && own->leaders.children == 0;
    return is_told || is_alone;
}

const mh_barrier_kind mh_barrier_shm = {
    .name = "shm",
    .doc = "shared memory within a node, messages along a binomial tree between nodes",
    .state_size = sizeof(mh_shm),
    .open = open_state,
    .is_available = is_available,
    .arrive = arrive,
    .release = release,
    .is_heard_outside_mpi = is_heard_outside_mpi,
};
