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

#include <mpix_harmonize.h>
#include <stdio.h>
#include <string.h>

enum { CALLS = 4, TEXT_SIZE = 64 };

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

static void use(MPI_Comm comm, const char *barrier)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_harmonize_barrier", barrier);
    MPIX_Harmonize_set_info(comm, info);
    MPI_Info_free(&info);
}

static int uses(MPI_Comm comm, const char *barrier)
{
    char used[TEXT_SIZE] = "";
    int found;
    MPI_Info info;
    MPIX_Harmonize_get_info(comm, &info);
    MPI_Info_get(info, "mpix_harmonize_barrier_used", TEXT_SIZE - 1, used, &found);
    MPI_Info_free(&info);
    return strcmp(used, barrier) == 0;
}

static int can_share(MPI_Comm comm)
{
    int flag;
    use(comm, "shm");
    MPIX_Harmonize(comm, &flag);
    return uses(comm, "shm");
}

/* Returns whether the numbers are right. The first call does more than the others. */
static int count(const char *barrier, int size, int rank, int64_t most, int64_t all)
{
    MPI_Comm comm;
    int flag, right;
    int64_t greatest, sum, rounds;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    use(comm, barrier);
    MPIX_Harmonize(comm, &flag);
    rounds = -(int64_t)last_round;
    reads = 0;
    for (int i = 0; i < CALLS; i++)
        MPIX_Harmonize(comm, &flag);
    rounds += (int64_t)last_round;
    MPI_Allreduce(&reads, &greatest, 1, MPI_INT64_T, MPI_MAX, comm);
    MPI_Allreduce(&reads, &sum, 1, MPI_INT64_T, MPI_SUM, comm);
    right = uses(comm, barrier) && rounds >= CALLS && greatest == rounds * most && sum == rounds * all;
    if (rank == 0)
        printf("%s, %d processes: a round reads %.1f lines, a process at most %.1f (%d and %d expected)\n", barrier,
               size, (double)sum / (double)rounds, (double)greatest / (double)rounds, (int)all, (int)most);
    MPI_Comm_free(&comm);
    return right;
}

int main(int argc, char **argv)
{
    int rank, size, steps = 0, right;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    while (1 << steps < size)
        steps++;
    if (!can_share(MPI_COMM_WORLD)) {
        if (rank == 0)
            printf("skip: there is no shared memory\n");
        MPI_Finalize();
        return 0;
    }
    right = count("shm", size, rank, expected_most(), INT64_C(2) * (size - 1));
    right &= count("dissemination", size, rank, steps, (int64_t)steps * size);
    MPI_Finalize();
    return !right;
}
