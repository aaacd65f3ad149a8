/* SPDX-License-Identifier: BSD-3-Clause */
/* test_statistics.c - medians, means and lines of known and of random data. */
#include "pure/line.h"
#include "pure/statistics.h"
#include "support.h"

#define MAX_VALUES 8

static const struct {
    const char *name;
    int count;
    int64_t values[MAX_VALUES];
    int64_t median;
} medians[] = {
    {"one value", 1, {42}, 42},
    {"two: the lower", 2, {9, 3}, 3},
    {"odd, descending", 3, {30, 20, 10}, 20},
    {"even, shuffled: the lower", 4, {4, 1, 3, 2}, 2},
    {"equal values", 5, {7, 7, 7, 7, 7}, 7},
    {"an outlier", 5, {1, 2, 3, 4, 1000000000}, 3},
    {"negative values", 4, {-1, -4, -2, -3}, -3},
    {"both signs", 3, {-5, 5, 0}, 0},
    {"both ends of the range", 3, {INT64_MAX, INT64_MIN, 0}, 0},
    {"differences that would overflow", 5, {INT64_MIN, INT64_MAX, INT64_MIN, INT64_MAX, INT64_MAX}, INT64_MAX},
};

START_TEST(median_of_known_values)
{
    int64_t values[MAX_VALUES];
    memcpy(values, medians[_i].values, sizeof values);
    int64_t median = mh_median(values, medians[_i].count);
    EXPECT(median == medians[_i].median, "%s: the median is %" PRId64 " instead of %" PRId64, medians[_i].name, median,
           medians[_i].median);
}
END_TEST

static int count_below(const int64_t *values, int count, int64_t limit)
{
    int below = 0;
    for (int i = 0; i < count; i++)
        below += values[i] < limit;
    return below;
}

/* At most half of the values lie below the lower median, and at most half above. */
START_TEST(median_splits_random_values)
{
    enum { MOST = 100 };
    for (int round = 0; round < rounds_of(500); round++) {
        chance dice = chance_of_round(round);
        int64_t values[MOST];
        int count = (int)chance_between(&dice, 1, MOST);
        for (int i = 0; i < count; i++)
            values[i] = chance_between(&dice, -20, 20);
        int64_t median = mh_median(values, count);
        int below = count_below(values, count, median), up_to = count_below(values, count, median + 1);
        int place = (count - 1) / 2;
        EXPECT_SEEDED(below <= place && place < up_to,
                      "round %d: %d of %d values are below the median, %d are not above it", round, below, count,
                      up_to);
    }
}
END_TEST

static const struct {
    const char *name;
    int count;
    int64_t values[MAX_VALUES];
    double mean, limit;
} means[] = {
    {"one value", 1, {42}, 42, 0},
    {"a fraction", 2, {1, 2}, 1.5, 0},
    {"thirds", 3, {1, 1, 2}, 4.0 / 3, 1e-15},
    {"negative values", 4, {-1, -2, -3, -4}, -2.5, 0},
    {"both signs", 2, {-1000, 1000}, 0, 0},
    {"small differences far out",
     4,
     {INT64_C(1) << 50, (INT64_C(1) << 50) + 1, (INT64_C(1) << 50) + 2, (INT64_C(1) << 50) + 3},
     0x1p50 + 1.5,
     0.125},
    {"a sum beyond the range", 4, {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX}, 0x1p63, 1},
};

START_TEST(mean_of_known_values)
{
    double mean = mh_mean(means[_i].values, means[_i].count);
    EXPECT(fabs(mean - means[_i].mean) <= means[_i].limit, "%s: the mean is %.17g instead of %.17g", means[_i].name,
           mean, means[_i].mean);
}
END_TEST

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

static void make_points(int row, double *x, double *y)
{
    for (int i = 0; i < lines[row].count; i++) {
        x[i] = lines[row].first_x + i * lines[row].step_x;
        y[i] = lines[row].intercept + lines[row].slope * x[i];
    }
}

START_TEST(line_through_points_of_a_line)
{
    static double x[5000], y[5000];
    make_points(_i, x, y);
    mh_line line = mh_line_fit(x, y, lines[_i].count);
    EXPECT(fabs(line.slope - lines[_i].slope) <= lines[_i].slope_limit, "%s: the slope is %.17g instead of %.17g",
           lines[_i].name, line.slope, lines[_i].slope);
    for (int i = 0; i < lines[_i].count; i++) {
        double error = line.intercept + line.slope * x[i] - y[i];
        EXPECT(fabs(error) <= lines[_i].value_limit, "%s: the line misses point %d by %g", lines[_i].name, i, error);
    }
}
END_TEST

static const struct {
    const char *name;
    int count;
    double x;
    double step_y;
} columns[] = {
    {"two points", 2, 3, 10},
    {"at zero", 10, 0, 1},
    {"at a third", 3, 1.0 / 3, 1},
    {"at a tenth", 10, 0.1, 1000},
    {"at a tenth, y rounded too", 10, 0.1, 0.7},
    {"far out, y rounded too", 100, 8.64e13 + 0.7, 0.7},
    {"Unix time", 7, 1700000000123456789.0, 1000},
    {"many points", 1000, 8.64e13 + 0.7, 1},
};

START_TEST(equal_x_gives_slope_zero_and_the_mean)
{
    static double x[1000], y[1000];
    for (int i = 0; i < columns[_i].count; i++) {
        x[i] = columns[_i].x;
        y[i] = i * columns[_i].step_y;
    }
    mh_line line = mh_line_fit(x, y, columns[_i].count);
    double mean = (columns[_i].count - 1) * columns[_i].step_y / 2;
    EXPECT(line.slope == 0, "%s: the slope is %g instead of 0", columns[_i].name, line.slope);
    EXPECT(fabs(line.intercept - mean) <= 1e-9 * (1 + mean), "%s: the intercept is %g instead of %g", columns[_i].name,
           line.intercept, mean);
}
END_TEST

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

START_TEST(line_has_least_squares)
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
            EXPECT_SEEDED(least <= sum * (1 + 1e-12), "round %d: intercept %+g, slope %+g is better: %.17g < %.17g",
                          round, shifts[i / 3], tilts[i % 3], sum, least);
        }
    }
}
END_TEST

static void add(TCase *tests)
{
    tcase_add_loop_test(tests, median_of_known_values, 0, COUNT_OF(medians));
    tcase_add_test(tests, median_splits_random_values);
    tcase_add_loop_test(tests, mean_of_known_values, 0, COUNT_OF(means));
    tcase_add_loop_test(tests, line_through_points_of_a_line, 0, COUNT_OF(lines));
    tcase_add_loop_test(tests, equal_x_gives_slope_zero_and_the_mean, 0, COUNT_OF(columns));
    tcase_add_test(tests, line_has_least_squares);
}

SUITE(statistics, add)
