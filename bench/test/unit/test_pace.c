/* SPDX-License-Identifier: BSD-3-Clause */
/* test_pace.c - how far ahead starting times are set: windows that follow what calls need, and forget disturbances. */
#include "pure/order_statistics.h"
#include "bench/suite/pace.h"
#include "unit/support.h"

#define NS_PER_US INT64_C(1000)

TEST(typical_is_the_median_of_the_last)
{
    pace_t pace = {0};

    ck_assert_int_eq(pace_typical(&pace), 0);
    for (int64_t need_ns = 1; need_ns <= 4; need_ns++)
        pace_learn(&pace, 10 * need_ns);
    ck_assert_int_eq(pace_typical(&pace), 20);
    for (int i = 0; i < PACE_BATCHES; i++)
        pace_learn(&pace, i < PACE_BATCHES / 2 ? 1000000 : 7);
    ck_assert_int_eq(pace_typical(&pace), 7);
}

static const struct {
    const char *name;
    int64_t length_ns;
    cycles_t cycles;
    int64_t calls, invalid;
    int64_t min_ns, max_ns; /* of the next length */
} windows[] = {
    {"found from the first calls", 0, {1000, 9000}, 10, 10, 1500, 1502},
    {"good as it is", 2000, {1300, 1900}, 100, 0, 2000, 2000},
    {"some invalid", 2000, {1900, 9000}, 100, 25, 2000, 2000},
    {"many invalid, and calls took so long", 2000, {1900, 9000}, 100, 26, 2500, 2502},
    {"many invalid, and calls can hardly catch up", 660, {580, 9000}, 300, 299, 825, 827},
    {"many invalid, and calls took longer", 2000, {4000, 9000}, 100, 100, 5000, 5002},
    {"many invalid after one interruption", 2000, {1300, 900000}, 100, 90, 2000, 2000},
    {"a little too long", 2000, {1200, 1500}, 100, 0, 1930, 1940},
    {"much too long", 20000, {1200, 1500}, 100, 0, 10000, 10001},
    {"much too long but for one call", 20000, {1200, 15000}, 100, 0, 19300, 19400},
    {"as short as can be", 1, {0, 0}, 100, 0, 1, 1},
};

LOOP_TEST(next_window, COUNT_OF(windows))
{
    int64_t next_ns = window_next(windows[_i].length_ns, &windows[_i].cycles, windows[_i].calls, windows[_i].invalid);

    EXPECT(next_ns >= windows[_i].min_ns && next_ns <= windows[_i].max_ns, "%s: %" PRId64 " ns", windows[_i].name,
           next_ns);
}

/* A batch of calls that take need_ns with some scatter. Returns the next window. */
static int64_t simulate_batch(int64_t length_ns, int64_t need_ns, chance *dice, int64_t *invalid)
{
    enum { CALLS = 64 };
    int64_t sorted_ns[CALLS];
    cycles_t cycles;

    *invalid = 0;
    for (int i = 0; i < CALLS; i++) {
        sorted_ns[i] = (int64_t)chance_lognormal(dice, (double)need_ns, 0.1);
        *invalid += sorted_ns[i] >= length_ns;
    }
    mh_sort(sorted_ns, CALLS);
    cycles.usual_ns = quantile(sorted_ns, CALLS, 0.75);
    cycles.max_ns = sorted_ns[CALLS - 1];
    return window_next(length_ns, &cycles, CALLS, *invalid);
}

/* From what a disturbance left behind, and to what another operation needs. */
TEST(window_follows_needs)
{
    static const int64_t lengths_ns[] = {0, 1, 100 * NS_PER_US, 100000 * NS_PER_US};
    enum { BATCHES = 30 };

    for (int i = 0; i < COUNT_OF(lengths_ns); i++) {
        chance dice = chance_of_round(i);
        int64_t length_ns = lengths_ns[i], invalid = 0, need_ns = 10 * NS_PER_US;

        for (int batch = 0; batch < BATCHES; batch++)
            length_ns = simulate_batch(length_ns, need_ns, &dice, &invalid);
        EXPECT(length_ns > need_ns && length_ns < 5 * need_ns && invalid <= 16,
               "from %" PRId64 " ns: after %d batches windows of %" PRId64 " ns, %" PRId64 " invalid", lengths_ns[i],
               BATCHES, length_ns, invalid);
    }
}
