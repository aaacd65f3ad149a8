/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wrapper_test.c - what a tool sees: it wraps MPIX_Harmonize and counts the user's calls, and it wraps MPI functions
 * and counts none that come from the library. Sub-test profiling of mpix_test runs this program.
 */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "mpi_functions.h"
#include "mpix_test.h"
#undef MPIX_Harmonize

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int harmonize_calls; /* of MPIX_Harmonize, through the wrapper */
static int mpi_calls;       /* of MPI functions by their plain names */

int MPIX_Harmonize(MPI_Comm comm, int *flag)
{
    harmonize_calls++;
    return PMPIX_Harmonize(comm, flag);
}

/* The library must find them, but tests are built with hidden symbols. */
#pragma GCC visibility push(default)

#define COUNT(name, kind, on, parameters, arguments) \
    int MPI_##name parameters                        \
    {                                                \
        mpi_calls++;                                 \
        return PMPI_##name arguments;                \
    }

PLAIN_FUNCTIONS(COUNT)
OTHER_FUNCTIONS(COUNT)
/* What the library might call. */
COUNT(Barrier, , , (MPI_Comm c), (c))
COUNT(Iallgather, , , (const void *s, int n, type t, void *r, int m, type u, MPI_Comm c, request q),
      (s, n, t, r, m, u, c, q))
COUNT(Recv, , , (void *b, int n, type t, int p, int g, MPI_Comm c, status s), (b, n, t, p, g, c, s))
COUNT(Comm_dup, , , (MPI_Comm c, MPI_Comm *d), (c, d))
COUNT(Comm_create, , , (MPI_Comm c, MPI_Group g, MPI_Comm *d), (c, g, d))
COUNT(Comm_group, , , (MPI_Comm c, MPI_Group *g), (c, g))
COUNT(Group_free, , , (MPI_Group * g), (g))
COUNT(Comm_call_errhandler, , , (MPI_Comm c, int e), (c, e))
COUNT(Comm_delete_attr, , , (MPI_Comm c, int k), (c, k))
COUNT(Comm_free_keyval, , , (int *k), (k))
COUNT(Info_free, , , (MPI_Info * i), (i))

double MPI_Wtime(void)
{
    mpi_calls++;
    return PMPI_Wtime();
}

#pragma GCC visibility pop

/* ---- The tests */

#define CHECK_QUIET(call, expected_class)                                               \
    do {                                                                                \
        int before_ = mpi_calls, code_ = call, calls_ = mpi_calls - before_;            \
        CHECK_CLASS(code_, expected_class, #call);                                      \
        CHECK(calls_ == 0, "%s: a tool sees %d calls of MPI functions", #call, calls_); \
    } while (0)

/* Everything that the library does: setting up, every algorithm and estimator, all functions. */
static void check_calls_of_mpi(const char *label, const char *clock)
{
    int flag;
    double time;
    int64_t time_ns;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    char path[64]; /* that of rank 0 counts */
    snprintf(path, sizeof path, "/tmp/mpix_clock_write_%d", (int)getpid());
    MPI_Info_create(&info);
    MPI_Info_set(info, PREFIX "sync", label);
    MPI_Info_set(info, PREFIX "clock", clock);
    CHECK_QUIET(MPIX_Harmonize_set_info(comm, info), MPI_SUCCESS);
    MPI_Info_free(&info);
    CHECK_QUIET(MPIX_Global_time(comm, &time), MPI_ERR_OTHER);
    for (int i = 0; i < 5; i++)
        CHECK_QUIET(MPIX_Harmonize(comm, &flag), MPI_SUCCESS);
    CHECK_QUIET(MPIX_Clock_sync(comm), MPI_SUCCESS);
    CHECK_QUIET(MPIX_Global_time(comm, &time), MPI_SUCCESS);
    CHECK_QUIET(MPIX_Global_time_interval(comm, &time, &time), MPI_SUCCESS);
    CHECK_QUIET(MPIX_Global_time_ns(comm, &time_ns, &time_ns), MPI_SUCCESS);
    CHECK_QUIET(MPIX_Harmonize_delayed(comm, my_rank, &flag), MPI_SUCCESS);
    CHECK_QUIET(MPIX_Harmonize_instant(comm, &time_ns), MPI_SUCCESS);
    CHECK_QUIET(MPIX_Global_wait_until(comm, time_ns, &flag), MPI_SUCCESS);
    CHECK_QUIET(MPIX_Global_time_of(comm, CLOCK_MONOTONIC, time_ns, &time_ns, &time_ns), MPI_SUCCESS);
    CHECK_QUIET(MPIX_Clock_pair(comm, CLOCK_MONOTONIC, &time_ns, &time_ns, &time_ns), MPI_SUCCESS);
    CHECK_QUIET(MPIX_Clock_write(comm, path), MPI_SUCCESS);
    unlink(path);
    CHECK_QUIET(MPIX_Harmonize(comm, my_rank == ranks - 1 ? NULL : &flag), MPI_ERR_ARG);
    CHECK_QUIET(MPIX_Harmonize_delayed(comm, my_rank == 0 ? -1 : 0, &flag), MPI_ERR_ARG);
    CHECK_QUIET(MPIX_Harmonize_get_info(comm, &info), MPI_SUCCESS);
    MPI_Info_free(&info);
    int before = mpi_calls;
    MPI_Comm_free(&comm);
    CHECK(mpi_calls - before == 1, "MPI_Comm_free: a tool sees %d calls of MPI functions, expected 1",
          mpi_calls - before);
}

static void check_calls_of_library(void)
{
    int before = harmonize_calls, calls = times(100, 20);
    harmonize_times(MPI_COMM_WORLD, calls);
    CHECK(harmonize_calls - before == calls, "the wrapper saw %d calls, expected %d", harmonize_calls - before, calls);
    int64_t counted = info_number(MPI_COMM_WORLD, "calls");
    CHECK(counted == calls, "the library counts %" PRId64 " calls, expected %d", counted, calls);
}

/* With hidden wrappers, nothing below could fail. */
static void check_wrappers_are_found(void)
{
    int before = mpi_calls;
    void *found = dlsym(RTLD_DEFAULT, "MPI_Wtime");
    double (*wtime)(void);
    memcpy(&wtime, &found, sizeof wtime);
    if (found)
        wtime();
    CHECK(mpi_calls == before + 1, "the library would not find the wrappers of this program");
}

int main(void)
{
    start_mpi(MPI_THREAD_SINGLE);
    check_wrappers_are_found();
    check_calls_of_library();
    check_calls_of_mpi("hca3/10/skampi/5+prop", "wtime");
    check_calls_of_mpi("hca3o/meanrtt/5", "monotonic");
    check_calls_of_mpi("hca3/10/skampi/5", "auto");
    check_calls_of_mpi("none", "realtime");
    return conclude();
}
