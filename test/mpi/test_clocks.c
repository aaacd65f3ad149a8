/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_clocks.c - the global clock: its zero, its forms, its order, and that it is as right as it says, with the
 * machine's own clocks and with ones that are injected (injection.c).
 */
#include "mpix_test.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t unix_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* ---- Zero */

static void check_zero(int (*synchronize)(MPI_Comm))
{
    int64_t bound_ns;
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    meet(comm);
    int64_t unix_before_ns = min_over(comm, unix_ns()), before_ns = min_over(comm, true_ns());
    CHECK_CLASS(synchronize(comm), MPI_SUCCESS, "the first synchronization");
    int64_t time_ns = read_ns(comm, &bound_ns);
    int64_t elapsed_ns = true_ns() - before_ns;
    int64_t unix_after_ns = unix_ns(), epoch_ns = info_number(comm, "clock_epoch_unix_ns");
    int64_t rate_ns = (int64_t)(RATE_DIFFERENCE * (double)elapsed_ns);
    CHECK(time_ns >= (my_rank == 0 ? 0 : -bound_ns),
          "global time is %" PRId64 " ns (bound %" PRId64 ") after the start", time_ns, bound_ns);
    CHECK(time_ns <= elapsed_ns + rate_ns + bound_ns,
          "global time is %" PRId64 " ns, but only %" PRId64 " ns have passed", time_ns, elapsed_ns);
    CHECK(epoch_ns >= unix_before_ns && epoch_ns <= max_over(comm, unix_after_ns),
          "the epoch is %" PRId64 ", expected %" PRId64 " to %" PRId64, epoch_ns, unix_before_ns, unix_after_ns);
    CHECK(max_over(comm, epoch_ns) == min_over(comm, epoch_ns), "the epoch %" PRId64 " is not that of other ranks",
          epoch_ns);
    MPI_Comm_free(&comm);
}

static int by_a_call(MPI_Comm comm)
{
    int flag;
    return MPIX_Harmonize(comm, &flag);
}

SUB_TEST(clock_zero, SINGLE, "global time begins at the first synchronization")
{
    check_zero(MPIX_Clock_sync);
    check_zero(by_a_call);
}

/* ---- Seconds, nanoseconds, intervals */

static void check_forms_once(MPI_Comm comm)
{
    double first = NAN, earliest = NAN, latest = NAN, last = NAN;
    int64_t bound_ns, later_bound_ns;
    CHECK_OK(MPIX_Global_time(comm, &first));
    int64_t time_ns = read_ns(comm, &bound_ns);
    CHECK_OK(MPIX_Global_time_interval(comm, &earliest, &latest));
    read_ns(comm, &later_bound_ns);
    CHECK_OK(MPIX_Global_time(comm, &last));
    CHECK((double)time_ns >= first * 1e9 - 1 && (double)time_ns <= last * 1e9 + 1,
          "%" PRId64 " ns was read between %.9f s and %.9f s", time_ns, first, last);
    CHECK(earliest <= latest, "the interval goes from %.9f to %.9f", earliest, latest);
    CHECK(earliest <= last && latest >= first, "the interval from %.9f to %.9f was read between %.9f and %.9f",
          earliest, latest, first, last);
    CHECK(bound_ns >= 0, "the bound is %" PRId64 " ns", bound_ns);
    if (bound_ns == INT64_MAX)
        CHECK(earliest == -HUGE_VAL && latest == HUGE_VAL, "no bound is known, but the interval is from %g to %g",
              earliest, latest);
    else
        CHECK((latest - earliest) * 0.5e9 >= (double)bound_ns - 1 &&
                  (latest - earliest) * 0.5e9 <= (double)later_bound_ns + 1,
              "the interval is %g s wide, the bound %" PRId64 " ns before and %" PRId64 " ns after", latest - earliest,
              bound_ns, later_bound_ns);
}

static void check_forms(const char *label)
{
    MPI_Comm comm = duplicate_with("sync=%s", label);
    CHECK_OK(MPIX_Clock_sync(comm));
    for (int i = 0; i < 100; i++)
        check_forms_once(comm);
    MPI_Comm_free(&comm);
}

SUB_TEST(clock_forms, SINGLE, "seconds, nanoseconds and interval agree")
{
    check_forms("prop");
    check_forms("hca3o/skampi/10");
    check_forms("none");
}

/* ---- Readings never decrease */

/* Labels in turn, so that estimates of different quality follow each other. */
static void synchronize_often(MPI_Comm comm, int syncs)
{
    static const char *const turns[] = {"hca3o/meanrtt/1", "hca3/2/skampi/1", "none",          "prop",
                                        "hca3o/skampi/3",  "track/skampi/3",  "jk/2/skampi/1", "hca2/2/meanrtt/2"};
    int64_t last_ns = INT64_MIN;
    for (int i = 0; i < syncs; i++) {
        if (i % 25 == 0)
            CHECK_OK(set_setting(comm, "sync", turns[i / 25 % 8]));
        if (i % 3 == 0)
            harmonize(comm);
        else
            CHECK_OK(MPIX_Clock_sync(comm));
        for (int j = 0; j < 20; j++) {
            int64_t time_ns = read_ns(comm, NULL);
            CHECK(time_ns >= last_ns, "global time fell by %" PRId64 " ns after synchronization %d", last_ns - time_ns,
                  i);
            last_ns = time_ns;
        }
    }
}

static void check_resync(int syncs, bool with_thread)
{
    reader reader;
    MPI_Comm comm = duplicate_with("clock=monotonic_raw");
    harmonize(comm);
    if (with_thread)
        start_reader(&reader, comm);
    synchronize_often(comm, syncs);
    if (with_thread)
        stop_reader(&reader);
    meet(comm);
    MPI_Comm_free(&comm);
}

SUB_TEST(clock_resync, ITSELF, "time never decreases across synchronizations, in any thread")
{
    int level = start_mpi(MPI_THREAD_MULTIPLE);
    check_resync(times(1000, 100), level >= MPI_THREAD_FUNNELED);
    inject_clock(my_rank * NS_PER_MS, (my_rank % 3 - 1) * 100e-6);
    check_resync(times(200, 100), level >= MPI_THREAD_FUNNELED);
}

/* ---- Right within the bound */

static const char *const labels[] = {
    "none",
    "hca3o/skampi/10",
    "hca3/20/meanrtt/10",
    "hca3/20/skampi/10",
    "prop",
    "hca3/20/skampi/10+prop",
    "hca3o+prop",
    "hca3o+hca3o",
    "track",
    "track/skampi/20+prop",
    "skampi",
    "jk/10/skampi/10",
    "hca/10/skampi",
    "hca2/10/skampi/10",
    "hca3/recompute/10",
    "skampi+hca2/10",
    "HCA3/2/SKaMPI-Offset/1+hca3o/Mean_RTT+prop+none",
};

enum { LABELS = sizeof labels / sizeof *labels };

/* Returns false where a process cannot use the clock. */
static bool check_label(const char *clock, const char *label, int age_ms)
{
    const char *what = text_of("clock %s, sync %s", clock, label);
    MPI_Comm comm = duplicate_with("clock=%s sync=%s", clock, label);
    int code = MPIX_Clock_sync(comm);
    if (code != MPI_SUCCESS && info_shows(comm, "last_error", "cannot be used")) {
        MPI_Comm_free(&comm);
        return false;
    }
    CHECK_CLASS(code, MPI_SUCCESS, what);
    CHECK_TEXT(comm, "clock_used", clock, what);
    check_clock(comm, what);
    nap_ms(age_ms);
    check_clock(comm, what);
    if (strcmp(label, "none") == 0 && my_rank > 0) /* the reference knows its own time */
        check_unknown_bound(comm, what);
    CHECK_CLASS(MPIX_Clock_sync(comm), MPI_SUCCESS, what);
    check_clock(comm, what);
    harmonize_times(comm, 3);
    MPI_Comm_free(&comm);
    return true;
}

/* Each label and each row comes up, but not all pairs where making communicators takes long. */
static bool is_in_turn(int row, int rows, int label)
{
    return (row + label) % times(1, rows) == 0;
}

SUB_TEST(clock_labels, SINGLE, "each base clock with each algorithm is right within its bound")
{
    const char *const *clocks = choices_of("clock") + 1; /* the first is auto */
    int rows = 0;
    while (clocks[rows])
        rows++;
    for (int clock = 0; clock < rows; clock++)
        for (int label = 0; label < LABELS; label++)
            if (is_in_turn(clock, rows, label) && !check_label(clocks[clock], labels[label], 0)) {
                if (my_rank == 0)
                    printf("clock %s cannot be used here\n", clocks[clock]);
                break;
            }
}

/* ---- Injected clocks: as if each process were on a machine of its own */

SUB_TEST(clock_injected, SINGLE, "clocks far apart, negative and drifting")
{
    static const struct {
        int64_t offset_ns; /* of each rank from the one before */
        double drift;      /* of odd ranks; even ones drift the other way */
    } machines[] = {
        {1234567, 0},
        {-3600 * NS_PER_S, 20e-6},
        {400000 * NS_PER_S, -50e-6},
        {-1000000 * NS_PER_S, 200e-6}, /* negative clocks */
    };
    for (int machine = 0; machine < 4; machine++) {
        inject_clock((my_rank + 1) * machines[machine].offset_ns, (my_rank % 2 ? 1 : -1) * machines[machine].drift);
        for (int label = 1; label < LABELS; label++)
            if (is_in_turn(machine, 4, label))
                check_label("monotonic_raw", labels[label], machine == 1 ? 50 : 0);
    }
}

/* Processes that name the same clock, and are on one machine, but read different times. */
SUB_TEST(clock_unshared, SINGLE, "clocks that only seem to be shared")
{
    static const int64_t steps_ns[] = {NS_PER_S, -100 * NS_PER_MS, 0};
    for (int i = 0; i < 3; i++) {
        inject_clock(my_rank * steps_ns[i], 0);
        MPI_Comm comm = duplicate_with("clock=monotonic_raw sync=prop");
        CHECK_OK(MPIX_Clock_sync(comm));
        check_clock(comm, "prop, clocks apart");
        const char *levels = info_text(comm, "sync_levels");
        CHECK(my_rank == 0 || strstr(levels, steps_ns[i] ? "clock not shared" : "shared clock"),
              "clocks apart by %" PRId64 " ns: the levels are '%s'", steps_ns[i], levels);
        harmonize_times(comm, 20);
        MPI_Comm_free(&comm);
    }
}

/* They read the same when that is verified, and drift apart later: messages then arrive before they were sent. */
static void check_found_out(double drift)
{
    const char *what = text_of("prop, shared at first, then a drift of %g", drift);
    inject_clock(0, 0);
    MPI_Comm comm = duplicate_with("clock=monotonic_raw sync=prop");
    CHECK_OK(MPIX_Clock_sync(comm));
    if (my_rank == ranks - 1)
        inject_clock(0, drift);
    int64_t last_ns = min_over(comm, true_ns()) + 20 * NS_PER_S, found = 0;
    while (!found && min_over(comm, true_ns()) < last_ns) {
        harmonize(comm);
        found = max_over(comm, info_shows(comm, "sync_levels", "clock not shared"));
    }
    CHECK(found, "%s: not found out, the levels are '%s'", what, info_text(comm, "sync_levels"));
    CHECK(info_number(comm, "clock_disruptions") > 0, "%s: not counted as a disruption", what);
    check_clock(comm, what);
    MPI_Comm_free(&comm);
}

SUB_TEST(clock_unshared_later, SEVERAL, "clocks that seem to be shared, and then drift apart")
{
    check_found_out(400e-6);
    check_found_out(-400e-6);
}

/* A shorter interval, or a closer target, counts from the synchronization before, not from the next one on. */
SUB_TEST(clock_interval_changed, SEVERAL, "another interval or target takes effect at once")
{
    static const char *const labels_used[] = {"hca3o/skampi/5", "track/skampi/5"};
    for (int i = 0; i < 2; i++) {
        MPI_Comm comm = duplicate_with("sync=%s resync_interval_ns=86400000000000", labels_used[i]);
        harmonize(comm);
        int64_t syncs = info_number(comm, "syncs");
        CHECK_OK(set_setting(comm, "resync_interval_ns", "10000000"));
        if (my_rank == 0)
            CHECK(info_number(comm, "resync_used_ns") == 10 * NS_PER_MS,
                  "%s: the interval is %" PRId64 " ns, not 10 ms", labels_used[i], info_number(comm, "resync_used_ns"));
        nap_ms(20);
        harmonize(comm);
        CHECK(info_number(comm, "syncs") > syncs, "%s: no synchronization 20 ms later", labels_used[i]);
        set_settings(comm, "resync_interval_ns=auto resync_error_ns=1000000000");
        int64_t far_ns = info_number(comm, "resync_used_ns");
        CHECK_OK(set_setting(comm, "resync_error_ns", "1"));
        int64_t close_ns = info_number(comm, "resync_used_ns");
        if (my_rank == 0 && i == 1)
            CHECK(close_ns < far_ns,
                  "%s: an interval of %" PRId64 " ns for a target of 1 ns, and of %" PRId64 " ns for one of 1 s",
                  labels_used[i], close_ns, far_ns);
        MPI_Comm_free(&comm);
    }
}

/* ---- Clocks that nobody synchronizes */

/* A process whose clock is behind neither waits until it has caught up, nor is its release valid. */
static void check_none(const char *barrier, int64_t offset_ns)
{
    const char *what = text_of("none, barrier %s, clocks apart by %" PRId64 " ns", barrier, offset_ns);
    inject_clock(my_rank * offset_ns, 0);
    MPI_Comm comm = duplicate_with("clock=monotonic_raw sync=none barrier=%s", barrier);
    for (int i = 0; i < 3; i++) {
        meet(comm);
        int64_t begun_ns = true_ns();
        int flag = harmonize(comm);
        int64_t call_ns = true_ns() - begun_ns;
        CHECK(call_ns < 20 * NS_PER_S, "%s: a call takes %" PRId64 " ms", what, call_ns / NS_PER_MS);
        CHECK(my_rank == 0 || !flag, "%s: rank %d says that it left in time", what, my_rank);
    }
    MPI_Comm_free(&comm);
}

SUB_TEST(clock_none, SEVERAL, "clocks that nobody synchronizes, and that are apart")
{
    const char *const *barriers = choices_of("barrier");
    for (int i = 0; barriers[i]; i++) {
        check_none(barriers[i], -100 * NS_PER_S);
        check_none(barriers[i], 100 * NS_PER_S);
    }
    refuse_shared_memory(true, true);
    check_none("shm", -100 * NS_PER_S);
    refuse_shared_memory(false, false);
}

/*
 * The drift of a tracked clock may wander by a thousandth in the second: in a second, the bound grows by half of this
 * or more, and in half a second by an eighth. A bound for less wander ends at once.
 */
SUB_TEST(clock_wander, SINGLE, "bounds grow by the wander that is allowed")
{
    int64_t before_ns, after_ns;
    MPI_Comm comm = duplicate_with("sync=track/skampi/10");
    CHECK_OK(MPIX_Clock_sync(comm));
    CHECK_OK(set_setting(comm, "wander_max_ppb_per_s", "50"));
    read_ns(comm, &before_ns);
    CHECK(before_ns < INT64_MAX, "a lower limit of wander ends the bound");
    CHECK_OK(set_setting(comm, "wander_max_ppb_per_s", "1000000"));
    if (my_rank > 0)
        check_unknown_bound(comm, "a higher limit of wander");
    harmonize(comm);
    read_ns(comm, &before_ns);
    nap_ms(500);
    read_ns(comm, &after_ns);
    int64_t grown_ns = after_ns - before_ns;
    CHECK(my_rank == 0 || grown_ns > 112 * NS_PER_US, "the bound grows by %" PRId64 " ns", grown_ns);
    MPI_Comm_free(&comm);
}

/*
 * Slow readings stand for a machine that was busy when the clock was synchronized first. MPIX_Clock_sync does not leave
 * it at one more burst of some tens of readings.
 */
SUB_TEST(clock_narrowed, SINGLE, "MPIX_Clock_sync measures a wide bound until its time is up")
{
    enum { ALL = 1000 * 1000, MANY = 300, WIDE_NS = 2000 };
    if (ranks < 2 || min_over(MPI_COMM_WORLD, processes_of_node()) < ranks) {
        test_skip("it takes several processes on one node");
        return;
    }
    MPI_Comm comm = duplicate_with("clock=monotonic_raw sync=prop");
    slow_readings(my_rank > 0 ? ALL : 0);
    harmonize(comm);
    int64_t first_ns = info_number(comm, "clock_bound_ns");
    CHECK(my_rank == 0 || first_ns > WIDE_NS, "the first bound is %" PRId64 " ns: it has to be wide here", first_ns);
    slow_readings(my_rank > 0 ? MANY : 0);
    CHECK_OK(MPIX_Clock_sync(comm));
    int64_t left = slow_readings(0), bound_ns = info_number(comm, "clock_bound_ns");
    /* A part of each bound, and measured when readings were slow. */
    int64_t cost_ns = info_number(comm, "clock_read_cost_ns");
    bool time_is_up = info_number(comm, "sync_duration_ns") >= 200 * NS_PER_MS / (ranks - 1);
    bool is_narrow = my_rank == 0 || (left == 0 && bound_ns - cost_ns <= WIDE_NS);
    CHECK(is_narrow || time_is_up, "MPIX_Clock_sync leaves it at a bound of %" PRId64 " ns", bound_ns);
    check_clock(comm, "narrowed");
    if (!min_over(comm, is_narrow))
        test_skip("too noisy: the time of MPIX_Clock_sync was up before the bound was narrow");
    MPI_Comm_free(&comm);
}
