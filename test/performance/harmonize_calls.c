/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * harmonize_calls N [LEVEL] - calls MPIX_Harmonize N times, for counting the instructions of a call. With a thread
 * level, 0 to 3 for MPI_THREAD_SINGLE to MPI_THREAD_MULTIPLE, it also reads the clock N times. It prints the level that
 * MPI provides, and what a call and a reading take in ns. run_thread_cost.sh compares these.
 */
#include <mpi.h>
#include <mpix_harmonize.h>
#include <stdio.h>
#include <stdlib.h>

static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};

/* The time that one of them takes, in ns. */
static double call(long calls, int *code)
{
    int flag;
    double began_s = MPI_Wtime();
    for (long i = 0; i < calls && *code == MPI_SUCCESS; i++)
        *code = MPIX_Harmonize(MPI_COMM_WORLD, &flag);
    return 1e9 * (MPI_Wtime() - began_s) / (double)calls;
}

static double read_clock(long readings, int *code)
{
    int64_t time_ns, bound_ns;
    double began_s = MPI_Wtime();
    for (long i = 0; i < readings && *code == MPI_SUCCESS; i++)
        *code = MPIX_Global_time_ns(MPI_COMM_WORLD, &time_ns, &bound_ns);
    return 1e9 * (MPI_Wtime() - began_s) / (double)readings;
}

static int number_of(int level)
{
    int number = 0;
    while (number < 3 && levels[number] != level)
        number++;
    return number;
}

int main(int argc, char **argv)
{
    enum { FIRST_CALLS = 1000 };
    int code = MPI_SUCCESS, wanted = argc > 2 ? atoi(argv[2]) : 0, provided, rank;
    long calls = argc > 1 ? atol(argv[1]) : 1;
    if (calls < 1 || wanted < 0 || wanted > 3)
        return 2;
    MPI_Init_thread(&argc, &argv, levels[wanted], &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 2)
        call(FIRST_CALLS, &code);
    double call_ns = call(calls, &code);
    if (argc > 2) {
        double read_ns = read_clock(calls, &code);
        if (rank == 0)
            printf("%d %.1f %.1f\n", number_of(provided), call_ns, read_ns);
    }
    MPI_Finalize();
    return code != MPI_SUCCESS;
}
