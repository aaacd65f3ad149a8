/* SPDX-License-Identifier: BSD-3-Clause */
/* check_late.c - a program in which the last rank sleeps for 3 ms before each of 40 calls of MPI_Allreduce. */
#include <mpi.h>
#include <time.h>

int main(int argc, char **argv)
{
    const struct timespec late = {.tv_nsec = 3000000};
    int rank, ranks, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int call = 0; call < 40; call++) {
        if (rank == ranks - 1)
            nanosleep(&late, NULL);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return MPI_Finalize();
}
