/* SPDX-License-Identifier: BSD-3-Clause */
/* statistics.c - sort, and take quantiles by nearest rank. */
#include "statistics.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

void sort_ascending(int64_t *values, int64_t count)
{
    qsort(values, (size_t)count, sizeof values[0], compare);
}

static int compare_reals(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

void sort_reals_ascending(double *values, int64_t count)
{
    qsort(values, (size_t)count, sizeof values[0], compare_reals);
}

int64_t quantile(const int64_t *sorted, int64_t count, double fraction)
{
    /* Less a hair, so that 0.99 of 100 is the 99th value although the product may come out above 99. */
    int64_t rank = (int64_t)ceil(fraction * (double)count * (1 - 1e-14));
    return sorted[rank < 1 ? 0 : rank - 1];
}
