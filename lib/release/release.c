/* SPDX-License-Identifier: BSD-3-Clause */
/* release.c - rounds, rehearsals, and the choice of the barrier algorithm. */
#include "release/release.h"

#include "pure/statistics.h"
#include "pure/units.h"

#include <stdlib.h>
#include <string.h>

enum {
    REHEARSALS_COLD = 4, /* the first rounds, not used */
    REHEARSALS_MAX = 40,
    REHEARSALS_KNOWN_MAX = 16,            /* if the fastest barrier is known, connections are warm too */
    REHEARSALS_TIME_NS = 20 * 1000 * 1000 /* no further rehearsal after this, if rounds are slow */
};

enum { CHOICE_AUTO = 0 };

void mh_rounds_init(mh_rounds *rounds, const mh_channel *channel, mh_global_clock *clock, mh_barrier *barrier)
{
    memset(rounds, 0, sizeof *rounds);
    rounds->channel = channel;
    rounds->clock = clock;
    rounds->barrier = barrier;
    rounds->decided_ns = rounds->last_call.overhead_ns = INT64_MIN;
    rounds->instant_ns = MH_TIME_UNKNOWN_NS;
    rounds->arrival.slack_ns = INT64_MIN;
    mh_rounds_sync_at(rounds, INT64_MAX);
    rounds->stamp_margin_ns = MH_TIME_UNKNOWN_NS;
    mh_slack_init(&rounds->slack, 1, INT64_MAX);
}

void mh_rounds_configure(mh_rounds *rounds, const mh_rounds_settings *settings)
{
    if (rounds->barrier_choice != settings->barrier_choice || rounds->clocks_agree != settings->clocks_agree) {
        rounds->rehearsed = false;
        rounds->last_call.overhead_ns = INT64_MIN;
        mh_slack_init(&rounds->slack, settings->slack_floor_ns, settings->slack_ceiling_ns);
    }
    rounds->barrier_choice = settings->barrier_choice;
    rounds->clocks_agree = settings->clocks_agree;
    rounds->tolerance_ns = settings->tolerance_ns;
    mh_slack_limit(&rounds->slack, settings->slack_floor_ns, settings->slack_ceiling_ns);
    mh_slack_aim(&rounds->slack, settings->min_valid);
}

void mh_rounds_sync_at(mh_rounds *rounds, int64_t due_ns)
{
    rounds->decided_ns = INT64_MIN;
    rounds->sync_due_ns = due_ns;
}

/* The release that follows from the arrivals of all; every process that has these computes the same. */
static mh_release decide(const mh_rounds *rounds, const mh_arrival *all, int64_t decision_ns, int64_t given_ns,
                         mh_order done)
{
    int64_t order = all->order;
    if (all->sent_ns > decision_ns) /* nothing can arrive before it was sent: a clock is wrong */
        mh_raise(&order, MH_ORDER_RESTART);
    if (decision_ns >= rounds->sync_due_ns)
        mh_raise(&order, MH_ORDER_SYNC);
    return (mh_release){order > (int64_t)done ? order : MH_ORDER_RELEASE, decision_ns, given_ns, all->slack_ns};
}

/* Rank 0: what these arrivals report of the previous call. The deadline is near, so it is only noted. */
static void note_last(mh_rounds *rounds, const mh_arrival *all, const mh_release *release)
{
    int64_t left_ns = rounds->decided_ns + rounds->slack_ns + all->delay_ns;
    if (rounds->decided_ns != INT64_MIN)
        rounds->last_call = (mh_slack_call){all->need_ns, release->decision_ns - left_ns, rounds->slack_ns,
                                            all->delay_ns, all->late_ns};
    rounds->decided_ns = release->decision_ns;
}

static void learn_last(mh_rounds *rounds)
{
    if (rounds->last_call.overhead_ns == INT64_MIN)
        return;
    mh_slack_learn(&rounds->slack, &rounds->last_call);
    rounds->last_call.overhead_ns = INT64_MIN;
}

void mh_rounds_trust_clock(mh_rounds *rounds, int64_t bound_ns)
{
    bool is_fixed = bound_ns != MH_TIME_UNKNOWN_NS;
    rounds->stamp_margin_ns = is_fixed ? bound_ns + rounds->tolerance_ns : MH_TIME_UNKNOWN_NS;
}

/*
 * Set the time of arrival. Use the raw model: the public reading never decreases and would hide a step of the clock.
 * The clock of rank 0 is the reference, so its margin is 0.
 */
static void stamp(mh_rounds *rounds, int64_t local_ns)
{
    mh_arrival *arrival = &rounds->arrival;
    mh_estimate estimate = mh_global_clock_estimate(rounds->clock);
    int64_t margin_ns = rounds->stamp_margin_ns;
    arrival->arrived_ns = mh_model_apply(&estimate.model, local_ns);
    if (rounds->channel->rank == 0)
        margin_ns = 0;
    else if (margin_ns == MH_TIME_UNKNOWN_NS)
        margin_ns = mh_estimate_bound(&estimate, local_ns);
    arrival->sent_ns = margin_ns == MH_TIME_UNKNOWN_NS ? INT64_MIN : arrival->arrived_ns - margin_ns;
}

/*
 * After MPI_Barrier, what was sent before it can be seen, because the messages of the barrier come later. A process
 * that hears of the release through shared memory must call MPI for it. Each call takes in some of the messages: how
 * many calls there are depends on the time in which processes could send, from the last release to the last arrival.
 * No time is too short for one message: Open MPI sends in the time of two readings of the clock. The need has these
 * calls in it: if they ended after the deadline, processes would leave apart.
 */
static int make_progress(const mh_rounds *rounds, const mh_release *release, mh_error *error)
{
    enum { READINGS = 8, LONGEST_NS = 200, CALLS_MAX = 4, FACTOR = 2 };
    int64_t last_ns = rounds->instant_ns, limit_ns = READINGS * rounds->clock->base.read_cost_ns;
    if (limit_ns > LONGEST_NS) /* the cost was measured on a busy machine, or a reading is a system call */
        limit_ns = LONGEST_NS;
    int64_t sending_ns = last_ns == MH_TIME_UNKNOWN_NS ? MH_NS_PER_S : release->decision_ns - last_ns;
    if (!mh_barrier_is_heard_outside_mpi(rounds->barrier))
        return MPI_SUCCESS;
    int code = mh_make_progress(rounds->channel, error);
    for (int i = 1; code == MPI_SUCCESS && i < CALLS_MAX && sending_ns > limit_ns; i++, limit_ns *= FACTOR)
        code = mh_make_progress(rounds->channel, error);
    return code;
}

/* Arrive, and get the release. all: the arrivals of all, if this process receives them. */
static int run(mh_rounds *rounds, int64_t local_ns, mh_order done, mh_arrival *all, mh_release *release,
               mh_error *error)
{
    bool informs_all = mh_barrier_informs_all(rounds->barrier);
    stamp(rounds, local_ns);
    mh_barrier_announce(rounds->barrier, &rounds->arrival);
    learn_last(rounds);
    int code = mh_barrier_arrive(rounds->barrier, &rounds->arrival, all, error);
    if (code != MPI_SUCCESS)
        return code;
    if (informs_all) {
        *release = decide(rounds, all, all->arrived_ns, all->sent_ns, done);
    } else if (rounds->channel->rank == 0) {
        mh_model model = mh_global_clock_estimate(rounds->clock).model;
        int64_t now_ns = mh_model_apply(&model, mh_base_clock_now_ns(&rounds->clock->base));
        *release = decide(rounds, all, now_ns, now_ns, done);
    }
    code = mh_barrier_release(rounds->barrier, release, error);
    return code == MPI_SUCCESS ? make_progress(rounds, release, error) : code;
}

/* How late this process left the previous call if it was ready for the deadline: it was interrupted; else 0. */
static int64_t interrupted_ns(const mh_rounds *rounds)
{
    bool was_ready = rounds->arrival.need_ns <= rounds->slack_ns + rounds->delay_ns;
    return was_ready && rounds->lateness_ns > rounds->tolerance_ns ? rounds->lateness_ns : 0;
}

int mh_rounds_arrive(mh_rounds *rounds, int64_t local_ns, mh_order asked, mh_order done, mh_release *release,
                     mh_error *error)
{
    mh_arrival all;
    bool is_first = rounds->channel->rank == 0;
    rounds->arrival.order = asked;
    rounds->arrival.delay_ns = rounds->delay_ns;
    rounds->arrival.late_ns = interrupted_ns(rounds);
    if (is_first)
        rounds->arrival.slack_ns = rounds->slack.slack_ns;
    int code = run(rounds, local_ns, done, &all, release, error);
    if (code == MPI_SUCCESS && is_first && release->order == MH_ORDER_RELEASE)
        note_last(rounds, &all, release);
    return code;
}

static void note_need(mh_rounds *rounds, const mh_model *model, const mh_release *release, int64_t local_ns)
{
    rounds->arrival.need_ns = mh_model_apply(model, local_ns) - release->decision_ns;
}

/*
 * By how much the release arrived before it was decided, if that is more than the bounds of the clocks allow; else 0.
 */
static int64_t came_too_early_by(const mh_rounds *rounds, const mh_release *release, const mh_estimate *estimate,
                                 int64_t local_ns)
{
    int64_t now_ns = mh_model_apply(&estimate->model, local_ns);
    if (release->given_ns <= now_ns + rounds->tolerance_ns)
        return 0;
    int64_t bound_ns = mh_estimate_bound(estimate, local_ns), early_ns = release->given_ns - now_ns;
    return bound_ns == MH_TIME_UNKNOWN_NS || early_ns > rounds->tolerance_ns + bound_ns ? early_ns : 0;
}

mh_accepted mh_rounds_accept(mh_rounds *rounds, const mh_release *release, int64_t delay_ns)
{
    mh_estimate estimate = mh_global_clock_estimate(rounds->clock);
    int64_t instant_ns = release->decision_ns + release->slack_ns;
    mh_accepted accepted = {.deadline_ns = mh_model_invert(&estimate.model, instant_ns + delay_ns),
                            .at_ns = mh_base_clock_now_ns(&rounds->clock->base)};
    note_need(rounds, &estimate.model, release, accepted.at_ns);
    rounds->slack_ns = release->slack_ns;
    rounds->delay_ns = delay_ns;
    atomic_store_explicit(&rounds->instant_ns, instant_ns, memory_order_relaxed);
    rounds->calls++;
    accepted.early_ns = came_too_early_by(rounds, release, &estimate, accepted.at_ns);
    return accepted;
}

/* A round that is like a call without the wait. more: on rank 0, whether another one follows. */
static int rehearse_once(mh_rounds *rounds, bool learns, bool more, mh_release *release, mh_error *error)
{
    mh_arrival all;
    bool is_first = rounds->channel->rank == 0;
    int64_t before_ns = release->decision_ns, local_ns = mh_base_clock_now_ns(&rounds->clock->base);
    rounds->arrival.order = is_first && more ? MH_ORDER_REHEARSE : MH_ORDER_RELEASE;
    int code = run(rounds, local_ns, MH_ORDER_RELEASE, &all, release, error);
    /* As in a call, the need does not include the update of the slack. */
    mh_model model = mh_global_clock_estimate(rounds->clock).model;
    note_need(rounds, &model, release, mh_base_clock_now_ns(&rounds->clock->base));
    if (code == MPI_SUCCESS && learns && is_first)
        mh_slack_learn(&rounds->slack, &(mh_slack_call){all.need_ns, release->decision_ns - before_ns, 0, 0, 0});
    return code;
}

/* Rounds with the barrier in use. typical_ns, on rank 0: the median duration of the rounds after the cold ones. */
static int rehearse_rounds(mh_rounds *rounds, bool learns, int max, int64_t *typical_ns, mh_error *error)
{
    mh_release release = {.order = MH_ORDER_REHEARSE};
    int64_t first_ns = mh_base_clock_now_ns(&rounds->clock->base), took_ns[REHEARSALS_MAX + 1];
    int warm = 0;
    for (int i = 0; release.order == MH_ORDER_REHEARSE; i++) {
        int64_t began_ns = mh_base_clock_now_ns(&rounds->clock->base), spent_ns = began_ns - first_ns;
        bool more = i < max && (i <= REHEARSALS_COLD || spent_ns < REHEARSALS_TIME_NS);
        int code = rehearse_once(rounds, learns && i > REHEARSALS_COLD, more, &release, error);
        if (code != MPI_SUCCESS)
            return code;
        if (i > REHEARSALS_COLD)
            took_ns[warm++] = mh_base_clock_now_ns(&rounds->clock->base) - began_ns;
    }
    *typical_ns = mh_median(took_ns, warm);
    return MPI_SUCCESS;
}

/* If clocks are not synchronized, the last arrival by one clock has no meaning for another: a root must decide. */
static bool is_allowed(const mh_rounds *rounds, int choice)
{
    bool has_meaning = rounds->clocks_agree || !mh_barrier_decides_alone(choice);
    return has_meaning && mh_barrier_is_available(rounds->barrier, choice);
}

/* When oversubscribed, the timestamp of the last arrival is stale before all processes know it. */
static bool suits(const mh_rounds *rounds, int choice)
{
    return is_allowed(rounds, choice) && !(rounds->channel->yields && mh_barrier_decides_alone(choice));
}

/* Try each barrier that suits; rank 0 chooses the fastest. */
static int find_fastest(mh_rounds *rounds, int *choice, mh_error *error)
{
    int64_t best_ns = INT64_MAX, took_ns;
    for (int i = CHOICE_AUTO + 1; mh_barrier_choice(i); i++) {
        if (!suits(rounds, i))
            continue;
        mh_barrier_use(rounds->barrier, i, "");
        int code = rehearse_rounds(rounds, false, REHEARSALS_MAX, &took_ns, error);
        if (code != MPI_SUCCESS)
            return code;
        if (took_ns < best_ns) {
            best_ns = took_ns;
            *choice = i;
        }
    }
    return mh_bcast(rounds->channel, choice, sizeof *choice, 0, error);
}

static int choose_barrier(mh_rounds *rounds, mh_error *error)
{
    int asked = rounds->barrier_choice, choice = rounds->fastest_before, code = MPI_SUCCESS;
    const char *reason = "the fastest here";
    if (asked == CHOICE_AUTO) {
        if (choice > 0 && suits(rounds, choice))
            reason = "the fastest in an earlier communicator of these processes";
        else
            code = find_fastest(rounds, &choice, error);
        if (code == MPI_SUCCESS) {
            rounds->fastest = choice;
            rounds->yielded = rounds->channel->yields;
        }
    } else {
        choice = asked;
        if (!is_allowed(rounds, asked)) {
            choice++;
            while (!suits(rounds, choice)) /* the last one in the list always does */
                choice++;
        }
        reason = choice == asked                                   ? "requested"
                 : mh_barrier_is_available(rounds->barrier, asked) ? "the requested one needs synchronized clocks"
                                                                   : "replaces the requested one";
    }
    if (code == MPI_SUCCESS)
        mh_barrier_use(rounds->barrier, choice, reason);
    return code;
}

int mh_rounds_rehearse(mh_rounds *rounds, mh_error *error)
{
    int64_t unused_ns;
    if (rounds->rehearsed)
        return MPI_SUCCESS;
    int max = rounds->fastest_before > 0 ? REHEARSALS_KNOWN_MAX : REHEARSALS_MAX;
    int code = choose_barrier(rounds, error);
    if (code == MPI_SUCCESS)
        code = rehearse_rounds(rounds, true, max, &unused_ns, error);
    rounds->rehearsed = code == MPI_SUCCESS;
    return code;
}
