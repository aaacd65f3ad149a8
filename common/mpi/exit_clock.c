/* SPDX-License-Identifier: BSD-3-Clause */
/* exit_clock.c - choose the counter if all ranks share it, else the global clock. */
#include "common/mpi/exit_clock.h"

#include "pure/order_statistics.h"

#include <stdio.h>

enum { STEP_READINGS = 1001 };

const char *const exit_clock_names[] = {
    [EXIT_CLOCK_TSC] = "tsc",
    [EXIT_CLOCK_CNTVCT] = "cntvct",
    [EXIT_CLOCK_GLOBAL] = "global",
    [EXIT_CLOCK_AUTO] = "auto",
    NULL,
};

static int64_t find_step(const exit_clock_t *clock)
{
    int64_t steps_ticks[STEP_READINGS];
    int64_t before_ticks = exit_clock_ticks(clock);
    for (int i = 0; i < STEP_READINGS; i++) {
        int64_t now_ticks = exit_clock_ticks(clock);
        steps_ticks[i] = now_ticks - before_ticks;
        before_ticks = now_ticks;
    }
    int64_t step_ticks = mh_median(steps_ticks, STEP_READINGS);
    return step_ticks > 0 ? step_ticks : 1;
}

int exit_clock_choose(exit_clock_t *clock, const world_t *world, exit_clock_kind_t wanted, const char *others)
{
    bool wants_counter = wanted != EXIT_CLOCK_AUTO && wanted != EXIT_CLOCK_GLOBAL, one_node = world->nodes == 1;
    *clock = (exit_clock_t){.kind = EXIT_CLOCK_GLOBAL, .comm = world->comm};
    if (wants_counter && !world_all(world, (int)wanted == (int)MACHINE_COUNTER))
        return world_refuse(world, "option --truth: \"%s\" is not allowed on this processor, give %s",
                            exit_clock_names[wanted], others);
    counter_rate_begin(&clock->rate);
    if (wanted == EXIT_CLOCK_GLOBAL) {
        clock->reason = "asked for by --truth";
    } else if (world_all(world, machine_counter_is_invariant()) && one_node) {
        clock->kind = (exit_clock_kind_t)MACHINE_COUNTER;
        clock->reason = "one counter for all ranks";
    } else if (wants_counter) {
        clock->kind = wanted;
        clock->reason = one_node ? "not invariant, forced by --truth"
                                 : "forced by --truth, wrong unless all nodes share one counter";
    } else {
        clock->reason = one_node ? "there is no invariant counter" : "ranks are on several nodes";
    }
    return STATUS_GOOD;
}

int exit_clock_open(exit_clock_t *clock, const world_t *world, exit_clock_kind_t wanted)
{
    int status = exit_clock_choose(clock, world, wanted, "global or auto");
    if (status != STATUS_GOOD)
        return status;
    if (clock->kind == EXIT_CLOCK_GLOBAL && !world_agree(world, MPIX_Clock_sync(world->comm), "MPIX_Clock_sync"))
        return STATUS_FAILED;
    exit_clock_note_bound(clock, world);
    clock->step_ticks = find_step(clock);
    return STATUS_GOOD;
}

void exit_clock_note_bound(exit_clock_t *clock, const world_t *world)
{
    if (clock->kind == EXIT_CLOCK_GLOBAL)
        clock->bound_ns = greater(clock->bound_ns, world_bound_ns(world));
}

double exit_clock_tick_ns(const exit_clock_t *clock)
{
    return clock->kind == EXIT_CLOCK_GLOBAL ? 1 : counter_rate_ns(&clock->rate);
}

void exit_clock_describe(const exit_clock_t *clock, const world_t *world, char *text, size_t text_bytes)
{
    int64_t bound_ns = world_max(world, clock->bound_ns);
    if (world->rank != 0)
        return;
    double tick_ns = exit_clock_tick_ns(clock);
    double step_ns = (double)clock->step_ticks * tick_ns;
    if (clock->kind != EXIT_CLOCK_GLOBAL)
        snprintf(text, text_bytes, "%s (%s), %.6f GHz as measured, readable each %.0f ns",
                 clock->kind == EXIT_CLOCK_TSC ? "TSC" : "cntvct", clock->reason, 1 / tick_ns, step_ns);
    else if (bound_ns == INT64_MAX)
        snprintf(text, text_bytes, "the library's global clock (%s), readable each %.0f ns; bound of error unknown",
                 clock->reason, step_ns);
    else
        snprintf(text, text_bytes, "the library's global clock (%s), readable each %.0f ns; bound of error %lld ns",
                 clock->reason, step_ns, (long long)bound_ns);
}
