/* A user's program in C: harmonizes a few times, reads the global clock, and prints ok. */
#include <mpix_harmonize.h>
#include <stdio.h>

#define CALLS 5

static int check(int code, const char *call)
{
    if (code != MPI_SUCCESS) {
        fprintf(stderr, "%s returned %d\n", call, code);
    }
    return code == MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int rank, flag, ok = 1, all_ok;
    double time, previous = -1e300, earliest, latest;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < CALLS; i++) {
        flag = -1;
        ok &= check(MPIX_Harmonize(MPI_COMM_WORLD, &flag), "MPIX_Harmonize");
        ok &= flag == 0 || flag == 1;
        ok &= check(MPIX_Global_time(MPI_COMM_WORLD, &time), "MPIX_Global_time");
        ok &= time >= previous;
        previous = time;
    }
    ok &= check(MPIX_Global_time_interval(MPI_COMM_WORLD, &earliest, &latest), "MPIX_Global_time_interval");
    ok &= earliest <= latest;

    MPI_Allreduce(&ok, &all_ok, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0) {
        puts(all_ok ? "ok" : "failed");
    }
    MPI_Finalize();
    return !all_ok;
}
