/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync_jk.c - O(p) regression, after T. Jones and G. Koenig, "Clock Synchronization in High-end Computing
 * Environments", 2013: each of the other processes in turn fits a line through several offsets against the first. p - 1
 * rounds. The error is that of one pair.
 */
#include "sync/sync_private.h"

static int run(const mh_sync_run_context *context, mh_error *error)
{
    return mh_pairs_star(context, &mh_learn_by_line, error);
}

const mh_sync_kind mh_sync_jk = {
    .name = "jk",
    .doc = "the first fits a line with each other",
    .takes_fit_points = true,
    .takes_estimator = true,
    .run = run,
};
