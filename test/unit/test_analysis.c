/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_analysis.c - the interval of the median, figures of arrivals, and many samples. check_recompute.sh compares all
 * figures with their definitions, and test_report those of known samples with files.
 */
#include "bench/analysis.h"
#include "support.h"

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

LOOP_TEST(interval_as_in_tables, COUNT_OF(intervals))
{
    int64_t low = -2, high = -2;
    bool exists = analyze_median_interval(intervals[_i].count, &low, &high);

    EXPECT(exists == (intervals[_i].low > 0), "%" PRId64 " samples: %s interval", intervals[_i].count,
           exists ? "an" : "no");
    EXPECT(!exists || (low + 1 == intervals[_i].low && high + 1 == intervals[_i].high),
           "%" PRId64 " samples: from %" PRId64 " to %" PRId64 " instead of %" PRId64 " to %" PRId64,
           intervals[_i].count, low + 1, high + 1, intervals[_i].low, intervals[_i].high);
}

/* Of large samples the normal distribution tells it, but for a place or two. */
TEST(interval_of_large_samples)
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

/* A wider sample never has fewer places outside of the interval, and at most one more. */
TEST(interval_grows_with_the_sample)
{
    int64_t before = -1, low, high;

    for (int64_t count = 0; count <= 5000; count++) {
        analyze_median_interval(count, &low, &high);
        EXPECT(low == before || low == before + 1, "%" PRId64 " samples: place %" PRId64 " after %" PRId64, count, low,
               before);
        before = low;
    }
}

/* What it promises: of samples from a known distribution the interval holds the median in at least 95 of 100. */
TEST(interval_holds_the_median)
{
    enum { COUNT = 40, ROUNDS = 4000 };
    int rounds = rounds_of(ROUNDS), held = 0;

    for (int round = 0; round < rounds; round++) {
        samples_t samples = {.ranks = 1};
        analysis_t is;
        chance dice = chance_of_round(round);

        for (int i = 0; i < COUNT; i++) {
            const call_note_t note = {.end_ns = (int64_t)chance_lognormal(&dice, 1e6, 1)};
            EXPECT(samples_take(&samples, &note), "no memory");
        }
        analyze(&samples, RUN_TIME_LOCAL, NULL, 0, &is);
        samples_free(&samples);
        held += is.median_low_ns <= 1000000 && 1000000 <= is.median_high_ns;
    }
    /* 96.2 % by the binomial distribution; the limit is four deviations off. */
    EXPECT(held >= 0.95 * rounds, "in %d of %d rounds", held, rounds);
}

TEST(narrow)
{
    analysis_t is = {.median_ns = 100, .interval_ns = 5, .median_interval = true};

    EXPECT(analysis_is_narrow(&is, 5) && !analysis_is_narrow(&is, 4.9), "5 %%");
    is.median_interval = false;
    EXPECT(!analysis_is_narrow(&is, 100), "there is no interval");
}

/* ---- Imposed arrivals, and computation */

TEST(figures_of_arrivals)
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

/* More than there was room for at first. */
TEST(samples_grow)
{
    enum { COUNT = 5000 };
    samples_t samples = {.ranks = 1};
    for (int64_t i = COUNT; i > 0; i--)
        EXPECT(samples_take(&samples, &(call_note_t){0, i, 0, 0, 0}), "no memory");
    ck_assert_int_eq(samples.valid, COUNT);
    ck_assert_double_eq(samples_median(&samples, SERIES_LOCAL_NS), (COUNT + 1) / 2.0);
    samples_free(&samples);
}
