/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_base_clock.c - the clocks of this machine. Nothing here depends on how busy it is: readings are bracketed, and a
 * clock that the machine does not have is left out. MPI_Wtime, which needs MPI, is a function of this program.
 */
#include "pure/units.h"
#include "clock/base_clock_private.h"
#include "clock/wait.h"
#include "support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static int clocks(void)
{
    int count = 0;
    while (mh_base_clock_kind(count))
        count++;
    return count;
}

/* The first of them. */
static int counters(void)
{
    int count = 0;
    while (mh_base_clock_kind(count)->calibrate)
        count++;
    return count;
}

double PMPI_Wtime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Whether this machine has the clock; then it is opened. */
static bool open_clock(const mh_clock_kind *kind, mh_base_clock *clock)
{
    char why[80] = "";
    memset(clock, 0, sizeof *clock);
    if (kind->probe(why, sizeof why) != 0) {
        EXPECT(why[0] != '\0', "%s cannot be used, and does not say why", kind->name);
        return false;
    }
    clock->kind = kind;
    clock->now_ns = kind->now_ns;
    if (kind->calibrate)
        clock->scale = kind->calibrate();
    return true;
}

LOOP_TEST(clock_describes_itself, clocks())
{
    const mh_clock_kind *kind = mh_base_clock_kind(_i);
    mh_base_clock clock = {.kind = kind};
    EXPECT(kind->name && kind->doc && kind->doc[0], "clock %d has no name or no description", _i);
    ck_assert_str_eq(mh_base_clock_name(&clock), kind->name);
    bool is_raw = kind->is_raw;
    mh_rates rates = mh_base_clock_rates(&clock);
    EXPECT(rates.are_raw == is_raw, "%s: the kernel corrects its rate, or not", kind->name);
    /* A tenth and 0.1 % up on one machine and down on the other. */
    EXPECT(is_raw ? rates.limit < 0.001 : rates.limit > 1.101 / 0.899 - 1, "%s: rates differ by at most %g", kind->name,
           rates.limit);
}

LOOP_TEST(glance_is_a_reading, counters())
{
    enum { GLANCES = 1000, EARLY_NS = 1000 };
    mh_base_clock clock;
    if (!open_clock(mh_base_clock_kind(_i), &clock))
        return;
    for (int i = 0; i < GLANCES; i++) {
        int64_t before_ns = mh_base_clock_now_ns(&clock), glance_ns = mh_base_clock_kind(_i)->glance_ns(&clock);
        int64_t after_ns = mh_base_clock_now_ns(&clock);
        ck_assert_int_ge(glance_ns, before_ns - EARLY_NS);
        ck_assert_int_le(glance_ns, after_ns);
    }
}

/* A counter as another calibration would have it: rounding in a wait depends on the scale. */
static void rescale(mh_base_clock *clock, const mh_tick_scale *scale, double factor)
{
    if (!clock->kind->calibrate)
        return;
    clock->scale.ns_per_tick = (uint64_t)((double)scale->ns_per_tick * factor);
    clock->scale.ticks_per_ns = (uint64_t)((double)scale->ticks_per_ns / factor);
}

LOOP_TEST(wait_ends_when_the_clock_reads_the_deadline, clocks())
{
    enum { SCALES = 200, WAITS = 100 };
    mh_base_clock clock;
    if (!open_clock(mh_base_clock_kind(_i), &clock))
        return;
    mh_tick_scale scale = clock.scale;
    chance dice = chance_of_round(_i);
    for (int i = 0; i < rounds_of(SCALES) * WAITS; i++) {
        if (i % WAITS == 0)
            rescale(&clock, &scale, 0.5 + chance_unit(&dice));
        int64_t deadline_ns = mh_base_clock_now_ns(&clock) + chance_between(&dice, -50, 500);
        int64_t read_ns = mh_wait_until(&clock, INT64_MIN, deadline_ns, false);
        EXPECT(read_ns >= deadline_ns, "ends %" PRId64 " ns early", deadline_ns - read_ns);
    }
}

LOOP_TEST(setting_the_clock_back_ends_a_wait, clocks())
{
    mh_base_clock clock;
    if (!open_clock(mh_base_clock_kind(_i), &clock))
        return;
    int64_t now_ns = mh_base_clock_now_ns(&clock), read_ns;
    read_ns = mh_wait_until(&clock, now_ns + 3600 * MH_NS_PER_S, now_ns + 7200 * MH_NS_PER_S, false);
    ck_assert_int_lt(read_ns, now_ns + 3600 * MH_NS_PER_S);
}

LOOP_TEST(wait_for_the_past_ends_at_once, clocks())
{
    static const int64_t pasts_ns[] = {0, 1, MH_NS_PER_S, INT64_C(1) << 61};
    mh_base_clock clock;
    if (!open_clock(mh_base_clock_kind(_i), &clock))
        return;
    for (int i = 0; i < COUNT_OF(pasts_ns); i++) {
        int64_t before_ns = mh_base_clock_now_ns(&clock);
        int64_t read_ns = mh_wait_until(&clock, INT64_MIN, before_ns - pasts_ns[i], false);
        int64_t after_ns = mh_base_clock_now_ns(&clock);
        /* The counter may be read early in a wait, by less than this. */
        ck_assert_int_ge(read_ns, before_ns - MH_NS_PER_US);
        ck_assert_int_le(read_ns, after_ns);
    }
}

LOOP_TEST(sleep_ends_before_the_deadline, clocks())
{
    static const int64_t aheads_ns[] = {-MH_NS_PER_S, 0, MH_NS_PER_MS, 25 * MH_NS_PER_MS};
    mh_base_clock clock;
    if (!open_clock(mh_base_clock_kind(_i), &clock))
        return;
    for (int i = 0; i < COUNT_OF(aheads_ns); i++) {
        int64_t begin_ns = mh_base_clock_now_ns(&clock);
        int64_t step_ns = mh_sleep_towards(&clock, begin_ns + aheads_ns[i]);
        int64_t slept_ns = mh_base_clock_now_ns(&clock) - begin_ns;
        ck_assert_int_eq(step_ns, 0);
        ck_assert_int_ge(slept_ns, aheads_ns[i] - 2 * MH_NS_PER_MS);
    }
}

/* ---- Threads see one clock */

static mh_base_clock shared_clock;
static _Atomic int64_t shared_seen_ns, shared_decrease_ns;

static void *read_shared_clock(void *argument)
{
    enum { READINGS = 50000 };
    (void)argument;
    for (int i = 0; i < READINGS; i++) {
        int64_t seen_ns = atomic_load(&shared_seen_ns), now_ns = mh_base_clock_now_ns(&shared_clock);
        if (now_ns < seen_ns)
            atomic_store(&shared_decrease_ns, seen_ns - now_ns);
        while (seen_ns < now_ns && !atomic_compare_exchange_weak(&shared_seen_ns, &seen_ns, now_ns))
            ;
    }
    return NULL;
}

LOOP_TEST(clock_increases_across_threads, clocks())
{
    pthread_t threads[4];
    if (!open_clock(mh_base_clock_kind(_i), &shared_clock))
        return;
    int64_t first_ns = mh_base_clock_now_ns(&shared_clock);
    atomic_store(&shared_seen_ns, first_ns);
    atomic_store(&shared_decrease_ns, 0);
    for (int i = 0; i < COUNT_OF(threads); i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, read_shared_clock, NULL), 0);
    for (int i = 0; i < COUNT_OF(threads); i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(atomic_load(&shared_decrease_ns), 0);
    ck_assert_int_gt(atomic_load(&shared_seen_ns), first_ns);
}

/* ---- Identities */

LOOP_TEST(identity_is_that_of_the_clock, clocks())
{
    mh_base_clock clock, other;
    if (!open_clock(mh_base_clock_kind(_i), &clock))
        return;
    mh_clock_identity first = mh_base_clock_identity(&clock), second = mh_base_clock_identity(&clock);
    ck_assert_mem_eq(&first, &second, sizeof first);
    ck_assert_uint_ne(first.boot, 0); /* it tells this machine from others */
    for (int i = 0; i < clocks(); i++) {
        if (i == _i || !open_clock(mh_base_clock_kind(i), &other))
            continue;
        second = mh_base_clock_identity(&other);
        EXPECT(memcmp(&first, &second, sizeof first) != 0, "%s and %s have the same identity",
               mh_base_clock_kind(_i)->name, mh_base_clock_kind(i)->name);
    }
    other = clock;
    other.scale.ns_per_tick++;
    second = mh_base_clock_identity(&other);
    ck_assert_mem_ne(&first, &second, sizeof first);
}

/* ---- The counter against the kernel's clock of the hardware */

/* Between two readings of the raw clock: the counter's. Of many tries the tightest. */
typedef struct bracket {
    int64_t before_ns, counter_ns, after_ns;
} bracket;

static bracket read_bracketed(const mh_base_clock *clock)
{
    enum { TRIES = 200 };
    bracket best = {0, 0, INT64_MAX};
    for (int i = 0; i < TRIES; i++) {
        bracket one;
        one.before_ns = mh_kernel_clock_ns(CLOCK_MONOTONIC_RAW);
        one.counter_ns = mh_base_clock_now_ns(clock);
        one.after_ns = mh_kernel_clock_ns(CLOCK_MONOTONIC_RAW);
        if (one.after_ns - one.before_ns < best.after_ns - best.before_ns)
            best = one;
    }
    return best;
}

LOOP_TEST(counter_runs_at_the_rate_of_the_raw_clock, counters())
{
    enum { SPAN_NS = 50 * 1000 * 1000 };
    mh_base_clock clock;
    if (!open_clock(mh_base_clock_kind(_i), &clock))
        return;
    bracket first = read_bracketed(&clock);
    while (mh_kernel_clock_ns(CLOCK_MONOTONIC_RAW) < first.after_ns + SPAN_NS)
        ;
    bracket last = read_bracketed(&clock);
    double min_ns = (double)(last.before_ns - first.after_ns), max_ns = (double)(last.after_ns - first.before_ns);
    double counted_ns = (double)(last.counter_ns - first.counter_ns);
    EXPECT(counted_ns >= min_ns * (1 - 20 * MH_PPM) && counted_ns <= max_ns * (1 + 20 * MH_PPM),
           "it counts %.0f ns while the raw clock counts from %.0f to %.0f ns", counted_ns, min_ns, max_ns);
}

LOOP_TEST(calibration_is_done_once, counters())
{
    mh_base_clock clock;
    if (!open_clock(mh_base_clock_kind(_i), &clock))
        return;
    mh_tick_scale again = mh_base_clock_kind(_i)->calibrate();
    ck_assert_mem_eq(&again, &clock.scale, sizeof again);
    double product = (double)again.ns_per_tick * (double)again.ticks_per_ns / pow(2, 2 * MH_SCALE_BITS);
    ck_assert_double_eq_tol(product, 1, 1e-12);
}

TEST(at_most_one_counter_is_of_this_processor)
{
    int own = 0;
    for (int i = 0; i < clocks(); i++) {
        char why[80] = "";
        EXPECT(i < counters() || !mh_base_clock_kind(i)->is_foreign, "%s is of another processor",
               mh_base_clock_kind(i)->name);
        EXPECT(!mh_base_clock_kind(i)->is_foreign || mh_base_clock_kind(i)->probe(why, sizeof why) != 0,
               "%s is there, on a foreign processor", mh_base_clock_kind(i)->name);
        own += i < counters() && !mh_base_clock_kind(i)->is_foreign;
    }
    EXPECT(own <= 1, "this processor has %d counters", own);
}
