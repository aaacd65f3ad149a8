/* SPDX-License-Identifier: BSD-3-Clause */
/* session.c - one synchronization from the first look at the clock to a published estimate, and what follows steps. */
#include "sync/session.h"

#include "base/units.h"

#include <time.h>

/* Global time may stand still for this long, to not go back. */
#define MAX_STANDSTILL_NS MH_NS_PER_MS

void mh_session_init(mh_session *session, const mh_channel *channel)
{
    session->channel = channel;
    mh_global_clock_init(&session->clock);
}

void mh_session_free(mh_session *session)
{
    mh_sync_plan_free(&session->plan);
}

int mh_session_open_clock(mh_session *session, int choice, const mh_place *places, mh_error *error)
{
    const mh_channel *channel = session->channel;
    mh_base_clock *base = &session->clock.base;
    mh_group node;
    if (mh_topology_group(places, channel->size, channel->rank, 1, 2, &node))
        mh_fail(error, MPI_ERR_NO_MEM, "out of memory on rank %d for the ranks of its node", channel->rank);
    int code = mh_error_agree(error, channel->comm);
    if (code == MPI_SUCCESS)
        code = mh_base_clock_open(base, choice, channel, node.ranks, node.size, error);
    mh_group_free(&node);
    if (code == MPI_SUCCESS)
        mh_clock_watch_start(&session->watch, base);
    return code;
}

int mh_session_plan(mh_session *session, const mh_label *label, const mh_place *places, mh_error *error)
{
    const mh_channel *channel = session->channel;
    mh_sync_plan plan;
    mh_sync_plan_make(&plan, label, &session->clock.base, places, channel->size, channel->rank, error);
    int code = mh_error_agree(error, channel->comm);
    mh_sync_plan_free(code == MPI_SUCCESS ? &session->plan : &plan);
    if (code == MPI_SUCCESS)
        session->plan = plan;
    return code;
}

/* ---- Steps of the clock */

/*
 * Correct the estimate for a step of the base clock since the last look, as CLOCK_MONOTONIC measures it; on rank 0 this
 * defines global time. Returns the size of the step; 0: there was none.
 */
static int64_t follow_step(mh_session *session)
{
    int64_t step_ns = mh_clock_watch_look(&session->watch, &session->clock.base);
    if (step_ns == 0)
        return 0;
    mh_schedule_follow_step(&session->schedule, step_ns);
    if (mh_global_clock_is_set(&session->clock))
        mh_global_clock_follow_step(&session->clock, step_ns);
    return step_ns;
}

void mh_session_distrust(mh_session *session)
{
    mh_estimate estimate = mh_global_clock_estimate(&session->clock);
    estimate.bound_ns = MH_TIME_UNKNOWN_NS;
    mh_global_clock_publish(&session->clock, &estimate);
    session->disrupted = true;
    session->disruptions++;
}

/* Somebody has read the global clock between a step and its correction: time would stand still for as long. */
static bool stands_still(mh_session *session)
{
    mh_estimate estimate = mh_global_clock_estimate(&session->clock);
    return mh_global_clock_lead_ns(&session->clock, &estimate) > MAX_STANDSTILL_NS;
}

void mh_session_look_at_clock(mh_session *session)
{
    if (mh_global_clock_is_set(&session->clock) && (follow_step(session) != 0 || stands_still(session)))
        mh_session_distrust(session);
}

/* ---- One synchronization */

/* What the processes agree upon after a synchronization: of each value the maximum of all. */
typedef struct agreement {
    int64_t disrupted; /* a clock was stepped meanwhile */
    int64_t lead_ns;   /* by how much readings of a process may lie ahead of its new estimate */
    int64_t hurry_ns;  /* minus the time until a process wants to synchronize again */
} agreement;

enum { AGREEMENT_FIELDS = 3 };

_Static_assert(sizeof(agreement) == AGREEMENT_FIELDS * sizeof(int64_t),
               "an agreement is reduced as an array of int64_t");

static int64_t hurry_ns(const mh_session *session)
{
    int64_t target_ns = session->target_ns ? session->target_ns : mh_sync_natural_target_ns(&session->plan);
    return -mh_sync_interval_ns(&session->plan, target_ns);
}

/* Global time begins now, on the clock of rank 0. */
static int begin_epoch(mh_session *session, mh_error *error)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    session->epoch_unix_ns = (int64_t)now.tv_sec * MH_NS_PER_S + now.tv_nsec;
    return mh_bcast(session->channel, &session->epoch_unix_ns, sizeof session->epoch_unix_ns, 0, error);
}

/* On rank 0 the estimate that all others are led back to: whatever has happened to its clock, it is exact. */
static mh_estimate reference_of(const mh_session *session, int64_t local_ns)
{
    mh_estimate reference = mh_estimate_exact(local_ns);
    if (mh_global_clock_is_set(&session->clock))
        reference.model = mh_global_clock_estimate(&session->clock).model;
    return reference;
}

static int run_once(mh_session *session, bool is_thorough, mh_estimate *estimate, agreement *all, mh_error *error)
{
    const mh_base_clock *base = &session->clock.base;
    *estimate = reference_of(session, mh_base_clock_now_ns(base));
    int code = mh_sync_run(&session->plan, session->channel, base, is_thorough, estimate, error);
    if (code != MPI_SUCCESS)
        return code;
    bool is_set = mh_global_clock_is_set(&session->clock), stepped = follow_step(session) != 0;
    agreement mine = {.disrupted = session->plan.disrupted || stepped,
                      .lead_ns = is_set ? mh_global_clock_lead_ns(&session->clock, estimate) : INT64_MIN,
                      .hurry_ns = hurry_ns(session)};
    return mh_allreduce_max(session->channel, &mine.disrupted, &all->disrupted, AGREEMENT_FIELDS, error);
}

/*
 * Make the estimate that of the global clock. If some process has handed out readings far ahead of its new estimate,
 * global time moves ahead for all, because it must not go back for one. A small lead passes by itself.
 */
static void publish(mh_session *session, mh_estimate *estimate, int64_t lead_ns)
{
    if (lead_ns > MAX_STANDSTILL_NS)
        estimate->model.offset_ns -= lead_ns;
    mh_global_clock_publish(&session->clock, estimate);
    session->disrupted = false;
}

/*
 * A synchronization during which a clock is stepped is of no use: it is repeated, but not for ever. If the last one is
 * disturbed too, its estimates are not used unless there are no others.
 */
static int run_undisturbed(mh_session *session, bool is_thorough, agreement *all, mh_error *error)
{
    enum { MAX_RUNS = 3 };
    bool is_first = !mh_global_clock_is_set(&session->clock);
    mh_estimate estimate;
    for (int run = 1; run <= MAX_RUNS; run++) {
        int64_t began_ns = mh_base_clock_now_ns(&session->clock.base);
        int code = run_once(session, is_thorough && run == 1, &estimate, all, error);
        if (code != MPI_SUCCESS)
            return code;
        int64_t ended_ns = mh_base_clock_now_ns(&session->clock.base);
        mh_schedule_end(&session->schedule, ended_ns, is_first);
        if (!all->disrupted) {
            publish(session, &estimate, all->lead_ns);
            mh_schedule_count(&session->schedule, ended_ns - began_ns, run == 1 && !is_thorough && !is_first);
            return MPI_SUCCESS;
        }
        session->disruptions++;
        mh_sync_restart(&session->plan);
    }
    if (is_first)
        mh_global_clock_publish(&session->clock, &estimate);
    mh_session_distrust(session);
    return MPI_SUCCESS;
}

int mh_session_synchronize(mh_session *session, bool restart, bool is_thorough, mh_error *error)
{
    agreement all;
    int code = MPI_SUCCESS;
    if (!mh_global_clock_is_set(&session->clock))
        code = begin_epoch(session, error);
    if (code != MPI_SUCCESS)
        return code;
    if (restart) {
        session->disruptions += !session->disrupted; /* else counted when it was found */
        mh_sync_restart(&session->plan);
    }
    code = run_undisturbed(session, is_thorough, &all, error);
    if (code == MPI_SUCCESS)
        mh_schedule_choose(&session->schedule, session->fixed_interval_ns, -all.hurry_ns);
    return code;
}

/* ---- The next one */

int mh_session_reschedule(mh_session *session, mh_error *error)
{
    int64_t mine_ns = hurry_ns(session), max_ns;
    int code = mh_allreduce_max(session->channel, &mine_ns, &max_ns, 1, error);
    if (code == MPI_SUCCESS)
        mh_schedule_choose(&session->schedule, session->fixed_interval_ns, -max_ns);
    return code;
}

int64_t mh_session_due_ns(const mh_session *session)
{
    mh_model model = mh_global_clock_estimate(&session->clock).model;
    const mh_schedule *schedule = &session->schedule;
    return schedule->interval_ns == 0 ? INT64_MAX : mh_model_apply(&model, schedule->last_ns) + schedule->interval_ns;
}

int64_t mh_session_bound_ns(mh_session *session)
{
    mh_estimate estimate = mh_global_clock_estimate(&session->clock);
    return mh_estimate_grows(&estimate) ? MH_TIME_UNKNOWN_NS : mh_global_clock_read(&session->clock).bound_ns;
}
