/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * line.h - straight lines through points, by least squares.
 */
#ifndef LINE_H
#define LINE_H

/* y = value + slope * (x - at) */
struct line {
    double at;
    double value;
    double slope;
};

/* How far points lie from a line. */
struct residuals {
    double square_sum;
    double most; /* the greatest, without its sign */
};

/*
 * line_fit - the line with the least sum of squared residuals.
 *
 * x, y    count > 0 points. Where all have the same x, the slope is 0.
 */
struct line line_fit(const double *x, const double *y, int count);

/* line_residual - how far a point lies above a line. */
double line_residual(const struct line *line, double x, double y);

/* line_residuals - the same for count points together. */
struct residuals line_residuals(const struct line *line, const double *x, const double *y, int count);

#endif /* LINE_H */
