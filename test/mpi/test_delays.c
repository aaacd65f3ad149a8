/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_delays.c - MPIX_Harmonize_delayed, MPIX_Harmonize_instant and MPIX_Global_wait_until: who leaves when, what the
 * flag says of it, and what is refused.
 *
 * The clock that all processes of the machine share is CLOCK_MONOTONIC_RAW, and the last reading of it in a call is the
 * one by which the library leaves. So exits are known to the nanosecond.
 */
#include "mpix_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDING_NS = 2 };

static MPI_Comm open_comm(const char *tolerance_ns)
{
    return duplicate_with("clock=monotonic_raw sync=prop tolerance_ns=%s", tolerance_ns);
}

static int64_t instant_of(MPI_Comm comm)
{
    int64_t instant_ns = INT64_MIN;
    CHECK_OK(MPIX_Harmonize_instant(comm, &instant_ns));
    return instant_ns;
}

/* The raw clock when global time was zero. Processes that share a clock exactly have the same. */
static int64_t zero_of(MPI_Comm comm)
{
    int64_t time_ns = read_ns(comm, NULL);
    return last_raw_reading_ns() - time_ns;
}

/* ---- Exits */

static void check_exit(int64_t left_ns, int64_t target_ns, int flag, int64_t tolerance_ns, const char *what)
{
    int64_t late_ns = left_ns - target_ns;
    CHECK(late_ns >= -ROUNDING_NS, "%s: left %" PRId64 " ns before its own deadline", what, -late_ns);
    CHECK(!flag || late_ns <= tolerance_ns + ROUNDING_NS, "%s: valid, but %" PRId64 " ns late", what, late_ns);
    CHECK(flag || late_ns >= tolerance_ns - ROUNDING_NS, "%s: not valid, but only %" PRId64 " ns late", what, late_ns);
}

/* One call with this process's delay. Returns whether it was valid on all processes. */
static bool check_delay(MPI_Comm comm, int64_t delay_ns, int64_t tolerance_ns)
{
    const char *what = text_of("delay of %" PRId64 " ns", delay_ns);
    int flag = harmonize_delayed(comm, delay_ns);
    int64_t left_ns = last_raw_reading_ns(), zero_ns = zero_of(comm), target_ns = instant_of(comm) + delay_ns;
    check_exit(left_ns - zero_ns, target_ns, flag, tolerance_ns, what);
    /* By the shared clock alone: apart from their delays, nobody leaves after the first by more than the tolerance. */
    bool is_shared = min_over(comm, zero_ns) == max_over(comm, zero_ns);
    int64_t first_ns = min_over(comm, left_ns - delay_ns), late_ns = left_ns - delay_ns - first_ns;
    CHECK(!is_shared || !flag || late_ns <= tolerance_ns + ROUNDING_NS,
          "%s: valid, but %" PRId64 " ns after another process, delays taken off", what, late_ns);
    CHECK(info_number(comm, "lateness_ns") <= tolerance_ns || !flag, "%s: valid, but the lateness says otherwise",
          what);
    return min_over(comm, flag) == 1;
}

/* Random delays, of which some are none. */
static void check_random_delays(MPI_Comm comm, int64_t tolerance_ns, int calls, uint32_t max_us)
{
    uint64_t seed = 77 + ((uint64_t)my_rank << 32) + max_us;
    int valid = 0;
    for (int i = 0; i < calls; i++) {
        uint32_t chosen = random_below(&seed, 4), delay_us = random_below(&seed, max_us);
        valid += check_delay(comm, chosen == 0 ? 0 : (int64_t)delay_us * NS_PER_US + (int64_t)chosen, tolerance_ns);
    }
    CHECK(valid > 0, "none of %d calls with delays up to %" PRIu32 " us was valid on all processes", calls, max_us);
}

SUB_TEST(delays, SINGLE, "each process leaves by its own deadline, and its flag says so")
{
    enum { TOLERANCE_NS = 20 * 1000 * 1000 };
    MPI_Comm comm = open_comm("500");
    for (int i = 0; i < times(200, 20); i++)
        check_delay(comm, (int64_t)i * (my_rank + 1) * 10, 500);
    MPI_Comm_free(&comm);

    comm = open_comm("20000000");
    check_random_delays(comm, TOLERANCE_NS, times(40, 10), 100);
    check_random_delays(comm, TOLERANCE_NS, times(20, 10), 10000);
    check_delay(comm, my_rank == ranks - 1 ? 300 * NS_PER_MS : 0, TOLERANCE_NS);
    check_delay(comm, my_rank == 0 ? 300 * NS_PER_MS : 0, TOLERANCE_NS);
    check_delay(comm, 50 * NS_PER_MS * my_rank, TOLERANCE_NS);
    MPI_Comm_free(&comm);
}

/* A process may as well call MPIX_Harmonize. */
SUB_TEST(delays_mixed, SINGLE, "MPIX_Harmonize and MPIX_Harmonize_delayed in one call")
{
    MPI_Comm comm = open_comm("1000000000");
    for (int i = 0; i < 10; i++) {
        bool plain = (my_rank + i) % 2 == 0;
        int flag = plain ? harmonize(comm) : harmonize_delayed(comm, 3 * NS_PER_MS);
        int64_t raw_ns = last_raw_reading_ns(), left_ns = raw_ns - zero_of(comm);
        check_exit(left_ns, instant_of(comm) + (plain ? 0 : 3 * NS_PER_MS), flag, NS_PER_S, "mixed calls");
    }
    MPI_Comm_free(&comm);
}

/* Long delays must not become needs of the slack. */
SUB_TEST(delays_slack, SINGLE, "delays leave no trace in the slack")
{
    const int64_t limit_ns = 250 * NS_PER_MS;
    MPI_Comm comm = open_comm("auto");
    CHECK_OK(set_setting(comm, "slack_max_ns", "10000000000"));
    for (int i = 0; i < 2; i++)
        harmonize_delayed(comm, (my_rank + i) % 2 == 0 ? 400 * NS_PER_MS : 0);
    int64_t slack_ns = info_number(comm, "slack_used_ns"),
            needed_ns = min_over(comm, info_number(comm, "slack_needed_ns"));
    CHECK(slack_ns < limit_ns, "the slack is %" PRId64 " ns after delays of 400 ms", slack_ns);
    CHECK(needed_ns < limit_ns, "a slack of %" PRId64 " ns is said to be needed after delays of 400 ms", needed_ns);
    MPI_Comm_free(&comm);
}

/* Waits as a process that is not disturbed would, without the library. Returns whether it was in time. */
static bool wait_by_itself(int64_t delay_ns, int64_t tolerance_ns)
{
    const int64_t awake_ns = NS_PER_MS, until_ns = true_ns() + delay_ns;
    if (delay_ns > awake_ns)
        nanosleep(&(struct timespec){.tv_nsec = delay_ns - awake_ns}, NULL);
    while (true_ns() < until_ns)
        ;
    return true_ns() - until_ns <= tolerance_ns;
}

/* Pairs of a call with delays and one without: how many there were, and in how many only one of the two was in time. */
typedef struct pairs {
    int count, only_with, only_without;
} pairs_t;

/* Calls with differing delays, and calls without delays, after which the process waits as long by itself, in turn. */
static void count_pairs(MPI_Comm comm, int calls, int64_t step_ns, pairs_t *pairs)
{
    int64_t tolerance_ns = info_number(comm, "tolerance_used_ns");
    for (int i = 0; i < calls; i++) {
        int64_t delay_ns = step_ns * (1 + (my_rank + i) % ranks);
        int flag = harmonize_delayed(comm, 0), in_time = wait_by_itself(delay_ns, tolerance_ns);
        bool without = min_over(comm, flag && in_time) == 1,
             with = min_over(comm, harmonize_delayed(comm, delay_ns)) == 1;
        pairs->count++;
        pairs->only_with += with && !without;
        pairs->only_without += without && !with;
    }
}

/*
 * Processes are interrupted in calls of either kind, which last as long, so chance takes from both alike. Delays may
 * cost a tenth of the calls; they cost more if chance, by four deviations, would not take so many.
 */
static void check_validity(MPI_Comm comm, int calls, int64_t step_ns)
{
    enum { MIN_REPEATS = 4, MAX_REPEATS = 30, DEVIATIONS = 4 };
    pairs_t pairs = {0};
    bool is_good = false, is_bad = false;
    for (int i = 1; i <= MIN_REPEATS || (i <= MAX_REPEATS && !is_good && !is_bad); i++) {
        count_pairs(comm, calls, step_ns, &pairs);
        int excess = pairs.only_without - pairs.only_with - pairs.count / 10;
        is_good = excess <= 0;
        is_bad = !is_good && excess * excess > DEVIATIONS * DEVIATIONS * (pairs.only_without + pairs.only_with);
    }
    if (!is_good && !is_bad)
        test_skip("too noisy: of %d calls, %d are in time only without delays, and %d only with them", pairs.count,
                  pairs.only_without, pairs.only_with);
    CHECK(!is_bad, "delays in steps of %" PRId64 " ns: of %d calls, %d are in time only without, and %d only with them",
          step_ns, pairs.count, pairs.only_without, pairs.only_with);
}

SUB_TEST(delays_validity, SINGLE, "calls with differing delays are valid as often as others")
{
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    harmonize_times(comm, 50);
    check_validity(comm, times(20, 10), NS_PER_US);
    check_validity(comm, 5, 3 * NS_PER_MS); /* mostly slept through */
    MPI_Comm_free(&comm);
}

/* ---- The instant */

static void check_instants(const char *barrier)
{
    uint64_t seed = 5 + (uint64_t)my_rank;
    int64_t last_ns = INT64_MIN, bound_ns;
    MPI_Comm comm = duplicate_with("barrier=%s", barrier);
    CHECK_OK(MPIX_Clock_sync(comm));
    for (int i = 0; i < times(50, 10); i++) {
        int64_t before_ns = read_ns(comm, &bound_ns), delay_ns = random_below(&seed, 50000);
        int flag = harmonize_delayed(comm, delay_ns);
        int64_t instant_ns = instant_of(comm), after_ns = read_ns(comm, &bound_ns);
        CHECK(min_over(comm, instant_ns) == instant_ns && max_over(comm, instant_ns) == instant_ns,
              "%s: the instant is %" PRId64 " ns, another one on another process", barrier, instant_ns);
        CHECK(instant_ns > last_ns, "%s: the instant went back by %" PRId64 " ns", barrier, last_ns - instant_ns);
        CHECK(instant_ns + 2 * bound_ns >= before_ns, "%s: the instant is %" PRId64 " ns before the call", barrier,
              before_ns - instant_ns);
        CHECK(!flag || instant_ns + delay_ns <= after_ns + ROUNDING_NS,
              "%s: left %" PRId64 " ns before the instant and delay", barrier, instant_ns + delay_ns - after_ns);
        last_ns = instant_ns;
    }
    MPI_Comm_free(&comm);
}

static void check_no_instant(MPI_Comm comm, const char *when)
{
    int64_t instant_ns = -7;
    CHECK_CLASS(MPIX_Harmonize_instant(comm, &instant_ns), MPI_ERR_OTHER, when);
    CHECK_MESSAGE(comm, "released", "MPIX_Harmonize");
    CHECK(instant_ns == -7, "%s: an instant was written beside an error", when);
}

SUB_TEST(instant, SINGLE, "the common instant, the same on all processes")
{
    int flag;
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    check_no_instant(comm, "before any call");
    CHECK_OK(MPIX_Clock_sync(comm));
    check_no_instant(comm, "after a synchronization");
    CHECK_CLASS(MPIX_Harmonize_delayed(comm, -1, &flag), MPI_ERR_ARG, "a negative delay in the first call");
    check_no_instant(comm, "after a call that failed");
    harmonize(comm);
    int64_t instant_ns = instant_of(comm);
    CHECK_CLASS(MPIX_Harmonize_delayed(comm, my_rank == 0 ? -1 : 0, &flag), MPI_ERR_ARG, "a negative delay");
    CHECK(instant_of(comm) == instant_ns, "a call that failed changed the instant");
    MPI_Comm_free(&comm);
    const char *const *barriers = choices_of("barrier");
    for (int i = 0; barriers[i]; i++)
        check_instants(barriers[i]);
}

/* ---- What is refused */

/* The others would wait for seconds. */
static void check_refused(MPI_Comm comm, bool here, int64_t bad_ns)
{
    int flag;
    int64_t calls = info_number(comm, "calls");
    const char *what = text_of("a delay of %" PRId64 " ns%s", bad_ns, here ? "" : " elsewhere");
    CHECK_CLASS(MPIX_Harmonize_delayed(comm, here ? bad_ns : 5 * NS_PER_S, &flag), MPI_ERR_ARG, what);
    CHECK_MESSAGE(comm, "delay_ns", "allowed", "10000000000", "delay_max_ns");
    CHECK(info_number(comm, "calls") == calls, "%s: the call is counted as a release", what);
    harmonize(comm);
}

SUB_TEST(delays_refused, SINGLE, "a bad delay is an error on all processes, and nobody waits")
{
    static const int64_t bad_ns[] = {-1, 10 * NS_PER_S + 1, INT64_MIN, INT64_MAX};
    int flag;
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    harmonize(comm);
    for (int i = 0; i < 4; i++) {
        check_refused(comm, true, bad_ns[i]);
        for (int rank = 0; rank < ranks; rank++)
            check_refused(comm, my_rank == rank, bad_ns[i]);
    }
    bool first = my_rank == 0;
    CHECK_CLASS(MPIX_Harmonize_delayed(comm, first ? -1 : 0, first ? &flag : NULL), MPI_ERR_ARG, "two bad arguments");
    CHECK_MESSAGE(comm, "delay_ns");
    CHECK_CLASS(MPIX_Harmonize_delayed(comm, 0, NULL), MPI_ERR_ARG, "a null pointer for the flag");
    CHECK_MESSAGE(comm, "MPIX_Harmonize_delayed: ", "flag");
    CHECK_CLASS(first ? MPIX_Harmonize(comm, &flag) : MPIX_Harmonize_delayed(comm, 0, ranks > 1 ? NULL : &flag),
                ranks > 1 ? MPI_ERR_ARG : MPI_SUCCESS, "a null pointer for the flag of the others");
    if (ranks > 1)
        CHECK_MESSAGE(comm, "MPIX_Harmonize_delayed: ", "flag");
    CHECK_CLASS(first ? MPIX_Harmonize(comm, NULL) : MPIX_Harmonize_delayed(comm, 0, &flag), MPI_ERR_ARG,
                "a null pointer for the flag of one");
    CHECK_MESSAGE(comm, "MPIX_Harmonize: ", "flag");
    CHECK_OK(set_setting(comm, "delay_max_ns", "0"));
    CHECK_CLASS(MPIX_Harmonize_delayed(comm, 1, &flag), MPI_ERR_ARG, "1 ns where 0 is allowed");
    CHECK_MESSAGE(comm, "0 to 0");
    harmonize_delayed(comm, 0);
    MPI_Comm_free(&comm);
}

/* ---- Waiting for an instant */

static void check_passed(MPI_Comm comm)
{
    CHECK(wait_until(comm, INT64_MIN) == 0, "valid, but the instant was ages ago");
    CHECK(wait_until(comm, read_ns(comm, NULL) - NS_PER_S) == 0, "valid, but the instant was 1 s ago");
}

SUB_TEST(wait_until, SINGLE, "waiting for an instant of the global clock")
{
    static const int64_t aheads_ns[] = {100, 10000, NS_PER_MS, 3 * NS_PER_MS, 30 * NS_PER_MS, 300 * NS_PER_MS};
    MPI_Comm comm = open_comm("500");
    CHECK_OK(MPIX_Clock_sync(comm));
    check_passed(comm);
    for (int i = 0; i < 6; i++) {
        int64_t instant_ns = read_ns(comm, NULL) + aheads_ns[i];
        int flag = wait_until(comm, instant_ns);
        int64_t raw_ns = last_raw_reading_ns(), left_ns = raw_ns - zero_of(comm);
        check_exit(left_ns, instant_ns, flag, 500, "MPIX_Global_wait_until");
        CHECK(read_ns(comm, NULL) >= instant_ns, "the clock reads less than the instant after the wait");
    }
    MPI_Comm_free(&comm);
    /* A clock that is not that of rank 0, and drifts from it. */
    comm = duplicate_with("sync=hca3/20/skampi/10");
    CHECK_OK(MPIX_Clock_sync(comm));
    for (int i = 0; i < times(2000, 100); i++) {
        int64_t instant_ns = read_ns(comm, NULL) + i;
        wait_until(comm, instant_ns);
        int64_t now_ns = read_ns(comm, NULL);
        CHECK(now_ns >= instant_ns, "the clock reads %" PRId64 " ns before the instant", instant_ns - now_ns);
    }
    MPI_Comm_free(&comm);
}

static void wait_alone(MPI_Comm self, int64_t wait_ns)
{
    wait_until(self, read_ns(self, NULL) + wait_ns);
}

static void delay_alone(MPI_Comm self, int64_t wait_ns)
{
    harmonize_delayed(self, wait_ns);
}

/* Where a process waits for nobody else, so that no other process can make it busy. */
static void check_sleep(MPI_Comm self, void (*wait)(MPI_Comm, int64_t), const char *what)
{
    enum { WAIT_MS = 300 };
    clock_t begin = clock(); /* of the processor */
    wait(self, WAIT_MS * NS_PER_MS);
    int64_t busy_ms = (clock() - begin) * INT64_C(1000) / CLOCKS_PER_SEC;
    CHECK(busy_ms < WAIT_MS / 4, "%s: the process is busy for %" PRId64 " ms of %d", what, busy_ms, WAIT_MS);
}

SUB_TEST(waits_sleep, SINGLE, "a process sleeps through a long wait")
{
    MPI_Comm self = duplicate(MPI_COMM_SELF);
    harmonize(self);
    check_sleep(self, delay_alone, "MPIX_Harmonize_delayed");
    check_sleep(self, wait_alone, "MPIX_Global_wait_until");
    MPI_Comm_free(&self);
}
