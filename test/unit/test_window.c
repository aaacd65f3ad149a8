/* SPDX-License-Identifier: BSD-3-Clause */
/* test_window.c - what exchanges and bounds leave for an offset. */
#include "pure/units.h"
#include "pure/window.h"
#include "support.h"

LOOP_TEST(true_offset_stays_inside, 50)
{
    chance dice = chance_of_round(_i);
    int64_t offset_ns = chance_between(&dice, -MH_NS_PER_S, MH_NS_PER_S), now_ns = 0;
    mh_window window = mh_window_unknown(), half = mh_window_unknown();
    for (int i = 0; i < 50; i++) {
        int64_t there_ns = 500 + (int64_t)chance_exponential(&dice, 300),
                back_ns = 900 + (int64_t)chance_exponential(&dice, 300);
        int64_t sent_ns = now_ns + offset_ns, remote_ns = now_ns + there_ns,
                received_ns = remote_ns + back_ns + offset_ns;
        mh_window_narrow(i % 2 ? &half : &window, sent_ns, remote_ns, received_ns);
        now_ns += 10000;
    }
    mh_window both = mh_window_intersect(window, half);
    EXPECT(both.min_ns <= offset_ns - 500 && both.max_ns >= offset_ns + 900, "%" PRId64 " is not well inside",
           offset_ns);
    EXPECT(!mh_window_excludes(both, offset_ns, 0), "%" PRId64 " is excluded", offset_ns);
    int64_t middle_ns = mh_window_middle_ns(both), bound_ns = mh_window_bound_ns(both, middle_ns);
    EXPECT(llabs(middle_ns - offset_ns) <= bound_ns, "the middle is wrong by more than %" PRId64, bound_ns);
    EXPECT(mh_window_excludes(both, offset_ns + 2 * bound_ns + 1, 0), "the bound is %" PRId64, bound_ns);
}

TEST(window_of_offset_has_its_bound)
{
    mh_offset offset = {0, -700, 30};
    mh_window window = mh_window_of_offset(&offset);
    ck_assert_int_eq(window.min_ns, -730);
    ck_assert_int_eq(window.max_ns, -670);
    ck_assert_int_eq(mh_window_bound_ns(window, -700), 30);
    ck_assert_int_eq(mh_window_bound_ns(window, 0), 730);
}

static const struct {
    const char *name;
    mh_window window;
    double rate_limit;
    int64_t span_ns, doubt_ns;
    bool expected;
} crossings[] = {
    {"nothing known", {-MH_TIME_UNKNOWN_NS, MH_TIME_UNKNOWN_NS}, 0, 0, 0, false},
    {"wide", {-10, 10}, 0, 0, 0, false},
    {"a point", {10, 10}, 0, 0, 0, false},
    {"crossed", {11, 10}, 0, 0, 0, true},
    {"crossed by what a reading costs", {30, 10}, 0, 0, 20, false},
    {"crossed by what clocks drift", {510, 10}, 500e-6, 1000000, 0, false},
    {"crossed by more", {511, 10}, 500e-6, 1000000, 0, true},
    {"crossed while the clock was set back", {510, 10}, 500e-6, -1000000, 0, false},
    {"of clocks that are far apart", {INT64_C(1700000000000000021), INT64_C(1700000000000000000)}, 0, 0, 20, true},
    {"of such by a reading", {INT64_C(1700000000000000020), INT64_C(1700000000000000000)}, 0, 0, 20, false},
};

LOOP_TEST(steps_show, COUNT_OF(crossings))
{
    bool is = mh_window_is_inverted(crossings[_i].window, crossings[_i].rate_limit, crossings[_i].span_ns,
                                    crossings[_i].doubt_ns);
    EXPECT(is == crossings[_i].expected, "%s: it is %sinverted", crossings[_i].name, is ? "" : "not ");
}
