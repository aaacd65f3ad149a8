/* SPDX-License-Identifier: BSD-3-Clause */
/* test_analysis.c - the figures of the benchmark suite against their definitions. */
#include "bench/suite/analysis.h"
#include "common/mpi/clock_step.h"
#include "pure/order_statistics.h"
#include "unit/support.h"

enum { MAX_RANKS = 3, MAX_CALLS = 24 };

static const double fractions[] = {0.25, 0.5, 0.9, 1};

/* ---- By definition, of the notes of all ranks of call by call */

static int64_t run_time_of(const call_note_t *notes, int ranks, run_time_t kind)
{
    int64_t longest_ns = INT64_MIN;
    for (int one = 0; one < ranks; one++)
        for (int other = 0; other < ranks; other++)
            if (one == other || kind == RUN_TIME_MAKESPAN)
                longest_ns = greater(longest_ns, notes[one].end_ns - notes[other].start_ns);
    return longest_ns;
}

/* The place, from 0, of the lower bound of the median's interval; -1: there is none. */
static int low_place_of(int count)
{
    int place = -1;
    double ways = 1, sum_of_ways = 1;
    for (; 2 * sum_of_ways <= 0.05 * exp2(count); sum_of_ways += ways) {
        place++;
        ways = ways * (count - place) / (place + 1);
    }
    return place;
}

static long double mean_of(const int64_t *values, int64_t count)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += values[i];
    return (long double)sum / (long double)count;
}

static void expect_distribution(analysis_t *expected, int64_t *values)
{
    int count = (int)expected->valid, low = low_place_of(count);
    long double squares = 0, mean = mean_of(values, count);
    mh_sort(values, count);
    for (int i = 0; i < count; i++)
        squares += ((long double)values[i] - mean) * ((long double)values[i] - mean);
    expected->mean_ns = (double)mean;
    expected->deviation_ns = count > 1 ? (double)sqrtl(squares / (count - 1)) : 0;
    expected->min_ns = values[0];
    expected->max_ns = values[count - 1];
    expected->median_ns = middle_of(values, count);
    expected->median_interval = low >= 0;
    expected->median_low_ns = values[low >= 0 ? low : 0];
    expected->median_high_ns = values[count - 1 - (low >= 0 ? low : 0)];
    expected->interval_ns = fmax(expected->median_ns - (double)expected->median_low_ns,
                                 (double)expected->median_high_ns - expected->median_ns);
    for (int i = 0; i < COUNT_OF(fractions); i++)
        for (int place = count; place >= 1; place--)
            if (place >= fractions[i] * count)
                expected->quantile_ns[i] = values[place - 1];
}

static analysis_t analysis_by_definition(const call_note_t *notes, int ranks, int calls, run_time_t kind)
{
    analysis_t expected = {0};
    int64_t values[MAX_CALLS] = {0}, makespans[MAX_CALLS] = {0}, durations[MAX_RANKS][MAX_CALLS] = {{0}};
    for (int call = 0; call < calls; call++, notes += ranks) {
        int64_t worst = 0;
        for (int rank = 0; rank < ranks; rank++) {
            worst = greater(worst, notes[rank].mark);
            durations[rank][expected.valid] = notes[rank].end_ns - notes[rank].start_ns;
        }
        values[expected.valid] = run_time_of(notes, ranks, kind);
        makespans[expected.valid] = run_time_of(notes, ranks, RUN_TIME_MAKESPAN);
        *(worst == MARK_MISSED ? &expected.missed : worst == MARK_LATE ? &expected.late : &expected.valid) += 1;
    }
    expected.discarded = expected.missed + expected.late;
    if (expected.valid == 0)
        return expected;
    expected.makespan_ns = (double)mean_of(makespans, expected.valid);
    expect_distribution(&expected, values);
    long double means[MAX_RANKS] = {0}, sum = 0;
    for (int rank = 0; rank < ranks; rank++) {
        means[rank] = mean_of(durations[rank], expected.valid);
        sum += means[rank] / ranks;
        expected.slowest_rank = means[rank] > means[expected.slowest_rank] ? rank : expected.slowest_rank;
        expected.fastest_rank = means[rank] < means[expected.fastest_rank] ? rank : expected.fastest_rank;
    }
    expected.avg_ns = (double)sum;
    expected.min_mean_ns = (double)means[expected.fastest_rank];
    expected.max_mean_ns = (double)means[expected.slowest_rank];
    return expected;
}

/* Many are equal, or they last for days; clocks may be apart, so that a call ends before it starts. */
static void make_notes(chance *dice, call_note_t *notes, int count)
{
    static const int64_t scales_ns[] = {3, 100, INT64_C(864000000000000)};
    int64_t scale_ns = scales_ns[chance_between(dice, 0, 2)];
    double marked = 0.3 * (double)chance_between(dice, 0, 3);
    for (int i = 0; i < count; i++) {
        int64_t start_ns = chance_between(dice, -scale_ns, scale_ns);
        notes[i] = (call_note_t){.start_ns = start_ns,
                                 .end_ns = start_ns + chance_between(dice, -scale_ns / 50, scale_ns),
                                 .mark = chance_unit(dice) < marked ? chance_between(dice, 1, 2) : MARK_VALID};
    }
}

static void take(samples_t *samples, const call_note_t *notes, int calls)
{
    for (int call = 0; call < calls; call++)
        EXPECT(samples_take(samples, &notes[(size_t)call * (size_t)samples->ranks]), "no memory");
    ck_assert_int_eq(samples->calls, calls);
}

static void take_one(samples_t *samples, int64_t end_ns, sample_mark_t mark)
{
    EXPECT(samples_take(samples, &(call_note_t){.end_ns = end_ns, .mark = mark}), "no memory");
}

static void expect_number(const char *figure, double is, double expected)
{
    EXPECT(fabs(is - expected) <= 1e-12 * fmax(fabs(expected), 1e-3), "%s is %.17g instead of %.17g", figure, is,
           expected);
}

#define EXPECT_FIGURE(figure) expect_number(#figure, (double)is.figure, (double)expected.figure)

TEST(figures_are_as_by_definition)
{
    for (int round = 0; round < rounds_of(3000); round++) {
        chance dice = chance_of_round(round);
        call_note_t notes[MAX_RANKS * MAX_CALLS] = {{0}};
        int ranks = (int)chance_between(&dice, 1, MAX_RANKS), calls = (int)chance_between(&dice, 0, MAX_CALLS);
        run_time_t kind = (run_time_t)chance_between(&dice, RUN_TIME_LOCAL, RUN_TIME_MAKESPAN);
        samples_t samples = {.ranks = ranks};
        analysis_t is;

        make_notes(&dice, notes, ranks * calls);
        take(&samples, notes, calls);
        const analysis_t expected = analysis_by_definition(notes, ranks, calls, kind);
        memset(&is, 0xff, sizeof is);
        /* Once more after samples have changed places: nothing depends on these. */
        for (int i = 0; i < 2; i++)
            analyze(&samples, kind, fractions, COUNT_OF(fractions), &is);
        samples_free(&samples);
        EXPECT_FIGURE(valid);
        EXPECT_FIGURE(missed);
        EXPECT_FIGURE(late);
        EXPECT_FIGURE(discarded);
        EXPECT_FIGURE(avg_ns);
        EXPECT_FIGURE(min_mean_ns);
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
        EXPECT_FIGURE(interval_ns);
        for (int i = 0; i < MAX_QUANTILES; i++)
            EXPECT_FIGURE(quantile_ns[i]);
        EXPECT_FIGURE(slowest_rank);
        EXPECT_FIGURE(fastest_rank);
    }
}

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
        call_note_t notes[COUNT] = {{0}};
        samples_t samples = {.ranks = 1};
        analysis_t is;
        chance dice = chance_of_round(round);

        for (int i = 0; i < COUNT; i++)
            notes[i].end_ns = (int64_t)chance_lognormal(&dice, 1e6, 1);
        take(&samples, notes, COUNT);
        analyze(&samples, RUN_TIME_LOCAL, NULL, 0, &is);
        samples_free(&samples);
        held += is.median_low_ns <= 1000000 && 1000000 <= is.median_high_ns;
    }
    /* 96.2 % by the binomial distribution; the limit is four deviations off. */
    EXPECT(held >= 0.95 * rounds, "in %d of %d rounds", held, rounds);
}

/* Samples that are left out by chance, not by their run times, do not move the median: that of all calls stays within
 * the interval of the others, or of twice its width in all rounds. What leaves out the slow calls moves it. */
TEST(samples_left_out_by_chance)
{
    enum { COUNT = 4000 };
    static const double left_out = 0.3;
    for (int round = 0; round < rounds_of(20); round++) {
        samples_t all = {.ranks = 1}, some = {.ranks = 1}, fast = {.ranks = 1};
        analysis_t of_some, of_fast;
        chance dice = chance_of_round(round);
        for (int i = 0; i < COUNT; i++) {
            int64_t end_ns = (int64_t)chance_lognormal(&dice, 1e6, 1);
            take_one(&all, end_ns, MARK_VALID);
            take_one(&some, end_ns, chance_unit(&dice) < left_out ? MARK_MISSED : MARK_VALID);
            take_one(&fast, end_ns, end_ns > 1700000 ? MARK_MISSED : MARK_VALID); /* 30 % */
        }
        double median_ns = samples_median(&all, SERIES_LOCAL_NS);
        analyze(&some, RUN_TIME_LOCAL, NULL, 0, &of_some);
        analyze(&fast, RUN_TIME_LOCAL, NULL, 0, &of_fast);
        EXPECT(fabs((double)of_some.missed / COUNT - left_out) < 0.05, "%" PRId64 " missed", of_some.missed);
        EXPECT(fabs(of_some.median_ns - median_ns) <= 2 * of_some.interval_ns, "%g ns moved to %g", median_ns,
               of_some.median_ns);
        EXPECT(fabs(of_fast.median_ns - median_ns) > 2 * of_fast.interval_ns, "%g ns stayed at %g", median_ns,
               of_fast.median_ns);
        samples_free(&all);
        samples_free(&some);
        samples_free(&fast);
    }
}

/* A clock that steps shows few values, so that all order statistics are one. */
TEST(interval_holds_the_resolution)
{
    enum { COUNT = 200, STEP_NS = 10 };
    call_note_t notes[COUNT] = {{0}};
    samples_t samples = {.ranks = 1, .resolution_ns = STEP_NS};
    analysis_t is;
    for (int i = 0; i < COUNT; i++)
        notes[i].end_ns = 850;
    take(&samples, notes, COUNT);
    analyze(&samples, RUN_TIME_LOCAL, NULL, 0, &is);
    samples_free(&samples);
    EXPECT(is.median_low_ns == 845 && is.median_high_ns == 855 && is.interval_ns == 5, "%" PRId64 " to %" PRId64,
           is.median_low_ns, is.median_high_ns);
    EXPECT(analysis_is_narrow(&is, 0.1), "more samples are asked for, but make the interval no narrower");
}

/* Readings of a clock that rises by a step, corrected for drift and rounded, that take 20 to 60 ns each. */
TEST(steps_are_found)
{
    static const double steps_ns[] = {0.4, 1, 10, 26.7, 100, 1000};
    enum { COUNT = 5000 };
    for (int which = 0; which < COUNT_OF(steps_ns); which++) {
        int64_t intervals_ns[COUNT];
        const double step_ns = steps_ns[which];
        double true_ns = 0, before_ns = 0;
        chance dice = chance_of_round(which);
        for (int i = 0; i < COUNT; i++) {
            true_ns += (double)chance_between(&dice, 2000, 6000) / 100 + chance_exponential(&dice, 1);
            const double now_ns = rint(floor(true_ns / step_ns) * step_ns * (1 + 20e-6));
            intervals_ns[i] = (int64_t)(now_ns - before_ns);
            before_ns = now_ns;
        }
        const double found_ns = (double)clock_step_of(intervals_ns, COUNT);
        EXPECT(fabs(found_ns - fmax(step_ns, 1)) <= 1, "%g ns: found %g", step_ns, found_ns);
    }
    EXPECT(clock_step_of((int64_t[]){5, 5, 5}, 3) == 0, "one value says nothing");
}

TEST(narrow)
{
    analysis_t is = {.median_ns = 100, .sampling_ns = 5, .median_interval = true};

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
