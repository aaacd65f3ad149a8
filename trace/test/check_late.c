/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_late.c - a program in which the last rank is late by 3 ms to each of 40 calls of MPI_Allreduce. It sleeps when
 * the others have said that they come: so they are there first, however busy the machine is.
 *
 * Usage: check_late [MS]: late by so many milliseconds, below 1000. The last rank prints how long it slept in all, and
 * the median time from one call to the next, in nanoseconds.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CALLS = 40 };

static double come_late(int others, long late_ms)
{
    const struct timespec late = {.tv_nsec = late_ms * 1000000};
    int sender;
    for (int i = 0; i < others; i++)
        MPI_Recv(&sender, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double begin_s = MPI_Wtime();
    if (late_ms > 0)
        nanosleep(&late, NULL);
    return MPI_Wtime() - begin_s;
}

static int up(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

int main(int argc, char **argv)
{
    int rank, ranks, sum;
    long late_ms = argc > 1 ? atol(argv[1]) : 3;
    double slept_s = 0, took_s[CALLS], before_s;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    before_s = MPI_Wtime();
    for (int call = 0; call < CALLS; call++) {
        if (rank == ranks - 1)
            slept_s += come_late(ranks - 1, late_ms);
        else
            MPI_Send(&rank, 1, MPI_INT, ranks - 1, 0, MPI_COMM_WORLD);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        took_s[call] = MPI_Wtime() - before_s;
        before_s += took_s[call];
    }
    qsort(took_s, CALLS, sizeof took_s[0], up);
    if (rank == ranks - 1)
        printf("slept_ns=%.0f median_ns=%.0f\n", 1e9 * slept_s, 1e9 * took_s[CALLS / 2]);
    return MPI_Finalize();
}
