/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPIX_Global_time_ns that is wrong in a way known in advance, for tests of whether that is found out: linked into a
 * program it takes the place of the library's, as any profiling tool would.
 *
 * Rank r reads r seconds too much.
 */
#include <mpix_harmonize.h>

int MPIX_Global_time_ns(MPI_Comm comm, int64_t *time_ns, int64_t *bound_ns)
{
    int code = PMPIX_Global_time_ns(comm, time_ns, bound_ns);
    int rank;

    PMPI_Comm_rank(comm, &rank);
    *time_ns += rank * INT64_C(1000000000);
    return code;
}
