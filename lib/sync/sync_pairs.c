/* SPDX-License-Identifier: BSD-3-Clause */
/* sync_pairs.c - the patterns in which the pairs of a group meet. */
#include "sync/sync_private.h"

/* What this process has to do with the step of the tree that joins processes this many places apart. */
static int meet(const mh_sync_run_context *context, const mh_pair_protocol *protocol, int step, mh_error *error)
{
    const mh_group *group = &context->level->group;
    int place = group->index % (2 * step);
    if (place == 0 && group->index + step < group->size)
        return protocol->teach(context, group->ranks[group->index + step], error);
    if (place == step)
        return protocol->learn(context, group->ranks[group->index - step], error);
    return MPI_SUCCESS;
}

int mh_pairs_outward(const mh_sync_run_context *context, const mh_pair_protocol *protocol, mh_error *error)
{
    int step = 1, code = MPI_SUCCESS;
    while (step < context->level->group.size)
        step *= 2;
    for (step /= 2; step > 0 && code == MPI_SUCCESS; step /= 2)
        code = meet(context, protocol, step, error);
    return code;
}

int mh_pairs_inward(const mh_sync_run_context *context, const mh_pair_protocol *protocol, mh_error *error)
{
    int code = MPI_SUCCESS;
    for (int step = 1; step < context->level->group.size && code == MPI_SUCCESS; step *= 2)
        code = meet(context, protocol, step, error);
    return code;
}

int mh_pairs_star(const mh_sync_run_context *context, const mh_pair_protocol *protocol, mh_error *error)
{
    const mh_group *group = &context->level->group;
    int code = MPI_SUCCESS;
    if (group->index > 0)
        return protocol->learn(context, group->ranks[0], error);
    for (int i = 1; i < group->size && code == MPI_SUCCESS; i++)
        code = protocol->teach(context, group->ranks[i], error);
    return code;
}
