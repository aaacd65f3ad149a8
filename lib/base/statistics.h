/* SPDX-License-Identifier: BSD-3-Clause */
/* statistics.h - pure statistics over arrays; no MPI. */
#ifndef MH_STATISTICS_H
#define MH_STATISTICS_H

#include <stdint.h>

/* The median of count > 0 values (the lower one of an even count). Reorders values. */
int64_t mh_median(int64_t *values, int count);

/* The mean of count > 0 values. */
double mh_mean(const int64_t *values, int count);

/* A line y = intercept + slope * x. */
typedef struct mh_line {
    double intercept;
    double slope;
} mh_line;

/*
 * Least squares through count > 0 points. Where all x are equal (one point, for one) the slope is 0. The sums are
 * centred, so large x lose no digits.
 */
mh_line mh_line_fit(const double *x, const double *y, int count);

#endif
