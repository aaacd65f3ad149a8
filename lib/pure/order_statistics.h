/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * statistics.h - order statistics.
 */
#ifndef STATISTICS_H
#define STATISTICS_H

#include "pure/statistics.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static inline int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t greater(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int compare_reals(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* sort_reals - sort values in ascending order. */
static inline void sort_reals(double *values, int64_t count)
{
    qsort(values, (size_t)count, sizeof values[0], compare_reals);
}

/*
 * middle_of - the median of count > 0 values in ascending order, of any type of numbers: of an even count the mean of
 * the middle two.
 */
#define middle_of(sorted, count)                                                                  \
    ({                                                                                            \
        const int64_t lower_place = ((int64_t)(count)-1) / 2, upper_place = (int64_t)(count) / 2; \
        ((double)(sorted)[lower_place] + (double)(sorted)[upper_place]) / 2;                      \
    })

/* quantile_place - the place of a quantile among count > 0 values in ascending order. */
static inline int64_t quantile_place(int64_t count, double fraction)
{
    /* Less a hair, so that 0.99 of 100 is the 99th value although the product may come out above 99. */
    int64_t place = (int64_t)ceil(fraction * (double)count * (1 - 1e-14));
    return place < 1 ? 0 : place - 1;
}

/*
 * quantile - the nearest-rank quantile: the smallest value that at least a given fraction of all values do not exceed.
 *
 * sorted     count > 0 values in ascending order
 * fraction   above 0, at most 1
 */
static inline int64_t quantile(const int64_t *sorted, int64_t count, double fraction)
{
    return sorted[quantile_place(count, fraction)];
}

#endif
