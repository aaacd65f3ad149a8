/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_steps_in_sync.c - clocks that somebody sets between two readings of one synchronization: it is repeated, or the
 * next call finds out, and the clock is right afterwards. The steps are injected (injection.c).
 */
#include "mpix_test.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ALL_RANKS = -1 };

typedef struct step {
    const char *clock, *sync;
    int stepping_rank; /* ALL_RANKS: on all */
    int64_t step_ns;
} step;

static MPI_Comm make_synchronized_comm(const step *step)
{
    inject_clock(0, 0);
    MPI_Comm comm = duplicate_with("clock=%s sync=%s", step->clock, step->sync);
    harmonize_times(comm, 2);
    meet(comm);
    return comm;
}

/* How many readings of clocks a synchronization makes at least. */
static int64_t count_readings(const step *step)
{
    MPI_Comm comm = make_synchronized_comm(step);
    step_after_readings(INT64_MAX, 0);
    CHECK_OK(MPIX_Clock_sync(comm));
    int64_t readings = INT64_MAX - step_after_readings(0, 0);
    MPI_Comm_free(&comm);
    return min_over(MPI_COMM_WORLD, readings);
}

/* A step after the last look at the clock is found out by the next call, which may leave the rest to the one after. */
static void check_step_after(const step *step, int64_t readings)
{
    const char *what = text_of("clock %s, sync %s, rank %d stepped by %" PRId64 " ms after %" PRId64 " readings",
                               step->clock, step->sync, step->stepping_rank, step->step_ns / NS_PER_MS, readings);
    MPI_Comm comm = make_synchronized_comm(step);
    int64_t disruptions = max_over(comm, info_number(comm, "clock_disruptions")), before_ns = read_ns(comm, NULL);
    if (step->stepping_rank == ALL_RANKS || step->stepping_rank == my_rank)
        step_after_readings(readings, step->step_ns);
    CHECK_CLASS(MPIX_Clock_sync(comm), MPI_SUCCESS, what);
    if (step_after_readings(0, 0) > 0) /* it took fewer */
        inject_step(step->step_ns);
    harmonize(comm);
    check_clock(comm, what);
    harmonize(comm);
    CHECK_TEXT(comm, "clock_status", "synchronized", what);
    CHECK(max_over(comm, info_number(comm, "clock_disruptions")) > disruptions, "%s: no disruption is counted", what);
    CHECK(read_ns(comm, NULL) >= before_ns, "%s: global time went back", what);
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
    if (in_quick_check()) {
        check_step_after(step, readings / 2);
        return;
    }
    /* Those of a step ahead and those of a step back take turns, unless few combinations come up. */
    int stride = times(2, 1);
    for (int part = stride == 2 && step->step_ns < 0; part <= parts; part += stride)
        check_step_after(step, part == 0 ? 1 : readings * part / parts);
}

/* ---- The first synchronization of a communicator */

/* Nothing that another communicator knows is of use to one that allows more wander. */
static MPI_Comm make_new_comm(const char *wander)
{
    inject_clock(0, 0);
    MPI_Comm comm = duplicate_with("clock=monotonic_raw sync=track/skampi/10 wander_max_ppb_per_s=%s", wander);
    meet(comm);
    return comm;
}

/* Synchronize for the first time while rank 0 steps its clock. Returns how many readings were left until then. */
static int64_t sync_first(MPI_Comm comm, int64_t readings)
{
    if (my_rank == 0)
        step_after_readings(readings, NS_PER_S);
    CHECK_OK(MPIX_Clock_sync(comm));
    return my_rank == 0 ? step_after_readings(0, 0) : 0;
}

/* Global time is zero at its epoch, though the clocks of both were set since. */
static void check_epoch(MPI_Comm comm)
{
    enum { NEAR_NS = 10 * 1000 * 1000 };
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t passed_ns = read_ns(comm, NULL) + NS_PER_S;
    int64_t unix_passed_ns = now.tv_sec * NS_PER_S + now.tv_nsec - info_number(comm, "clock_epoch_unix_ns");
    CHECK(my_rank > 0 || unix_passed_ns < passed_ns + NEAR_NS, "the epoch of global time is %" PRId64 " ns too early",
          unix_passed_ns - passed_ns);
}

/* Late in the synchronization, which then takes place twice. */
static void check_step_in_first(void)
{
    MPI_Comm counted = make_new_comm("200"), comm = make_new_comm("300");
    int64_t readings = INT64_MAX - sync_first(counted, INT64_MAX);
    bool is_stepped = sync_first(comm, readings * 8 / 10) == 0;
    if (is_stepped)
        check_epoch(comm);
    MPI_Comm_free(&counted);
    MPI_Comm_free(&comm);
}

/* In a synchronization that begins with what an earlier communicator knows, which is then of no use. */
static void check_step_in_shared(int64_t readings)
{
    MPI_Comm parent = make_new_comm("400"), comm = make_new_comm("400");
    CHECK_OK(MPIX_Clock_sync(parent));
    sync_first(comm, readings);
    if (info_number(comm, "clock_disruptions") > 0)
        CHECK_TEXT(comm, "clock_origin", "fresh", text_of("stepped after %" PRId64 " readings", readings));
    MPI_Comm_free(&parent);
    MPI_Comm_free(&comm);
}

/* Rank 0 makes memory for its node after it has opened a clock, or taken over an earlier one, and before the epoch. */
static void check_step_before_epoch(const char *clock, bool is_shared, int64_t step_ns)
{
    static int wander_ppb = 1000; /* a clock that was synchronized for less is of no use */
    const char *settings = text_of("clock=%s wander_max_ppb_per_s=%d", clock, ++wander_ppb);
    const char *what = text_of("clock %s, %s, set by %" PRId64 " s before the epoch", clock,
                               is_shared ? "shared" : "fresh", step_ns / NS_PER_S);
    inject_clock(0, 0);
    MPI_Comm earlier = duplicate_with("%s", settings), comm = duplicate_with("%s", settings);
    if (is_shared)
        harmonize(earlier);
    meet(comm);
    if (my_rank == 0)
        step_at_shared_memory(step_ns);
    int64_t began_ns = true_ns();
    CHECK_OK(MPIX_Clock_sync(comm));
    bool is_stepped = my_rank == 0 && step_at_shared_memory(0) == 0;
    int64_t time_ns = read_ns(comm, NULL), passed_ns = true_ns() - began_ns;
    CHECK(!is_stepped || (time_ns >= 0 && time_ns <= passed_ns + NS_PER_MS),
          "%s: global time is %" PRId64 " ns, %" PRId64 " ns after it began", what, time_ns, passed_ns);
    check_clock(comm, what);
    MPI_Comm_free(&earlier);
    MPI_Comm_free(&comm);
}

static void *step_again_and_again(void *is_over)
{
    while (!atomic_load((_Atomic bool *)is_over)) {
        nap_ms(4);
        inject_step(10 * NS_PER_MS);
    }
    return NULL;
}

/* So often that the library gives up repeating the synchronization, which it does twice. */
static void check_steps_throughout_first(void)
{
    _Atomic bool is_over = false;
    int64_t bound_ns;
    pthread_t thread;
    MPI_Comm comm = make_new_comm("500");
    bool steps = my_rank == 0 && pthread_create(&thread, NULL, step_again_and_again, &is_over) == 0;
    CHECK_OK(MPIX_Clock_sync(comm));
    atomic_store(&is_over, true);
    if (steps)
        pthread_join(thread, NULL);
    read_ns(comm, &bound_ns);
    int64_t disruptions = info_number(comm, "clock_disruptions");
    CHECK(info_shows(comm, "clock_status", "synchronized") || (bound_ns == INT64_MAX && disruptions == 3),
          "disrupted three times, the bound is %" PRId64 " ns, and %" PRId64 " times are counted", bound_ns,
          disruptions);
    harmonize(comm);
    check_clock(comm, "after a synchronization that was given up");
    MPI_Comm_free(&comm);
}

SUB_TEST(clock_stepped_in_first_sync, SEVERAL, "a step in the first synchronization of a communicator")
{
    check_step_in_first();
    check_steps_throughout_first();
    for (int64_t readings = 10; readings <= 30; readings += 10)
        check_step_in_shared(readings);
}

SUB_TEST(clock_set_before_epoch, SEVERAL, "a step between opening a clock and its first synchronization")
{
    static const char *const clocks[] = {"monotonic_raw", "realtime"};
    for (int clock = 0; clock < 2; clock++)
        for (int shared = 0; shared < 2; shared++)
            for (int back = 0; back < 2; back++)
                check_step_before_epoch(clocks[clock], shared, back ? -10 * NS_PER_S : 10 * NS_PER_S);
}

/* ---- Later ones */

/* Of each four combinations one comes up in the quick check, and if calls take long. */
SUB_TEST(clock_stepped_in_sync, SINGLE, "a step between two readings of a synchronization")
{
    static const char *const clocks[] = {"monotonic_raw", "realtime"}, *const syncs[] = {"prop", "track/skampi/10"};
    for (int clock = 0; clock < 2; clock++)
        for (int sync = 0; sync < 2; sync++)
            for (int where = 0; where < 3; where++)
                for (int back = 0; back < 2; back++) {
                    int rank = where == 2 ? ALL_RANKS : where * (ranks - 1);
                    step step = {clocks[clock], syncs[sync], rank, back ? -NS_PER_S : NS_PER_S};
                    if ((clock + sync + where + back) % 4 < (in_quick_check() ? 1 : times(4, 1)))
                        check_steps(&step);
                }
}
