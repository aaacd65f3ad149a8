/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plot.h - charts, drawn by gnuplot into the file that an option --plot names.
 *
 * A program writes rows as it goes: what they belong to in double quotes, x, y, and what else it likes. Its chart is a
 * text of gnuplot commands, which draw the rows by what examples/figures/style.gp and common in plot.c have:
 *
 *   $rows, title                    the rows, what they show
 *   names, of(i)                    what rows belong to, each once, as words; the x of a row of the i-th, else NaN
 *   eval logarithmic('x', COLUMN)   makes an axis logarithmic if the column has a value for it
 *   color(i)                        a color
 *   eval panels(COLUMNS, ROWS)      begins to draw panels; stats are not possible then
 *   eval named_curves(OTHERS, STYLE)   a curve for each of names over a logarithmic x, and others below them
 */
#ifndef PLOT_H
#define PLOT_H

#include "options.h"
#include "world.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The line of a program's options table for a plot_file_t at an offset in its settings. */
#define PLOT_OPTION(place) \
    FILE_OPTION("plot", (place) + offsetof(plot_file_t, path), "draw a chart with gnuplot: FILE ends in .png or .svg")

/* The style of curves through few points, in any order. */
#define PLOT_POINTS "smooth unique with linespoints pointtype 7 pointsize 0.8"

/* The text of style.gp. */
extern const char plot_style[];

/* Constant. */
typedef struct plot_chart {
    const char *title;
    const char *commands;
} plot_chart_t;

/* All zero before plot_open, but for the path, so that plot_close may be called in any case. */
typedef struct plot_file {
    const char *path; /* as the user gave it; NULL: there is no chart. Of use on rank 0 only */
    const plot_chart_t *chart;
    FILE *script; /* NULL: there is no chart, as on all ranks but 0 */
    bool has_rows;
} plot_file_t;

/*
 * plot_open - make sure that a chart can be drawn, before anything is measured. Collective.
 *
 * Returns STATUS_GOOD, or STATUS_BAD_OPTION after rank 0 has told the reason: the name ends in neither .png nor .svg,
 * the file cannot be written, or there is no gnuplot that can draw it.
 */
int plot_open(plot_file_t *plot, const world_t *world, const plot_chart_t *chart);

/* plot_row - print a row, with the end of its line. Local, as all below: they do nothing if there is no chart. */
void plot_row(plot_file_t *plot, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * plot_distribution - rows with the shares of values that are not greater than x, where unit is the length of one. The
 * rarest thousandth, interruptions mostly, would fill most of the chart, and is left out. sorted: as quantile takes it
 */
void plot_distribution(plot_file_t *plot, const char *name, const int64_t *sorted, int64_t count, double unit);

/* plot_close - draw the chart if there are rows. Returns STATUS_GOOD, or STATUS_FAILED after one line about it. */
int plot_close(plot_file_t *plot, const world_t *world);

#endif
