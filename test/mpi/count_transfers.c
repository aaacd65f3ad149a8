/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * count_transfers.c - how many lines of shared memory processes of one node read from each other in a round.
 *
 * The linker puts count_and_await in the place of mh_slots_await, through which each of these reads goes. Only numbers
 * of reads are checked, so more processes than processors do not matter.
 */
#include "release/slots.h"
#include "topology/tree.h"

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
    right = uses(comm, barrier) && rounds >= CALLS && greatest <= rounds * most && sum == rounds * all;
    if (rank == 0)
        printf("%s, %d processes: a round reads %.1f lines, a process at most %.1f (%d and %d allowed)\n", barrier,
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
    right = count("shm", size, rank, MH_TREE_MAX_CHILDREN + 1, INT64_C(2) * (size - 1));
    right &= count("dissemination", size, rank, steps, (int64_t)steps * size);
    MPI_Finalize();
    return !right;
}
