/* SPDX-License-Identifier: BSD-3-Clause */
/* harmonize.c - one call: arrive, then synchronize, or wait and leave, as ordered. */
#include "harmonize.h"

#include "clock/wait.h"
#include "memo.h"
#include "setup.h"
#include "thread_cache.h"

#include <stdlib.h>

/* This close to a deadline, caches lose little. */
enum { WARM_NS = 10 * 1000 };

/* Let further communicators begin with what is known of this one. */
static void pass_on(const mh_comm_state *state)
{
    mh_memory mine = {.fastest = state->fastest, .yielded = state->yielded};
    if (!state->clock.disrupted && mh_comm_clock_pass_on(&state->clock, &mine.clock))
        mh_memo_add(&mh_memo_of_process, &mine);
}

static void look(mh_comm_clock *clock)
{
    mh_comm_clock_look(clock);
    if (clock->disrupted)
        mh_memo_forget(&mh_memo_of_process, clock->id);
}

static int synchronize(mh_comm_state *state, bool restart, bool is_thorough, mh_error *error)
{
    mh_comm_clock *clock = &state->clock;
    int code = state->plan_is_current ? MPI_SUCCESS : mh_setup(state, error);
    if (code == MPI_SUCCESS)
        code = mh_comm_clock_synchronize(clock, restart, is_thorough, error);
    if (code != MPI_SUCCESS)
        return code;
    if (clock->disrupted)
        mh_memo_forget(&mh_memo_of_process, clock->id);
    else
        mh_rounds_trust_clock(&state->rounds, mh_comm_clock_bound_ns(clock));
    pass_on(state);
    mh_rounds_sync_at(&state->rounds, mh_comm_clock_due_ns(clock));
    return MPI_SUCCESS;
}

int mh_clock_sync(mh_comm_state *state, mh_error *error)
{
    int64_t all_fine;
    look(&state->clock);
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
    int fastest = state->fastest_before;
    bool is_new = !state->rounds.rehearsed;
    if (code == MPI_SUCCESS)
        code = mh_rounds_rehearse(&state->rounds, &fastest, error);
    if (code == MPI_SUCCESS && is_new && fastest > 0) {
        state->fastest = fastest;
        state->yielded = state->channel.yields;
        pass_on(state);
    }
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

/*
 * What follows the last reading of the clock. wrong_ns: how wrong the clock was found to be, which ends the wait; 0 if
 * it is right. A clock that may be set may have been set during the wait; readings until the next call follow a step.
 */
static inline void judge(mh_comm_state *state, const mh_call *call, int64_t lateness_ns, int64_t wrong_ns, bool is_last)
{
    mh_comm_clock *clock = &state->clock;
    mh_rounds *rounds = &state->rounds;
    rounds->lateness_ns = wrong_ns != 0 ? wrong_ns : lateness_ns;
    bool is_late = wrong_ns != 0 || lateness_ns > rounds->tolerance_ns;
    rounds->misses += is_late && is_last;
    if (wrong_ns != 0 || clock->global.base.may_be_set)
        look(clock);
    if (wrong_ns != 0 && !clock->disrupted) {
        mh_comm_clock_distrust(clock);
        mh_memo_forget(&mh_memo_of_process, clock->id);
    }
    *call->flag = !is_late && is_last && !clock->disrupted;
}

/* What most callers run next: they read the global time, which makes this reading fast, and go on in their own code. */
static void fetch_what_follows(mh_comm_state *state, const mh_call *call)
{
    enum { LINE_BYTES = 64, LINES = 4 };
    for (int i = 0; i < MH_FOLLOWING && call->following[i]; i++)
        for (int line = 0; line < LINES; line++)
            __builtin_prefetch((const char *)call->following[i] + (size_t)line * LINE_BYTES);
    if (mh_comm_state_remembered(state->user_comm))
        mh_global_clock_read(&state->clock.global);
}

/*
 * Wait for this process's deadline, and leave. During a long wait, caches lose what is not used, so it has two parts:
 * what runs after the last reading of the clock runs shortly before it, too. A clock that may be set is checked after
 * each part; a second check would keep readings from following a step.
 */
static int leave(mh_comm_state *state, const mh_call *call, const mh_release *release, mh_error *error)
{
    const mh_base_clock *base = &state->clock.global.base;
    mh_accepted accepted = mh_rounds_accept(&state->rounds, release, call->delay_ns);
    int64_t from_ns = accepted.at_ns, deadline_ns = accepted.deadline_ns, until_ns = deadline_ns;
    int64_t wrong_ns = accepted.early_ns, lateness_ns = 0;
    bool yields = mh_rounds_yield(&state->rounds);
    int code = MPI_SUCCESS;
    if (call->delay_ns == 0 && wrong_ns == 0)
        code = mh_progress_towards(base, &from_ns, deadline_ns, &state->channel, yields, error);
    if (code != MPI_SUCCESS)
        return code;
    if (call->delay_ns > 0 && wrong_ns == 0) {
        wrong_ns = llabs(mh_sleep_towards(base, deadline_ns));
        from_ns = mh_base_clock_now_ns(base);
        if (from_ns < deadline_ns - 2 * (int64_t)WARM_NS && !base->may_be_set)
            until_ns = deadline_ns - WARM_NS;
    }
    for (bool is_last = false; !is_last; until_ns = deadline_ns) {
        if (wrong_ns == 0) {
            int64_t left_ns = mh_wait_until(base, from_ns, until_ns, yields);
            lateness_ns = left_ns - until_ns;
            if (lateness_ns < 0)
                wrong_ns = from_ns > left_ns ? from_ns - left_ns : -lateness_ns;
            from_ns = left_ns;
        }
        is_last = until_ns == deadline_ns || wrong_ns != 0;
        judge(state, call, lateness_ns, wrong_ns, is_last);
        if (!is_last)
            fetch_what_follows(state, call);
    }
    return MPI_SUCCESS;
}

int mh_harmonize(mh_comm_state *state, const mh_call *call, mh_error *error)
{
    mh_release release = {.order = MH_ORDER_RELEASE};
    int code = MPI_SUCCESS;
    if (!state->rounds.rehearsed || !state->plan_is_current)
        code = get_ready(state, error);
    while (code == MPI_SUCCESS) {
        int64_t local_ns = mh_base_clock_now_ns(&state->clock.global.base);
        if (mh_clock_watch_is_due(&state->clock.watch, local_ns))
            look(&state->clock);
        code = mh_rounds_arrive(&state->rounds, local_ns, what_to_ask_for(state, call), release.order, &release, error);
        if (code != MPI_SUCCESS)
            break;
        if (release.order == MH_ORDER_RELEASE)
            return leave(state, call, &release, error);
        if (release.order >= MH_ORDER_NO_FLAG)
            return refuse(state, release.order, error);
        code = synchronize(state, release.order == MH_ORDER_RESTART, false, error);
    }
    return code;
}
