/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * svg.h - a chart as a figure in HTML: its title, the picture in SVG, and a legend.
 *
 * The picture is complete without scripts. The script in the report reads the attributes that begin with data-: of a
 * point, its place and interval as they are in the results; of an axis, its range, scale and unit.
 */
#ifndef SVG_H
#define SVG_H

#include "page/value.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Of all pictures, in units that become pixels. */
enum { SVG_WIDTH = 720 };

/* Where the axes are. */
typedef struct frame {
    double left, right, top, bottom;
    int height; /* of the picture */
} frame_t;

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

/*
 * svg_open - begin a figure by its title and the area "clip-NUMBER" of the frame. What is drawn follows; a group of
 * class shapes moves when a reader zooms.
 */
void svg_open(FILE *file, const char *title, int number, const frame_t *frame);

/* svg_axis - print an axis, whose range is set. */
void svg_axis(FILE *file, const frame_t *frame, const axis_t *axis, bool is_horizontal);

#endif
