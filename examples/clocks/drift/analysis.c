/* SPDX-License-Identifier: BSD-3-Clause */
/* analysis.c - lines through the offsets of windows, and for how long one line is enough. */
#include "drift/drift.h"

#include "common/statistics.h"

#include <math.h>
#include <stdlib.h>

/* A burst whose window is so many times as wide as the median one met a disturbance, and does not count. */
#define MOST_WIDTH_RATIO 1.5

/* Through two points there is always a line. */
enum { LEAST_POINTS = 3 };

/* Linearity is looked for in steps of this part of the run. */
enum { REACH_STEPS = 16 };

int64_t drift_middle_ns(const point_t *point)
{
    return point->window.low_ns + (point->window.high_ns - point->window.low_ns) / 2;
}

int64_t drift_half_width_ns(const point_t *point)
{
    return llabs(point->window.high_ns - point->window.low_ns) / 2;
}

bool drift_is_undisturbed(const series_t *series, const point_t *point)
{
    return (double)drift_half_width_ns(point) <= MOST_WIDTH_RATIO * (double)series->half_width_ns;
}

/* Returns false if out of memory. */
static bool find_half_width(const drift_run_t *run, series_t *series)
{
    int64_t *widths_ns = malloc((size_t)run->rounds * sizeof(widths_ns[0]));

    if (widths_ns == NULL)
        return false;
    for (int i = 0; i < run->rounds; i++)
        widths_ns[i] = drift_half_width_ns(&series->points[i]);
    sort_ascending(widths_ns, run->rounds);
    series->half_width_ns = quantile(widths_ns, run->rounds, 0.5);
    free(widths_ns);
    return true;
}

static bool collect_points(const drift_run_t *run, series_t *series)
{
    size_t bytes = (size_t)run->rounds * sizeof(double);
    int64_t first_ns = 0;

    series->time_s = malloc(bytes);
    series->offset_ns = malloc(bytes);
    series->residual_ns = malloc(bytes);
    if (series->time_s == NULL || series->offset_ns == NULL || series->residual_ns == NULL ||
        !find_half_width(run, series))
        return false;
    for (int i = 0; i < run->rounds; i++) {
        const point_t *point = &series->points[i];

        if (!drift_is_undisturbed(series, point))
            continue;
        if (series->count == 0)
            first_ns = drift_middle_ns(point);
        series->time_s[series->count] = point->time_s;
        series->offset_ns[series->count++] = (double)(drift_middle_ns(point) - first_ns);
    }
    return true;
}

double drift_duration_s(const drift_run_t *run, const series_t *series)
{
    return series->points[run->rounds - 1].time_s;
}

/* The place of the first point at or after a time. */
static int find_point(const series_t *series, double time_s)
{
    int place = 0;

    while (place < series->count && series->time_s[place] < time_s)
        place++;
    return place;
}

/* Fits a line to points [first, end). Returns false where they are too few. */
static bool fit_window(const series_t *series, int first, int end, line_t *line, residuals_t *residuals)
{
    if (end - first < LEAST_POINTS)
        return false;
    *line = line_fit(series->time_s + first, series->offset_ns + first, end - first);
    *residuals = line_residuals(line, series->time_s + first, series->offset_ns + first, end - first);
    return true;
}

fits_t drift_fit_windows(const drift_run_t *run, const series_t *series, int windows)
{
    fits_t fits = {.windows = windows, .good = true, .least_ppb = INFINITY, .most_ppb = -INFINITY};
    double window_s = drift_duration_s(run, series) / windows;
    double square_sum = 0;
    int first = 0;

    for (int i = 0; i < windows && fits.good; i++) {
        int end = i + 1 < windows ? find_point(series, window_s * (i + 1)) : series->count;
        residuals_t residuals;
        line_t line;

        fits.good = fit_window(series, first, end, &line, &residuals);
        if (!fits.good)
            break;
        fits.slope_ppb += line.slope / windows;
        fits.least_ppb = fmin(fits.least_ppb, line.slope);
        fits.most_ppb = fmax(fits.most_ppb, line.slope);
        fits.most_ns = fmax(fits.most_ns, residuals.most);
        square_sum += residuals.square_sum;
        first = end;
    }
    fits.rms_ns = sqrt(square_sum / fmax(series->count, 1));
    return fits;
}

/* Whether all windows of so many steps that have points enough are linear. *any: whether there is one. */
static bool is_linear(const drift_run_t *run, const series_t *series, int steps, bool *any)
{
    double step_s = drift_duration_s(run, series) / REACH_STEPS;

    *any = false;
    for (int begin = 0; begin + steps <= REACH_STEPS; begin++) {
        int end = begin + steps < REACH_STEPS ? find_point(series, step_s * (begin + steps)) : series->count;
        residuals_t residuals;
        line_t line;

        if (!fit_window(series, find_point(series, step_s * begin), end, &line, &residuals))
            continue;
        *any = true;
        if (residuals.most > series->threshold_ns)
            return false;
    }
    return true;
}

static void find_reach(const drift_run_t *run, series_t *series)
{
    bool any;

    for (int steps = 1; steps <= REACH_STEPS && is_linear(run, series, steps, &any); steps++) {
        if (any)
            series->linear_s = drift_duration_s(run, series) * steps / REACH_STEPS;
    }
}

static void find_residuals(series_t *series)
{
    line_t line = line_fit(series->time_s, series->offset_ns, series->count);

    for (int i = 0; i < series->count; i++)
        series->residual_ns[i] = line_residual(&line, series->time_s[i], series->offset_ns[i]);
}

bool drift_analyse(const drift_run_t *run)
{
    for (int i = 0; i < (run->world.ranks - 1) * run->clock_count; i++) {
        series_t *series = &run->series[i];

        if (!collect_points(run, series))
            return false;
        series->threshold_ns =
            run->settings.threshold_ns > 0 ? run->settings.threshold_ns : (double)series->half_width_ns;
        find_residuals(series);
        find_reach(run, series);
    }
    return true;
}
