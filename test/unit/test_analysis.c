/* SPDX-License-Identifier: BSD-3-Clause */
/* test_analysis.c - the figures of the benchmark suite against values computed by hand. */
#include "bench/analysis.h"
#include "support.h"

enum { MAX_RANKS = 3, MAX_CALLS = 12 };

static const double fractions[] = {0.25, 0.5, 0.9, 1};

typedef struct call_times {
    int64_t start_ns, end_ns;
} call_times_t;

/* Times rank by rank of call by call. */
static const struct {
    const char *name;
    int ranks;
    int64_t calls;
    call_times_t times[MAX_RANKS * MAX_CALLS];
    uint8_t marks[MAX_RANKS * MAX_CALLS];
    run_time_t run_time;
    analysis_t expected;
} sets[] = {
    {"one sample of one rank",
     1,
     1,
     {{100, 130}},
     {0},
     RUN_TIME_LOCAL,
     {.valid = 1,
      .avg_ns = 30,
      .max_mean_ns = 30,
      .makespan_ns = 30,
      .mean_ns = 30,
      .min_ns = 30,
      .max_ns = 30,
      .median_ns = 30,
      .median_low_ns = 30,
      .median_high_ns = 30,
      .quantile_ns = {30, 30, 30, 30}}},
    {"one sample of two ranks: rank 1 starts late and ends first",
     2,
     1,
     {{100, 130}, {115, 120}},
     {0},
     RUN_TIME_LOCAL,
     {.valid = 1,
      .avg_ns = 17.5,
      .max_mean_ns = 30,
      .makespan_ns = 30,
      .mean_ns = 30,
      .min_ns = 30,
      .max_ns = 30,
      .median_ns = 30,
      .median_low_ns = 30,
      .median_high_ns = 30,
      .quantile_ns = {30, 30, 30, 30},
      .fastest_rank = 1}},
    /* Durations of rank 0: 10, 20, 60; of rank 1: 40, 20, 30. Greatest: 40, 20, 60. Makespans: 45, 20, 60. */
    {"odd count, local",
     2,
     3,
     {{0, 10}, {5, 45}, {100, 120}, {100, 120}, {200, 260}, {200, 230}},
     {0},
     RUN_TIME_LOCAL,
     {.valid = 3,
      .avg_ns = 30,
      .max_mean_ns = 30,
      .makespan_ns = 125 / 3.0,
      .mean_ns = 40,
      .deviation_ns = 20,
      .min_ns = 20,
      .max_ns = 60,
      .median_ns = 40,
      .median_low_ns = 20,
      .median_high_ns = 60,
      .quantile_ns = {20, 40, 60, 60}}},
    {"odd count, makespan",
     2,
     3,
     {{0, 10}, {5, 45}, {100, 120}, {100, 120}, {200, 260}, {200, 230}},
     {0},
     RUN_TIME_MAKESPAN,
     {.valid = 3,
      .avg_ns = 30,
      .max_mean_ns = 30,
      .makespan_ns = 125 / 3.0,
      .mean_ns = 125 / 3.0,
      .deviation_ns = 20.207259421636902 /* of 45, 20, 60: sqrt(816 2/3 / 2) */,
      .min_ns = 20,
      .max_ns = 60,
      .median_ns = 45,
      .median_low_ns = 20,
      .median_high_ns = 60,
      .quantile_ns = {20, 45, 60, 60}}},
    {"even count, ties",
     1,
     4,
     {{0, 7}, {10, 17}, {20, 29}, {30, 37}},
     {0},
     RUN_TIME_LOCAL,
     {.valid = 4,
      .avg_ns = 7.5,
      .max_mean_ns = 7.5,
      .makespan_ns = 7.5,
      .mean_ns = 7.5,
      .deviation_ns = 1,
      .min_ns = 7,
      .max_ns = 9,
      .median_ns = 7,
      .median_low_ns = 7,
      .median_high_ns = 9,
      .quantile_ns = {7, 7, 9, 9}}},
    {"even count, the median between two",
     1,
     2,
     {{0, 7}, {10, 20}},
     {0},
     RUN_TIME_LOCAL,
     {.valid = 2,
      .avg_ns = 8.5,
      .max_mean_ns = 8.5,
      .makespan_ns = 8.5,
      .mean_ns = 8.5,
      .deviation_ns = 2.1213203435596424 /* sqrt(4.5) */,
      .min_ns = 7,
      .max_ns = 10,
      .median_ns = 8.5,
      .median_low_ns = 7,
      .median_high_ns = 10,
      .quantile_ns = {7, 7, 10, 10}}},
    {"six samples have an interval",
     1,
     6,
     {{0, 6}, {0, 5}, {0, 4}, {0, 3}, {0, 2}, {0, 1}},
     {0},
     RUN_TIME_LOCAL,
     {.valid = 6,
      .avg_ns = 3.5,
      .max_mean_ns = 3.5,
      .makespan_ns = 3.5,
      .mean_ns = 3.5,
      .deviation_ns = 1.8708286933869707 /* sqrt(3.5) */,
      .min_ns = 1,
      .max_ns = 6,
      .median_ns = 3.5,
      .median_low_ns = 1,
      .median_high_ns = 6,
      .median_interval = true,
      .quantile_ns = {2, 3, 6, 6}}},
    {"ten samples: from the second to the ninth",
     1,
     10,
     {{0, 10}, {0, 1}, {0, 9}, {0, 2}, {0, 8}, {0, 3}, {0, 7}, {0, 4}, {0, 6}, {0, 5}},
     {0},
     RUN_TIME_LOCAL,
     {.valid = 10,
      .avg_ns = 5.5,
      .max_mean_ns = 5.5,
      .makespan_ns = 5.5,
      .mean_ns = 5.5,
      .deviation_ns = 3.0276503540974917 /* sqrt(82.5 / 9) */,
      .min_ns = 1,
      .max_ns = 10,
      .median_ns = 5.5,
      .median_low_ns = 2,
      .median_high_ns = 9,
      .median_interval = true,
      .quantile_ns = {3, 5, 9, 10}}},
    {"negative times, and clocks that are apart",
     2,
     2,
     {{-100, -80}, {-90, -85}, {-5, 5}, {-20, -21}},
     {0},
     RUN_TIME_MAKESPAN,
     {.valid = 2,
      .avg_ns = 8.5,
      .max_mean_ns = 15,
      .makespan_ns = 22.5,
      .mean_ns = 22.5,
      .deviation_ns = 3.5355339059327378 /* sqrt(12.5) */,
      .min_ns = 20,
      .max_ns = 25,
      .median_ns = 22.5,
      .median_low_ns = 20,
      .median_high_ns = 25,
      .quantile_ns = {20, 20, 25, 25},
      .fastest_rank = 1}},
    {"of equal ranks the lowest",
     3,
     1,
     {{0, 5}, {0, 9}, {0, 9}},
     {0},
     RUN_TIME_LOCAL,
     {.valid = 1,
      .avg_ns = 23 / 3.0,
      .max_mean_ns = 9,
      .makespan_ns = 9,
      .mean_ns = 9,
      .min_ns = 9,
      .max_ns = 9,
      .median_ns = 9,
      .median_low_ns = 9,
      .median_high_ns = 9,
      .quantile_ns = {9, 9, 9, 9},
      .slowest_rank = 1}},
    {"marks: missed comes before late",
     2,
     6,
     {{0, 99}, {0, 1}, {0, 4}, {0, 2}, {0, 99}, {0, 1}, {0, 99}, {0, 1}, {0, 99}, {0, 1}, {0, 6}, {0, 2}},
     {MARK_LATE, MARK_VALID, MARK_VALID, MARK_VALID, MARK_LATE, MARK_MISSED, MARK_MISSED, MARK_LATE, MARK_VALID,
      MARK_LATE, MARK_VALID, MARK_VALID},
     RUN_TIME_LOCAL,
     {.valid = 2,
      .missed = 2,
      .late = 2,
      .avg_ns = 3.5,
      .max_mean_ns = 5,
      .makespan_ns = 5,
      .mean_ns = 5,
      .deviation_ns = 1.4142135623730951,
      .min_ns = 4,
      .max_ns = 6,
      .median_ns = 5,
      .median_low_ns = 4,
      .median_high_ns = 6,
      .quantile_ns = {4, 4, 6, 6},
      .fastest_rank = 1}},
    {"no valid sample",
     2,
     3,
     {{0, 9}, {0, 1}, {0, 9}, {0, 1}, {0, 9}, {0, 1}},
     {MARK_LATE, MARK_LATE, MARK_MISSED, MARK_VALID, MARK_VALID, MARK_MISSED},
     RUN_TIME_LOCAL,
     {.missed = 2, .late = 1}},
    {"no sample at all", 2, 0, {{0, 0}}, {0}, RUN_TIME_LOCAL, {0}},
    {"days",
     1,
     2,
     {{INT64_C(-864000000000000), 0}, {0, INT64_C(864000000000002)}},
     {0},
     RUN_TIME_LOCAL,
     {.valid = 2,
      .avg_ns = 864000000000001,
      .max_mean_ns = 864000000000001,
      .makespan_ns = 864000000000001,
      .mean_ns = 864000000000001,
      .deviation_ns = 1.4142135623730951,
      .min_ns = INT64_C(864000000000000),
      .max_ns = INT64_C(864000000000002),
      .median_ns = 864000000000001,
      .median_low_ns = INT64_C(864000000000000),
      .median_high_ns = INT64_C(864000000000002),
      .quantile_ns = {INT64_C(864000000000000), INT64_C(864000000000000), INT64_C(864000000000002),
                      INT64_C(864000000000002)}}},
};

/* Takes in calls, with the marks if there are some. */
static samples_t take(int ranks, int64_t calls, const call_times_t *times, const uint8_t *marks)
{
    samples_t samples = {.ranks = ranks};
    for (int64_t call = 0; call < calls; call++) {
        call_note_t notes[MAX_RANKS];
        for (int rank = 0; rank < ranks; rank++) {
            int64_t at = call * ranks + rank;
            int64_t mark = marks ? marks[at] : MARK_VALID;
            notes[rank] = (call_note_t){.start_ns = times[at].start_ns, .end_ns = times[at].end_ns, .mark = mark};
        }
        EXPECT(samples_take(&samples, notes), "no memory");
    }
    ck_assert_int_eq(samples.calls, calls);
    return samples;
}

static void expect_number(const char *set, const char *figure, double is, double expected)
{
    EXPECT(fabs(is - expected) <= 1e-12 * fabs(expected), "%s: %s is %.17g instead of %.17g", set, figure, is,
           expected);
}

#define EXPECT_FIGURE(figure) expect_number(sets[_i].name, #figure, (double)is.figure, (double)expected->figure)

START_TEST(figures_of_known_times)
{
    samples_t samples = take(sets[_i].ranks, sets[_i].calls, sets[_i].times, sets[_i].marks);
    const analysis_t *expected = &sets[_i].expected;
    analysis_t is;

    memset(&is, 0xff, sizeof is);
    /* Once more after samples have changed places: nothing depends on these. */
    for (int i = 0; i < 2; i++)
        analyze(&samples, sets[_i].run_time, fractions, COUNT_OF(fractions), &is);
    samples_free(&samples);
    EXPECT_FIGURE(valid);
    EXPECT_FIGURE(missed);
    EXPECT_FIGURE(late);
    expect_number(sets[_i].name, "discarded", (double)is.discarded, (double)(expected->missed + expected->late));
    EXPECT_FIGURE(avg_ns);
    EXPECT_FIGURE(max_mean_ns);
    EXPECT_FIGURE(makespan_ns);
    EXPECT_FIGURE(mean_ns);
    EXPECT_FIGURE(deviation_ns);
    EXPECT_FIGURE(min_ns);
    EXPECT_FIGURE(max_ns);
    EXPECT_FIGURE(median_ns);
    EXPECT_FIGURE(median_low_ns);
    EXPECT_FIGURE(median_high_ns);
    EXPECT_FIGURE(median_interval);
    expect_number(sets[_i].name, "interval_ns", is.interval_ns,
                  fmax(expected->median_ns - (double)expected->median_low_ns,
                       (double)expected->median_high_ns - expected->median_ns));
    for (int i = 0; i < MAX_QUANTILES; i++)
        EXPECT_FIGURE(quantile_ns[i]);
    EXPECT_FIGURE(slowest_rank);
    EXPECT_FIGURE(fastest_rank);
}
END_TEST

/* ---- The confidence interval of the median */

/* From 1, as tables have them; 0: there is none. The large ones are from exact sums of whole binomial coefficients. */
static const struct {
    int64_t count, low, high;
} intervals[] = {
    {0, 0, 0},     {1, 0, 0},        {2, 0, 0},        {5, 0, 0},           {6, 1, 6},    {7, 1, 7},
    {8, 1, 8},     {9, 2, 8},        {10, 2, 9},       {11, 2, 10},         {12, 3, 10},  {15, 4, 12},
    {16, 4, 13},   {17, 5, 13},      {20, 6, 15},      {25, 8, 18},         {30, 10, 21}, {50, 18, 33},
    {100, 40, 61}, {1000, 469, 532}, {1001, 470, 532}, {10000, 4902, 5099},
};

START_TEST(interval_as_in_tables)
{
    int64_t low = -2, high = -2;
    bool exists = analyze_median_interval(intervals[_i].count, &low, &high);

    EXPECT(exists == (intervals[_i].low > 0), "%" PRId64 " samples: %s interval", intervals[_i].count,
           exists ? "an" : "no");
    EXPECT(!exists || (low + 1 == intervals[_i].low && high + 1 == intervals[_i].high),
           "%" PRId64 " samples: from %" PRId64 " to %" PRId64 " instead of %" PRId64 " to %" PRId64,
           intervals[_i].count, low + 1, high + 1, intervals[_i].low, intervals[_i].high);
}
END_TEST

/* Of large samples the normal distribution tells it, but for a place or two. */
START_TEST(interval_of_large_samples)
{
    for (int64_t count = 1000; count <= 10000000; count *= 10) {
        int64_t low = -1, high = -1;
        double place = (double)count / 2 - 1.959964 * sqrt((double)count) / 2;

        EXPECT(analyze_median_interval(count, &low, &high), "%" PRId64 " samples: no interval", count);
        EXPECT(fabs((double)low - place) <= 2, "%" PRId64 " samples: from %" PRId64 ", not about %.1f", count, low,
               place);
        EXPECT(low + high == count - 1, "%" PRId64 " samples: from %" PRId64 " to %" PRId64 " is not symmetric", count,
               low, high);
    }
}
END_TEST

/* A wider sample never has fewer places outside of the interval, and at most one more. */
START_TEST(interval_grows_with_the_sample)
{
    int64_t before = -1, low, high;

    for (int64_t count = 0; count <= 5000; count++) {
        analyze_median_interval(count, &low, &high);
        EXPECT(low == before || low == before + 1, "%" PRId64 " samples: place %" PRId64 " after %" PRId64, count, low,
               before);
        before = low;
    }
}
END_TEST

/* What it promises: of samples from a known distribution the interval holds the median in at least 95 of 100. */
START_TEST(interval_holds_the_median)
{
    enum { COUNT = 40, ROUNDS = 4000 };
    int rounds = rounds_of(ROUNDS), held = 0;

    for (int round = 0; round < rounds; round++) {
        call_times_t times[COUNT];
        analysis_t is;
        chance dice = chance_of_round(round);

        for (int i = 0; i < COUNT; i++)
            times[i] = (call_times_t){0, (int64_t)chance_lognormal(&dice, 1e6, 1)};
        samples_t samples = take(1, COUNT, times, NULL);
        analyze(&samples, RUN_TIME_LOCAL, NULL, 0, &is);
        samples_free(&samples);
        held += is.median_low_ns <= 1000000 && 1000000 <= is.median_high_ns;
    }
    /* 96.2 % by the binomial distribution; the limit is four deviations off. */
    EXPECT_SEEDED(held >= 0.95 * rounds, "in %d of %d rounds", held, rounds);
}
END_TEST

START_TEST(narrow)
{
    analysis_t is = {.median_ns = 100, .interval_ns = 5, .median_interval = true};

    EXPECT(analysis_is_narrow(&is, 5) && !analysis_is_narrow(&is, 4.9), "5 %%");
    is.median_interval = false;
    EXPECT(!analysis_is_narrow(&is, 100), "there is no interval");
}
END_TEST

/* ---- Imposed arrivals, and computation */

START_TEST(figures_of_arrivals)
{
    static const call_note_t notes[] = {{100, 900, 100, 7, 0},    {300, 1000, 299, 9, 0},  {1100, 2000, 1099, 3, 0},
                                        {1305, 1900, 1300, 2, 0}, {0, 99999, 0, 99, 0},    {0, 99999, 0, 99, MARK_LATE},
                                        {3100, 3950, 3090, 4, 0}, {3300, 3920, 3300, 4, 0}};
    arrival_figures_t figures = {0};
    samples_t samples = {.ranks = 2, .imposes = true};
    for (int i = 0; i < COUNT_OF(notes); i += 2)
        EXPECT(samples_take(&samples, &notes[i]), "no memory");
    analyze_arrivals(&samples, &figures);
    EXPECT(figures.from_first_ns == 900, "from the first: %g", figures.from_first_ns); /* 900, 900, 850 */
    EXPECT(figures.from_last_ns == 695, "from the last: %g", figures.from_last_ns);    /* 700, 695, 650 */
    EXPECT(figures.in_call_ns == 747.5, "in the call: %g", figures.in_call_ns);        /* 750, 747.5, 735 */
    EXPECT(figures.error_ns == 1 && figures.error_p99_ns == 10, "errors: %" PRId64 ", %" PRId64, figures.error_ns,
           figures.error_p99_ns);                                        /* 0, 1, 1, 5, 10, 0 */
    ck_assert_double_eq(samples_median(&samples, SERIES_COMPUTE_NS), 4); /* 9, 3, 4 */
    samples_free(&samples);
}
END_TEST

/* More than there was room for at first. */
START_TEST(samples_grow)
{
    enum { COUNT = 5000 };
    samples_t samples = {.ranks = 1};
    for (int64_t i = COUNT; i > 0; i--)
        EXPECT(samples_take(&samples, &(call_note_t){0, i, 0, 0, 0}), "no memory");
    ck_assert_int_eq(samples.valid, COUNT);
    ck_assert_double_eq(samples_median(&samples, SERIES_LOCAL_NS), (COUNT + 1) / 2.0);
    samples_free(&samples);
}
END_TEST

START_TEST(names_of_run_times)
{
    ck_assert_str_eq(run_times[RUN_TIME_LOCAL], "local");
    ck_assert_str_eq(run_times[RUN_TIME_MAKESPAN], "makespan");
    ck_assert_ptr_null(run_times[RUN_TIME_MAKESPAN + 1]);
}
END_TEST

static void add(TCase *tests)
{
    tcase_add_loop_test(tests, figures_of_known_times, 0, COUNT_OF(sets));
    tcase_add_loop_test(tests, interval_as_in_tables, 0, COUNT_OF(intervals));
    tcase_add_test(tests, interval_of_large_samples);
    tcase_add_test(tests, interval_grows_with_the_sample);
    tcase_add_test(tests, interval_holds_the_median);
    tcase_add_test(tests, narrow);
    tcase_add_test(tests, figures_of_arrivals);
    tcase_add_test(tests, samples_grow);
    tcase_add_test(tests, names_of_run_times);
}

SUITE(analysis, add)
