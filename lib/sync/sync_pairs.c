/* SPDX-License-Identifier: BSD-3-Clause */
/* sync_pairs.c - the orders in which the pairs of a group communicate. */
#include "sync/sync_private.h"
#include "pure/tree.h"

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

int mh_pairs_in_turns(const mh_sync_run_context *context, const mh_pair_protocol *protocol, mh_error *error)
{
    mh_turns turns = mh_turns_of_group(&context->level->group);
    int code = MPI_SUCCESS;
    for (int turn = 0; turn < MH_TREE_MAX_TURNS && code == MPI_SUCCESS; turn++) {
        int partner = turns.partner[turn];
        if (partner >= 0)
            code = (partner == turns.parent ? protocol->learn : protocol->teach)(context, partner, error);
    }
    return code;
}

int mh_pairs_by_parents(const mh_sync_run_context *context, const mh_pair_protocol *protocol, mh_error *error)
{
    mh_turns turns = mh_turns_of_group(&context->level->group);
    int code = turns.parent >= 0 ? protocol->learn(context, turns.parent, error) : MPI_SUCCESS;
    for (int turn = 0; turn < MH_TREE_MAX_TURNS && code == MPI_SUCCESS; turn++) {
        int partner = turns.partner[turn];
        if (partner >= 0 && partner != turns.parent)
            code = protocol->teach(context, partner, error);
    }
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
