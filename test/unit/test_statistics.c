/* SPDX-License-Identifier: BSD-3-Clause */
/* test_statistics.c - medians, means and lines of known and of random data. */
#include "pure/line.h"
#include "pure/statistics.h"
#include "support.h"

enum { MAX_VALUES = 100 };

/* Small numbers with many ties, numbers far out, or the ends of the range, whose sums and differences overflow. */
static int draw_values(chance *dice, bool may_overflow, int64_t *values)
{
    int count = (int)chance_between(dice, 1, chance_unit(dice) < 0.5 ? 5 : MAX_VALUES);
    int kind = (int)chance_between(dice, 0, may_overflow ? 2 : 1);
    int64_t far = kind == 1 ? INT64_C(1) << 50 : 0;
    for (int i = 0; i < count; i++) {
        values[i] = far + chance_between(dice, -20, 20);
        if (kind == 2)
            values[i] = values[i] > 5 ? INT64_MAX : values[i] < -5 ? INT64_MIN : values[i];
    }
    return count;
}

static int compare_values(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

TEST(median_is_the_lower_middle_of_sorted_values)
{
    for (int round = 0; round < rounds_of(2000); round++) {
        chance dice = chance_of_round(round);
        int64_t values[MAX_VALUES], sorted[MAX_VALUES];
        int count = draw_values(&dice, true, values);
        memcpy(sorted, values, sizeof sorted);
        qsort(sorted, (size_t)count, sizeof *sorted, compare_values);
        int64_t median = mh_median(values, count);
        EXPECT(median == sorted[(count - 1) / 2], "round %d: the median of %d is %" PRId64 ", not %" PRId64, round,
               count, median, sorted[(count - 1) / 2]);
    }
}

TEST(mean_is_that_of_extended_precision)
{
    for (int round = 0; round < rounds_of(2000); round++) {
        chance dice = chance_of_round(round);
        int64_t values[MAX_VALUES];
        int count = draw_values(&dice, false, values);
        long double sum = 0, largest = 0;
        for (int i = 0; i < count; i++) {
            sum += (long double)values[i];
            largest = fmaxl(largest, fabsl((long double)values[i]));
        }
        double mean = mh_mean(values, count), limit = (double)largest * 0x1p-52 + 1e-15;
        EXPECT(fabsl((long double)mean - sum / count) <= limit, "round %d: the mean of %d is %.17g, not %.17Lg", round,
               count, mean, sum / count);
    }
    int64_t largest[] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    EXPECT(mh_mean(largest, 4) == 0x1p63, "a sum beyond the range has the mean %g", mh_mean(largest, 4));
}

/* Points on a known line; what must hold is the line's value at each of them. */
static const struct {
    const char *name;
    int count;
    double first_x, step_x, slope, intercept;
    double slope_limit, value_limit;
} lines[] = {
    {"level", 10, 0, 1, 0, 5, 0, 1e-12},
    {"rising", 10, 0, 1, 2, -3, 1e-14, 1e-12},
    {"falling", 10, -5, 1, -0.5, 100, 1e-14, 1e-12},
    {"two points", 2, 10, 1000, 3, 1, 1e-14, 1e-11},
    {"one point", 1, 10, 0, 0, 4, 0, 0},
    {"one point far out", 1, 1.7e18, 0, 0, -9e17, 0, 0},
    {"drift of 10 ppm over 0.1 s", 100, 0, 1e6, 1e-5, 12345, 1e-16, 1e-9},
    {"drift of -500 ppm a day out", 100, 8.64e13, 1e6, -5e-4, 0, 1e-14, 1e-4},
    {"drift of 10 ppm in Unix time", 100, 1.7e18, 1e6, 1e-5, 0, 1e-9, 1},
    {"many points", 5000, 1e15, 1e5, 1e-6, 1e3, 1e-14, 1e-4},
};

LOOP_TEST(line_through_points_of_a_line, COUNT_OF(lines))
{
    static double x[5000], y[5000];
    for (int i = 0; i < lines[_i].count; i++) {
        x[i] = lines[_i].first_x + i * lines[_i].step_x;
        y[i] = lines[_i].intercept + lines[_i].slope * x[i];
    }
    mh_line line = mh_line_fit(x, y, lines[_i].count);
    ck_assert_double_le(fabs(line.slope - lines[_i].slope), lines[_i].slope_limit);
    for (int i = 0; i < lines[_i].count; i++)
        ck_assert_double_le(fabs(line.intercept + line.slope * x[i] - y[i]), lines[_i].value_limit);
}

static const struct {
    int count;
    double x, step_y;
} columns[] = {
    {2, 3, 10},
    {10, 0, 1},
    {3, 1.0 / 3, 1},
    {10, 0.1, 1000},
    {10, 0.1, 0.7},
    {100, 8.64e13 + 0.7, 0.7},
    {7, 1700000000123456789.0, 1000},
    {1000, 8.64e13 + 0.7, 1},
};

LOOP_TEST(equal_x_gives_slope_zero_and_the_mean, COUNT_OF(columns))
{
    static double x[1000], y[1000];
    for (int i = 0; i < columns[_i].count; i++) {
        x[i] = columns[_i].x;
        y[i] = i * columns[_i].step_y;
    }
    mh_line line = mh_line_fit(x, y, columns[_i].count);
    double mean = (columns[_i].count - 1) * columns[_i].step_y / 2;
    ck_assert_double_eq(line.slope, 0);
    ck_assert_double_eq_tol(line.intercept, mean, 1e-9 * (1 + mean));
}

/* No other line has a smaller sum of squares. */
static double sum_of_squares(mh_line line, const double *x, const double *y, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++) {
        double residual = y[i] - line.intercept - line.slope * x[i];
        sum += residual * residual;
    }
    return sum;
}

TEST(line_has_least_squares)
{
    enum { POINTS = 50 };
    static const double tilts[] = {-1e-3, 0, 1e-3}, shifts[] = {-1, 0, 1};
    for (int round = 0; round < rounds_of(200); round++) {
        chance dice = chance_of_round(round);
        double x[POINTS], y[POINTS];
        for (int i = 0; i < POINTS; i++) {
            x[i] = 1000 * chance_unit(&dice);
            y[i] = 0.25 * x[i] + chance_exponential(&dice, 30);
        }
        mh_line best = mh_line_fit(x, y, POINTS);
        double least = sum_of_squares(best, x, y, POINTS);
        for (int i = 0; i < 9; i++) {
            mh_line other = {best.intercept + shifts[i / 3], best.slope + tilts[i % 3]};
            double sum = sum_of_squares(other, x, y, POINTS);
            EXPECT(least <= sum * (1 + 1e-12), "round %d: intercept %+g, slope %+g is better: %.17g < %.17g", round,
                   shifts[i / 3], tilts[i % 3], sum, least);
        }
    }
}
