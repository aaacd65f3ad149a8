/* SPDX-License-Identifier: BSD-3-Clause */
/* look.c - the cost and the steps of readings, and which ranks read the same clock, by the windows of their offsets. */
#include "list/list.h"

#include "common/burst.h"

#include <stdlib.h>

/* Enough to tell clocks that differ by more than a message takes. */
enum { SHARING_EXCHANGES = 20 };

static double tick_ns_of(const list_run_t *run, int clock)
{
    return machine_clock_is_counter(clock) ? run->tick_ns : 1;
}

/* ---- What a rank sees by itself */

static int64_t time_block_ns(int64_t (*read_ticks)(void))
{
    int64_t begin_ns = system_time_ns();
    for (int i = 0; i < BLOCK_READS; i++)
        read_ticks();
    return system_time_ns() - begin_ns;
}

static double median_read_ns(const list_run_t *run, int clock)
{
    int64_t blocks = run->settings.reads / BLOCK_READS;
    for (int64_t i = 0; i < blocks; i++)
        run->room[i] = time_block_ns(machine_clocks[clock].read_ticks);
    sort_ascending(run->room, blocks);
    return (double)quantile(run->room, blocks, 0.5) / BLOCK_READS;
}

/* Leaves the intervals between successive readings in the room, in ascending order, and writes them as they came. */
static void measure_intervals(const list_run_t *run, int clock)
{
    FILE *raw = run->settings.results.raw.file;
    int64_t (*read_ticks)(void) = machine_clocks[clock].read_ticks;
    int64_t before_ticks = read_ticks();
    for (int64_t i = 0; i < run->settings.reads; i++) {
        int64_t now_ticks = read_ticks();
        run->room[i] = now_ticks - before_ticks;
        before_ticks = now_ticks;
    }
    for (int64_t i = 0; raw != NULL && i < run->settings.reads; i++)
        fprintf(raw, "%s,%lld,%.1f\n", machine_clocks[clock].name, (long long)i,
                (double)run->room[i] * tick_ns_of(run, clock));
    sort_ascending(run->room, run->settings.reads);
}

/* The least of the intervals in the room that is not 0; 0 if the clock did not move. */
static int64_t min_step_ticks(const list_run_t *run)
{
    int64_t i = 0;
    while (i < run->settings.reads - 1 && run->room[i] <= 0)
        i++;
    return run->room[i] > 0 ? run->room[i] : 0;
}

void list_look_at(list_run_t *run, int clock)
{
    listing_t *listing = &run->listings[clock];
    double tick_ns = tick_ns_of(run, clock);
    sight_t sight = {.read_ns = median_read_ns(run, clock), .stated_ns = machine_clock_stated_ns(clock)};
    struct {
        double read_ns;
        int rank;
    } own = {sight.read_ns, run->world.rank}, slowest = {0, 0};

    measure_intervals(run, clock);
    sight.step_ns = (double)min_step_ticks(run) * tick_ns;
    curve_fill(&listing->intervals_ns, run->room, run->settings.reads, tick_ns);
    MPI_Reduce(&own, &slowest, 1, MPI_DOUBLE_INT, MPI_MAXLOC, 0, run->world.comm);
    MPI_Reduce(&sight, &listing->max, sizeof(sight) / sizeof(double), MPI_DOUBLE, MPI_MAX, 0, run->world.comm);
    listing->slowest = slowest.rank;
}

/* ---- Who shares a clock */

/* The windows of all ranks' clocks against the kernel's first rank, on that rank. Collective over the kernel's ranks.
 */
static void measure_windows(const list_run_t *run, int clock, int rank, int ranks, offset_window_t *windows)
{
    const burst_t burst = {&run->world, run->kernel, INT64_C(1) << clock, SHARING_EXCHANGES};
    exchange_t exchanges[SHARING_EXCHANGES];
    double tick_ns = tick_ns_of(run, clock);
    if (rank > 0) {
        burst_serve(&burst, 0);
        return;
    }
    windows[0] = (offset_window_t){0};
    for (int peer = 1; peer < ranks; peer++) {
        burst_measure(&burst, peer, exchanges);
        windows[peer] = burst_window(exchanges, SHARING_EXCHANGES, tick_ns, tick_ns);
    }
}

/* Puts each rank into the first group whose first rank may have the same offset. Returns the greatest doubt. */
static int64_t form_groups(const offset_window_t *windows, int ranks, int *group)
{
    int64_t doubt_ns = 0;
    for (int rank = 0; rank < ranks; rank++) {
        const offset_window_t *own = &windows[rank], *other = windows;
        int first = 0;
        while (first < rank && (group[first] != first || other->min_ns > own->max_ns || own->min_ns > other->max_ns))
            other = &windows[++first];
        group[rank] = first;
        if (first == rank)
            continue;
        int64_t above_ns = own->max_ns - other->min_ns, below_ns = other->max_ns - own->min_ns;
        int64_t max_ns = above_ns > below_ns ? above_ns : below_ns;
        doubt_ns = max_ns > doubt_ns ? max_ns : doubt_ns;
    }
    return doubt_ns;
}

void list_find_groups(list_run_t *run, int clock)
{
    listing_t *listing = &run->listings[clock];
    int64_t doubt_ns = 0;
    int rank, ranks, first;
    MPI_Comm_rank(run->kernel, &rank);
    MPI_Comm_size(run->kernel, &ranks);
    offset_window_t *windows = world_room(&run->world, ranks, sizeof(windows[0]), "");
    int *group = world_room(&run->world, ranks, sizeof(group[0]), "");
    int *world_rank = world_room(&run->world, ranks, sizeof(world_rank[0]), "");
    MPI_Gather(&run->world.rank, 1, MPI_INT, world_rank, 1, MPI_INT, 0, run->kernel);
    measure_windows(run, clock, rank, ranks, windows);
    if (rank == 0) {
        doubt_ns = form_groups(windows, ranks, group);
        for (int i = 0; i < ranks; i++)
            group[i] = world_rank[group[i]];
    }
    MPI_Scatter(group, 1, MPI_INT, &first, 1, MPI_INT, 0, run->kernel);
    MPI_Gather(&first, 1, MPI_INT, listing->group, 1, MPI_INT, 0, run->world.comm);
    MPI_Reduce(&doubt_ns, &listing->doubt_ns, 1, MPI_INT64_T, MPI_MAX, 0, run->world.comm);
    free(windows);
    free(group);
    free(world_rank);
}
