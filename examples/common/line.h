/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * line.h - straight lines through points, by least squares.
 */
#ifndef LINE_H
#define LINE_H

/* y = value + slope * (x - at) */
typedef struct line {
    double at;
    double value;
    double slope;
} line_t;

/* How far points lie from a line. */
typedef struct residuals {
    double square_sum;
    double most; /* the greatest, without its sign */
} residuals_t;

/*
 * line_fit - the line with the least sum of squared residuals.
 *
 * x, y    count > 0 points. Where all have the same x, the slope is 0.
 */
line_t line_fit(const double *x, const double *y, int count);

/* line_residual - how far a point lies above a line. */
double line_residual(const line_t *line, double x, double y);

/* line_residuals - the same for count points together. */
residuals_t line_residuals(const line_t *line, const double *x, const double *y, int count);

#endif /* LINE_H */
