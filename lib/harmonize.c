/* SPDX-License-Identifier: BSD-3-Clause */
/* harmonize.c - one call: arrive, then synchronize, or wait and leave, as ordered. */
#include "harmonize.h"

#include "clock/wait.h"
#include "memo.h"
#include "setup.h"
#include "thread_cache.h"

#include <fenv.h>
#include <stdlib.h>

/* This close to a deadline, caches lose little. */
enum { WARM_NS = 10 * 1000 };

/* Let further communicators begin with what is known of this one, unless its clock was found wrong. */
static void pass_on(const mh_comm_state *state)
{
    mh_memory mine = {.fastest = state->rounds.fastest, .yielded = state->rounds.yielded};
    if (state->clock.disrupted)
        mh_memo_forget(&mh_memo_of_process, state->clock.id);
    else if (mh_comm_clock_pass_on(&state->clock, &mine.clock))
        mh_memo_add(&mh_memo_of_process, &mine);
}

/* Look for a step of the clock. is_wrong: a deadline shows that the clock is wrong, whether a step is seen or not. */
static void look(mh_comm_state *state, bool is_wrong)
{
    mh_comm_clock *clock = &state->clock;
    mh_comm_clock_look(clock);
    if (is_wrong && !clock->disrupted)
        mh_comm_clock_distrust(clock);
    if (clock->disrupted)
        pass_on(state);
}

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
    pass_on(state);
    mh_history_keep(&state->history, clock, (size_t)state->settings.values[MH_SET_HISTORY].number);
    mh_rounds_sync_at(&state->rounds, clock->due_ns);
    return MPI_SUCCESS;
}

/* The program may have chosen a rounding, or traps, that are not for this arithmetic. Its flags stay as they are. */
static fenv_t begin_arithmetic(void)
{
    fenv_t of_program;
    fegetenv(&of_program);
    fesetenv(FE_DFL_ENV);
    return of_program;
}

int mh_clock_sync(mh_comm_state *state, mh_error *error)
{
    int64_t all_fine;
    const fenv_t of_program = begin_arithmetic();
    look(state, false);
    int code = mh_allreduce_and(&state->channel, !state->clock.disrupted, &all_fine, error);
    if (code == MPI_SUCCESS)
        code = synchronize(state, !all_fine, true, error);
    fesetenv(&of_program);
    return code;
}

/* Before the first release, and after a change of the algorithm. All processes know that this is due. */
static int get_ready(mh_comm_state *state, mh_error *error)
{
    int code = MPI_SUCCESS;
    if (!mh_global_clock_is_set(&state->clock.global) || !state->plan_is_current)
        code = mh_clock_sync(state, error);
    if (code == MPI_SUCCESS)
        code = mh_rounds_rehearse(&state->rounds, error);
    if (code == MPI_SUCCESS)
        pass_on(state);
    return code;
}

static mh_order what_to_ask_for(const mh_comm_state *state, const mh_call *call)
{
    if (call->delay_ns < 0 || call->delay_ns > state->settings.values[MH_SET_DELAY_MAX_NS].number)
        return MH_ORDER_BAD_DELAY;
    if (!call->flag)
        return call->is_delayed ? MH_ORDER_NO_FLAG_DELAYED : MH_ORDER_NO_FLAG;
    return state->clock.disrupted ? MH_ORDER_RESTART : MH_ORDER_RELEASE;
}

/* A process has a bad argument. The same message on all processes. */
static int refuse(const mh_comm_state *state, int64_t order, mh_error *error)
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
 * What follows the last reading of the clock. A clock that may be set may have been set during the wait; readings until
 * the next call follow a step.
 */
static inline void judge(mh_comm_state *state, const mh_call *call, int64_t lateness_ns, bool is_wrong,
                         bool is_rehearsal)
{
    mh_comm_clock *clock = &state->clock;
    bool is_in_time = mh_rounds_leave(&state->rounds, lateness_ns, is_wrong, is_rehearsal);
    if (is_wrong || clock->global.base.may_be_set)
        look(state, is_wrong);
    *call->flag = is_in_time && !is_rehearsal && !clock->disrupted;
}

/*
 * Returns whether the clock was right: it neither went back before from_ns nor stopped the wait early. Not inlined, so
 * that a rehearsal runs the same code.
 */
__attribute__((noinline)) static bool wait_and_judge(mh_comm_state *state, const mh_call *call, int64_t from_ns,
                                                     int64_t until_ns, bool is_rehearsal)
{
    int64_t left_ns = mh_wait_until(&state->clock.global.base, from_ns, until_ns, mh_rounds_yield(&state->rounds));
    bool is_right = left_ns >= until_ns;
    if (is_right)
        judge(state, call, left_ns - until_ns, false, is_rehearsal);
    else
        judge(state, call, from_ns > left_ns ? from_ns - left_ns : until_ns - left_ns, true, false);
    return is_right;
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
 * Wait for this process's deadline, and leave. During a long wait, caches lose what is not used. So shortly before the
 * end of a delay, leaving is rehearsed: what runs after the last reading of the clock runs then, too. A clock that may
 * be set is looked at after each wait; a second look would keep readings from following a step.
 */
static int leave(mh_comm_state *state, const mh_call *call, const mh_release *release, mh_error *error)
{
    const mh_base_clock *base = &state->clock.global.base;
    mh_accepted accepted = mh_rounds_accept(&state->rounds, release, call->delay_ns);
    int64_t deadline_ns = accepted.deadline_ns, now_ns = accepted.at_ns;
    if (accepted.early_ns != 0) {
        judge(state, call, accepted.early_ns, true, false);
        return MPI_SUCCESS;
    }
    if (call->delay_ns == 0) {
        int code =
            mh_progress_towards(base, &now_ns, deadline_ns, &state->channel, mh_rounds_yield(&state->rounds), error);
        if (code == MPI_SUCCESS)
            wait_and_judge(state, call, now_ns, deadline_ns, false);
        return code;
    }
    int64_t step_ns = mh_sleep_towards(base, deadline_ns);
    if (step_ns != 0) {
        judge(state, call, llabs(step_ns), true, false);
        return MPI_SUCCESS;
    }
    now_ns = mh_base_clock_now_ns(base);
    if (now_ns < deadline_ns - 2 * (int64_t)WARM_NS && !base->may_be_set) {
        if (!wait_and_judge(state, call, now_ns, deadline_ns - WARM_NS, true))
            return MPI_SUCCESS;
        fetch_what_follows(state, call);
        now_ns = deadline_ns - WARM_NS;
    }
    wait_and_judge(state, call, now_ns, deadline_ns, false);
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
        if (mh_clock_watch_is_due(&state->clock.watch, local_ns) || atomic_load(&state->clock.global.is_wrong))
            look(state, false);
        code = mh_rounds_arrive(&state->rounds, local_ns, what_to_ask_for(state, call), (mh_order)release.order,
                                &release, error);
        if (code != MPI_SUCCESS)
            break;
        if (release.order == MH_ORDER_RELEASE)
            return leave(state, call, &release, error);
        if (release.order >= MH_ORDER_NO_FLAG)
            return refuse(state, release.order, error);
        const fenv_t of_program = begin_arithmetic();
        code = synchronize(state, release.order == MH_ORDER_RESTART, false, error);
        fesetenv(&of_program);
    }
    return code;
}
