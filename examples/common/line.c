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

line_t line_fit(const double *x, const double *y, int count)
{
    line_t line = {mean(x, count), mean(y, count), 0};
    double xx = 0, xy = 0;

    for (int i = 0; i < count; i++) {
        xx += (x[i] - line.at) * (x[i] - line.at);
        xy += (x[i] - line.at) * (y[i] - line.value);
    }
    if (xx > 0)
        line.slope = xy / xx;
    return line;
}

double line_residual(const line_t *line, double x, double y)
{
    return y - (line->value + line->slope * (x - line->at));
}

residuals_t line_residuals(const line_t *line, const double *x, const double *y, int count)
{
    residuals_t residuals = {0, 0};

    for (int i = 0; i < count; i++) {
        double residual = line_residual(line, x[i], y[i]);

        residuals.square_sum += residual * residual;
        residuals.most = fmax(residuals.most, fabs(residual));
    }
    return residuals;
}
