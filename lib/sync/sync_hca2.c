/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync_hca2.c - HCA2 (S. Hunold and A. Carpen-Amarie, "On the Impact of Synchronizing Clocks and Processes on
 * Benchmarking MPI Collectives", EuroMPI 2015): along an inverted binomial tree, pairs fit lines between their base
 * clocks. Merged along the path to the root, the lines give each process its model. In the paper, the root merges all
 * and scatters them; here each process merges its own, on the way back. 2 ceil(log2 p) rounds, the second half of one
 * message each. The errors of offsets and drifts add up along the tree, and the first pairs' fits are the oldest.
 */
#include "sync/sync_private.h"

/* Keeps the line to the reference for the second half. */
static int learn_relation(const mh_sync_run_context *context, int reference_rank, mh_error *error)
{
    return mh_step_learn_line(context, reference_rank, context->relation, error);
}

static int teach_relation(const mh_sync_run_context *context, int client_rank, mh_error *error)
{
    return mh_step_teach_line(context, client_rank, MH_SHOWN_BARE, error);
}

static int merge(const mh_sync_run_context *context, int reference_rank, mh_error *error)
{
    return mh_step_compose_estimate(context, reference_rank, context->relation, error);
}

int mh_hca2_run(const mh_sync_run_context *context, mh_error *error)
{
    static const mh_pair_protocol fit = {learn_relation, teach_relation};
    static const mh_pair_protocol distribute = {merge, mh_step_send_estimate};
    int code = mh_pairs_inward(context, &fit, error);
    return code != MPI_SUCCESS ? code : mh_pairs_outward(context, &distribute, error);
}

const mh_sync_kind mh_sync_hca2 = {
    .name = "hca2",
    .doc = "an inverted tree of pairs, a line for each, merged",
    .takes_fit_points = true,
    .takes_estimator = true,
    .run = mh_hca2_run,
};
