/* SPDX-License-Identifier: BSD-3-Clause */
/* virtual_processes.c - run processes with simulated clocks and delays. */
#include "virtual_processes.h"

#include "clock/base_clock_private.h"
#include "pure/units.h"
#include "sync/sync_label.h"
#include "virtual_world.h"

enum { READ_COST_NS = 20, OVERHEAD_NS = 100 };

/* What is being simulated. */
static const simulation *played;
static simulated_process body;
static void *body_argument;

int64_t simulated_now_ns(void)
{
    return virtual_self()->now_ns;
}

void simulated_pass_ns(int64_t time_ns)
{
    virtual_self()->now_ns += time_ns;
}

/* ---- Clocks */

simulated_clock simulated_random_clock(chance *dice, double drift_spread)
{
    int64_t offset_ns = chance_between(dice, -1000 * MH_NS_PER_S, 1000 * MH_NS_PER_S);
    double drift = (2 * chance_unit(dice) - 1) * drift_spread;
    return (simulated_clock){.offset_ns = offset_ns, .drift = drift, .later_drift = drift, .later_ns = INT64_MAX};
}

int64_t simulated_clock_ns(const simulation *world, int rank, int64_t true_ns)
{
    const simulated_clock *clock = &world->clocks[rank];
    int64_t early_ns = true_ns < clock->later_ns ? true_ns : clock->later_ns;
    double drifted_ns = clock->drift * (double)early_ns + clock->later_drift * (double)(true_ns - early_ns);
    int64_t step_ns = true_ns >= clock->step_at_ns ? clock->step_ns : 0;
    return true_ns + clock->offset_ns + (int64_t)floor(drifted_ns) + step_ns;
}

static int64_t clock_now_ns(const mh_base_clock *clock)
{
    virtual_process *self = virtual_self();
    (void)clock;
    self->now_ns += READ_COST_NS;
    return simulated_clock_ns(played, self->rank, self->now_ns);
}

static int64_t clock_wait_until(const mh_base_clock *clock, int64_t from_ns, int64_t deadline_ns)
{
    (void)from_ns;
    virtual_process *self = virtual_self();
    int64_t now_ns;
    while ((now_ns = clock_now_ns(clock)) < deadline_ns)
        self->now_ns += (deadline_ns - now_ns) * 99 / 100;
    if (chance_unit(&self->dice) >= played->descheduled)
        return now_ns;
    self->now_ns += (int64_t)chance_pareto(&self->dice, 1e6);
    return clock_now_ns(clock);
}

static const mh_clock_kind raw_kind = {
    .name = "simulated", .doc = "virtual, raw", .is_raw = true, .now_ns = clock_now_ns, .wait_until = clock_wait_until};
static const mh_clock_kind corrected_kind = {
    .name = "simulated", .doc = "virtual, corrected", .now_ns = clock_now_ns, .wait_until = clock_wait_until};

/* ---- Network */

static int64_t arrival_ns(const virtual_world *world, virtual_process *from, int to)
{
    const simulated_network *network = &played->network;
    bool is_near = played->node[from->rank] == played->node[to];
    double delay_ns = (double)(is_near ? network->near_ns : network->far_ns);
    (void)world;
    if (!is_near && to > from->rank)
        delay_ns *= network->lopsided;
    delay_ns += chance_exponential(&from->dice, network->jitter_ns);
    if (chance_unit(&from->dice) < network->stalls)
        delay_ns += chance_pareto(&from->dice, 1e6);
    return from->now_ns + (int64_t)delay_ns;
}

/* ---- Processes */

mh_sites simulated_sites(const simulation *world, const int *members, int count, int self, simulated_lists *lists)
{
    mh_group leaders = {0, 0, lists->leaders}, node = {0, 0, lists->node};
    bool leads = false, has_leader[SIMULATED_MOST] = {false};
    memset(lists, 0, sizeof *lists);
    for (int i = 0; i < count; i++) {
        int member = members ? members[i] : i;
        bool is_leader = !has_leader[world->node[member]];
        has_leader[world->node[member]] = true;
        if (member == self) {
            leads = is_leader;
            node.index = node.size;
            leaders.index = leaders.size;
        }
        if (is_leader)
            lists->leaders[leaders.size++] = member;
        if (world->node[member] == world->node[self])
            lists->node[node.size++] = member;
    }
    if (!leads)
        leaders = (mh_group){0, 0, NULL};
    return (mh_sites){self, count, leaders, node, lists->places};
}

mh_sync_plan simulated_plan(const simulation *world, const int *members, int count, int self, const char *label,
                            const mh_base_clock *clock)
{
    simulated_lists lists;
    mh_label parsed;
    mh_sync_plan plan;
    mh_error error = MH_NO_ERROR;
    char why[256];
    mh_sites sites = simulated_sites(world, members, count, self, &lists);
    ck_assert_int_eq(mh_label_parse(label, &parsed, why, sizeof why), 0);
    ck_assert_int_eq(mh_sync_plan_make(&plan, &parsed, clock, &sites, &error), MPI_SUCCESS);
    return plan;
}

static void run(const virtual_world *world, virtual_process *process)
{
    mh_channel channel = {.comm = MPI_COMM_NULL, .rank = process->rank, .size = world->processes};
    mh_base_clock clock = {.kind = played->clocks_are_raw ? &raw_kind : &corrected_kind,
                           .now_ns = clock_now_ns,
                           .read_cost_ns = READ_COST_NS};
    body(played, &channel, &clock, body_argument);
}

/* They begin at different times. */
static void begin(const virtual_world *world, virtual_process *process)
{
    (void)world;
    process->dice = chance_of_round(played->round * SIMULATED_MOST + process->rank);
    process->now_ns = chance_between(&process->dice, 0, 1000000);
}

void simulate(const simulation *world, simulated_process process, void *argument)
{
    virtual_world virtual = {.processes = world->processes,
                             .overhead_ns = OVERHEAD_NS,
                             .fails_from = world->fails_from,
                             .begin = begin,
                             .run = run,
                             .arrival_ns = arrival_ns};
    played = world;
    body = process;
    body_argument = argument;
    virtual_run(&virtual);
}
