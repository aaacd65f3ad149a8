/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_steps.c - clocks that somebody sets, ahead or back, on one process or on all: what the next call does about it,
 * and that the clock is right afterwards. The steps are injected (injection.c).
 */
#include "mpix_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Any step, anywhere */

typedef struct step {
    const char *clock, *sync, *barrier;
    int stepping_rank; /* ALL_RANKS: on all */
    int64_t step_ns;
    bool reads; /* somebody reads the global clock between the step and the next call */
} step;

enum { ALL_RANKS = -1 };

/* The time that a call takes from when all have come to it. */
static int64_t timed_call_ns(MPI_Comm comm)
{
    meet(comm);
    int64_t begun_ns = true_ns();
    harmonize(comm);
    return true_ns() - begun_ns;
}

/* How long a first call takes now. */
static int64_t first_call_now_ns(const char *clock, const char *sync)
{
    MPI_Comm comm = duplicate_with("clock=%s sync=%s", clock, sync);
    int64_t call_ns = timed_call_ns(comm);
    MPI_Comm_free(&comm);
    return call_ns;
}

/*
 * A call that finds a step synchronizes as the first one does, so on a busy machine it takes as long: first ones are
 * the control, the one before and, after a long call, some more. None waits until a clock has caught up.
 */
static bool call_is_quick(MPI_Comm comm, int64_t first_call_ns, const step *step, bool is_last_try, const char *what)
{
    int64_t call_ns = max_over(comm, timed_call_ns(comm)), control_ns = max_over(comm, first_call_ns);
    for (int i = 0; i < 5 && call_ns > NS_PER_S / 2 + 4 * control_ns; i++) {
        int64_t now_ns = max_over(comm, first_call_now_ns(step->clock, step->sync));
        control_ns = now_ns > control_ns ? now_ns : control_ns;
    }
    bool is_quick = call_ns <= NS_PER_S / 2 + 4 * control_ns;
    CHECK(is_quick || !is_last_try, "%s: the call takes %" PRId64 " ms, a first one at most %" PRId64 " ms", what,
          call_ns / NS_PER_MS, control_ns / NS_PER_MS);
    return is_quick;
}

/* Readings follow the steps of such a clock; those of others are found out by the next call. */
static bool may_be_set(const step *step)
{
    return strcmp(step->clock, "realtime") == 0;
}

static void make_step(MPI_Comm comm, const step *step)
{
    harmonize_times(comm, 4);
    int64_t before_ns = read_ns(comm, NULL);
    meet(comm);
    if (step->stepping_rank == ALL_RANKS || step->stepping_rank == my_rank)
        inject_step(step->step_ns);
    if (step->reads) {
        int64_t after_ns = read_ns(comm, NULL);
        CHECK(after_ns >= before_ns || !may_be_set(step),
              "a step of the clock takes global time back by %" PRId64 " ns", before_ns - after_ns);
    }
    meet(comm);
}

/* On raw clocks, which are compared with one that is slewed. */
static bool is_small(const step *step)
{
    return !may_be_set(step) && llabs(step->step_ns) < NS_PER_S / 10;
}

/*
 * Returns false if a call took long, which fails in the last try only: the whole machine may stand still for a time.
 * Also if a small step may pass for a slew, so that *is_judged is false.
 */
static bool try_step(const step *step, bool is_last_try, bool *is_judged)
{
    enum { SLEWED_BY_20_MS = 177 }; /* ms that a tenth and more of makes 20 ms */
    int64_t before_ns;
    const char *what =
        text_of("clock %s, sync %s, barrier %s, rank %d stepped by %" PRId64 " ms, %s", step->clock, step->sync,
                step->barrier, step->stepping_rank, step->step_ns / NS_PER_MS, step->reads ? "read" : "not read");
    inject_clock(0, 0);
    MPI_Comm comm = duplicate_with("clock=%s sync=%s barrier=%s", step->clock, step->sync, step->barrier);
    int64_t first_call_ns = timed_call_ns(comm);
    int64_t began_ns = true_ns();
    make_step(comm, step);
    before_ns = step->reads ? read_ns(comm, NULL) : INT64_MIN;
    bool are_quick = call_is_quick(comm, first_call_ns, step, is_last_try, what);
    *is_judged = max_over(comm, true_ns() - began_ns) <= SLEWED_BY_20_MS * NS_PER_MS || !is_small(step);
    CHECK(read_ns(comm, NULL) >= before_ns, "%s: global time went back", what);
    check_going_on(comm, what);
    check_clock(comm, what);
    CHECK(max_over(comm, info_number(comm, "clock_disruptions")) > 0 || !*is_judged, "%s: no disruption is counted",
          what);
    are_quick &= call_is_quick(comm, first_call_ns, step, is_last_try, what);
    check_clock(comm, what);
    MPI_Comm_free(&comm);
    return are_quick && *is_judged;
}

/* Returns whether a disruption had to be counted. */
static bool check_any_step(const step *step)
{
    enum { TRIES = 3 };
    bool is_judged = false;
    for (int i = 1; i <= TRIES && !try_step(step, i == TRIES, &is_judged); i++)
        ;
    return is_judged;
}

static const char *const stepped_clocks[] = {"realtime", "monotonic_raw"};
static const char *const stepped_syncs[] = {"prop", "track/skampi/10", "hca3o/skampi/5"};
static const char *const stepped_barriers[] = {"dissemination", "shm", "tree", "collective"};

/*
 * Of each PARTS combinations so many come up, fewer in the quick check and if calls take long. PARTS has no divisor in
 * common with the number of rows of a table, so that all pairs of rows come up.
 */
SUB_TEST(clock_stepped, SINGLE, "any step, on one process or all, whatever the clock and how processes meet")
{
    static const int64_t steps_ns[] = {200 * NS_PER_S, -200 * NS_PER_S, 3600 * NS_PER_S, -3600 * NS_PER_S,
                                       -20 * NS_PER_MS};
    enum { PARTS = 23 };
    int small = 0, judged = 0, taken = in_quick_check() ? 1 : times(2, 1);
    for (int number = 0; number < 2 * 3 * 4 * 5 * 3 * 2; number++) {
        int where = number / 2 % 3;
        step step = {stepped_clocks[number / 360],      stepped_syncs[number / 120 % 3],
                     stepped_barriers[number / 30 % 4], where == 2 ? ALL_RANKS : where * (ranks - 1),
                     steps_ns[number / 6 % 5],          number % 2};
        if (number % PARTS >= taken)
            continue;
        small += is_small(&step);
        judged += check_any_step(&step) && is_small(&step);
    }
    if (small > 0 && judged == 0)
        test_skip("too noisy: each of %d small steps of a raw clock may pass for a slew", small);
}

static bool can_step_wtime(void)
{
    double before_s = MPI_Wtime();
    inject_step(100 * NS_PER_S);
    bool steps = MPI_Wtime() > before_s + 50;
    inject_step(-100 * NS_PER_S);
    return min_over(MPI_COMM_WORLD, steps) != 0;
}

/* Clocks that cannot normally be set are compared only after 10 ms, so that a step of 5 ms would go unnoticed. */
SUB_TEST(clock_set, SINGLE, "any step of a clock that may be set, MPI_Wtime included")
{
    static const int64_t steps_ns[] = {5 * NS_PER_MS, -5 * NS_PER_MS, 10 * NS_PER_S, -10 * NS_PER_S};
    static const char *const clocks[] = {"realtime", "wtime"};
    int count = can_step_wtime() ? 2 : 1;
    for (int clock = 0; clock < count; clock++)
        for (int i = 0; i < 4; i++)
            for (int where = 0; where < 3; where++) {
                int rank = where == 2 ? ALL_RANKS : where * (ranks - 1);
                check_any_step(&(step){clocks[clock], "prop", "dissemination", rank, steps_ns[i], false});
            }
}

/*
 * A raw clock that is set back by about the time since the last call seems to have stood still, which is a step too.
 * Returns false, and checks nothing, if the processes were kept from running for so long that it may pass for a slew.
 */
static bool check_set_back_after(int pause_ms)
{
    enum { LONG_MS = 100 };
    const char *what = text_of("a clock set back by 20 ms, %d ms after a call", pause_ms);
    inject_clock(0, 0);
    MPI_Comm comm = duplicate_with("clock=monotonic_raw");
    harmonize(comm);
    nap_ms(11);
    double began_s = MPI_Wtime();
    harmonize(comm);
    nap_ms(pause_ms);
    if (my_rank == 0)
        inject_step(-20 * NS_PER_MS);
    meet(comm);
    harmonize(comm);
    bool is_prompt = max_over(comm, (int64_t)((MPI_Wtime() - began_s) * 1000)) < LONG_MS;
    if (is_prompt) {
        check_clock(comm, what);
        CHECK(max_over(comm, info_number(comm, "clock_disruptions")) > 0, "%s: no disruption is counted", what);
    }
    MPI_Comm_free(&comm);
    return is_prompt;
}

SUB_TEST(clock_set_back_by_pause, SINGLE, "a raw clock set back by about the time since the last call")
{
    enum { MAX_TRIES = 100 };
    int tries = 0;
    for (int pause_ms = 12; pause_ms <= 27 && tries < MAX_TRIES; tries++)
        if (check_set_back_after(pause_ms))
            pause_ms += 3;
    if (tries == MAX_TRIES)
        test_skip("too noisy");
}

/* ---- In a call, or in MPIX_Clock_sync */

/*
 * As when a process is suspended (its clock goes on: all else seems to have happened in no time), its clock is set, or
 * it comes to another machine. Either the call itself makes the clock right again, or it says on some process that the
 * clock cannot be relied upon; the next call puts that right.
 */
static void check_disruption(const char *clock, const char *label, int stepping_rank, int64_t step_ns)
{
    const char *what = text_of("clock %s, sync %s, that of rank %d stepped by %" PRId64 " us", clock, label,
                               stepping_rank, step_ns / NS_PER_US);
    inject_clock(0, 0);
    MPI_Comm comm = duplicate_with("clock=%s sync=%s resync_interval_ns=86400000000000", clock, label);
    harmonize_times(comm, 5);
    int64_t disruptions = max_over(comm, info_number(comm, "clock_disruptions")), syncs = info_number(comm, "syncs");
    if (my_rank == stepping_rank)
        inject_step(step_ns);
    meet(comm);
    int flag = harmonize(comm);
    CHECK(flag == (info_number(comm, "lateness_ns") <= info_number(comm, "tolerance_used_ns")),
          "%s: the flag is %d, the lateness %" PRId64 " ns", what, flag, info_number(comm, "lateness_ns"));
    bool disrupted = info_shows(comm, "clock_status", "disrupted"), any_disrupted = max_over(comm, disrupted) > 0;
    CHECK(max_over(comm, info_number(comm, "clock_disruptions")) > disruptions,
          "%s: the call does not count a disruption", what);
    CHECK(any_disrupted || min_over(comm, info_number(comm, "syncs")) > syncs,
          "%s: the call neither says so nor synchronizes", what);
    if (disrupted) {
        CHECK(!flag, "%s: the call is valid on a process that found its clock disrupted", what);
        check_unknown_bound(comm, what);
    }
    if (!any_disrupted)
        check_clock(comm, what);
    harmonize(comm);
    CHECK_TEXT(comm, "clock_status", "synchronized", what);
    CHECK(info_number(comm, "syncs") > syncs, "%s: the next call did not synchronize", what);
    check_clock(comm, what);
    set_settings(comm, "tolerance_ns=100000000");
    CHECK(harmonize_times(comm, 20) > 0, "%s: none of 20 calls is valid afterwards", what);
    MPI_Comm_free(&comm);
}

/* One step in the quick check, and if calls take long: the first. */
static void check_disruptions(const char *clock, const char *label, int first)
{
    static const int64_t steps_ns[] = {10 * NS_PER_MS, -10 * NS_PER_MS, 3600 * NS_PER_S, -3600 * NS_PER_S};
    int steps = in_quick_check() ? 1 : times(4, 1);
    for (int i = first; i < first + steps; i++) {
        check_disruption(clock, label, 0, steps_ns[i % 4]);
        check_disruption(clock, label, ranks - 1, steps_ns[i % 4]);
    }
}

/* A synchronization that the user asks for puts it right, found out by a call before or not; global time goes on. */
static void check_sync_after_step(const char *label, int stepping_rank, int64_t step_ns, bool calls)
{
    const char *what = text_of("sync %s, MPIX_Clock_sync after a step of %" PRId64 " s", label, step_ns / NS_PER_S);
    inject_clock(0, 0);
    MPI_Comm comm = duplicate_with("clock=realtime sync=%s", label);
    CHECK_OK(MPIX_Clock_sync(comm));
    CHECK_OK(MPIX_Clock_sync(comm));
    CHECK(max_over(comm, info_number(comm, "clock_disruptions")) == 0, "%s: a disruption is counted before", what);
    read_ns(comm, NULL);
    meet(comm);
    if (stepping_rank == ALL_RANKS || stepping_rank == my_rank)
        inject_step(step_ns);
    meet(comm);
    if (calls)
        harmonize(comm);
    CHECK_CLASS(MPIX_Clock_sync(comm), MPI_SUCCESS, what);
    CHECK(max_over(comm, info_number(comm, "clock_disruptions")) > 0, "%s: no disruption is counted", what);
    CHECK_TEXT(comm, "clock_status", "synchronized", what);
    check_going_on(comm, what);
    check_clock(comm, what);
    MPI_Comm_free(&comm);
}

SUB_TEST(clock_goes_on, SINGLE, "after MPIX_Clock_sync, though a base clock was set")
{
    static const char *const stepped_labels[] = {"prop", "track/skampi/10", "hca3o/skampi/10"};
    for (int i = 0; i < 3; i++) {
        check_sync_after_step(stepped_labels[i], ALL_RANKS, -3600 * NS_PER_S, false);
        check_sync_after_step(stepped_labels[i], ranks - 1, 100 * NS_PER_S, false);
        check_sync_after_step(stepped_labels[i], ranks - 1, -NS_PER_S, true);
    }
}

SUB_TEST(clock_disrupted, SEVERAL, "a clock that is stepped: found out in a call, right after the next")
{
    check_disruptions("monotonic_raw", "track/skampi/10", 0);
    check_disruptions("realtime", "track/skampi/10", 1);
    check_disruptions("monotonic_raw", "hca3/5/skampi/10", 2);
    check_disruptions("realtime", "hca3o/skampi/10", 3);
    check_disruptions("realtime", "prop", 0);
    check_disruptions("monotonic_raw", "prop", 1);
}

/* ---- In a wait */

enum { LONG_MS = 200, NAP_OF_STEP = 2, SLOW_NAP_MS = 80 };

/*
 * Waits: MPIX_Harmonize for its deadline, and two that a process sleeps through. Here on a process whose clock is
 * stepped inside the wait, and on the others. Returns the flag. was_inside: false if that was no more possible, or if
 * the process slept for so long that a small step may pass for a slew.
 */
typedef int set_wait(MPI_Comm comm, int64_t step_ns, bool *was_inside);

static bool was_in_nap(void)
{
    return step_in_nap(0, 0) < SLOW_NAP_MS * NS_PER_MS;
}

static int step_in_call(MPI_Comm comm, int64_t step_ns, bool *was_inside)
{
    if (step_ns != 0)
        step_after_release(comm, step_ns);
    int flag = harmonize(comm);
    *was_inside = !step_after_release(MPI_COMM_NULL, 0);
    return flag;
}

static int step_in_delay(MPI_Comm comm, int64_t step_ns, bool *was_inside)
{
    step_in_nap(step_ns != 0 ? NAP_OF_STEP : 0, step_ns);
    int flag = harmonize_delayed(comm, LONG_MS * NS_PER_MS);
    *was_inside = was_in_nap();
    return flag;
}

static int step_in_global_wait(MPI_Comm comm, int64_t step_ns, bool *was_inside)
{
    step_in_nap(step_ns != 0 ? NAP_OF_STEP : 0, step_ns);
    int flag = wait_until(comm, read_ns(comm, NULL) + LONG_MS * NS_PER_MS);
    *was_inside = was_in_nap();
    return flag;
}

/* No wait may take an hour. */
static void check_wait_time(int64_t began_ns, const char *what)
{
    int64_t took_ns = true_ns() - began_ns;
    CHECK(took_ns < 10 * NS_PER_S, "%s: the wait took %" PRId64 " ms", what, took_ns / NS_PER_MS);
}

static void check_some_wait(MPI_Comm comm, const char *what)
{
    int valid = 0;
    for (int i = 0; i < 20; i++)
        valid += wait_until(comm, read_ns(comm, NULL));
    CHECK(valid > 0, "%s: none of 20 waits is valid afterwards", what);
}

/* Returns whether the clock of a process was set while it waited. Else, nothing can be said. */
static bool check_set_in_wait(set_wait *wait, const char *clock, int rank, int64_t step_ns, const char *yield)
{
    bool is_judged;
    const char *kind = wait == step_in_call ? "a call" : wait == step_in_delay ? "a delay" : "MPIX_Global_wait_until";
    const char *what = text_of("yield %s, %s of rank %d stepped by %" PRId64 " ms in %s", yield, clock, rank,
                               step_ns / NS_PER_MS, kind);
    inject_clock(0, 0);
    MPI_Comm comm =
        duplicate_with("clock=%s yield=%s slack_min_ns=%s", clock, yield, wait == step_in_call ? "20000000" : "auto");
    harmonize(comm);
    int64_t disruptions = info_number(comm, "clock_disruptions");
    meet(comm);
    int64_t called_ns = true_ns();
    int flag = wait(comm, my_rank == rank ? step_ns : 0, &is_judged);
    check_wait_time(called_ns, what);
    int64_t syncs = info_number(comm, "syncs");
    is_judged &= my_rank == rank;
    CHECK(!is_judged || flag == 0, "%s: it is valid", what);
    CHECK(!is_judged || info_shows(comm, "clock_status", "disrupted"), "%s: it does not say so", what);
    if (is_judged)
        check_unknown_bound(comm, what);
    /* Readings follow the step, so a short wait is short. */
    int64_t again_ns = true_ns();
    int again = wait_until(comm, read_ns(comm, NULL) + NS_PER_MS);
    check_wait_time(again_ns, what);
    CHECK(!is_judged || again == 0, "%s: a wait is valid though the clock is known to be wrong", what);
    harmonize(comm);
    disruptions = info_number(comm, "clock_disruptions") - disruptions;
    CHECK(!is_judged || disruptions == 1, "%s: it is counted %" PRId64 " times", what, disruptions);
    CHECK(!is_judged || info_number(comm, "syncs") > syncs, "%s: the next call does not synchronize", what);
    harmonize(comm);
    check_clock(comm, what);
    set_settings(comm, "tolerance_ns=100000000");
    check_some_wait(comm, what);
    MPI_Comm_free(&comm);
    return max_over(MPI_COMM_WORLD, is_judged) > 0;
}

SUB_TEST(clock_set_back_in_wait, SINGLE, "a clock set back by an hour while a process waits")
{
    enum { CASES = 6 };
    for (int i = 0; i < CASES; i++) {
        const char *yield = i % 3 == 1 ? "always" : "never";
        int rank = i % 3 == 2 ? 0 : ranks - 1;
        CHECK(check_set_in_wait(step_in_call, stepped_clocks[i / 3], rank, -3600 * NS_PER_S, yield),
              "no step came inside the call");
    }
}

enum { TRIES = 5 };

static bool try_set_in_wait(set_wait *wait, const char *clock, int rank, int64_t step_ns)
{
    for (int try = 0; try < TRIES; try++)
        if (check_set_in_wait(wait, clock, rank, step_ns, "auto"))
            return true;
    return false;
}

SUB_TEST(clock_set_in_delay, SINGLE, "a clock set while a process sleeps through a delay")
{
    static const int64_t steps_ns[] = {-3600 * NS_PER_S, -15 * NS_PER_MS, 15 * NS_PER_MS, 3600 * NS_PER_S};
    int calls = 0, waits = 0, stride = in_quick_check() ? 3 : 1, last = ranks - 1;
    for (int i = 0; i < 4; i += stride) {
        int clock = i % 2, rank = i < 2 ? 0 : last;
        calls += try_set_in_wait(step_in_delay, stepped_clocks[clock], rank, steps_ns[i]);
        waits += try_set_in_wait(step_in_global_wait, stepped_clocks[!clock], last - rank, steps_ns[i]);
    }
    if (calls == 0 || waits == 0)
        test_skip("too noisy: no step came inside a call, or inside a wait");
}

/* ---- Between a wait that finds a step and the next call */

/* By such a pause, the step would pass for a slew. */
static void pause_for_long(MPI_Comm comm)
{
    meet(comm);
    nap_ms(250);
}

static void change_settings(MPI_Comm comm)
{
    pause_for_long(comm);
    set_settings(comm, "slack_min_ns=2000");
}

static void use_duplicate(MPI_Comm comm)
{
    MPI_Comm further = duplicate(comm);
    harmonize(further);
    pause_for_long(comm);
    check_clock(further, "a duplicate that was made after a step");
    MPI_Comm_free(&further);
}

/* A step of a raw clock that a wait found is not forgotten, whatever comes before the next call. */
static bool check_found_step(void (*meanwhile)(MPI_Comm comm), const char *name, int64_t step_ns, bool ends_by_sync)
{
    bool is_judged;
    const char *what = text_of("a step of %" PRId64 " ms, found in a wait, then %s", step_ns / NS_PER_MS, name);
    inject_clock(0, 0);
    MPI_Comm comm = duplicate_with("clock=monotonic_raw"), sibling = duplicate_with("clock=monotonic_raw");
    harmonize(comm);
    harmonize(sibling);
    step_in_global_wait(comm, my_rank == ranks - 1 ? step_ns : 0, &is_judged);
    is_judged &= my_rank == ranks - 1;
    bool any_judged = max_over(comm, is_judged) > 0;
    meanwhile(comm);
    if (is_judged)
        check_unknown_bound(comm, what);
    if (ends_by_sync)
        CHECK_OK(MPIX_Clock_sync(comm));
    else
        harmonize(comm);
    harmonize(sibling);
    if (any_judged) {
        int64_t disruptions = info_number(comm, "clock_disruptions");
        CHECK(disruptions == 1, "%s: %" PRId64 " disruptions are counted", what, disruptions);
        disruptions = info_number(sibling, "clock_disruptions");
        CHECK(disruptions == 1, "%s: another communicator counts %" PRId64 " disruptions", what, disruptions);
        check_clock(comm, what);
        check_clock(sibling, what);
    }
    MPI_Comm_free(&sibling);
    MPI_Comm_free(&comm);
    return any_judged;
}

SUB_TEST(clock_step_found_in_wait, SINGLE, "a step that a wait found, and what the next call makes of it")
{
    static const struct {
        const char *name;
        void (*run)(MPI_Comm comm);
    } kinds[] = {{"a pause", pause_for_long},
                 {"MPIX_Harmonize_set_info", change_settings},
                 {"a duplicate is made and freed", use_duplicate}};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    int cases = 0, judged = 0;
    for (int i = 0; i < 2 * KINDS; i++) {
        bool is_judged = false;
        if (in_quick_check() && i % 2 == i / 2 % 2)
            continue;
        cases++;
        for (int try = 0; try < TRIES && !is_judged; try++)
            is_judged = check_found_step(kinds[i / 2].run, kinds[i / 2].name, (i % 2 ? 15 : -15) * NS_PER_MS, i == 1);
        judged += is_judged;
    }
    if (judged < cases)
        test_skip("too noisy: in %d of %d cases, the nap with the step took long", cases - judged, cases);
}
