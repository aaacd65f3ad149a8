/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync_hca3o.c - HCA3 with offsets only: the tree of algorithm 1 of Hunold and Carpen-Amarie, Cluster 2018, with one burst a
 * pair. ceil(log2 p) rounds. The error grows by a burst's error for each level of the tree, and by the whole drift with age.
 */
#include "sync/sync_private.h"

static int learn(const mh_sync_run_context *context, int reference_rank, mh_error *error)
{
    mh_offset offset;
    mh_estimate reference;
    int code = mh_sync_measure(context, reference_rank, &offset, error);
    if (code == MPI_SUCCESS)
        code = mh_sync_recv_estimate(context, reference_rank, &reference, error);
    if (code == MPI_SUCCESS)
        *context->estimate = mh_sync_estimate_from(&reference, &offset, 0, MH_DRIFT_LIMIT);
    return code;
}

static int teach(const mh_sync_run_context *context, int client_rank, mh_error *error)
{
    int code = mh_sync_serve(context, client_rank, error);
    return code != MPI_SUCCESS ? code : mh_sync_send_estimate_now(context, client_rank, error);
}

static int run(const mh_sync_run_context *context, mh_error *error)
{
    static const mh_pair_protocol protocol = {learn, teach};
    return mh_sync_over_tree(context, &protocol, error);
}

const mh_sync_kind mh_sync_hca3o = {
    .name = "hca3o",
    .doc = "a tree of pairs, an offset for each",
    .takes_estimator = true,
    .run = run,
};
