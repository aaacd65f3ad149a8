/* SPDX-License-Identifier: BSD-3-Clause */
/* comm_clock.c - synchronizing from the first look at the clock to the published estimate, and following its steps. */
#include "sync/comm_clock.h"

#include "base/units.h"

#include <time.h>

/* If global time would go back by at most this much, it stands still instead. */
#define MAX_STANDSTILL_NS MH_NS_PER_MS

void mh_comm_clock_init(mh_comm_clock *clock, const mh_channel *channel)
{
    clock->channel = channel;
    mh_global_clock_init(&clock->global);
}

void mh_comm_clock_free(mh_comm_clock *clock)
{
    mh_sync_plan_free(&clock->plan);
}

int mh_comm_clock_open(mh_comm_clock *clock, int choice, const mh_place *places, mh_error *error)
{
    const mh_channel *channel = clock->channel;
    mh_base_clock *base = &clock->global.base;
    mh_group node;
    if (mh_topology_group(places, channel->size, channel->rank, 1, 2, &node))
        mh_fail(error, MPI_ERR_NO_MEM, "out of memory on rank %d for the ranks of its node", channel->rank);
    int code = mh_error_agree(error, channel->comm);
    if (code == MPI_SUCCESS)
        code = mh_base_clock_open(base, choice, channel, node.ranks, node.size, error);
    mh_group_free(&node);
    if (code == MPI_SUCCESS)
        mh_clock_watch_start(&clock->watch, base);
    return code;
}

int mh_comm_clock_plan(mh_comm_clock *clock, const mh_label *label, const mh_place *places, mh_error *error)
{
    const mh_channel *channel = clock->channel;
    mh_sync_plan plan;
    mh_sync_plan_make(&plan, label, &clock->global.base, places, channel->size, channel->rank, error);
    int code = mh_error_agree(error, channel->comm);
    mh_sync_plan_free(code == MPI_SUCCESS ? &clock->plan : &plan);
    if (code == MPI_SUCCESS)
        clock->plan = plan;
    return code;
}

/* ---- Steps of the clock */

/*
 * Correct the estimate for a step of the base clock since the last look, as CLOCK_MONOTONIC measures it; on rank 0 this
 * defines global time. Returns the size of the step; 0: there was none.
 */
static int64_t follow_step(mh_comm_clock *clock)
{
    int64_t step_ns = mh_clock_watch_look(&clock->watch, &clock->global.base);
    if (step_ns == 0)
        return 0;
    mh_schedule_follow_step(&clock->schedule, step_ns);
    if (mh_global_clock_is_set(&clock->global))
        mh_global_clock_follow_step(&clock->global, step_ns);
    return step_ns;
}

void mh_comm_clock_distrust(mh_comm_clock *clock)
{
    mh_estimate estimate = mh_global_clock_estimate(&clock->global);
    estimate.bound_ns = MH_TIME_UNKNOWN_NS;
    mh_global_clock_publish(&clock->global, &estimate);
    clock->disrupted = true;
    clock->disruptions++;
}

/*
 * Whether a thread read the global clock between a step and its correction. Global time would then stand still for the
 * length of the step.
 */
static bool stands_still(mh_comm_clock *clock)
{
    mh_estimate estimate = mh_global_clock_estimate(&clock->global);
    return mh_global_clock_lead_ns(&clock->global, &estimate) > MAX_STANDSTILL_NS;
}

void mh_comm_clock_look(mh_comm_clock *clock)
{
    if (mh_global_clock_is_set(&clock->global) && (follow_step(clock) != 0 || stands_still(clock)))
        mh_comm_clock_distrust(clock);
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

static int64_t hurry_ns(const mh_comm_clock *clock)
{
    int64_t target_ns = clock->target_ns ? clock->target_ns : mh_sync_natural_target_ns(&clock->plan);
    return -mh_sync_interval_ns(&clock->plan, target_ns);
}

/* Global time begins now, on the clock of rank 0. */
static int begin_epoch(mh_comm_clock *clock, mh_error *error)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    clock->epoch_unix_ns = (int64_t)now.tv_sec * MH_NS_PER_S + now.tv_nsec;
    return mh_bcast(clock->channel, &clock->epoch_unix_ns, sizeof clock->epoch_unix_ns, 0, error);
}

/* On rank 0: the estimate that defines global time. It is exact whatever has happened to the clock of rank 0. */
static mh_estimate reference_of(const mh_comm_clock *clock, int64_t local_ns)
{
    mh_estimate reference = mh_estimate_exact(local_ns);
    if (mh_global_clock_is_set(&clock->global))
        reference.model = mh_global_clock_estimate(&clock->global).model;
    return reference;
}

static int run_once(mh_comm_clock *clock, bool is_thorough, mh_estimate *estimate, agreement *all, mh_error *error)
{
    const mh_base_clock *base = &clock->global.base;
    *estimate = reference_of(clock, mh_base_clock_now_ns(base));
    int code = mh_sync_run(&clock->plan, clock->channel, base, is_thorough, estimate, error);
    if (code != MPI_SUCCESS)
        return code;
    bool is_set = mh_global_clock_is_set(&clock->global), stepped = follow_step(clock) != 0;
    agreement mine = {.disrupted = clock->plan.disrupted || stepped,
                      .lead_ns = is_set ? mh_global_clock_lead_ns(&clock->global, estimate) : INT64_MIN,
                      .hurry_ns = hurry_ns(clock)};
    return mh_allreduce_max(clock->channel, &mine.disrupted, &all->disrupted, AGREEMENT_FIELDS, error);
}

/*
 * Make the estimate that of the global clock. If some process has handed out readings far ahead of its new estimate,
 * global time moves ahead for all, because it must not go back for one. A small lead passes by itself.
 */
static void publish(mh_comm_clock *clock, mh_estimate *estimate, int64_t lead_ns)
{
    if (lead_ns > MAX_STANDSTILL_NS)
        estimate->model.offset_ns -= lead_ns;
    mh_global_clock_publish(&clock->global, estimate);
    clock->disrupted = false;
}

/*
 * A synchronization during which a clock is stepped is of no use: it is repeated, but not for ever. If the last one is
 * disturbed too, its estimates are not used unless there are no others.
 */
static int run_undisturbed(mh_comm_clock *clock, bool is_thorough, agreement *all, mh_error *error)
{
    enum { MAX_RUNS = 3 };
    bool is_first = !mh_global_clock_is_set(&clock->global);
    mh_estimate estimate;
    for (int run = 1; run <= MAX_RUNS; run++) {
        int64_t began_ns = mh_base_clock_now_ns(&clock->global.base);
        int code = run_once(clock, is_thorough && run == 1, &estimate, all, error);
        if (code != MPI_SUCCESS)
            return code;
        int64_t ended_ns = mh_base_clock_now_ns(&clock->global.base);
        mh_schedule_end(&clock->schedule, ended_ns, is_first);
        if (!all->disrupted) {
            publish(clock, &estimate, all->lead_ns);
            mh_schedule_count(&clock->schedule, ended_ns - began_ns, run == 1 && !is_thorough && !is_first);
            return MPI_SUCCESS;
        }
        clock->disruptions++;
        mh_sync_restart(&clock->plan);
    }
    if (is_first)
        mh_global_clock_publish(&clock->global, &estimate);
    mh_comm_clock_distrust(clock);
    return MPI_SUCCESS;
}

int mh_comm_clock_synchronize(mh_comm_clock *clock, bool restart, bool is_thorough, mh_error *error)
{
    agreement all;
    int code = MPI_SUCCESS;
    if (!mh_global_clock_is_set(&clock->global))
        code = begin_epoch(clock, error);
    if (code != MPI_SUCCESS)
        return code;
    if (restart) {
        clock->disruptions += !clock->disrupted; /* else counted when it was found */
        mh_sync_restart(&clock->plan);
    }
    code = run_undisturbed(clock, is_thorough, &all, error);
    if (code == MPI_SUCCESS)
        mh_schedule_choose(&clock->schedule, clock->fixed_interval_ns, -all.hurry_ns);
    return code;
}

/* ---- The next one */

int mh_comm_clock_reschedule(mh_comm_clock *clock, mh_error *error)
{
    int64_t mine_ns = hurry_ns(clock), max_ns;
    int code = mh_allreduce_max(clock->channel, &mine_ns, &max_ns, 1, error);
    if (code == MPI_SUCCESS)
        mh_schedule_choose(&clock->schedule, clock->fixed_interval_ns, -max_ns);
    return code;
}

int64_t mh_comm_clock_due_ns(const mh_comm_clock *clock)
{
    mh_model model = mh_global_clock_estimate(&clock->global).model;
    const mh_schedule *schedule = &clock->schedule;
    return schedule->interval_ns == 0 ? INT64_MAX : mh_model_apply(&model, schedule->last_ns) + schedule->interval_ns;
}

int64_t mh_comm_clock_bound_ns(mh_comm_clock *clock)
{
    mh_estimate estimate = mh_global_clock_estimate(&clock->global);
    return mh_estimate_grows(&estimate) ? MH_TIME_UNKNOWN_NS : mh_global_clock_read(&clock->global).bound_ns;
}
