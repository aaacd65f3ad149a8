/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync_hca3.c - HCA3, algorithms 1 and 2 of Hunold and Carpen-Amarie, Cluster 2018: along a binomial tree, outward from
 * the reference, each process fits a line through the offsets of several bursts (fit points) to the global time that
 * its partner already emulates. ceil(log2 p) rounds. The initial error is the sum of one pair's error for each level of
 * the tree. It then grows by the errors of the drifts along the path.
 */
#include "sync/sync_private.h"

static int run(const mh_sync_run_context *context, mh_error *error)
{
    return mh_pairs_outward(context, &mh_learn_by_line, error);
}

const mh_sync_kind mh_sync_hca3 = {
    .name = "hca3",
    .doc = "a tree of pairs, a line through several offsets for each",
    .takes_fit_points = true,
    .takes_estimator = true,
    .run = run,
};
