/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * start_bounds - the greatest bound of the global clock among the processes, in ns: after the first call of
 * MPIX_Harmonize, after calls for one second, and after one MPIX_Clock_sync. run_start_bounds.sh runs it beside others.
 */
#include <mpi.h>
#include <mpix_harmonize.h>
#include <stdio.h>
#include <stdlib.h>

static const int64_t second_ns = 1000000000;

/* Rank 0 gets the greatest, in ns. */
static long long greatest_bound(void)
{
    char text[MPI_MAX_INFO_VAL + 1] = "";
    int found;
    MPI_Info info;
    MPIX_Harmonize_get_info(MPI_COMM_WORLD, &info);
    MPI_Info_get(info, "mpix_harmonize_clock_bound_ns", MPI_MAX_INFO_VAL, text, &found);
    MPI_Info_free(&info);
    long long mine = atoll(text), greatest = 0;
    MPI_Reduce(&mine, &greatest, 1, MPI_LONG_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    return greatest;
}

/* The instant of a call, which is the same on all processes: so all make the same number of calls. */
static int64_t call(int *code)
{
    int flag;
    int64_t instant_ns = 0;
    *code |= MPIX_Harmonize(MPI_COMM_WORLD, &flag);
    *code |= MPIX_Harmonize_instant(MPI_COMM_WORLD, &instant_ns);
    return instant_ns;
}

int main(int argc, char **argv)
{
    int code = MPI_SUCCESS, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int64_t end_ns = call(&code) + second_ns;
    long long first_ns = greatest_bound();
    while (code == MPI_SUCCESS && call(&code) < end_ns)
        ;
    long long later_ns = greatest_bound();
    code |= MPIX_Clock_sync(MPI_COMM_WORLD);
    long long synchronized_ns = greatest_bound();
    if (rank == 0)
        printf("%lld %lld %lld\n", first_ns, later_ns, synchronized_ns);
    MPI_Finalize();
    return code != MPI_SUCCESS;
}
