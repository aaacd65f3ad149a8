/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync_skampi.c - O(p) offsets, as SKaMPI does (T. Worsch, R. Reussner, W. Augustin, EuroPVM/MPI 2002): the first of
 * the group measures one offset with each of the others in turn. p - 1 rounds. The error is that of one burst, but the
 * first clocks have drifted when the last process has measured.
 */
#include "sync/sync_private.h"

static int run(const mh_sync_run_context *context, mh_error *error)
{
    return mh_pairs_star(context, &mh_learn_by_offset, error);
}

const mh_sync_kind mh_sync_skampi = {
    .name = "skampi",
    .doc = "the first measures an offset with each other",
    .takes_estimator = true,
    .run = run,
};
