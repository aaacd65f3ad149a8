/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/statistics.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int64_t mh_median(int64_t *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[(count - 1) / 2];
}

double mh_mean(const int64_t *values, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += (double)(values[i] - values[0]);
    return (double)values[0] + sum / count;
}

mh_line mh_line_fit(const double *x, const double *y, int count)
{
    double mean_x = 0, mean_y = 0;
    for (int i = 0; i < count; i++) {
        mean_x += (x[i] - x[0]) / count;
        mean_y += y[i] / count;
    }
    mean_x += x[0];
    double xx = 0, xy = 0;
    for (int i = 0; i < count; i++) {
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        xy += (x[i] - mean_x) * (y[i] - mean_y);
    }
    mh_line line;
    line.slope = xx > 0 ? xy / xx : 0;
    line.intercept = mean_y - line.slope * mean_x;
    return line;
}
