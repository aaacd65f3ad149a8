/* SPDX-License-Identifier: BSD-3-Clause */
#include "line.h"

#include <math.h>

static double mean(const double *values, int count)
{
    double sum = 0;

    for (int i = 0; i < count; i++)
        sum += values[i] - values[0];
    return values[0] + sum / count;
}

struct line line_fit(const double *x, const double *y, int count)
{
    struct line line = {mean(x, count), mean(y, count), 0};
    double xx = 0, xy = 0;

    for (int i = 0; i < count; i++) {
        xx += (x[i] - line.at) * (x[i] - line.at);
        xy += (x[i] - line.at) * (y[i] - line.value);
    }
    if (xx > 0)
        line.slope = xy / xx;
    return line;
}

double line_residual(const struct line *line, double x, double y)
{
    return y - (line->value + line->slope * (x - line->at));
}

struct residuals line_residuals(const struct line *line, const double *x, const double *y, int count)
{
    struct residuals residuals = {0, 0};

    for (int i = 0; i < count; i++) {
        double residual = line_residual(line, x[i], y[i]);

        residuals.square_sum += residual * residual;
        residuals.most = fmax(residuals.most, fabs(residual));
    }
    return residuals;
}
