/* SPDX-License-Identifier: BSD-3-Clause */
/* test_watch.c - steps of a base clock, and what its rate and a busy machine explain. Both clocks are made up. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "pure/units.h"
#include "clock/base_clock_private.h"
#include "clock/watch.h"
#include "support.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <time.h>

/* The true time; each reading of a clock takes some of it. */
static int64_t true_now_ns, read_ns = 20;
static int64_t stepped_ns;
static double base_rate = 1, steady_rate = 1; /* the latter of CLOCK_MONOTONIC alone */
static bool base_is_unslewed;                 /* the base clock is CLOCK_MONOTONIC_RAW itself */

static int64_t base_now_ns(const mh_base_clock *clock)
{
    (void)clock;
    true_now_ns += read_ns;
    return (int64_t)(base_rate * (double)true_now_ns) + stepped_ns;
}

/* In other suites, the clocks of the kernel are as they are. */
static bool is_made_up;

static int real_clock_gettime(clockid_t id, struct timespec *time)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    return real(id, time);
}

/* In place of that of the C library. Clocks of the kernel are far from the base clock, unless it is one of them. */
int clock_gettime(clockid_t id, struct timespec *time)
{
    if (!is_made_up)
        return real_clock_gettime(id, time);
    bool is_unslewed = id == CLOCK_MONOTONIC_RAW;
    true_now_ns += read_ns;
    int64_t now_ns = (int64_t)((is_unslewed ? 1 : steady_rate) * (double)true_now_ns);
    if (!is_unslewed || !base_is_unslewed)
        now_ns += MH_NS_PER_S;
    *time = (struct timespec){(time_t)(now_ns / MH_NS_PER_S), (long)(now_ns % MH_NS_PER_S)};
    return 0;
}

static const mh_clock_kind settable = {.name = "settable", .now_ns = base_now_ns, .may_be_set = true};
static const mh_clock_kind raw = {.name = "raw", .now_ns = base_now_ns, .is_raw = true};

enum { FIRST_S = 1000 };

static mh_clock_watch start(mh_base_clock *base, const mh_clock_kind *kind)
{
    mh_clock_watch watch;
    true_now_ns = FIRST_S * MH_NS_PER_S;
    stepped_ns = 0;
    base_rate = steady_rate = 1;
    base_is_unslewed = false;
    read_ns = 20;
    *base = (mh_base_clock){.kind = kind, .now_ns = kind->now_ns, .may_be_set = kind->may_be_set};
    mh_clock_watch_start(&watch, base);
    return watch;
}

static const int64_t steps_ns[] = {-3600 * MH_NS_PER_S, -MH_NS_PER_S, -10 * MH_NS_PER_MS, -5 * MH_NS_PER_US,
                                   5 * MH_NS_PER_US,    MH_NS_PER_MS, MH_NS_PER_S,        3600 * MH_NS_PER_S};

LOOP_TEST(a_step_is_found_once_with_its_size, COUNT_OF(steps_ns))
{
    mh_base_clock base;
    mh_clock_watch watch = start(&base, &settable);
    for (int i = 0; i < 100; i++) {
        true_now_ns += MH_NS_PER_MS << i % 10;
        ck_assert_int_eq(mh_clock_watch_look(&watch, &base), 0);
    }
    stepped_ns = steps_ns[_i];
    ck_assert_int_le(llabs(mh_clock_watch_look(&watch, &base) - steps_ns[_i]), 100);
    ck_assert_int_eq(mh_clock_watch_look(&watch, &base), 0); /* only once */
}

TEST(being_descheduled_is_no_step)
{
    mh_base_clock base;
    mh_clock_watch watch = start(&base, &settable);
    read_ns = 50 * MH_NS_PER_MS; /* between any two readings */
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(mh_clock_watch_look(&watch, &base), 0);
}

/* The kernel may slew CLOCK_MONOTONIC by a tenth. This is no step of a raw clock, be it the kernel's or another one. */
TEST(slews_are_no_steps)
{
    static const double rates[] = {0.9, 0.9995, 1.0005, 1.1};
    for (int i = 0; i < 2 * COUNT_OF(rates); i++) {
        mh_base_clock base;
        mh_clock_watch watch = start(&base, &raw);
        steady_rate = rates[i / 2];
        base_is_unslewed = i % 2;
        mh_clock_watch_start(&watch, &base);
        true_now_ns += MH_NS_PER_S;
        ck_assert_int_eq(mh_clock_watch_look(&watch, &base), 0);
    }
}

/* After a pause, a tenth of which is more than the step. */
TEST(a_step_of_a_raw_clock_does_not_pass_for_a_slew)
{
    mh_base_clock base;
    mh_clock_watch watch = start(&base, &raw);
    true_now_ns += MH_NS_PER_S;
    stepped_ns = 10 * MH_NS_PER_MS;
    ck_assert_int_le(llabs(mh_clock_watch_look(&watch, &base) - stepped_ns), 100);
}

/* By itself, the watch that looks late would take the step for a slew. */
TEST(a_step_that_another_watch_found_is_a_step)
{
    mh_base_clock base;
    mh_clock_watch late = start(&base, &raw), prompt, later, other;
    mh_base_clock other_base = base;
    base_is_unslewed = true;
    other_base.number = base.number + 1;
    mh_clock_watch_start(&late, &base);
    mh_clock_watch_start(&prompt, &base);
    mh_clock_watch_start(&other, &other_base);
    mh_clock_watch copy = prompt;
    true_now_ns += MH_NS_PER_MS;
    stepped_ns = 10 * MH_NS_PER_MS;
    ck_assert_int_ne(mh_clock_watch_look(&prompt, &base), 0);
    mh_clock_watch_start(&later, &base);
    true_now_ns += MH_NS_PER_S;
    ck_assert_int_le(llabs(mh_clock_watch_look(&late, &base) - stepped_ns), 100);
    ck_assert_int_eq(mh_clock_watch_look(&late, &base), 0); /* only once */
    ck_assert_int_le(llabs(mh_clock_watch_look(&copy, &base) - stepped_ns), 100);
    ck_assert_int_eq(mh_clock_watch_look(&prompt, &base), 0);
    ck_assert_int_eq(mh_clock_watch_look(&later, &base), 0); /* it began after the step */
    ck_assert_int_eq(mh_clock_watch_look(&other, &other_base), 0);
}

TEST(a_look_is_due)
{
    mh_base_clock base;
    mh_clock_watch watch = start(&base, &settable);
    EXPECT(mh_clock_watch_is_due(&watch, watch.base_ns), "a clock that may be set is not looked at each time");
    watch = start(&base, &raw);
    EXPECT(!mh_clock_watch_is_due(&watch, watch.base_ns + MH_NS_PER_MS), "a raw clock is looked at all the time");
    EXPECT(mh_clock_watch_is_due(&watch, watch.base_ns + 100 * MH_NS_PER_MS),
           "a raw clock is not looked at after 100 ms");
    EXPECT(mh_clock_watch_is_due(&watch, watch.base_ns - 1), "a clock that went back is not looked at");
    true_now_ns += 25 * MH_NS_PER_MS;
    EXPECT(mh_clock_watch_is_due(&watch, watch.base_ns + 5 * MH_NS_PER_MS),
           "a raw clock that was set back by 20 ms is not looked at after 25 ms");
}

/* Check measures how long a test takes, so it has to read the same clock before and after. */
static void make_up(void)
{
    is_made_up = true;
    true_now_ns = FIRST_S * MH_NS_PER_S;
}

static void make_real(void)
{
    is_made_up = false;
}

FIXTURE(make_up, make_real)
