/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync_prop.c - where processes share a clock, copy the reference's model (ClockPropSync, algorithm 3 of Hunold and
 * Carpen-Amarie, Cluster 2018), but only after verifying: both name the same clock, and the window of a burst of
 * exchanges of bare clock readings contains zero. A process that fails is tracked by a burst of its own each time.
 *
 * The first of the group serves the others one by one: p - 1 messages each way, and a burst for each the first time. A
 * copy adds to the error what the verification could not exclude: half the width of its window.
 */
#include "sync/sync_private.h"

#include <string.h>

/*
 * A window that is wider shows little: messages within a node take microseconds, save where processes share a
 * processor.
 */
#define NARROW_NS (50 * 1000)

enum { MOST_TRIES = 5 };

/*
 * Compare a burst of bare readings: sets sharing and shared_bound_ns. A wide window leaves it unknown, so it is tried
 * again.
 */
static int verify_by_exchanges(const mh_sync_run_context *context, int reference_rank, bool same_identity, mh_error *error)
{
    mh_offset offset;
    int code = mh_step_measure(context, reference_rank, &offset, error);
    if (code != MPI_SUCCESS)
        return code;
    int64_t distance_ns = offset.offset_ns < 0 ? -offset.offset_ns : offset.offset_ns;
    if (same_identity && offset.bound_ns > NARROW_NS && ++context->level->tries < MOST_TRIES)
        return MPI_SUCCESS;
    bool shared = same_identity && distance_ns <= offset.bound_ns + context->clock->read_cost_ns;
    context->level->sharing = shared ? MH_SHARING_VERIFIED : MH_SHARING_REFUTED;
    context->level->shared_bound_ns = distance_ns + offset.bound_ns;
    return MPI_SUCCESS;
}

static int verify(const mh_sync_run_context *context, int reference_rank, mh_error *error)
{
    mh_clock_identity mine = mh_base_clock_identity(context->clock), theirs;
    int code = mh_recv(context->channel, &theirs, sizeof theirs, reference_rank, MH_TAG_IDENTITY, error);
    if (code != MPI_SUCCESS)
        return code;
    return verify_by_exchanges(context, reference_rank, memcmp(&mine, &theirs, sizeof mine) == 0, error);
}

static int serve_verification(const mh_sync_run_context *context, int client_rank, mh_error *error)
{
    mh_clock_identity mine = mh_base_clock_identity(context->clock);
    int code = mh_send(context->channel, &mine, sizeof mine, client_rank, MH_TAG_IDENTITY, error);
    return code != MPI_SUCCESS ? code : mh_step_serve(context, client_rank, MH_SHOWN_BARE, error);
}

static int track(const mh_sync_run_context *context, int reference_rank, mh_error *error)
{
    mh_offset offset;
    int code = mh_step_measure(context, reference_rank, &offset, error);
    if (code != MPI_SUCCESS)
        return code;
    mh_tracker_feed(context->tracker, &offset);
    mh_estimate relation = mh_tracker_estimate(context->tracker, mh_base_clock_is_raw(context->clock));
    return mh_step_compose_estimate(context, reference_rank, &relation, error);
}

static int copy(const mh_sync_run_context *context, int reference_rank, mh_error *error)
{
    int code = mh_step_copy_estimate(context, reference_rank, error);
    if (code == MPI_SUCCESS && context->estimate->bound_ns != MH_TIME_UNKNOWN_NS)
        context->estimate->bound_ns += context->level->shared_bound_ns;
    return code;
}

/* The client says what it knows, and the reference acts on it; at least twice the first time. */
static int be_client(const mh_sync_run_context *context, int reference_rank, mh_error *error)
{
    mh_sharing sharing = context->level->sharing;
    int code = mh_send(context->channel, &sharing, sizeof sharing, reference_rank, MH_TAG_MODEL, error);
    if (code != MPI_SUCCESS)
        return code;
    switch (sharing) {
    case MH_SHARING_UNKNOWN:
        code = verify(context, reference_rank, error);
        return code != MPI_SUCCESS ? code : be_client(context, reference_rank, error);
    case MH_SHARING_VERIFIED:
        return copy(context, reference_rank, error);
    case MH_SHARING_REFUTED:
        return track(context, reference_rank, error);
    }
    return MPI_ERR_INTERN;
}

static int serve_client(const mh_sync_run_context *context, int client_rank, mh_error *error)
{
    mh_sharing sharing;
    int code = mh_recv(context->channel, &sharing, sizeof sharing, client_rank, MH_TAG_MODEL, error);
    if (code == MPI_SUCCESS && sharing == MH_SHARING_UNKNOWN) {
        code = serve_verification(context, client_rank, error);
        return code != MPI_SUCCESS ? code : serve_client(context, client_rank, error);
    }
    if (code == MPI_SUCCESS && sharing == MH_SHARING_REFUTED)
        code = mh_step_serve(context, client_rank, MH_SHOWN_BARE, error);
    return code != MPI_SUCCESS ? code : mh_step_send_estimate(context, client_rank, error);
}

static int run(const mh_sync_run_context *context, mh_error *error)
{
    static const mh_pair_protocol protocol = {be_client, serve_client};
    return mh_pairs_star(context, &protocol, error);
}

const mh_sync_kind mh_sync_prop = {
    .name = "prop",
    .doc = "copy the reference's model to those that are found to share its clock",
    .bursts_may_stop = true,
    .run = run,
};
