/* SPDX-License-Identifier: BSD-3-Clause */
/* harmonize_calls N - calls MPIX_Harmonize N times: for counting the instructions of a call. */
#include <mpi.h>
#include <mpix_harmonize.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int flag, code = MPI_SUCCESS;

    MPI_Init(&argc, &argv);
    for (long i = argc > 1 ? atol(argv[1]) : 1; i > 0 && code == MPI_SUCCESS; i--)
        code = MPIX_Harmonize(MPI_COMM_WORLD, &flag);
    MPI_Finalize();
    return code != MPI_SUCCESS;
}
