/* SPDX-License-Identifier: BSD-3-Clause */
/* sharing.c - which ranks read the same clock, by the windows of their offsets. */
#include "list/list.h"

#include <stdlib.h>

/* Enough to tell clocks that differ by more than a message takes. */
enum { SHARING_EXCHANGES = 20 };

/* The windows of all ranks' clocks against the kernel's first rank, on that rank. Collective over the kernel's ranks.
 */
static void measure_windows(const list_run_t *run, int clock, offset_window_t *windows)
{
    const burst_t burst = {&run->world, run->kernel, INT64_C(1) << clock, SHARING_EXCHANGES};
    exchange_t exchanges[SHARING_EXCHANGES];
    double tick_ns = list_tick_ns(run, clock);
    int rank, ranks;

    MPI_Comm_rank(run->kernel, &rank);
    MPI_Comm_size(run->kernel, &ranks);
    if (rank > 0) {
        burst_serve(&burst, 0);
        return;
    }
    windows[0] = (offset_window_t){0, 0, 0};
    for (int peer = 1; peer < ranks; peer++) {
        burst_measure(&burst, peer, exchanges);
        windows[peer] = burst_window(exchanges, SHARING_EXCHANGES, tick_ns, tick_ns);
    }
}

static bool overlap(offset_window_t a, offset_window_t b)
{
    return a.low_ns <= b.high_ns && b.low_ns <= a.high_ns;
}

/* Puts each rank into the first group whose first rank may have the same offset. Returns the greatest doubt. */
static int64_t form_groups(const offset_window_t *windows, int ranks, int *group)
{
    int64_t doubt_ns = 0;

    for (int rank = 0; rank < ranks; rank++) {
        int first = 0;

        while (first < rank && (group[first] != first || !overlap(windows[first], windows[rank])))
            first++;
        group[rank] = first;
        if (first < rank) {
            int64_t above_ns = windows[rank].high_ns - windows[first].low_ns;
            int64_t below_ns = windows[first].high_ns - windows[rank].low_ns;
            int64_t most_ns = above_ns > below_ns ? above_ns : below_ns;

            doubt_ns = most_ns > doubt_ns ? most_ns : doubt_ns;
        }
    }
    return doubt_ns;
}

bool list_find_groups(const list_run_t *run, int clock, listing_t *listing)
{
    offset_window_t *windows;
    int64_t doubt_ns = 0;
    int *group, *world_rank;
    int rank, ranks, own, first;
    bool good;

    MPI_Comm_rank(run->kernel, &rank);
    MPI_Comm_size(run->kernel, &ranks);
    windows = malloc((size_t)ranks * sizeof(windows[0]));
    group = malloc((size_t)ranks * sizeof(group[0]));
    world_rank = malloc((size_t)ranks * sizeof(world_rank[0]));
    good = world_all(&run->world, windows != NULL && group != NULL && world_rank != NULL);
    if (good) {
        own = run->world.rank;
        MPI_Gather(&own, 1, MPI_INT, world_rank, 1, MPI_INT, 0, run->kernel);
        measure_windows(run, clock, windows);
        if (rank == 0) {
            doubt_ns = form_groups(windows, ranks, group);
            for (int i = 0; i < ranks; i++)
                group[i] = world_rank[group[i]];
        }
        MPI_Scatter(group, 1, MPI_INT, &first, 1, MPI_INT, 0, run->kernel);
        MPI_Gather(&first, 1, MPI_INT, listing->group, 1, MPI_INT, 0, run->world.comm);
        MPI_Reduce(&doubt_ns, &listing->doubt_ns, 1, MPI_INT64_T, MPI_MAX, 0, run->world.comm);
    }
    free(windows);
    free(group);
    free(world_rank);
    return good;
}
