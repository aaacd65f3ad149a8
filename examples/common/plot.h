/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plot.h - charts, drawn by gnuplot into the file that an option --plot names.
 *
 * A program describes its chart with the structures below, which point to its own arrays and texts; texts are UTF-8,
 * and none of their characters is special. All zero is a good default for each field unless noted.
 */
#ifndef PLOT_H
#define PLOT_H

#include "options.h"
#include "world.h"

#include <stdbool.h>

/* The line of a program's options table. place: offset of a const char * in its settings, NULL by default. */
#define PLOT_OPTION(place) FILE_OPTION("plot", place, "draw a chart with gnuplot: FILE ends in .png or .svg")

typedef enum plot_style { PLOT_LINES, PLOT_POINTS, PLOT_LINES_POINTS } plot_style_t;

/* A value that is not finite leaves a gap. */
typedef struct plot_series {
    const char *title; /* NULL: not in the key */
    plot_style_t style;
    int color; /* series with the same positive number have the same color; 0: one of its own */
    int count;
    const double *x;
    const double *y;
} plot_series_t;

typedef struct plot_axis {
    const char *label;           /* with its unit: "size (bytes)" */
    bool logarithmic;            /* values that are not above 0 leave a gap */
    const char *const *category; /* names of 0, 1, 2 ... if these are not numbers, else NULL */
    int categories;              /* how many */
} plot_axis_t;

typedef struct plot_panel {
    const char *title; /* may be NULL */
    plot_axis_t x, y;
    const plot_series_t *series; /* later ones are drawn over earlier ones */
    int series_count;
} plot_panel_t;

typedef struct plot {
    const char *title;
    const plot_panel_t *panels;
    int panel_count; /* at least one */
    int columns;     /* of panels; 0: as square as may be */
} plot_t;

/* All zero before plot_open, so that plot_close may be called in any case. */
typedef struct plot_file {
    const char *path; /* as the user gave it; NULL for no open file, so on all ranks but 0 */
    const char *terminal;
    FILE *file;
} plot_file_t;

/*
 * plot_open - make sure that a chart can be drawn, before anything is measured. Collective.
 *
 * file   out
 * path   as --plot gave it; NULL for no chart. Of use on rank 0 only
 *
 * Returns STATUS_GOOD, or STATUS_BAD_OPTION after rank 0 has told the reason: the name ends in neither .png nor .svg,
 * the file cannot be written, or there is no gnuplot that can draw it.
 */
int plot_open(plot_file_t *file, const world_t *world, const char *path);

/*
 * plot_draw - draw the chart and close the file; does nothing if there is none. Local; of use on rank 0 only.
 *
 * Returns STATUS_GOOD, or STATUS_FAILED after one line about it.
 */
int plot_draw(plot_file_t *file, const world_t *world, const plot_t *plot);

/* plot_close - close a file without a chart, and remove it if it is empty. Local; does nothing after plot_draw. */
void plot_close(plot_file_t *file);

#endif /* PLOT_H */
