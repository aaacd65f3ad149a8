/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * waits_program.c - a program with a delay at a place that is drawn, for the simulator.
 *
 * Usage: waits_program PATTERN SEED WORK [late]: each phase computes for WORK microseconds, and up to a thousandth of
 * that more. Each rank prints when it began and ended, and how long it was in MPI functions, in nanoseconds. With
 * "late", one rank is late by half of WORK to six times WORK at a place, and prints before which call.
 */
#include "pure/random.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ITERATIONS = 24 };

static int rank, ranks, iteration, is_planted, work_us;
static uint64_t drawn, noise;
static double worked_s;

/*
 * The same on all ranks; us: microseconds. The first rank of the pipeline and the last two are not late: those at the
 * ends compute both phases in one, so there is nothing to compare the phases of these three with.
 */
static struct {
    int rank, phase, every, us;
    int is_open;        /* this rank was late, and has called nothing since */
    const char *before; /* what it calls then */
} late;

static int draw(uint64_t *from, int least, int most)
{
    return least + (int)(random_next(from) % (uint64_t)(most - least + 1));
}

static void work(int phase)
{
    const int is_late = is_planted && rank == late.rank && phase == late.phase && iteration > 0 &&
                        iteration + 1 < ITERATIONS && iteration % late.every == 0;
    const int us = work_us + draw(&noise, 0, work_us / 1000) + (is_late ? late.us : 0);
    const struct timespec time = {us / 1000000, us % 1000000 * 1000L};
    const double begin_s = MPI_Wtime();
    nanosleep(&time, NULL);
    worked_s += MPI_Wtime() - begin_s;
    late.is_open |= is_late;
}

static void note(const char *function)
{
    late.before = late.is_open ? function : late.before;
    late.is_open = 0;
}
#define CALL(function, ...) (note("MPI_" #function), MPI_##function(__VA_ARGS__))

static void give(int to)
{
    CALL(Send, &rank, 1, MPI_INT, to, iteration, MPI_COMM_WORLD);
}

static void take(int from)
{
    int value;
    CALL(Recv, &value, 1, MPI_INT, from, iteration, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
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
        CALL(Irecv, &values[side], 1, MPI_INT, other, 0, MPI_COMM_WORLD, &requests[count++]);
        MPI_Isend(&rank, 1, MPI_INT, other, 0, MPI_COMM_WORLD, &requests[count++]);
    }
    work(1);
    CALL(Waitall, count, requests, MPI_STATUSES_IGNORE);
}

/* Each rank works on what it took in the iteration before. */
static void pipeline(void)
{
    work(0);
    if (rank + 1 < ranks)
        give(rank + 1);
    work(1);
    if (rank > 0)
        take(rank - 1);
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
    work(1);
}

/* Rank 0 works, too. */
static void master(void)
{
    for (int worker = 1; rank == 0 && worker < ranks; worker++)
        give(worker);
    if (rank > 0)
        take(0);
    work(0);
    if (rank > 0)
        give(0);
    for (int worker = 1; rank == 0 && worker < ranks; worker++)
        take(worker);
    work(1);
}

static void collectives(void)
{
    int sum;
    work(0);
    CALL(Allreduce, &rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    work(1);
    CALL(Barrier, MPI_COMM_WORLD);
}

static void nonblocking(void)
{
    int sum;
    MPI_Request request;
    work(0);
    CALL(Iallreduce, &rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    work(1);
    CALL(Wait, &request, MPI_STATUS_IGNORE);
}

/*
 * half_phases: the shortest delay; where messages travel meanwhile, it is more than a phase. is_alone: the late rank is
 * the first one, which has its places for itself, so it is not late each time: that would be usual.
 */
static const struct {
    const char *name;
    void (*iterate)(void);
    int half_phases, is_alone;
} patterns[] = {{"ring", ring, 4, 0},
                {"halo", halo, 4, 0},
                {"tree", tree, 4, 0},
                {"master", master, 1, 1},
                {"pipeline", pipeline, 4, 0},
                {"collectives", collectives, 4, 0},
                {"nonblocking", nonblocking, 4, 0},
                {"workers", master, 1, 0}};

int main(int argc, char **argv)
{
    size_t i = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    while (strcmp(patterns[i].name, argv[1]) != 0)
        i++;
    drawn = 100 * strtoull(argv[2], NULL, 10) + i;
    noise = drawn + ((uint64_t)rank << 32);
    work_us = atoi(argv[3]);
    is_planted = argc > 4;
    late.phase = draw(&drawn, 0, 1);
    late.rank = patterns[i].is_alone ? 0 : draw(&drawn, 1, ranks - 3);
    late.every = draw(&drawn, 1 + patterns[i].is_alone, ITERATIONS / 2);
    late.us = draw(&drawn, work_us * patterns[i].half_phases / 2, work_us * patterns[i].half_phases * 3 / 2);
    const double begin_s = MPI_Wtime();
    for (; iteration < ITERATIONS; iteration++)
        patterns[i].iterate();
    const double end_s = MPI_Wtime();
    printf("ran %.0f %.0f %.0f\n", 1e9 * begin_s, 1e9 * end_s, 1e9 * (end_s - begin_s - worked_s));
    if (late.before)
        printf("late %d %s\n", rank, late.before);
    MPI_Finalize();
    return 0;
}
