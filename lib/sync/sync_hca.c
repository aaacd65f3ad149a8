/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync_hca.c - HCA (S. Hunold and A. Carpen-Amarie, 2015): the merged lines of HCA2, and then one more burst of the
 * first of the group with each other process, which measures its offset again. 2 ceil(log2 p) + p - 1 rounds. The error
 * of the offset is one burst's; those of the drifts add up along the tree.
 */
#include "sync/sync_private.h"

static int learn_offset(const mh_sync_run_context *context, int reference_rank, mh_error *error)
{
    const mh_estimate before = *context->estimate;
    int code = mh_learn_by_offset.learn(context, reference_rank, error);
    const mh_estimate now = mh_estimate_at(&before, context->estimate->model.at_ns);
    context->estimate->model.drift = now.model.drift;
    context->estimate->drift_bound = now.drift_bound;
    context->estimate->wander_bound = now.wander_bound;
    return code;
}

static int run(const mh_sync_run_context *context, mh_error *error)
{
    const mh_pair_protocol adjust = {learn_offset, mh_learn_by_offset.teach};
    int code = mh_hca2_run(context, error);
    return code != MPI_SUCCESS ? code : mh_pairs_star(context, &adjust, error);
}

const mh_sync_kind mh_sync_hca = {
    .name = "hca",
    .doc = "hca2, and then an offset of the first with each other",
    .takes_fit_points = true,
    .takes_estimator = true,
    .run = run,
};
