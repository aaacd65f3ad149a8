/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_late.c - a program in which the last rank is late by 3 ms to each of 40 calls of MPI_Allreduce. It sleeps when
 * the others have said that they come: so they are there first, however busy the machine is.
 */
#include <mpi.h>
#include <time.h>

static void come_late(int others)
{
    const struct timespec late = {.tv_nsec = 3000000};
    int sender;
    for (int i = 0; i < others; i++)
        MPI_Recv(&sender, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    nanosleep(&late, NULL);
}

int main(int argc, char **argv)
{
    int rank, ranks, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int call = 0; call < 40; call++) {
        if (rank == ranks - 1)
            come_late(ranks - 1);
        else
            MPI_Send(&rank, 1, MPI_INT, ranks - 1, 0, MPI_COMM_WORLD);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    return MPI_Finalize();
}
