/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * statistics.h - order statistics.
 */
#ifndef STATISTICS_H
#define STATISTICS_H

#include <stdint.h>

/* sort_ascending - sort values[0..count). */
void sort_ascending(int64_t *values, int64_t count);

/*
 * quantile - the nearest-rank quantile: the least value that at least a given fraction of all values do not exceed.
 *
 * sorted     count > 0 values in ascending order
 * fraction   above 0, at most 1
 */
int64_t quantile(const int64_t *sorted, int64_t count, double fraction);

/* How values are distributed, for a chart. The rarest thousandth, interruptions mostly, would fill most of it. */
enum { CURVE_POINTS = 200 };
typedef struct curve {
    double value[CURVE_POINTS];
    double share[CURVE_POINTS]; /* of all values, which are not greater */
} curve_t;

/* curve_fill - the curve of values as quantile takes them, in units of which unit is the length of one. */
void curve_fill(curve_t *curve, const int64_t *sorted, int64_t count, double unit);

#endif /* STATISTICS_H */
