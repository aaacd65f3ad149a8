/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * small_program.c - what an ordinary program does with the library, for valgrind: each function, each way to meet, some
 * algorithms, an error, communicators that are freed and one that is not.
 */
#include "mpix_harmonize.h"

#include <mpi.h>
#include <stdio.h>

static int failures;

static void expect(int is_true, const char *what)
{
    if (!is_true)
        fprintf(stderr, "not true: %s\n", what);
    failures += !is_true;
}

static int set(MPI_Comm comm, const char *key, const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    int code = MPIX_Harmonize_set_info(comm, info);
    MPI_Info_free(&info);
    return code;
}

static void call(MPI_Comm comm, int calls)
{
    for (int i = 0; i < calls; i++) {
        int flag = -1;
        expect(MPIX_Harmonize(comm, &flag) == MPI_SUCCESS && (flag == 0 || flag == 1), "MPIX_Harmonize");
    }
}

static void read_clock(MPI_Comm comm)
{
    double time = 0, earliest = 0, latest = 0;
    int64_t time_ns = 0, bound_ns = -1;
    MPI_Info info;
    expect(MPIX_Global_time(comm, &time) == MPI_SUCCESS, "MPIX_Global_time");
    expect(MPIX_Global_time_ns(comm, &time_ns, &bound_ns) == MPI_SUCCESS && bound_ns >= 0, "MPIX_Global_time_ns");
    expect(MPIX_Global_time_interval(comm, &earliest, &latest) == MPI_SUCCESS && earliest <= latest,
           "MPIX_Global_time_interval");
    expect(MPIX_Harmonize_get_info(comm, &info) == MPI_SUCCESS, "MPIX_Harmonize_get_info");
    MPI_Info_free(&info);
}

static void try_values(const char *key, const char *const values[])
{
    for (int i = 0; values[i]; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        expect(set(comm, key, values[i]) == MPI_SUCCESS, values[i]);
        call(comm, 5);
        expect(MPIX_Clock_sync(comm) == MPI_SUCCESS, "MPIX_Clock_sync");
        read_clock(comm);
        MPI_Comm_free(&comm);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    call(MPI_COMM_WORLD, 20);
    read_clock(MPI_COMM_WORLD);
    try_values("mpix_harmonize_barrier", (const char *const[]){"shm", "dissemination", "tree", "collective", NULL});
    try_values("mpix_harmonize_sync", (const char *const[]){"hca3/10/skampi/5", "jk/10/meanrtt/5", "hca2/5+prop",
                                                            "hca/recompute/5", "hca3o", "skampi", "track", NULL});
    try_values("mpix_harmonize_clock", (const char *const[]){"monotonic", "wtime", NULL});
    expect(set(MPI_COMM_WORLD, "mpix_harmonize_sync", "none/5") != MPI_SUCCESS, "a bad value is refused");
    call(MPI_COMM_WORLD, 5);
    call(MPI_COMM_SELF, 5);
    MPI_Finalize();
    return failures > 0;
}
