/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * offset_skampi.c - the middle of the window of the burst: independent minima of both directions. This is the estimator
 * of SKaMPI (T. Worsch, R. Reussner, W. Augustin, "On Benchmarking Collective MPI Operations", EuroPVM/MPI 2002);
 * algorithm 7 of Hunold and Carpen-Amarie, Cluster 2018. Its error is half the difference of the two directions'
 * shortest delays.
 */
#include "sync/offset_private.h"

static int64_t estimate(const mh_exchange *exchanges, int count, mh_window window, int64_t *workspace)
{
    (void)exchanges;
    (void)count;
    (void)workspace;
    return mh_window_middle_ns(window);
}

const mh_offset_kind mh_offset_skampi = {
    .name = "skampi",
    .doc = "the middle of the window that the shortest delays of both directions allow",
    .needs_window_only = true,
    .estimate = estimate,
};
