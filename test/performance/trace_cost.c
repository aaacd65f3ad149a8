/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_cost.c - the median time of a round trip of short messages, in ns: trace_cost [BLOCKS], with two processes.
 * run_trace_cost.sh runs it with and without mpix_trace. A call of all processes after each block lets that write.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_BLOCKS = 100000, MESSAGES = 500 };

static int compare(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static void send_and_receive(int rank)
{
    int number = 0, peer = 1 - rank;
    for (int i = 0; i < MESSAGES; i++) {
        if (rank == 0)
            MPI_Send(&number, 1, MPI_INT, peer, 0, MPI_COMM_WORLD);
        MPI_Recv(&number, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(&number, 1, MPI_INT, peer, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    static double times_s[MAX_BLOCKS];
    int rank, blocks = argc > 1 ? atoi(argv[1]) : 4000;
    if (blocks < 1 || blocks > MAX_BLOCKS)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int block = 0; block < blocks; block++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begin_s = MPI_Wtime();
        send_and_receive(rank);
        times_s[block] = (MPI_Wtime() - begin_s) / MESSAGES;
    }
    qsort(times_s, (size_t)blocks, sizeof *times_s, compare);
    if (rank == 0)
        printf("%.1f\n", times_s[blocks / 2] * 1e9);
    MPI_Finalize();
    return 0;
}
