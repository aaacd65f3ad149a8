/* SPDX-License-Identifier: BSD-3-Clause */
/* line.c - least squares. */
#include "pure/line.h"

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
