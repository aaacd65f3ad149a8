/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_overtaken.c - a thread that reads the global clock is descheduled just before it raises the floor, and overtaken
 * by a new estimate. The clock is compiled here once more, with that moment as a hook. And a new estimate brings the
 * instant nearer for which a process waits.
 */
#include "pure/units.h"
#include "support.h"

#include <inttypes.h>
#include <stdatomic.h>

static _Thread_local void (*meanwhile)(void);

static void be_descheduled(void)
{
    void (*others)(void) = meanwhile;
    meanwhile = NULL;
    if (others)
        others();
}

#undef atomic_compare_exchange_weak
#define atomic_compare_exchange_weak(object, expected, wanted) \
    (be_descheduled(),                                         \
     atomic_compare_exchange_weak_explicit(object, expected, wanted, memory_order_seq_cst, memory_order_seq_cst))

#include "clock/base_clock_private.h"
#include "clock/global_clock.c"

/* A reading takes time, as the clock waits for some to pass; SOON_NS: for what a test does of it. */
enum { READ_NS = 20, SOON_NS = 5000 };

static int64_t hand_ns;
static mh_global_clock clock_read;

static int64_t hand_now_ns(const mh_base_clock *clock)
{
    (void)clock;
    return hand_ns += READ_NS;
}

static const int64_t steps_ns[] = {3600 * MH_NS_PER_S, 10 * MH_NS_PER_MS, -3600 * MH_NS_PER_S};
static int64_t step_ns;

static void follow_step(void)
{
    mh_global_clock_follow_step(&clock_read, step_ns);
}

static void start(void)
{
    static const mh_clock_kind settable = {.name = "hand", .may_be_set = true, .now_ns = hand_now_ns};
    mh_estimate estimate = {.bound_ns = 100};
    hand_ns = 5 * MH_NS_PER_S;
    mh_global_clock_init(&clock_read);
    clock_read.base = (mh_base_clock){.kind = &settable, .now_ns = hand_now_ns, .may_be_set = true};
    mh_global_clock_publish(&clock_read, &estimate);
}

/* Global time goes on as if the step had never been read. */
LOOP_TEST(an_overtaken_reading_leaves_no_trace, COUNT_OF(steps_ns))
{
    step_ns = steps_ns[_i];
    start();
    bool was_read = _i % 2 == 0; /* before the step */
    int64_t before_ns = was_read ? mh_global_clock_now_ns(&clock_read) : 5 * MH_NS_PER_S;
    hand_ns += step_ns;
    meanwhile = follow_step;
    int64_t during_ns = mh_global_clock_now_ns(&clock_read);
    if (meanwhile) /* a step back is below the floor, which is not raised */
        be_descheduled();
    hand_ns += MH_NS_PER_MS;
    int64_t after_ns = mh_global_clock_now_ns(&clock_read);
    EXPECT(during_ns >= before_ns && during_ns <= before_ns + SOON_NS,
           "the reading that was overtaken is off by %" PRId64 " ns", during_ns - before_ns);
    EXPECT(after_ns - during_ns >= MH_NS_PER_MS - SOON_NS && after_ns - during_ns <= MH_NS_PER_MS + SOON_NS,
           "%" PRId64 " ns of global time pass in a millisecond", after_ns - during_ns);
    EXPECT(mh_global_clock_read(&clock_read).bound_ns == MH_TIME_UNKNOWN_NS, "after the step, the bound is %" PRId64,
           mh_global_clock_read(&clock_read).bound_ns);
}

/* ---- In a pair */

static int readings_left; /* until the clock, which was wrong, is synchronized */

static int64_t synchronized_now_ns(const mh_base_clock *clock)
{
    if (--readings_left == 0) {
        mh_estimate estimate = {.bound_ns = 100};
        mh_global_clock_publish(&clock_read, &estimate);
        atomic_store(&clock_read.is_wrong, false);
    }
    return hand_now_ns(clock);
}

/* A pair by the estimate of before has no bound, though the clock is not wrong any more when it is returned. */
TEST(an_overtaken_pair_has_no_bound_of_a_wrong_clock)
{
    enum { TRIES = 5 };
    for (int reading = 1; reading <= TRIES + 1; reading++) {
        mh_estimate wrong = {.model = {.offset_ns = -MH_NS_PER_S}, .bound_ns = 100};
        start();
        mh_global_clock_publish(&clock_read, &wrong);
        atomic_store(&clock_read.is_wrong, true);
        clock_read.base.now_ns = synchronized_now_ns;
        readings_left = reading;
        const mh_reading read = mh_global_clock_pair(&clock_read, CLOCK_MONOTONIC).reading;
        const bool is_old = read.time_ns > hand_ns + MH_NS_PER_S / 2;
        EXPECT(is_old == (read.bound_ns == MH_TIME_UNKNOWN_NS), "synchronized at reading %d: the bound is %" PRId64,
               reading, read.bound_ns);
    }
}

/* ---- In a wait */

#define WAIT_NS (1000 * MH_NS_PER_MS)
#define NEARER_NS (600 * MH_NS_PER_MS)

static int64_t overtaken_at_ns;

static int64_t overtaken_now_ns(const mh_base_clock *clock)
{
    int64_t now_ns = mh_clock_monotonic.now_ns(clock);
    if (now_ns >= overtaken_at_ns) {
        mh_estimate estimate = mh_global_clock_estimate(&clock_read);
        estimate.model.offset_ns -= NEARER_NS;
        overtaken_at_ns = INT64_MAX;
        mh_global_clock_publish(&clock_read, &estimate);
    }
    return now_ns;
}

TEST(an_overtaken_wait_follows_the_new_estimate)
{
    static const mh_clock_kind real = {.name = "real", .now_ns = overtaken_now_ns};
    mh_estimate estimate = mh_estimate_exact(mh_clock_monotonic.now_ns(NULL));
    int64_t late_ns = -1;
    mh_global_clock_init(&clock_read);
    clock_read.base = (mh_base_clock){.kind = &real, .now_ns = overtaken_now_ns};
    overtaken_at_ns = INT64_MAX;
    mh_global_clock_publish(&clock_read, &estimate);
    overtaken_at_ns = estimate.model.at_ns + WAIT_NS / 20;
    EXPECT(mh_global_clock_wait_until(&clock_read, WAIT_NS, false, &late_ns), "a step is found, and there was none");
    EXPECT(late_ns >= 0 && late_ns < NEARER_NS / 2, "the wait ends %" PRId64 " ns after the instant", late_ns);
}
