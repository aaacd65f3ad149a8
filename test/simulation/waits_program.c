/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * waits_program.c - a program with a delay at a place that is drawn, for the simulator.
 *
 * Usage: waits_program PATTERN SEED [late]. Each rank prints when it began and ended, and how long it was in MPI
 * functions, in nanoseconds; with "late", the late rank prints the call before which it is late.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ITERATIONS = 24, WORK_US = 1000 };

static int rank, ranks, iteration, is_planted;
static uint64_t drawn;
static double worked_s;

/* The same on all ranks. */
static struct {
    int rank, phase, every, us;
} late;

static int draw(int least, int most)
{
    drawn = drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return least + (int)((drawn >> 33) % (uint64_t)(most - least + 1));
}

static void work(int phase)
{
    const int is_late = is_planted && rank == late.rank && phase == late.phase && iteration > 0 &&
                        iteration + 1 < ITERATIONS && iteration % late.every == 0;
    const double begin_s = MPI_Wtime();
    usleep(WORK_US + (is_late ? late.us : 0));
    worked_s += MPI_Wtime() - begin_s;
}

static void give(int to)
{
    MPI_Send(&rank, 1, MPI_INT, to, iteration, MPI_COMM_WORLD);
}

static void take(int from)
{
    int value;
    MPI_Recv(&value, 1, MPI_INT, from, iteration, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void ring(void)
{
    work(0);
    give((rank + 1) % ranks);
    work(1);
    take((rank + ranks - 1) % ranks);
}

static void halo(void)
{
    MPI_Request requests[4];
    int values[2], count = 0;
    work(0);
    for (int side = 0; side < 2; side++) {
        const int other = rank + 2 * side - 1;
        if (other < 0 || other == ranks)
            continue;
        MPI_Irecv(&values[side], 1, MPI_INT, other, 0, MPI_COMM_WORLD, &requests[count++]);
        MPI_Isend(&rank, 1, MPI_INT, other, 0, MPI_COMM_WORLD, &requests[count++]);
    }
    work(1);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

static void pipeline(void)
{
    if (rank > 0)
        take(rank - 1);
    work(0);
    if (rank + 1 < ranks)
        give(rank + 1);
}

/* Sums go up a binary tree, and the result comes down. */
static void tree(void)
{
    work(0);
    for (int child = 2 * rank + 1; child <= 2 * rank + 2 && child < ranks; child++)
        take(child);
    if (rank > 0) {
        give((rank - 1) / 2);
        take((rank - 1) / 2);
    }
    for (int child = 2 * rank + 1; child <= 2 * rank + 2 && child < ranks; child++)
        give(child);
}

static void master(void)
{
    if (rank > 0) {
        take(0);
        work(0);
        give(0);
    }
    for (int worker = 1; rank == 0 && worker < ranks; worker++)
        give(worker);
    for (int worker = 1; rank == 0 && worker < ranks; worker++)
        take(worker);
}

static void collectives(void)
{
    int sum;
    work(0);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    work(1);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void nonblocking(void)
{
    int sum;
    MPI_Request request;
    work(0);
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    work(1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static const struct {
    const char *name;
    void (*iterate)(void);
    int phases, first; /* phases and ranks that may be late */
} patterns[] = {{"ring", ring, 2, 0},     {"halo", halo, 2, 0},
                {"tree", tree, 1, 0},     {"master", master, 1, 1},
                {"pipeline", pipeline, 1, 0}, {"collectives", collectives, 2, 0},
                {"nonblocking", nonblocking, 1, 0}};

int main(int argc, char **argv)
{
    size_t i = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    while (strcmp(patterns[i].name, argv[1]) != 0)
        i++;
    drawn = strtoull(argv[2], NULL, 10);
    is_planted = argc > 3;
    draw(0, 1);
    late.rank = draw(patterns[i].first, ranks - 1);
    late.phase = draw(0, patterns[i].phases - 1);
    late.every = draw(1, ITERATIONS - 2);
    late.us = draw(WORK_US / 2, 4 * WORK_US);
    const double begin_s = MPI_Wtime();
    for (; iteration < ITERATIONS; iteration++)
        patterns[i].iterate();
    const double end_s = MPI_Wtime();
    printf("rank %d ran %.0f %.0f in %.0f\n", rank, 1e9 * begin_s, 1e9 * end_s, 1e9 * (end_s - begin_s - worked_s));
    if (rank == late.rank && is_planted)
        printf("late %d phase %d every %d us %d\n", rank, late.phase, late.every, late.us);
    MPI_Finalize();
    return 0;
}
