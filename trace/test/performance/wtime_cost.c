/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wtime_cost.c - what a call of MPI_Wtime costs beside one of PMPI_Wtime, which mpix_preload does not replace: for
 * run_preload_cost.sh, which runs it with mpix_preload. Both take turns. Rank 0 prints a line for each turn: both, in
 * ns. The exit status is 1 if MPI_Wtime was not replaced.
 */
#include <mpi.h>
#include <stdio.h>

enum { TURNS = 101, CALLS = 10000 };

static double call_ns(double (*clock)(void))
{
    double begin_s = PMPI_Wtime();
    for (int i = 0; i < CALLS; i++)
        clock();
    return (PMPI_Wtime() - begin_s) / CALLS * 1e9;
}

int main(int argc, char **argv)
{
    int rank, found, *is_global;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &is_global, &found);
    for (int turn = 0; turn < TURNS; turn++) {
        double plain_ns = call_ns(PMPI_Wtime), replaced_ns = call_ns(MPI_Wtime);
        if (rank == 0)
            printf("%.2f %.2f\n", plain_ns, replaced_ns);
    }
    MPI_Finalize();
    return !found || !*is_global;
}
