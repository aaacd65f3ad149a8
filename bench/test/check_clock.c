/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_clock.c - clocks that are wrong in ways known in advance, for tests of whether that is found out: linked into
 * mpix_clock, these functions take the place of the libraries', as any profiling tool's would.
 *
 * MPIX_Global_time_ns: rank r reads r seconds too much; with MPIX_TEST_STEP_NS, instead, each rank reads steps of this.
 * CLOCK_REALTIME: drifts on all ranks but 0, faster with time: by BEND_NS times the square of the seconds since its
 * first reading.
 */
#include <mpix_harmonize.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BEND_NS 1.2e7

int MPIX_Global_time_ns(MPI_Comm comm, int64_t *time_ns, int64_t *bound_ns)
{
    int code = PMPIX_Global_time_ns(comm, time_ns, bound_ns);
    const char *step_ns = getenv("MPIX_TEST_STEP_NS");
    int rank;

    PMPI_Comm_rank(comm, &rank);
    *time_ns += step_ns ? -(*time_ns % atoi(step_ns)) : rank * INT64_C(1000000000);
    return code;
}

/* By what launchers tell: MPI may read clocks before it knows ranks. */
static int is_rank_0(void)
{
    static const char *const names[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *rank = getenv(names[i]);

        if (rank)
            return atoi(rank) == 0;
    }
    return 1;
}

int clock_gettime(clockid_t id, struct timespec *now)
{
    static double first_s;
    double now_s, bend_ns;
    int64_t shifted_ns;

    if (syscall(SYS_clock_gettime, id, now) != 0)
        return -1;
    if (id != CLOCK_REALTIME || is_rank_0())
        return 0;
    now_s = (double)now->tv_sec + (double)now->tv_nsec * 1e-9;
    if (first_s == 0)
        first_s = now_s;
    bend_ns = BEND_NS * (now_s - first_s) * (now_s - first_s);
    shifted_ns = now->tv_nsec + llround(bend_ns);
    now->tv_sec += shifted_ns / 1000000000;
    now->tv_nsec = shifted_ns % 1000000000;
    return 0;
}
