/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync_hca3o.c - HCA3 with offsets only: the tree of algorithm 1 of Hunold and Carpen-Amarie, Cluster 2018, with one
 * burst a pair. ceil(log2 p) rounds. The initial error is the sum of one burst's error for each level of the tree. It
 * then grows by the whole drift.
 */
#include "sync/sync_private.h"

static int run(const mh_sync_run_context *context, mh_error *error)
{
    return mh_pairs_outward(context, &mh_learn_by_offset, error);
}

const mh_sync_kind mh_sync_hca3o = {
    .name = "hca3o",
    .doc = "a tree of pairs, an offset for each",
    .takes_estimator = true,
    .run = run,
};
