/* SPDX-License-Identifier: BSD-3-Clause */
/* leaders.c - numbers and lists of leaders to rank 0, and the whole list back. */
#include "topology/leaders.h"

#include "transport/tags.h"

int mh_leaders_count(const mh_channel *channel, bool is_leader, mh_leader_tree *tree, mh_error *error)
{
    *tree = (mh_leader_tree){
        .tree = mh_tree_binomial(channel->rank, channel->size), .is_leader = is_leader, .leaders = is_leader};
    for (int i = 0; i < tree->tree.children; i++) {
        int *below = &tree->below[i];
        int code = mh_recv(channel, below, sizeof *below, tree->tree.child[i], MH_TAG_LEADERS, error);
        if (code != MPI_SUCCESS)
            return code;
        tree->leaders += *below;
    }
    if (tree->tree.parent < 0)
        return MPI_SUCCESS;
    return mh_send(channel, &tree->leaders, sizeof tree->leaders, tree->tree.parent, MH_TAG_LEADERS, error);
}

static int bytes_of(int leaders)
{
    return leaders * (int)sizeof(int);
}

/* This process comes first: those below it have higher ranks. */
static int collect(const mh_channel *channel, const mh_leader_tree *tree, int *ranks, mh_error *error)
{
    int known = 0, code = MPI_SUCCESS;
    if (tree->is_leader)
        ranks[known++] = channel->rank;
    for (int i = 0; i < tree->tree.children && code == MPI_SUCCESS; i++) {
        if (tree->below[i] > 0)
            code =
                mh_recv(channel, ranks + known, bytes_of(tree->below[i]), tree->tree.child[i], MH_TAG_LEADERS, error);
        known += tree->below[i];
    }
    if (code == MPI_SUCCESS && tree->tree.parent >= 0)
        code = mh_send(channel, ranks, bytes_of(known), tree->tree.parent, MH_TAG_LEADERS, error);
    return code;
}

int mh_leaders_list(const mh_channel *channel, const mh_leader_tree *tree, int count, int *ranks, mh_error *error)
{
    if (tree->leaders == 0)
        return MPI_SUCCESS;
    int code = collect(channel, tree, ranks, error);
    if (code == MPI_SUCCESS && tree->tree.parent >= 0)
        code = mh_recv(channel, ranks, bytes_of(count), tree->tree.parent, MH_TAG_LEADERS, error);
    for (int i = tree->tree.children - 1; i >= 0 && code == MPI_SUCCESS; i--)
        if (tree->below[i] > 0)
            code = mh_send(channel, ranks, bytes_of(count), tree->tree.child[i], MH_TAG_LEADERS, error);
    return code;
}
