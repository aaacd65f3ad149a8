/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_cost.c - the median time of a round trip of short messages: run it with two processes, with and
 * without mpix_trace, in turns.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 301, MESSAGES = 500 };

static int compare(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

int main(int argc, char **argv)
{
    static double times_s[BLOCKS];
    int rank, number = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int block = 0; block < BLOCKS; block++) {
        double begin_s = MPI_Wtime();
        for (int i = 0; i < MESSAGES; i++) {
            if (rank == 0) {
                MPI_Send(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
                MPI_Recv(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else {
                MPI_Recv(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
            }
        }
        times_s[block] = (MPI_Wtime() - begin_s) / MESSAGES;
    }
    qsort(times_s, BLOCKS, sizeof *times_s, compare);
    /* Each process makes two calls in a round trip. */
    if (rank == 0)
        printf("round trip %.1f ns\n", times_s[BLOCKS / 2] * 1e9);
    MPI_Finalize();
    return 0;
}
