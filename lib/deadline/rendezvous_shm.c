/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rendezvous_shm.c - shared memory within a node, messages between nodes.
 *
 * Each process of a node has a slot of two cache lines that it alone writes: one with its report, which its parent in
 * the arrival tree polls, and one with the order, which its children poll. A line is whole when it carries the number
 * of the round, so nothing has to be reset: a parent gives the order of a round after it has read its children's
 * reports, and a child reports the next time after it has read the order. The first processes of the nodes meet along a
 * tree of messages.
 *
 * One store and one miss for each level each way; no system call, no lock. While others are missing, the MPI library is
 * called now and then, as they may be waiting for this process's earlier messages to go on.
 */
#include "deadline/rendezvous_private.h"
#include "deadline/slots.h"

static int report(mh_rendezvous *rendezvous, const mh_report *mine, mh_report *greatest, mh_error *error)
{
    const mh_tree *node = &rendezvous->node;
    *greatest = *mine;
    rendezvous->round++;
    for (int i = 0; i < node->children; i++) {
        mh_report_line *child = &mh_slot_of(rendezvous, node->child[i])->report;
        int code = mh_slots_await(rendezvous, &child->round, error);
        if (code != MPI_SUCCESS)
            return code;
        mh_report_combine(greatest, &child->report);
    }
    if (node->parent < 0)
        return mh_tree_report(rendezvous->channel, &rendezvous->leaders, greatest, error);
    mh_slots_report(rendezvous, &mh_slot_of(rendezvous, rendezvous->node_index)->report, greatest);
    return MPI_SUCCESS;
}

static int order(mh_rendezvous *rendezvous, mh_order *order, mh_error *error)
{
    const mh_tree *node = &rendezvous->node;
    int code;
    if (node->parent < 0) {
        code = mh_tree_order(rendezvous->channel, &rendezvous->leaders, order, error);
    } else {
        mh_order_line *parent = &mh_slot_of(rendezvous, node->parent)->order;
        code = mh_slots_await(rendezvous, &parent->round, error);
        *order = parent->order;
    }
    if (code != MPI_SUCCESS || node->children == 0)
        return code;
    mh_order_line *own = &mh_slot_of(rendezvous, rendezvous->node_index)->order;
    own->order = *order;
    atomic_store_explicit(&own->round, rendezvous->round, memory_order_release);
    return MPI_SUCCESS;
}

static bool is_available(const mh_rendezvous *rendezvous)
{
    return mh_slots_are_there(rendezvous);
}

const mh_rendezvous_kind mh_rendezvous_shm = {
    .name = "shm",
    .doc = "shared memory within a node, messages along a binomial tree between nodes",
    .is_available = is_available,
    .report = report,
    .order = order,
};
