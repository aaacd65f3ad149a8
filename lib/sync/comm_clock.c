/* SPDX-License-Identifier: BSD-3-Clause */
/* comm_clock.c - synchronizing from the first look at the clock to the published estimate, and following its steps. */
#include "sync/comm_clock.h"

#include "base/host.h"
#include "pure/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

/* From now on, steps that happened since the last check of the origin are found. */
static void begin_with(mh_comm_clock *clock, int choice, const mh_known_clock *origin)
{
    mh_base_clock *base = &clock->global.base;
    clock->origin = *origin;
    *base = origin->base;
    if (choice > 0)
        snprintf(base->reason, sizeof base->reason, "requested");
    else if (strcmp(base->reason, "requested") == 0)
        snprintf(base->reason, sizeof base->reason, "that of an earlier communicator");
    clock->watch = origin->watch;
}

int mh_comm_clock_open(mh_comm_clock *clock, int choice, const mh_known_clock *origin, const mh_sites *sites,
                       mh_error *error)
{
    const mh_group *node = &sites->node;
    mh_base_clock *base = &clock->global.base;
    clock->is_one_node = node->size == clock->channel->size;
    if (origin->id) {
        begin_with(clock, choice, origin);
        return MPI_SUCCESS;
    }
    int code = mh_base_clock_open(base, choice, clock->channel, node->ranks, node->size, error);
    if (code == MPI_SUCCESS)
        mh_clock_watch_start(&clock->watch, base);
    return code;
}

int mh_comm_clock_plan(mh_comm_clock *clock, const mh_label *label, const mh_sites *sites, mh_error *error)
{
    mh_sync_plan plan;
    mh_sync_plan_make(&plan, label, &clock->global.base, sites, error);
    int code = mh_error_agree(error, clock->channel->comm);
    mh_sync_plan_free(code == MPI_SUCCESS ? &clock->plan : &plan);
    if (code == MPI_SUCCESS) {
        clock->plan = plan;
        clock->plan.tracker.rates.wander = clock->settings.wander;
    }
    return code;
}

void mh_comm_clock_configure(mh_comm_clock *clock, const mh_comm_clock_settings *settings)
{
    clock->settings = *settings;
    clock->plan.tracker.rates.wander = settings->wander;
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
    clock->zero_ns += step_ns;
    if (mh_global_clock_is_set(&clock->global))
        mh_global_clock_follow_step(&clock->global, step_ns);
    return step_ns;
}

static void unbind(mh_comm_clock *clock, mh_estimate estimate)
{
    estimate.bound_ns = MH_TIME_UNKNOWN_NS;
    mh_global_clock_publish(&clock->global, &estimate);
}

void mh_comm_clock_forget_bound(mh_comm_clock *clock)
{
    mh_estimate estimate = mh_global_clock_estimate(&clock->global);
    if (mh_estimate_grows(&estimate))
        unbind(clock, estimate);
}

void mh_comm_clock_distrust(mh_comm_clock *clock)
{
    atomic_store(&clock->global.is_wrong, true);
    unbind(clock, mh_global_clock_estimate(&clock->global));
    clock->disrupted = true;
    clock->disruptions++;
}

/*
 * Whether a thread read the global clock between a step and its correction. Global time would then stand still for the
 * length of the step.
 */
static bool stood_still(mh_comm_clock *clock)
{
    mh_estimate estimate = mh_global_clock_estimate(&clock->global);
    return mh_global_clock_lead_ns(&clock->global, &estimate) > MAX_STANDSTILL_NS;
}

void mh_comm_clock_look(mh_comm_clock *clock)
{
    if (!mh_global_clock_is_set(&clock->global))
        return;
    /* Once found wrong, it stands still until the next synchronization. */
    if (follow_step(clock) != 0 || (!clock->disrupted && (atomic_load(&clock->global.is_wrong) || stood_still(clock))))
        mh_comm_clock_distrust(clock);
}

/* ---- One synchronization */

/* What the processes agree upon after a synchronization: of each value the maximum of all. */
typedef struct mh_agreement {
    int64_t disrupted; /* a clock was stepped meanwhile */
    int64_t lead_ns;   /* by how much readings of a process may lie ahead of its new estimate */
    int64_t hurry_ns;  /* minus the time until a process wants to synchronize again */
} mh_agreement;

enum { AGREEMENT_FIELDS = 3 };

_Static_assert(sizeof(mh_agreement) == AGREEMENT_FIELDS * sizeof(int64_t),
               "an agreement is reduced as an array of int64_t");

static int64_t hurry_ns(const mh_comm_clock *clock)
{
    int64_t target_ns = clock->settings.target_ns ? clock->settings.target_ns : mh_sync_natural_target_ns(&clock->plan);
    return -mh_sync_interval_ns(&clock->plan, target_ns);
}

/* Now, as the base clock would read if it had not been stepped since the last look. The next look adds that step. */
static int64_t now_before_steps_ns(const mh_comm_clock *clock)
{
    mh_clock_watch watch = clock->watch;
    int64_t step_ns = mh_clock_watch_look(&watch, &clock->global.base);
    return watch.base_ns - step_ns;
}

/* Global time begins now, on the clock of rank 0. */
static int begin_epoch(mh_comm_clock *clock, mh_error *error)
{
    clock->zero_ns = now_before_steps_ns(clock);
    int64_t unix_ns = mh_kernel_clock_ns(CLOCK_REALTIME);
    /* The address tells simulated processes apart, which share a time and a process number. */
    struct {
        int64_t unix_ns;
        uint64_t id;
    } epoch = {unix_ns, mh_fresh_number() + (uintptr_t)clock};
    int code = mh_bcast(clock->channel, &epoch, sizeof epoch, 0, error);
    clock->epoch_unix_ns = epoch.unix_ns;
    clock->id = epoch.id;
    if (code == MPI_SUCCESS && clock->origin.id) {
        code = mh_sync_take_up(&clock->plan, clock->channel, &clock->global.base, &clock->origin.known, error);
        clock->is_shared = mh_sync_keeps(&clock->plan);
    }
    return code;
}

/* On rank 0: the estimate that defines global time. It is exact, whatever happened to the clock of rank 0. */
static mh_estimate reference_of(const mh_comm_clock *clock)
{
    mh_estimate reference = mh_estimate_exact(clock->zero_ns);
    if (mh_global_clock_is_set(&clock->global))
        reference.model = mh_global_clock_estimate(&clock->global).model;
    return reference;
}

static int run_once(mh_comm_clock *clock, bool is_thorough, mh_estimate *estimate, mh_agreement *all, mh_error *error)
{
    const mh_base_clock *base = &clock->global.base;
    *estimate = reference_of(clock);
    int code = mh_sync_run(&clock->plan, clock->channel, base, is_thorough, estimate, error);
    if (code != MPI_SUCCESS)
        return code;
    bool is_set = mh_global_clock_is_set(&clock->global), stepped = follow_step(clock) != 0;
    mh_agreement mine = {.disrupted = clock->plan.disrupted || stepped,
                         .lead_ns = is_set ? mh_global_clock_lead_ns(&clock->global, estimate) : INT64_MIN,
                         .hurry_ns = hurry_ns(clock)};
    code = mh_allreduce_max(clock->channel, &mine.disrupted, &all->disrupted, AGREEMENT_FIELDS, error);
    if (code == MPI_SUCCESS && !all->disrupted)
        clock->wandered += clock->plan.wandered;
    return code;
}

/*
 * Make the estimate that of the global clock. If some process has returned readings far ahead of its new estimate,
 * global time moves ahead for all, because it must not go back for one. A small lead passes by itself.
 */
static void publish(mh_comm_clock *clock, mh_estimate *estimate, int64_t lead_ns)
{
    if (lead_ns > MAX_STANDSTILL_NS) {
        estimate->model.offset_ns -= lead_ns;
        clock->moves++;
        mh_sync_forget_past(&clock->plan);
    }
    mh_global_clock_publish(&clock->global, estimate);
    atomic_store(&clock->global.is_wrong, false);
    clock->errors = estimate->errors;
    clock->errors_at_ns = estimate->model.at_ns;
    clock->disrupted = false;
}

/*
 * A synchronization during which a clock is stepped is of no use: it is repeated, but not for ever. If the last one is
 * disturbed too, its estimates are not used unless there are no others.
 */
static int run_undisturbed(mh_comm_clock *clock, bool is_thorough, mh_agreement *all, mh_error *error)
{
    enum { MAX_RUNS = 3 };
    bool is_first = !mh_global_clock_is_set(&clock->global);
    mh_estimate estimate;
    for (int run = 1; run <= MAX_RUNS; run++) {
        bool is_new = !clock->plan.has_run;
        int64_t began_ns = mh_base_clock_now_ns(&clock->global.base);
        int code = run_once(clock, is_thorough && run == 1, &estimate, all, error);
        if (code != MPI_SUCCESS)
            return code;
        int64_t ended_ns = mh_base_clock_now_ns(&clock->global.base);
        mh_schedule_end(&clock->schedule, ended_ns, is_new);
        if (!all->disrupted) {
            publish(clock, &estimate, all->lead_ns);
            mh_schedule_count(&clock->schedule, ended_ns - began_ns, !is_thorough && !is_new);
            return MPI_SUCCESS;
        }
        clock->disruptions += run < MAX_RUNS; /* the last one counts as it is distrusted */
        clock->is_shared = clock->is_shared && !is_first;
        mh_sync_restart(&clock->plan);
    }
    if (is_first)
        unbind(clock, estimate);
    mh_comm_clock_distrust(clock);
    return MPI_SUCCESS;
}

/* Choose the time of the next synchronization. Rank 0 tells when it is due, so that all processes do the same. */
static int choose_next(mh_comm_clock *clock, int64_t wanted_ns, mh_error *error)
{
    const mh_schedule *schedule = &clock->schedule;
    mh_model model = mh_global_clock_estimate(&clock->global).model;
    mh_schedule_choose(&clock->schedule, clock->settings.fixed_interval_ns, wanted_ns);
    clock->due_ns =
        schedule->interval_ns == 0 ? INT64_MAX : mh_model_apply(&model, schedule->last_ns) + schedule->interval_ns;
    return mh_bcast(clock->channel, &clock->due_ns, sizeof clock->due_ns, 0, error);
}

int mh_comm_clock_synchronize(mh_comm_clock *clock, bool restart, bool is_thorough, mh_error *error)
{
    mh_agreement all;
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
    return code == MPI_SUCCESS ? choose_next(clock, -all.hurry_ns, error) : code;
}

bool mh_comm_clock_pass_on(const mh_comm_clock *clock, mh_known_clock *known)
{
    mh_estimate estimate = mh_global_clock_estimate(&clock->global);
    estimate.errors = clock->errors;
    *known = (mh_known_clock){.id = clock->id,
                              .generation = clock->schedule.count,
                              .base = clock->global.base,
                              .watch = clock->watch,
                              .synced_ns = clock->schedule.last_ns,
                              .rank = clock->channel->rank,
                              .size = clock->channel->size,
                              .is_one_node = clock->is_one_node,
                              .wander = clock->settings.wander};
    return mh_sync_pass_on(&clock->plan, clock->channel, &estimate, &known->known);
}

/* ---- The next one */

int mh_comm_clock_reschedule(mh_comm_clock *clock, mh_error *error)
{
    int64_t mine_ns = hurry_ns(clock), max_ns;
    int code = mh_allreduce_max(clock->channel, &mine_ns, &max_ns, 1, error);
    return code == MPI_SUCCESS ? choose_next(clock, -max_ns, error) : code;
}

int64_t mh_comm_clock_bound_ns(mh_comm_clock *clock)
{
    mh_estimate estimate = mh_global_clock_estimate(&clock->global);
    return mh_estimate_grows(&estimate) ? MH_TIME_UNKNOWN_NS : mh_global_clock_read(&clock->global).bound_ns;
}

mh_clock_record mh_comm_clock_record(const mh_comm_clock *clock)
{
    mh_estimate estimate = mh_global_clock_estimate(&clock->global);
    int64_t local_ns = mh_base_clock_now_ns(&clock->global.base);
    double drifted_ns = -estimate.model.drift * (double)(local_ns - estimate.model.at_ns), whole_ns = floor(drifted_ns);
    mh_covariance errors = mh_covariance_ahead(clock->errors, local_ns - clock->errors_at_ns);
    return (mh_clock_record){.local_ns = local_ns,
                             .global_less_local_ns = (int64_t)whole_ns - estimate.model.offset_ns,
                             .global_less_local_ps = (int64_t)((drifted_ns - whole_ns) * (double)MH_PS_PER_NS),
                             .deviation_ns = sqrt(fmax(errors.p00, 0)),
                             .bound_ns = mh_estimate_bound(&estimate, local_ns)};
}
