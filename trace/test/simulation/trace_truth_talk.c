/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_truth_talk.c - what run_trace_tests.sh traces, with two processes: messages to and fro, evenly over some
 * seconds, and now and then a call of MPI_Allreduce. trace_truth_talk SECONDS MESSAGES.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { TAG = 1, ROUNDS_PER_CALL = 100 };

static void wait_until(int64_t time_ns)
{
    struct timespec until = {time_ns / 1000000000, time_ns % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* One message there, and one back. */
static void talk(int rank)
{
    int number = rank;
    if (rank == 0) {
        MPI_Send(&number, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD);
        MPI_Recv(&number, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&number, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&number, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int rank, greatest;
    struct timespec now;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    int rounds = argc > 2 ? atoi(argv[2]) / 2 : 100;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t start_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
    for (int i = 0; i < rounds; i++) {
        if (rank == 0)
            wait_until(start_ns + (int64_t)(seconds * 1e9 * i / rounds));
        talk(rank);
        if (i % ROUNDS_PER_CALL == 0)
            MPI_Allreduce(&i, &greatest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
