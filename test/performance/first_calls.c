/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * first_calls N - the time of the first call of MPIX_Harmonize on each of N duplicates of MPI_COMM_WORLD: of the first
 * one, and of those that begin with what an earlier one knows.
 */
#include "pure/order_statistics.h"

#include <mpi.h>
#include <mpix_harmonize.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_COMMS = 1000, BARRIERS = 20 };

/* The processes call at about the same time, on connections that are in use. */
static int64_t first_call_ns(int *code)
{
    MPI_Comm comm;
    int flag;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < BARRIERS; i++)
        MPI_Barrier(comm);
    double began_s = MPI_Wtime();
    *code |= MPIX_Harmonize(comm, &flag);
    double took_s = MPI_Wtime() - began_s;
    MPI_Comm_free(&comm);
    return (int64_t)(1e9 * took_s);
}

int main(int argc, char **argv)
{
    int64_t took_ns[MAX_COMMS];
    int comms = argc > 1 ? atoi(argv[1]) : 21, rank, code = MPI_SUCCESS;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (comms < 2 || comms > MAX_COMMS)
        comms = 2;
    for (int i = 0; i < comms; i++)
        took_ns[i] = first_call_ns(&code);
    mh_sort(took_ns + 1, comms - 1);
    if (rank == 0)
        printf("first communicator %.3f ms; %d further ones: min %.3f, median %.3f, max %.3f ms\n",
               (double)took_ns[0] * 1e-6, comms - 1, (double)took_ns[1] * 1e-6,
               (double)quantile(took_ns + 1, comms - 1, 0.5) * 1e-6, (double)took_ns[comms - 1] * 1e-6);
    MPI_Finalize();
    return code != MPI_SUCCESS;
}
