/* SPDX-License-Identifier: BSD-3-Clause */
/* test_host_clocks.c - the clocks of the host beside the global one. */
#define _GNU_SOURCE /* CLOCK_TAI */
#include "mpix_test.h"

#include <inttypes.h>
#include <time.h>

static const struct {
    const char *name;
    clockid_t posix;
} host_clocks[] = {{"CLOCK_REALTIME", CLOCK_REALTIME},
                   {"CLOCK_MONOTONIC", CLOCK_MONOTONIC},
                   {"CLOCK_MONOTONIC_RAW", CLOCK_MONOTONIC_RAW},
                   {"CLOCK_BOOTTIME", CLOCK_BOOTTIME},
                   {"CLOCK_TAI", CLOCK_TAI}};

enum { HOST_CLOCKS = sizeof host_clocks / sizeof *host_clocks };

static int64_t host_ns(int i)
{
    struct timespec now;
    clock_gettime(host_clocks[i].posix, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* ---- Pairs */

static void check_pair(MPI_Comm comm, int i)
{
    int64_t bound_ns, later_bound_ns, local_ns = -1, time_ns = -1, pair_bound_ns = -1;
    const int64_t before_ns = read_ns(comm, &bound_ns), host_before_ns = host_ns(i);
    CHECK_OK(MPIX_Clock_pair(comm, host_clocks[i].posix, &local_ns, &time_ns, &pair_bound_ns));
    const int64_t host_after_ns = host_ns(i), after_ns = read_ns(comm, &later_bound_ns);
    CHECK(host_before_ns <= local_ns && local_ns <= host_after_ns,
          "%s is %" PRId64 ", but was %" PRId64 " before and %" PRId64 " after", host_clocks[i].name, local_ns,
          host_before_ns, host_after_ns);
    CHECK(pair_bound_ns > 0 && pair_bound_ns < NS_PER_S, "%s: the bound is %" PRId64 " ns", host_clocks[i].name,
          pair_bound_ns);
    CHECK(time_ns >= before_ns - bound_ns && time_ns <= after_ns + 1,
          "%s: the time is %" PRId64 ", but was %" PRId64 " (bound %" PRId64 ") before and %" PRId64 " after",
          host_clocks[i].name, time_ns, before_ns, bound_ns, after_ns);
}

SUB_TEST(clock_pairs, SINGLE, "each clock of the host beside the global one")
{
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    for (int round = 0; round < 3; round++) {
        CHECK_OK(MPIX_Clock_sync(comm));
        for (int i = 0; i < HOST_CLOCKS; i++)
            check_pair(comm, i);
    }
    MPI_Comm_free(&comm);
}
