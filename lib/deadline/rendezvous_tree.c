/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rendezvous_tree.c - messages along a binomial tree of the processes, on the private communicator: 2 ceil(log2 p)
 * messages one after the other.
 */
#include "deadline/rendezvous_private.h"

int mh_tree_report(const mh_channel *channel, const mh_tree *tree, mh_report *report, mh_error *error)
{
    for (int i = 0; i < tree->children; i++) {
        mh_report other;
        int code = mh_recv(channel, &other, sizeof other, tree->child[i], MH_TAG_MEETING, error);
        if (code != MPI_SUCCESS)
            return code;
        mh_report_combine(report, &other);
    }
    return tree->parent < 0 ? MPI_SUCCESS : mh_send(channel, report, sizeof *report, tree->parent, MH_TAG_MEETING, error);
}

int mh_tree_order(const mh_channel *channel, const mh_tree *tree, mh_order *order, mh_error *error)
{
    int code = MPI_SUCCESS;
    if (tree->parent >= 0)
        code = mh_recv(channel, order, sizeof *order, tree->parent, MH_TAG_MEETING, error);
    for (int i = tree->children - 1; i >= 0 && code == MPI_SUCCESS; i--)
        code = mh_send(channel, order, sizeof *order, tree->child[i], MH_TAG_MEETING, error);
    return code;
}

static int report(mh_rendezvous *rendezvous, const mh_report *mine, mh_report *greatest, mh_error *error)
{
    *greatest = *mine;
    return mh_tree_report(rendezvous->channel, &rendezvous->all, greatest, error);
}

static int order(mh_rendezvous *rendezvous, mh_order *order, mh_error *error)
{
    return mh_tree_order(rendezvous->channel, &rendezvous->all, order, error);
}

const mh_rendezvous_kind mh_rendezvous_tree = {
    .name = "tree",
    .doc = "messages along a binomial tree",
    .report = report,
    .order = order,
};
