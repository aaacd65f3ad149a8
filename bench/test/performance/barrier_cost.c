/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier_cost - what MPIX_Harmonize costs beside the least that a barrier in time can cost: MPI_Barrier between two
 * readings of the clock. Each way is taken in turns; rank 0 prints the median, minimum and maximum of the turns.
 */
#include "common/mpi/machine_clock.h"
#include "pure/order_statistics.h"

#include <mpi.h>
#include <mpix_harmonize.h>
#include <stdio.h>

enum { TURNS = 9, CALLS = 200000 };

static volatile int64_t last_ticks;

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void read_clock(void)
{
    last_ticks = machine_counter_ticks();
}

static void barrier_between_readings(void)
{
    read_clock();
    barrier();
    read_clock();
}

static void harmonize(void)
{
    int flag;
    MPIX_Harmonize(MPI_COMM_WORLD, &flag);
}

static const struct {
    const char *name;
    void (*run)(void);
} ways[] = {{"MPI_Barrier", barrier},
            {"MPI_Barrier between two readings", barrier_between_readings},
            {"MPIX_Harmonize", harmonize},
            {"a reading of the counter", read_clock}};
enum { WAYS = sizeof ways / sizeof *ways };

static double time_of(void (*run)(void))
{
    double began_s = MPI_Wtime();
    for (int i = 0; i < CALLS; i++)
        run();
    return 1e9 * (MPI_Wtime() - began_s) / CALLS;
}

int main(int argc, char **argv)
{
    static double call_ns[WAYS][TURNS];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int way = 0; way < WAYS; way++)
        time_of(ways[way].run);
    for (int turn = 0; turn < TURNS; turn++)
        for (int way = 0; way < WAYS; way++)
            call_ns[way][turn] = time_of(ways[way].run);
    if (rank == 0)
        printf("| a call of | median (ns) | min | max |\n|---|---:|---:|---:|\n");
    for (int way = 0; way < WAYS && rank == 0; way++) {
        sort_reals(call_ns[way], TURNS);
        printf("| %s | %.1f | %.1f | %.1f |\n", ways[way].name, call_ns[way][TURNS / 2], call_ns[way][0],
               call_ns[way][TURNS - 1]);
    }
    MPI_Finalize();
    return 0;
}
