/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_steps_in_sync.c - clocks that somebody sets between two readings of one synchronization: it is repeated, or the
 * next call finds out, and the clock is right afterwards. The steps are injected (injection.c).
 */
#include "mpix_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALL_RANKS = -1 };

typedef struct step {
    const char *clock, *sync;
    int stepping_rank; /* ALL_RANKS: on all */
    int64_t step_ns;
} step;

static MPI_Comm make_synchronized_comm(const step *step, const char *what)
{
    inject_clock(0, 0);
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    CHECK_CLASS(set_setting(comm, "clock", step->clock), MPI_SUCCESS, what);
    CHECK_CLASS(set_setting(comm, "sync", step->sync), MPI_SUCCESS, what);
    harmonize_times(comm, 2);
    meet(comm);
    return comm;
}

/* How many readings of clocks a synchronization makes at least. */
static int64_t count_readings(const step *step)
{
    MPI_Comm comm = make_synchronized_comm(step, "count readings");
    step_after_readings(INT64_MAX, 0);
    CHECK_OK(MPIX_Clock_sync(comm));
    int64_t readings = INT64_MAX - step_after_readings(0, 0);
    MPI_Comm_free(&comm);
    return min_over(MPI_COMM_WORLD, readings);
}

/* A step after the last look at the clock is found out by the next call, which may leave the rest to the one after. */
static void check_step_after(const step *step, int64_t readings)
{
    char what[160], status[TEXT_SIZE];
    int64_t bound_ns;
    snprintf(what, sizeof what, "clock %s, sync %s, rank %d stepped by %" PRId64 " ms after %" PRId64 " readings",
             step->clock, step->sync, step->stepping_rank, step->step_ns / NS_PER_MS, readings);
    MPI_Comm comm = make_synchronized_comm(step, what);
    int64_t disruptions = max_over(comm, info_number(comm, "clock_disruptions")), before_ns = read_ns(comm, &bound_ns);
    if (step->stepping_rank == ALL_RANKS || step->stepping_rank == my_rank)
        step_after_readings(readings, step->step_ns);
    CHECK_CLASS(MPIX_Clock_sync(comm), MPI_SUCCESS, what);
    if (step_after_readings(0, 0) > 0) /* it took fewer */
        inject_step(step->step_ns);
    harmonize(comm);
    check_clock(comm, what);
    harmonize(comm);
    info_text(comm, "clock_status", status);
    CHECK(strcmp(status, "synchronized") == 0, "%s: the clock's status is '%s'", what, status);
    CHECK(max_over(comm, info_number(comm, "clock_disruptions")) > disruptions, "%s: no disruption is counted", what);
    CHECK(read_ns(comm, &bound_ns) >= before_ns, "%s: global time went back", what);
    check_going_on(comm, what);
    check_clock(comm, what);
    MPI_Comm_free(&comm);
}

/* The quick check steps one clock in the middle only. */
static void check_steps(const step *step)
{
    int64_t readings = count_readings(step);
    int parts = times(4, 2);
    CHECK(readings > parts, "sync %s reads the clock %" PRId64 " times only", step->sync, readings);
    if (getenv("MPIX_TEST_QUICK")) {
        check_step_after(step, readings / 2);
        return;
    }
    for (int part = 0; part <= parts; part++)
        check_step_after(step, part == 0 ? 1 : readings * part / parts);
}

/* Of each two combinations one comes up if calls take long. */
void test_clock_stepped_in_sync(void)
{
    static const char *const clocks[] = {"monotonic_raw", "realtime"}, *const syncs[] = {"prop", "track/skampi/10"};
    for (int clock = 0; clock < 2; clock++)
        for (int sync = 0; sync < 2; sync++)
            for (int where = 0; where < 3; where++)
                for (int back = 0; back < 2; back++) {
                    int rank = where == 2 ? ALL_RANKS : where * (ranks - 1);
                    step step = {clocks[clock], syncs[sync], rank, back ? -NS_PER_S : NS_PER_S};
                    if ((clock + sync + where + back) % 2 < times(2, 1))
                        check_steps(&step);
                }
}
