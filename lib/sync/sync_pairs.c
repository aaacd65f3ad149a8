/* SPDX-License-Identifier: BSD-3-Clause */
/* sync_pairs.c - the orders in which the pairs of a group communicate. */
#include "sync/sync_private.h"
#include "topology/tree.h"

int mh_pairs_outward(const mh_sync_run_context *context, const mh_pair_protocol *protocol, mh_error *error)
{
    mh_tree tree = mh_tree_of_group(&context->level->group);
    int code = MPI_SUCCESS;
    if (tree.parent >= 0)
        code = protocol->learn(context, tree.parent, error);
    for (int i = tree.children - 1; i >= 0 && code == MPI_SUCCESS; i--)
        code = protocol->teach(context, tree.child[i], error);
    return code;
}

int mh_pairs_inward(const mh_sync_run_context *context, const mh_pair_protocol *protocol, mh_error *error)
{
    mh_tree tree = mh_tree_of_group(&context->level->group);
    int code = MPI_SUCCESS;
    for (int i = 0; i < tree.children && code == MPI_SUCCESS; i++)
        code = protocol->teach(context, tree.child[i], error);
    if (tree.parent >= 0 && code == MPI_SUCCESS)
        code = protocol->learn(context, tree.parent, error);
    return code;
}

int mh_pairs_star(const mh_sync_run_context *context, const mh_pair_protocol *protocol, mh_error *error)
{
    const mh_group *group = &context->level->group;
    int code = MPI_SUCCESS;
    if (group->index > 0)
        return protocol->learn(context, mh_group_rank(group, 0), error);
    for (int i = 1; i < group->size && code == MPI_SUCCESS; i++)
        code = protocol->teach(context, mh_group_rank(group, i), error);
    return code;
}
