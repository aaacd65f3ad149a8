/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync_prop.c - copy the reference's model to processes that share its clock (ClockPropSync, algorithm 3 of Hunold and
 * Carpen-Amarie, Cluster 2018). Sharing is verified first: both processes name the same clock, and the window of a
 * burst of exchanges of base clock readings contains zero. A process that fails is tracked instead, by one burst each
 * time.
 *
 * The first of the group serves the others one by one: p - 1 messages each way, and the first time a burst for each. A
 * copy adds to the error the offsets that the bursts so far could not exclude, which is the intersection of their
 * windows. If it is wide because the machine was busy, further bursts narrow it.
 */
#include "sync/sync_private.h"

#include <string.h>

/* A wider window proves little: messages within a node take microseconds, unless processes share a processor. */
#define VERIFYING_NS INT64_C(50000)

/* The reference serves its clients one by one, so they share this time of a thorough synchronization. */
#define THOROUGH_NS (200 * MH_NS_PER_MS)

enum { MAX_TRIES = 5 };

/* What the client asks its reference for. */
typedef enum mh_prop_request { REQUEST_IDENTITY, REQUEST_BURST, REQUEST_ESTIMATE } mh_prop_request;

static int ask(const mh_sync_run_context *context, int reference_rank, mh_prop_request wanted, mh_error *error)
{
    int64_t message = wanted;
    return mh_send(context->channel, &message, sizeof message, reference_rank, MH_TAG_ESTIMATE, error);
}

/* The offset of a shared clock is always zero, so windows of different times may be intersected. */
static void note_window(const mh_sync_run_context *context, const mh_offset *offset)
{
    mh_level *level = context->level;
    level->bursts++;
    level->window = mh_window_intersect(level->window, mh_window_of_offset(offset));
    if (mh_window_excludes(level->window, 0, context->clock->read_cost_ns)) {
        *context->disrupted |= level->sharing == MH_SHARING_VERIFIED;
        level->sharing = MH_SHARING_REFUTED;
    } else if (offset->bound_ns <= VERIFYING_NS || level->bursts >= MAX_TRIES) {
        level->sharing = MH_SHARING_VERIFIED;
    }
}

/* The rates of a shared clock are equal, so the rate limit is 0. */
static int compare(const mh_sync_run_context *context, int reference_rank, mh_error *error)
{
    mh_offset offset = {.bound_ns = MH_TIME_UNKNOWN_NS};
    int code = ask(context, reference_rank, REQUEST_BURST, error);
    if (code == MPI_SUCCESS)
        code = mh_step_measure(context, reference_rank, 0, &offset, error);
    if (code == MPI_SUCCESS && offset.bound_ns != MH_TIME_UNKNOWN_NS)
        note_window(context, &offset);
    return code;
}

static int verify(const mh_sync_run_context *context, int reference_rank, mh_error *error)
{
    mh_clock_identity mine = mh_base_clock_identity(context->clock), theirs = {0};
    int code = ask(context, reference_rank, REQUEST_IDENTITY, error);
    if (code == MPI_SUCCESS)
        code = mh_recv(context->channel, &theirs, sizeof theirs, reference_rank, MH_TAG_IDENTITY, error);
    if (code == MPI_SUCCESS && memcmp(&mine, &theirs, sizeof mine) != 0)
        context->level->sharing = MH_SHARING_REFUTED;
    for (int i = 0; i < MAX_TRIES && code == MPI_SUCCESS && context->level->sharing == MH_SHARING_UNKNOWN; i++)
        code = compare(context, reference_rank, error);
    return code;
}

/* One more burst; in a thorough synchronization further ones while the bound is wide and time is left. */
static int narrow(const mh_sync_run_context *context, int reference_rank, mh_error *error)
{
    const mh_level *level = context->level;
    int64_t first_ns = mh_base_clock_now_ns(context->clock), spent_ns = 0;
    int64_t share_ns = context->is_thorough ? THOROUGH_NS / (level->group.size - 1) : 0;
    int code = MPI_SUCCESS;
    do {
        code = compare(context, reference_rank, error);
        spent_ns = mh_base_clock_now_ns(context->clock) - first_ns;
    } while (code == MPI_SUCCESS && mh_level_is_wide(level) && spent_ns >= 0 && spent_ns < share_ns);
    return code;
}

static int copy(const mh_sync_run_context *context, int reference_rank, mh_error *error)
{
    int code = mh_step_copy_estimate(context, reference_rank, error);
    if (code == MPI_SUCCESS && context->estimate->bound_ns != MH_TIME_UNKNOWN_NS)
        context->estimate->bound_ns += mh_window_bound_ns(context->level->window, 0);
    return code;
}

static int compose(const mh_sync_run_context *context, int reference_rank, mh_error *error)
{
    mh_estimate relation = mh_tracker_estimate(context->tracker);
    return mh_step_compose_estimate(context, reference_rank, &relation, error);
}

static int be_client(const mh_sync_run_context *context, int reference_rank, mh_error *error)
{
    mh_level *level = context->level;
    int code = MPI_SUCCESS;
    if (level->sharing == MH_SHARING_UNKNOWN)
        code = verify(context, reference_rank, error);
    if (code == MPI_SUCCESS && level->sharing == MH_SHARING_VERIFIED &&
        (mh_level_is_wide(level) || context->is_thorough))
        code = narrow(context, reference_rank, error);
    bool tracks = level->sharing != MH_SHARING_VERIFIED;
    if (code == MPI_SUCCESS && tracks)
        code = ask(context, reference_rank, REQUEST_BURST, error);
    if (code == MPI_SUCCESS && tracks)
        code = mh_step_track(context, reference_rank, error);
    if (code == MPI_SUCCESS)
        code = ask(context, reference_rank, REQUEST_ESTIMATE, error);
    return code != MPI_SUCCESS ? code : (tracks ? compose : copy)(context, reference_rank, error);
}

static int send_identity(const mh_sync_run_context *context, int client_rank, mh_error *error)
{
    mh_clock_identity mine = mh_base_clock_identity(context->clock);
    return mh_send(context->channel, &mine, sizeof mine, client_rank, MH_TAG_IDENTITY, error);
}

/* Answer requests until the estimate has been sent. */
static int serve_client(const mh_sync_run_context *context, int client_rank, mh_error *error)
{
    int64_t wanted = REQUEST_IDENTITY;
    int code = MPI_SUCCESS;
    while (code == MPI_SUCCESS && wanted != REQUEST_ESTIMATE) {
        code = mh_recv(context->channel, &wanted, sizeof wanted, client_rank, MH_TAG_ESTIMATE, error);
        if (code == MPI_SUCCESS && wanted == REQUEST_IDENTITY)
            code = send_identity(context, client_rank, error);
        else if (code == MPI_SUCCESS && wanted == REQUEST_BURST)
            code = mh_step_serve(context, client_rank, MH_SHOWN_BARE, error);
    }
    return code != MPI_SUCCESS ? code : mh_step_send_estimate(context, client_rank, error);
}

static int run(const mh_sync_run_context *context, mh_error *error)
{
    static const mh_pair_protocol protocol = {be_client, serve_client};
    return mh_pairs_star(context, &protocol, error);
}

/* Two processes that were found to have the clock of a third one. */
static int learn_known(const mh_sync_run_context *context, int reference_rank, mh_error *error)
{
    mh_known_estimate theirs;
    const mh_known_estimate *mine = context->known;
    mh_level *level = context->level;
    int code = mh_step_recv_known(context, reference_rank, &theirs, error);
    if (code != MPI_SUCCESS || theirs.sharing_rank != mine->sharing_rank)
        return code;
    level->sharing = MH_SHARING_VERIFIED;
    level->window = (mh_window){mine->window.min_ns - theirs.window.max_ns, mine->window.max_ns - theirs.window.min_ns};
    return MPI_SUCCESS;
}

static int take_up(const mh_sync_run_context *context, mh_error *error)
{
    static const mh_pair_protocol protocol = {learn_known, mh_step_send_known};
    return mh_pairs_star(context, &protocol, error);
}

const mh_sync_kind mh_sync_prop = {
    .name = "prop",
    .doc = "copy the reference's model to those that are found to share its clock",
    .bursts_may_stop = true,
    .run = run,
    .take_up = take_up,
};
