/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * first_calls N - the time of the first call of MPIX_Harmonize on each of N duplicates of MPI_COMM_WORLD: of the first
 * one, and of those that begin with what an earlier one knows.
 */
#include <mpi.h>
#include <mpix_harmonize.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_COMMS = 1000, BARRIERS = 20 };

/* The processes call at about the same time, on connections that are in use. */
static double first_call_ms(int *code)
{
    MPI_Comm comm;
    int flag;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < BARRIERS; i++)
        MPI_Barrier(comm);
    double began_s = MPI_Wtime();
    *code |= MPIX_Harmonize(comm, &flag);
    double took_ms = 1e3 * (MPI_Wtime() - began_s);
    MPI_Comm_free(&comm);
    return took_ms;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    double took_ms[MAX_COMMS];
    int comms = argc > 1 ? atoi(argv[1]) : 21, rank, code = MPI_SUCCESS;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (comms < 2 || comms > MAX_COMMS)
        comms = 2;
    for (int i = 0; i < comms; i++)
        took_ms[i] = first_call_ms(&code);
    qsort(took_ms + 1, (size_t)comms - 1, sizeof *took_ms, compare);
    if (rank == 0)
        printf("first communicator %.3f ms; %d further ones: min %.3f, median %.3f, max %.3f ms\n", took_ms[0],
               comms - 1, took_ms[1], took_ms[1 + (comms - 1) / 2], took_ms[comms - 1]);
    MPI_Finalize();
    return code != MPI_SUCCESS;
}
