/* SPDX-License-Identifier: BSD-3-Clause */
/* harmonize.c - the loop of one call: arrive, then synchronize or leave, as ordered. */
#include "harmonize.h"

#include "setup.h"

static int synchronize(mh_comm_state *state, bool restart, bool is_thorough, mh_error *error)
{
    mh_comm_clock *clock = &state->clock;
    int code = state->plan_is_current ? MPI_SUCCESS : mh_setup(state, error);
    if (code == MPI_SUCCESS)
        code = mh_comm_clock_synchronize(clock, restart, is_thorough, error);
    if (code != MPI_SUCCESS)
        return code;
    if (!clock->disrupted)
        mh_rounds_trust_clock(&state->rounds, mh_comm_clock_bound_ns(clock));
    mh_rounds_sync_at(&state->rounds, mh_comm_clock_due_ns(clock));
    return MPI_SUCCESS;
}

int mh_clock_sync(mh_comm_state *state, mh_error *error)
{
    int64_t all_fine;
    mh_comm_clock_look(&state->clock);
    int code = mh_allreduce_and(&state->channel, !state->clock.disrupted, &all_fine, error);
    return code == MPI_SUCCESS ? synchronize(state, !all_fine, true, error) : code;
}

/*
 * Before the first release, and after a change of the algorithm. All processes know that this is due. If no barriers
 * are tried now, the one that was found the fastest before is kept.
 */
static int get_ready(mh_comm_state *state, mh_error *error)
{
    int code = MPI_SUCCESS;
    if (!mh_global_clock_is_set(&state->clock.global) || !state->plan_is_current)
        code = mh_clock_sync(state, error);
    int fastest = state->clock.knows_barrier ? (int)state->clock.origin.name.barrier_choice : 0;
    bool is_new = !state->rounds.rehearsed;
    if (code == MPI_SUCCESS)
        code = mh_rounds_rehearse(&state->rounds, &fastest, error);
    if (code == MPI_SUCCESS && is_new && fastest > 0)
        mh_comm_clock_note_barrier(&state->clock, fastest);
    return code;
}

static mh_request what_to_ask_for(const mh_comm_state *state, const mh_call *call)
{
    if (call->delay_ns < 0 || call->delay_ns > state->settings.values[MH_SET_DELAY_MAX_NS].number)
        return MH_REQUEST_BAD_DELAY;
    if (!call->flag)
        return call->is_delayed ? MH_REQUEST_NO_FLAG_DELAYED : MH_REQUEST_NO_FLAG;
    return state->clock.disrupted ? MH_REQUEST_RESTART : MH_REQUEST_RELEASE;
}

/* A process has a bad argument. The same message on all processes. */
static int refuse(const mh_comm_state *state, int32_t order, mh_error *error)
{
    if (order != MH_ORDER_BAD_DELAY)
        return mh_fail(error, MPI_ERR_ARG,
                       "MPIX_Harmonize%s: flag is a null pointer on at least one process; "
                       "allowed: the address of an int",
                       order == MH_ORDER_NO_FLAG_DELAYED ? "_delayed" : "");
    return mh_fail(error, MPI_ERR_ARG,
                   "MPIX_Harmonize_delayed: delay_ns is out of range on at least one process; "
                   "allowed: 0 to %s, the setting " MH_INFO_PREFIX "delay_max_ns",
                   state->settings.values[MH_SET_DELAY_MAX_NS].text);
}

bool mh_leave(mh_comm_state *state, mh_call *call)
{
    mh_comm_clock *clock = &state->clock;
    mh_exit left = mh_rounds_leave(&state->rounds, &call->wait);
    /* A clock that may be set may have been set during the wait. Readings until the next call follow a step. */
    if (left == MH_EXIT_DISRUPTED || clock->global.base.may_be_set)
        mh_comm_clock_look(clock);
    if (left == MH_EXIT_DISRUPTED && !clock->disrupted)
        mh_comm_clock_distrust(clock);
    *call->flag = left == MH_EXIT_IN_TIME && !clock->disrupted;
    return left == MH_EXIT_SOON;
}

int mh_harmonize(mh_comm_state *state, mh_call *call, mh_error *error)
{
    mh_release release = {.order = MH_ORDER_RELEASE};
    int code = MPI_SUCCESS;
    if (!state->rounds.rehearsed || !state->plan_is_current)
        code = get_ready(state, error);
    while (code == MPI_SUCCESS) {
        int64_t local_ns = mh_base_clock_now_ns(&state->clock.global.base);
        if (mh_clock_watch_is_due(&state->clock.watch, local_ns))
            mh_comm_clock_look(&state->clock);
        code = mh_rounds_arrive(&state->rounds, local_ns, what_to_ask_for(state, call), release.order, &release, error);
        if (code != MPI_SUCCESS)
            break;
        if (release.order == MH_ORDER_RELEASE) {
            mh_rounds_approach(&state->rounds, &release, call->delay_ns, &call->wait);
            return MPI_SUCCESS;
        }
        if (release.order >= MH_ORDER_NO_FLAG)
            return refuse(state, release.order, error);
        code = synchronize(state, release.order == MH_ORDER_RESTART, false, error);
    }
    return code;
}
