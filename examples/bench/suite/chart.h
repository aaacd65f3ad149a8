/* SPDX-License-Identifier: BSD-3-Clause */
/* chart.h - the chart of --plot: medians of run times over message sizes, a curve for each job. Rank 0 only. */
#ifndef CHART_H
#define CHART_H

#include "common/plot.h"
#include "suite/report.h"

/* The lines of a curve: the ends of the median's confidence interval, and the median above them. */
enum { CHART_LOW, CHART_HIGH, CHART_MEDIAN, CHART_LINES };

typedef struct chart {
    plot_file_t *file; /* its path is NULL if there is no chart */
    int curves;
    int points;            /* of all curves, one curve after the other */
    plot_series_t *series; /* the lines of each curve */
    char (*titles)[80];
    double *bytes;
    double *us[CHART_LINES];
} chart_t;

/* chart_open - room for so many curves and points; none if no file is open. Returns false if memory lacks. */
bool chart_open(chart_t *chart, plot_file_t *file, int curves, int points);

/* chart_begin - another curve. */
void chart_begin(chart_t *chart, const row_keys_t *keys);

/* chart_add - a point of the last curve, in any order of sizes. Without a valid sample there is none. */
void chart_add(chart_t *chart, const row_t *row);

/* chart_draw - draw it, if a file is open. Returns an exit status. */
int chart_draw(chart_t *chart, const world_t *world);

void chart_close(chart_t *chart);

#endif /* CHART_H */
