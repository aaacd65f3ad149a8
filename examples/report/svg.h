/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * svg.h - a chart as a figure in HTML: its title, the picture in SVG, and a legend.
 *
 * The picture is complete without scripts. The script in the report reads the attributes that begin with data-: of a
 * point, its place and interval as they are in the results; of an axis, its range, scale and unit.
 */
#ifndef SVG_H
#define SVG_H

#include "report/value.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct point {
    double place; /* along the horizontal axis; of strips, the number of the strip */
    double value;
    double low, high;     /* NAN: no interval */
    const json_t *single; /* numbers that the value stands for; NULL: none */
    const char *note;     /* "" for none */
} point_t;

typedef struct series {
    char *name; /* "" where there is only one */
    int look;   /* a number: color, mark and dashes */
    point_t *points;
    int count;
} series_t;

typedef struct picture {
    const char *title;
    const char *place_title, *value_title;
    axis_t place_axis, value_axis; /* their ranges are set by what is drawn */
    const char *const *strips;     /* names; NULL: curves. Values are along the horizontal axis then */
    int strip_count;
    bool has_bars; /* intervals are a bar at each point, not a band */
    double reference;
    const series_t *series;
    int series_count;
} picture_t;

/* svg_figure - print it. number: of the figure in the report. */
void svg_figure(FILE *file, picture_t *picture, int number);

#endif /* SVG_H */
