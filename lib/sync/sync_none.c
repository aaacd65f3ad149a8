/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync_none.c - no synchronization: every process uses the estimate of the reference for its own clock, without any
 * measurement. The error is unknown. One message for each process, ceil(log2 p) rounds.
 */
#include "sync/sync_private.h"

static int learn(const mh_sync_run_context *context, int reference_rank, mh_error *error)
{
    int code = mh_step_copy_estimate(context, reference_rank, error);
    context->estimate->bound_ns = MH_TIME_UNKNOWN_NS;
    return code;
}

static int run(const mh_sync_run_context *context, mh_error *error)
{
    static const mh_pair_protocol protocol = {learn, mh_step_send_estimate};
    return mh_pairs_outward(context, &protocol, error);
}

const mh_sync_kind mh_sync_none = {
    .name = "none",
    .doc = "no synchronization: each clock is taken for the reference's",
    .run = run,
};
