/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * count_transfers.c - how many lines of shared memory processes of one node read from each other in a round.
 *
 * The linker puts functions of this file in the place of mh_slots_await, through which each of these reads goes, and of
 * mh_tree_of_node, which is told the places of all processes. Only numbers of reads are checked, so more processes than
 * processors do not matter. A flat list has as many reads as a tree; it shows in the process with the most. With up to
 * 9 processes in one cache, the tree is a flat list.
 */
#include "release/slots.h"
#include "pure/tree.h"

#include "world.h"

#include <mpix_harmonize.h>
#include <stdio.h>
#include <string.h>

enum { CALLS = 4 };

static int64_t reads;
static uint64_t last_round; /* a call has several if it synchronizes the clocks */

int __real_mh_slots_await(mh_slots *slots, const atomic_uint_least64_t *round, mh_error *error);
int __wrap_mh_slots_await(mh_slots *slots, const atomic_uint_least64_t *round, mh_error *error);
int __wrap_mh_slots_await(mh_slots *slots, const atomic_uint_least64_t *round, mh_error *error)
{
    reads++;
    last_round = slots->round;
    return __real_mh_slots_await(slots, round, error);
}

enum { MAX_PROCESSES = 1024 };

static mh_place places[MAX_PROCESSES];
static int known_places;

mh_tree __real_mh_tree_of_node(const mh_place *all, int size, int index);
mh_tree __wrap_mh_tree_of_node(const mh_place *all, int size, int index);
mh_tree __wrap_mh_tree_of_node(const mh_place *all, int size, int index)
{
    known_places = size < MAX_PROCESSES ? size : MAX_PROCESSES;
    memcpy(places, all, (size_t)known_places * sizeof *places);
    return __real_mh_tree_of_node(all, size, index);
}

/* How many lines a process reads: of at most MH_TREE_FAN_IN children in each place that it leads, and of its parent. */
static int expected_of(int index)
{
    int lines = 0;
    for (int kinds = MH_PLACE_KINDS; kinds >= 0; kinds--) {
        int members = 0, before = 0;
        for (int other = 0; other < known_places; other++)
            if (mh_place_share(&places[other], &places[index], kinds) &&
                (kinds == MH_PLACE_KINDS || mh_place_is_first(places, other, kinds + 1))) {
                members++;
                before += other < index;
            }
        int children = members - 1 - before * MH_TREE_FAN_IN;
        lines += children > MH_TREE_FAN_IN ? MH_TREE_FAN_IN : children > 0 ? children : 0;
        if (before > 0)
            return lines + 1;
    }
    return lines;
}

static int expected_most(void)
{
    int most = 0;
    for (int i = 0; i < known_places; i++)
        most = expected_of(i) > most ? expected_of(i) : most;
    return most;
}

static bool uses(const world_t *world, const char *barrier)
{
    char used[64];
    return world_statistic(world, "mpix_harmonize_barrier_used", used, sizeof used) && strcmp(used, barrier) == 0;
}

/* The world with a communicator on which a barrier has been asked for, and a call made. */
static world_t open_world(const world_t *world, const char *barrier)
{
    int flag;
    world_t own = world_duplicate(world);
    world_require(world, world_set(&own, "mpix_harmonize_barrier", barrier));
    world_require(world, MPIX_Harmonize(own.comm, &flag));
    return own;
}

/* Returns whether the numbers are right. The first call does more than the others. */
static bool count(const world_t *world, const char *barrier, int64_t most, int64_t all)
{
    world_t own = open_world(world, barrier);
    int flag;
    int64_t sum, rounds = -(int64_t)last_round;
    reads = 0;
    for (int i = 0; i < CALLS; i++)
        world_require(world, MPIX_Harmonize(own.comm, &flag));
    rounds += (int64_t)last_round;
    int64_t greatest = world_max(world, reads);
    MPI_Allreduce(&reads, &sum, 1, MPI_INT64_T, MPI_SUM, world->comm);
    bool right = uses(&own, barrier) && rounds >= CALLS && greatest == rounds * most && sum == rounds * all;
    if (world->rank == 0)
        printf("%s, %d processes: a round reads %.1f lines, a process at most %.1f (%d and %d expected)\n", barrier,
               world->ranks, (double)sum / (double)rounds, (double)greatest / (double)rounds, (int)all, (int)most);
    MPI_Comm_free(&own.comm);
    return right;
}

int main(int argc, char **argv)
{
    int steps = 0;
    bool right = true;
    world_t world = world_begin("count_transfers", &argc, &argv);
    while (1 << steps < world.ranks)
        steps++;
    world_t shared = open_world(&world, "shm");
    if (uses(&shared, "shm")) {
        right = count(&world, "shm", expected_most(), INT64_C(2) * (world.ranks - 1));
        right &= count(&world, "dissemination", steps, (int64_t)steps * world.ranks);
    } else if (world.rank == 0) {
        printf("skip: there is no shared memory\n");
    }
    MPI_Comm_free(&shared.comm);
    return world_end(&world, world_max(&world, !right) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}
