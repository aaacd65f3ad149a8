/* SPDX-License-Identifier: BSD-3-Clause */
/* sight.c - what a rank sees of a clock by itself: the cost of readings, and their steps. */
#include "list/list.h"

#include "common/statistics.h"

/* The rarest intervals between readings, interruptions, would fill most of a chart. */
#define CURVE_END 0.999

static double time_block_ns(int64_t (*read_ticks)(void))
{
    int64_t begin_ns = system_time_ns();

    for (int i = 0; i < BLOCK_READS; i++)
        read_ticks();
    return (double)(system_time_ns() - begin_ns) / BLOCK_READS;
}

static double median_read_ns(const list_run_t *run, int clock)
{
    int64_t blocks = run->settings.reads / BLOCK_READS;

    for (int64_t i = 0; i < blocks; i++)
        run->room[i] = (int64_t)(time_block_ns(machine_clocks[clock].read_ticks) * 1000);
    sort_ascending(run->room, blocks);
    return (double)quantile(run->room, blocks, 0.5) / 1000;
}

/* Leaves the intervals between successive readings in the room, in ascending order. */
static void measure_intervals(const list_run_t *run, int clock)
{
    int64_t (*read_ticks)(void) = machine_clocks[clock].read_ticks;
    int64_t before_ticks = read_ticks();

    for (int64_t i = 0; i < run->settings.reads; i++) {
        int64_t now_ticks = read_ticks();

        run->room[i] = now_ticks - before_ticks;
        before_ticks = now_ticks;
    }
    sort_ascending(run->room, run->settings.reads);
}

/* The least of the intervals in the room that is not 0; 0 where the clock did not move. */
static int64_t least_step_ticks(const list_run_t *run)
{
    for (int64_t i = 0; i < run->settings.reads; i++) {
        if (run->room[i] > 0)
            return run->room[i];
    }
    return 0;
}

static void trace_curve(const list_run_t *run, double tick_ns, curve_t *curve)
{
    for (int i = 0; i < CURVE_POINTS; i++) {
        curve->share[i] = CURVE_END * (i + 1) / CURVE_POINTS;
        curve->interval_ns[i] = (double)quantile(run->room, run->settings.reads, curve->share[i]) * tick_ns;
    }
}

double list_tick_ns(const list_run_t *run, int clock)
{
    return clock == MACHINE_CLOCK_TSC ? run->tick_ns : 1;
}

sight_t list_look_at(const list_run_t *run, int clock, curve_t *curve)
{
    sight_t sight;

    sight.read_ns = median_read_ns(run, clock);
    measure_intervals(run, clock);
    sight.step_ns = (double)least_step_ticks(run) * list_tick_ns(run, clock);
    sight.stated_ns = machine_clocks[clock].stated_ns();
    trace_curve(run, list_tick_ns(run, clock), curve);
    return sight;
}

void list_combine_sights(const list_run_t *run, sight_t sight, listing_t *listing)
{
    struct {
        double read_ns;
        int rank;
    } own = {sight.read_ns, run->world.rank}, slowest = {0, 0};

    MPI_Reduce(&own, &slowest, 1, MPI_DOUBLE_INT, MPI_MAXLOC, 0, run->world.comm);
    MPI_Reduce(&sight, &listing->most, sizeof(sight) / sizeof(double), MPI_DOUBLE, MPI_MAX, 0, run->world.comm);
    listing->slowest = slowest.rank;
}
