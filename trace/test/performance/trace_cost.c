/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_cost.c - the median times of a round trip of short messages, in ns: by MPI_Send and MPI_Recv, and by requests
 * that are waited for; and of MPI_Put into the own window. trace_cost [BLOCKS], with two processes. run_trace_cost.sh
 * runs it with and without mpix_trace. A call of all processes before each block lets that write.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_BLOCKS = 100000, MESSAGES = 500, KINDS = 3 };

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

/* Returns the time of a call. */
static double measure_put_s(int rank, MPI_Win window)
{
    int number = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin_s = MPI_Wtime();
    for (int i = 0; i < MESSAGES; i++)
        MPI_Put(&number, 1, MPI_INT, rank, 0, 1, MPI_INT, window);
    MPI_Win_flush(rank, window);
    return (MPI_Wtime() - begin_s) / MESSAGES;
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
    static double times_s[KINDS][MAX_BLOCKS];
    MPI_Win window;
    int *memory, rank, blocks = argc > 1 ? atoi(argv[1]) : 4000;
    if (blocks < 1 || blocks > MAX_BLOCKS)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_lock_all(0, window);
    for (int block = 0; block < blocks; block++)
        for (int kind = 0; kind < KINDS; kind++)
            times_s[kind][block] = kind < 2 ? measure_s(rank, kind) : measure_put_s(rank, window);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    for (int kind = 0; kind < KINDS; kind++) {
        qsort(times_s[kind], (size_t)blocks, sizeof **times_s, compare);
        if (rank == 0)
            printf("%.1f%c", times_s[kind][blocks / 2] * 1e9, kind + 1 < KINDS ? ' ' : '\n');
    }
    MPI_Finalize();
    return 0;
}
