/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * statistics.h - order statistics.
 */
#ifndef STATISTICS_H
#define STATISTICS_H

#include <stdint.h>

static inline int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t greater(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* sort_ascending - sort values[0..count). */
void sort_ascending(int64_t *values, int64_t count);

/*
 * quantile - the nearest-rank quantile: the smallest value that at least a given fraction of all values do not exceed.
 *
 * sorted     count > 0 values in ascending order
 * fraction   above 0, at most 1
 */
int64_t quantile(const int64_t *sorted, int64_t count, double fraction);

#endif /* STATISTICS_H */
