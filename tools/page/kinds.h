/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kinds.h - the results that there are, and what a report shows of each.
 */
#ifndef KINDS_H
#define KINDS_H

#include "page/value.h"

#include <jansson.h>

/* A curve, or a mark in each strip. */
typedef struct measure {
    const char *column;
    const char *title;
    const char *low, *high; /* columns of an interval around it; NULL: none */
} measure_t;

enum { MAX_MEASURES = 5, MAX_CHARTS = 3, MAX_NAMES = 32 };

typedef struct chart {
    const char *title;
    const char *panel; /* a chart for each value of this column; NULL: one chart */
    const char *x;     /* curves over this column; NULL: a strip for each row, along the scale of the values */
    const char *x_title;
    scale_t x_scale;
    const char *value_title;
    scale_t scale;
    measure_t measures[MAX_MEASURES]; /* up to one without a column */
    const char *ignored;              /* column of keys by which values do not differ; NULL: none */
    double reference;                 /* values are compared with this one; 0: with none */
    const char *note;                 /* a text column that says something about a value; NULL: none */
} chart_t;

typedef struct kind {
    const char *tool; /* that writes it */
    const char *title;
    const char *text;             /* what the reader has to know about the figures */
    const char *tells[4];         /* columns that only this kind has together, up to NULL */
    const char *first[MAX_NAMES]; /* columns to be seen at once in tables, up to NULL */
    const char *results[4];       /* text columns that state a result, not what was measured, up to NULL */
    chart_t charts[MAX_CHARTS];   /* up to one without a title */
} kind_t;

/* kind_of - the kind that a row belongs to, NULL if none. */
const kind_t *kind_of(const json_t *row);

/* kind_tools - the names of the tools that write such files, with commas between. */
const char *kind_tools(void);

/* kind_is_key - whether a column says what was measured: for rows_keys, which passes the kind. */
bool kind_is_key(const json_t *rows, const char *column, const void *kind);

#endif
