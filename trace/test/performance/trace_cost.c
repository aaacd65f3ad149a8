/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_cost.c - the median times of a round trip of short messages, in ns: by MPI_Send and MPI_Recv, and by requests
 * that are waited for. trace_cost [BLOCKS], with two processes. run_trace_cost.sh runs it with and without mpix_trace.
 * A call of all processes after each block lets that write.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_BLOCKS = 100000, MESSAGES = 500 };

static int compare(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static void send_to(int peer, int by_request)
{
    MPI_Request request;
    int number = 0;
    if (!by_request) {
        MPI_Send(&number, 1, MPI_INT, peer, 0, MPI_COMM_WORLD);
        return;
    }
    MPI_Isend(&number, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void receive_from(int peer, int by_request)
{
    MPI_Request request;
    int number;
    if (!by_request) {
        MPI_Recv(&number, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Irecv(&number, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Returns the time of a round trip. */
static double measure_s(int rank, int by_request)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin_s = MPI_Wtime();
    for (int i = 0; i < MESSAGES; i++) {
        if (rank == 0)
            send_to(1 - rank, by_request);
        receive_from(1 - rank, by_request);
        if (rank == 1)
            send_to(1 - rank, by_request);
    }
    return (MPI_Wtime() - begin_s) / MESSAGES;
}

int main(int argc, char **argv)
{
    static double times_s[2][MAX_BLOCKS];
    int rank, blocks = argc > 1 ? atoi(argv[1]) : 4000;
    if (blocks < 1 || blocks > MAX_BLOCKS)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int block = 0; block < blocks; block++)
        for (int by_request = 0; by_request < 2; by_request++)
            times_s[by_request][block] = measure_s(rank, by_request);
    for (int by_request = 0; by_request < 2; by_request++)
        qsort(times_s[by_request], (size_t)blocks, sizeof **times_s, compare);
    if (rank == 0)
        printf("%.1f %.1f\n", times_s[0][blocks / 2] * 1e9, times_s[1][blocks / 2] * 1e9);
    MPI_Finalize();
    return 0;
}
