/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync_track.c - each process follows the offset and drift of its clock against its reference's over all measurements
 * (clock/tracker.h). The pairs compare base clocks, not global time. So a tracker sees two physical clocks only,
 * undisturbed by corrections of others, and a process may serve others before it has measured itself. In a tree whose
 * pairs take turns, all measure in at most five rounds of one burst each, however many they are. Then estimates are
 * merged from the root outward: one message for each process, along a tree of about log4 p levels.
 *
 * The first time, the bursts are repeated for about 40 ms to learn a first drift; this does not take longer with more
 * processes. The error grows with the square root of the depth of the tree.
 */
#include "clock/wait.h"
#include "sync/sync_private.h"

enum {
    COLD_PASSES = 4, /* the first ones, not used: their bursts take microseconds longer in one direction */
    FIRST_PASSES = 24,
    /* From the beginning of a pass to that of the next. */
    COLD_PASS_NS = 600 * 1000,
    FIRST_PASS_NS = 1800 * 1000
};

/* When a pass of the first synchronization begins, after the first one. */
static int64_t pass_begins_ns(int pass)
{
    int cold = pass < COLD_PASSES ? pass : COLD_PASSES;
    return cold * (int64_t)COLD_PASS_NS + (pass - cold) * (int64_t)FIRST_PASS_NS;
}

static int measure_cold(const mh_sync_run_context *context, int reference_rank, mh_error *error)
{
    mh_offset unused;
    return mh_step_measure(context, reference_rank, context->rates.limit, &unused, error);
}

static int serve(const mh_sync_run_context *context, int client_rank, mh_error *error)
{
    return mh_step_serve(context, client_rank, MH_SHOWN_BARE, error);
}

static int merge(const mh_sync_run_context *context, int reference_rank, mh_error *error)
{
    mh_estimate relation = mh_tracker_estimate(context->tracker);
    return mh_step_compose_estimate(context, reference_rank, &relation, error);
}

static int run(const mh_sync_run_context *context, mh_error *error)
{
    static const mh_pair_protocol burst = {mh_step_track, serve}, cold_burst = {measure_cold, serve};
    static const mh_pair_protocol distribute = {merge, mh_step_send_estimate};
    int passes = context->level->trained ? 1 : FIRST_PASSES, code = MPI_SUCCESS;
    int64_t first_ns = mh_base_clock_now_ns(context->clock);
    for (int i = 0; i < passes && code == MPI_SUCCESS; i++) {
        mh_wait_until(context->clock, first_ns, first_ns + pass_begins_ns(i), context->channel->yields);
        code = mh_pairs_in_turns(context, passes > 1 && i < COLD_PASSES ? &cold_burst : &burst, error);
    }
    if (code == MPI_SUCCESS)
        code = mh_pairs_by_parents(context, &distribute, error);
    context->level->trained = code == MPI_SUCCESS;
    return code;
}

/* The relation of the two clocks, from what an earlier communicator knew about both. */
static int learn_known(const mh_sync_run_context *context, int reference_rank, mh_error *error)
{
    mh_known_estimate theirs;
    int code = mh_step_recv_known(context, reference_rank, &theirs, error);
    if (code != MPI_SUCCESS)
        return code;
    mh_estimate to_reference = mh_estimate_invert(&theirs.estimate);
    mh_estimate relation =
        mh_estimate_compose(&to_reference, &context->known->estimate, mh_base_clock_now_ns(context->clock));
    mh_tracker_start_from(context->tracker, &relation);
    return MPI_SUCCESS;
}

static int take_up(const mh_sync_run_context *context, mh_error *error)
{
    static const mh_pair_protocol protocol = {learn_known, mh_step_send_known};
    context->level->trained = true;
    return mh_pairs_by_parents(context, &protocol, error);
}

const mh_sync_kind mh_sync_track = {
    .name = "track",
    .doc = "a tree of pairs, each of which tracks offset and drift over all synchronizations",
    .takes_estimator = true,
    .bursts_may_stop = true,
    .run = run,
    .take_up = take_up,
};
