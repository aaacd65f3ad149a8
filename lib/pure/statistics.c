/* SPDX-License-Identifier: BSD-3-Clause */
/* statistics.c - order, the median and the mean. */
#include "pure/statistics.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void mh_sort(int64_t *values, int64_t count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
}

int64_t mh_median(int64_t *values, int count)
{
    mh_sort(values, count);
    return values[(count - 1) / 2];
}

double mh_mean(const int64_t *values, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += (double)(values[i] - values[0]);
    return (double)values[0] + sum / count;
}
