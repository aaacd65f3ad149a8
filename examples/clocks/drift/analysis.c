/* SPDX-License-Identifier: BSD-3-Clause */
/* analysis.c - lines through the offsets of windows, and for how long one line is enough. */
#include "drift/drift.h"

#include "base/line.h"
#include "base/statistics.h"

#include <math.h>

/* A burst whose window is so many times as wide as the median one met a disturbance, and does not count. */
#define MAX_WIDTH_RATIO 1.5

/* Through two points there is always a line. */
enum { MIN_POINTS = 3 };

/* Linearity is looked for in steps of this part of the run. */
enum { REACH_STEPS = 16 };

/* A line, and how far points lie from it. */
typedef struct fit {
    mh_line line;
    double square_sum;
    double max_ns; /* without its sign */
} fit_t;

bool drift_is_undisturbed(const series_t *series, const point_t *point)
{
    return (double)point->half_width_ns <= MAX_WIDTH_RATIO * (double)series->half_width_ns;
}

double drift_duration_s(const drift_run_t *run, const series_t *series)
{
    return series->points[run->rounds - 1].time_s;
}

static void collect_points(const drift_run_t *run, series_t *series)
{
    int64_t first_ns = 0;
    for (int i = 0; i < run->rounds; i++)
        run->widths_ns[i] = series->points[i].half_width_ns;
    series->half_width_ns = mh_median(run->widths_ns, run->rounds);
    for (int i = 0; i < run->rounds; i++) {
        const point_t *point = &series->points[i];
        if (!drift_is_undisturbed(series, point))
            continue;
        if (series->count == 0)
            first_ns = point->offset_ns;
        series->time_s[series->count] = point->time_s;
        series->offset_ns[series->count++] = (double)(point->offset_ns - first_ns);
    }
}

/* The place of the first point at or after the beginning of one of so many parts of the run. */
static int find_point(const drift_run_t *run, const series_t *series, int part, int parts)
{
    double time_s = drift_duration_s(run, series) / parts * part;
    int place = 0;
    while (place < series->count && (part == parts || series->time_s[place] < time_s))
        place++;
    return place;
}

static double residual_ns(const series_t *series, const mh_line *line, int i)
{
    return series->offset_ns[i] - line->intercept - line->slope * series->time_s[i];
}

/* Fits a line to points [first, end). */
static fit_t fit_points(const series_t *series, int first, int end)
{
    fit_t fit = {mh_line_fit(series->time_s + first, series->offset_ns + first, end - first), 0, 0};
    for (int i = first; i < end; i++) {
        double residual = residual_ns(series, &fit.line, i);
        fit.square_sum += residual * residual;
        fit.max_ns = fmax(fit.max_ns, fabs(residual));
    }
    return fit;
}

fits_t drift_fit_windows(const drift_run_t *run, const series_t *series, int windows)
{
    fits_t fits = {.good = true, .min_ppb = INFINITY, .max_ppb = -INFINITY};
    double square_sum = 0;
    for (int i = 0; i < windows; i++) {
        int first = find_point(run, series, i, windows), end = find_point(run, series, i + 1, windows);
        if (end - first < MIN_POINTS)
            return (fits_t){.good = false};
        fit_t fit = fit_points(series, first, end);
        fits.slope_ppb += fit.line.slope / windows;
        fits.min_ppb = fmin(fits.min_ppb, fit.line.slope);
        fits.max_ppb = fmax(fits.max_ppb, fit.line.slope);
        fits.max_ns = fmax(fits.max_ns, fit.max_ns);
        square_sum += fit.square_sum;
    }
    fits.rms_ns = sqrt(square_sum / series->count);
    return fits;
}

/* Whether all windows of so many steps that have points enough are linear. *any: whether there is one. */
static bool is_linear(const drift_run_t *run, const series_t *series, int steps, bool *any)
{
    *any = false;
    for (int begin = 0; begin + steps <= REACH_STEPS; begin++) {
        int first = find_point(run, series, begin, REACH_STEPS);
        int end = find_point(run, series, begin + steps, REACH_STEPS);
        if (end - first < MIN_POINTS)
            continue;
        *any = true;
        if (fit_points(series, first, end).max_ns > series->threshold_ns)
            return false;
    }
    return true;
}

void drift_analyze(const drift_run_t *run)
{
    for (series_t *series = run->series; series < run->series + run->series_count; series++) {
        collect_points(run, series);
        mh_line line = fit_points(series, 0, series->count).line;
        for (int i = 0; i < series->count; i++)
            series->residual_ns[i] = residual_ns(series, &line, i);
        series->threshold_ns =
            run->settings.threshold_ns > 0 ? run->settings.threshold_ns : (double)series->half_width_ns;
        bool any;
        for (int steps = 1; steps <= REACH_STEPS && is_linear(run, series, steps, &any); steps++)
            if (any)
                series->linear_s = drift_duration_s(run, series) * steps / REACH_STEPS;
    }
}
