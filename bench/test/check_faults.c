/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faults that are known in advance, for tests of what mpix_bench makes of them: linked into it, these functions take
 * the place of the libraries', as any profiling tool's would. CHECK_FAULT in the environment names one:
 *
 * flags: MPIX_Harmonize, delayed or not: rank r sets the flag to 0 in each call whose number, from 1, is a multiple
 *        of 3 + 2 r, and to 1 in all others. A line "RANK,EXIT_NS,FLAG" for each call is written to the file
 *        CHECK_LOG.RANK.
 * never: likewise: the flag is always 0.
 * wrong: MPI_Bcast of at least 8 bytes: the last byte that the last rank receives is wrong.
 * fails: MPI_Bcast of at least 8 bytes: the 30th call of the last rank returns an error and does nothing else.
 * graph: MPI_Dist_graph_create_adjacent: the last rank's call returns an error and does nothing else.
 * roots: MPI_Bcast of at least 8 bytes: rank 0 says the root on standard error.
 */
#include <mpix_harmonize.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_fault(const char *name)
{
    const char *fault = getenv("CHECK_FAULT");

    return fault && strcmp(fault, name) == 0;
}

static void log_call(MPI_Comm comm, int rank, int flag)
{
    static FILE *file;
    const char *path = getenv("CHECK_LOG");
    char name[512];
    int64_t time_ns, bound_ns;

    if (!path || PMPIX_Global_time_ns(comm, &time_ns, &bound_ns) != MPI_SUCCESS)
        return;
    if (!file) {
        snprintf(name, sizeof name, "%s.%d", path, rank);
        file = fopen(name, "w");
    }
    if (file)
        fprintf(file, "%d,%lld,%d\n", rank, (long long)time_ns, flag);
}

int MPIX_Harmonize_delayed(MPI_Comm comm, int64_t delay_ns, int *flag)
{
    static int calls;
    int code = PMPIX_Harmonize_delayed(comm, delay_ns, flag);
    int rank;

    PMPI_Comm_rank(comm, &rank);
    calls++;
    if (is_fault("never"))
        *flag = 0;
    if (is_fault("flags")) {
        *flag = calls % (3 + 2 * rank) != 0;
        log_call(comm, rank, *flag);
    }
    return code;
}

int MPIX_Harmonize(MPI_Comm comm, int *flag)
{
    return MPIX_Harmonize_delayed(comm, 0, flag);
}

int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int sources, const int source[], const int source_weight[],
                                   int destinations, const int destination[], const int destination_weight[],
                                   MPI_Info info, int reorder, MPI_Comm *graph)
{
    int rank, ranks;

    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    if (rank == ranks - 1 && is_fault("graph"))
        return MPI_ERR_OTHER;
    return PMPI_Dist_graph_create_adjacent(comm, sources, source, source_weight, destinations, destination,
                                           destination_weight, info, reorder, graph);
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    static int calls;
    int rank, ranks, bytes, code;

    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &ranks);
    PMPI_Type_size(datatype, &bytes);
    bytes *= count;
    if (rank == ranks - 1 && datatype == MPI_CHAR && bytes >= 8 && is_fault("fails") && ++calls == 30)
        return MPI_ERR_OTHER;
    if (rank == 0 && datatype == MPI_CHAR && bytes >= 8 && is_fault("roots"))
        fprintf(stderr, "root %d\n", root);
    code = PMPI_Bcast(buffer, count, datatype, root, comm);
    if (rank == ranks - 1 && rank != root && datatype == MPI_CHAR && bytes >= 8 && is_fault("wrong"))
        ((char *)buffer)[bytes - 1] ^= 1;
    return code;
}
