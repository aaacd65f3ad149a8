/* SPDX-License-Identifier: BSD-3-Clause */
/* line.h - a line through points. Pure; no MPI. */
#ifndef MH_LINE_H
#define MH_LINE_H

/* A line y = intercept + slope * x. */
typedef struct mh_line {
    double intercept;
    double slope;
} mh_line;

/*
 * Least squares through count > 0 points. If all x are equal (one point, for one) the slope is 0. The sums are
 * centered, so large x lose no digits.
 */
mh_line mh_line_fit(const double *x, const double *y, int count);

#endif
