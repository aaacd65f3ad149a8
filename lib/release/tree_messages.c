/* SPDX-License-Identifier: BSD-3-Clause */
/* tree_messages.c - arrivals move up the tree; the release moves down, first to the child with the most descendants. */
#include "release/tree_messages.h"

#include "transport/tags.h"

int mh_tree_arrive(const mh_channel *channel, const mh_tree *tree, mh_arrival *arrival, mh_error *error)
{
    for (int i = 0; i < tree->children; i++) {
        mh_arrival other;
        int code = mh_recv(channel, &other, sizeof other, tree->child[i], MH_TAG_BARRIER, error);
        if (code != MPI_SUCCESS)
            return code;
        mh_arrival_combine(arrival, &other);
    }
    return tree->parent < 0 ? MPI_SUCCESS
                            : mh_send(channel, arrival, sizeof *arrival, tree->parent, MH_TAG_BARRIER, error);
}

int mh_tree_release(const mh_channel *channel, const mh_tree *tree, mh_release *release, mh_error *error)
{
    int code = MPI_SUCCESS;
    if (tree->parent >= 0)
        code = mh_recv(channel, release, sizeof *release, tree->parent, MH_TAG_BARRIER, error);
    for (int i = tree->children - 1; i >= 0 && code == MPI_SUCCESS; i--)
        code = mh_send(channel, release, sizeof *release, tree->child[i], MH_TAG_BARRIER, error);
    return code;
}
