/* SPDX-License-Identifier: BSD-3-Clause */
/* sync.c - the list of synchronization algorithms, plans for all levels, and when to synchronize again. */
#include "sync/sync.h"

#include "sync/schedule.h"
#include "sync/sync_private.h"

#include <stdlib.h>
#include <string.h>

static const mh_sync_kind *const kinds[] = {
    &mh_sync_none, &mh_sync_skampi, &mh_sync_jk,    &mh_sync_hca,  &mh_sync_hca2,
    &mh_sync_hca3, &mh_sync_hca3o,  &mh_sync_track, &mh_sync_prop,
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/*
 * By default, an error may grow by this part of its minimum, within limits. A small part averages more measurements.
 */
#define NATURAL_PART 0.5
#define MIN_NATURAL_TARGET_NS 5
#define MAX_NATURAL_TARGET_NS 100

/* Two processes of a node that both run exchange messages fast enough for this bound. */
#define GOOD_BOUND_NS 1000

/*
 * Under load a bound may stay wide for a while. If processes share a processor, it may never become narrow, so the
 * library stops trying after some bursts.
 */
#define NARROWING_INTERVAL_NS (10 * MH_NS_PER_MS)
enum { MAX_NARROWING_BURSTS = 200 };

const char *mh_sync_name(int index)
{
    return index < KINDS ? kinds[index]->name : NULL;
}

int mh_sync_find(const char *name)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return i;
    return -1;
}

bool mh_sync_takes_fit_points(int index)
{
    return kinds[index]->takes_fit_points;
}

bool mh_sync_takes_estimator(int index)
{
    return kinds[index]->takes_estimator;
}

static int get_workspace(mh_sync_workspace *workspace, const mh_label *label)
{
    size_t exchanges = 1, points = 1;
    for (int i = 0; i < label->levels; i++) {
        if ((size_t)label->parts[i].exchanges > exchanges)
            exchanges = (size_t)label->parts[i].exchanges;
        if ((size_t)label->parts[i].fit_points > points)
            points = (size_t)label->parts[i].fit_points;
    }
    workspace->exchanges = malloc(exchanges * sizeof *workspace->exchanges);
    workspace->values = malloc(exchanges * sizeof *workspace->values);
    workspace->points = malloc(points * sizeof *workspace->points);
    workspace->coordinates = malloc(2 * points * sizeof *workspace->coordinates);
    return workspace->exchanges && workspace->values && workspace->points && workspace->coordinates ? 0 : -1;
}

static void forget(mh_level *level)
{
    level->sharing = MH_SHARING_UNKNOWN;
    level->bursts = 0;
    level->window = mh_window_unknown();
    level->trained = false;
}

int mh_sync_plan_make(mh_sync_plan *plan, const mh_label *label, const mh_base_clock *clock, const mh_sites *sites,
                      mh_error *error)
{
    memset(plan, 0, sizeof *plan);
    mh_tracker_reset(&plan->tracker, mh_base_clock_rates(clock));
    plan->levels = label->levels;
    int missing = get_workspace(&plan->workspace, label);
    for (int i = 0; i < label->levels; i++) {
        plan->level[i].how = label->parts[i];
        forget(&plan->level[i]);
        missing |= mh_topology_group(sites, i, label->levels, &plan->level[i].group);
    }
    return missing ? mh_fail(error, MPI_ERR_NO_MEM, "out of memory for the groups of %d processes", sites->size)
                   : MPI_SUCCESS;
}

void mh_sync_plan_free(mh_sync_plan *plan)
{
    for (int i = 0; i < plan->levels; i++)
        mh_group_free(&plan->level[i].group);
    free(plan->workspace.exchanges);
    free(plan->workspace.values);
    free(plan->workspace.points);
    free(plan->workspace.coordinates);
    memset(plan, 0, sizeof *plan);
}

static mh_sync_run_context context_of(mh_sync_plan *plan, int level, const mh_channel *channel,
                                      const mh_base_clock *clock)
{
    const mh_label_part *how = &plan->level[level].how;
    bool may_stop = kinds[how->algorithm]->bursts_may_stop && mh_offset_needs_window_only(how->estimator);
    return (mh_sync_run_context){.channel = channel,
                                 .clock = clock,
                                 .workspace = &plan->workspace,
                                 .level = &plan->level[level],
                                 .bursts_may_stop = may_stop,
                                 .rates = plan->tracker.rates,
                                 .tracker = &plan->tracker,
                                 .disrupted = &plan->disrupted,
                                 .wandered = &plan->wandered};
}

/*
 * Bounds of the pairs on the path add up. Windows of past estimates confine the drift against global time more, because
 * the limit of wander holds for any two clocks.
 */
static void confine(mh_sync_plan *plan, const mh_level *level, mh_estimate *estimate)
{
    if (level->trained && level->group.index > 0 && plan->tracker.rates.are_raw && !plan->disrupted)
        plan->wandered += !mh_past_confine(&plan->past, plan->tracker.rates, estimate);
}

int mh_sync_run(mh_sync_plan *plan, const mh_channel *channel, const mh_base_clock *clock, bool is_thorough,
                mh_estimate *estimate, mh_error *error)
{
    mh_estimate relation;
    plan->disrupted = false;
    plan->wandered = 0;
    for (int i = 0; i < plan->levels; i++) {
        mh_sync_run_context context = context_of(plan, i, channel, clock);
        context.is_thorough = is_thorough;
        context.relation = &relation;
        context.estimate = estimate;
        if (plan->level[i].group.size < 2)
            continue;
        int code = kinds[plan->level[i].how.algorithm]->run(&context, error);
        if (code != MPI_SUCCESS)
            return code;
        confine(plan, &plan->level[i], estimate);
    }
    plan->has_run = true;
    return MPI_SUCCESS;
}

int mh_sync_take_up(mh_sync_plan *plan, const mh_channel *channel, const mh_base_clock *clock,
                    const mh_known_estimate *mine, mh_error *error)
{
    for (int i = 0; i < plan->levels; i++) {
        const mh_sync_kind *kind = kinds[plan->level[i].how.algorithm];
        mh_sync_run_context context = context_of(plan, i, channel, clock);
        context.known = mine;
        int code = kind->take_up && plan->level[i].group.size > 1 ? kind->take_up(&context, error) : MPI_SUCCESS;
        if (code != MPI_SUCCESS)
            return code;
    }
    return MPI_SUCCESS;
}

bool mh_sync_keeps(const mh_sync_plan *plan)
{
    bool keeps = true;
    for (int i = 0; i < plan->levels; i++)
        keeps &= kinds[plan->level[i].how.algorithm]->take_up != NULL;
    return keeps;
}

bool mh_sync_pass_on(const mh_sync_plan *plan, const mh_channel *channel, const mh_estimate *estimate,
                     mh_known_estimate *known)
{
    /* The kernel may change the rate of another clock at any time, so its drift is soon unknown. */
    bool is_of_use = mh_sync_keeps(plan) && (plan->tracker.rates.are_raw || !mh_estimate_grows(estimate));
    *known = (mh_known_estimate){.estimate = *estimate, .sharing_rank = channel->rank};
    for (int i = 0; i < plan->levels; i++) {
        const mh_level *level = &plan->level[i];
        if (level->group.index > 0 && level->sharing == MH_SHARING_VERIFIED) {
            known->sharing_rank = mh_group_rank(&level->group, 0);
            known->window = level->window;
        }
    }
    return is_of_use;
}

void mh_sync_forget_past(mh_sync_plan *plan)
{
    memset(&plan->past, 0, sizeof plan->past);
}

void mh_sync_restart(mh_sync_plan *plan)
{
    mh_tracker_reset(&plan->tracker, plan->tracker.rates);
    mh_sync_forget_past(plan);
    plan->has_run = false;
    for (int i = 0; i < plan->levels; i++)
        forget(&plan->level[i]);
}

/* Whether this process's clock may drift from that of its own reference. */
static bool drifts(const mh_sync_plan *plan)
{
    for (int i = 0; i < plan->levels; i++) {
        const mh_level *level = &plan->level[i];
        bool measures = kinds[level->how.algorithm]->takes_estimator;
        if (level->group.index > 0 && (measures || level->sharing == MH_SHARING_REFUTED))
            return true;
    }
    return false;
}

bool mh_level_is_wide(const mh_level *level)
{
    return level->sharing == MH_SHARING_VERIFIED && mh_window_bound_ns(level->window, 0) > GOOD_BOUND_NS;
}

/* Whether further bursts may narrow the bound of a clock that this process shares. */
static bool narrows(const mh_sync_plan *plan)
{
    for (int i = 0; i < plan->levels; i++)
        if (plan->level[i].group.index > 0 && mh_level_is_wide(&plan->level[i]) &&
            plan->level[i].bursts < MAX_NARROWING_BURSTS)
            return true;
    return false;
}

int64_t mh_sync_interval_ns(const mh_sync_plan *plan, int64_t target_ns)
{
    if (narrows(plan))
        return NARROWING_INTERVAL_NS;
    if (plan->tracker.measurements > 0)
        return mh_tracker_interval_ns(&plan->tracker, (double)target_ns, MH_LONGEST_INTERVAL_NS);
    return drifts(plan) ? MH_NS_PER_S : INT64_MAX;
}

int64_t mh_sync_natural_target_ns(const mh_sync_plan *plan)
{
    if (plan->tracker.measurements == 0)
        return MAX_NATURAL_TARGET_NS;
    int64_t part_ns = (int64_t)(NATURAL_PART * mh_tracker_error_ns(&plan->tracker, 0));
    if (part_ns < MIN_NATURAL_TARGET_NS)
        return MIN_NATURAL_TARGET_NS;
    return part_ns < MAX_NATURAL_TARGET_NS ? part_ns : MAX_NATURAL_TARGET_NS;
}
