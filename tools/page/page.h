/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page.h - pages of HTML that need no other file: texts, tables, and charts. Nothing that comes from a file is ever
 * markup.
 *
 * Tables are complete without scripts. A chart is data in the page, which the script in the page draws.
 */
#ifndef PAGE_H
#define PAGE_H

#include "results/table.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* report.css and report.js; make writes the file that defines them. */
extern const char report_css[];
extern const char report_js[];

typedef struct page {
    FILE *file;
    const char *program; /* that makes it */
    json_t *data;        /* for the script: arrays "tables" and "charts" */
    const sheet_t *last; /* of the tables */
} page_t;

/* A curve, or a mark in each strip. */
typedef struct measure {
    const char *column;
    const char *title;
    const char *low, *high; /* columns of an interval around it; NULL: none */
} measure_t;

enum { MAX_MEASURES = 5 };

/* What the script draws of a table. Keys that tell rows apart name its curves. */
typedef struct chart {
    const char *title;
    const char *panel; /* a chart for each value of this column; NULL: one chart */
    const char *x;     /* curves over this column; NULL: a strip for each row, along the scale of the values */
    const char *x_title;
    const char *x_scale; /* linear, log, or log2; likewise scale */
    const char *value_title;
    const char *scale;
    measure_t measures[MAX_MEASURES]; /* up to one without a column */
    const char *ignored;              /* key by which values do not differ; NULL: none */
    double reference;                 /* values are compared with this one; 0: with none */
    const char *note;                 /* column that says something about a value; NULL: none */
    const char *singles;              /* column of texts: numbers that a value stands for; NULL: none */
    double resolution;                /* values below it are not known exactly; 0: all are */
} chart_t;

/* page_begin - the head of a page, up to what else its <header> has. page_main - the end of its <header>. */
page_t page_begin(FILE *file, const char *program, const char *title);
void page_main(const page_t *page);

/* page_end - the end of its <main>, and all after it. */
void page_end(page_t *page);

/* page_text - print a text with its special characters escaped. */
void page_text(const page_t *page, const char *text);

/*
 * page_table - print rows as a table that can be sorted: of the columns whose values differ, and before it those that
 * are the same in all rows.
 *
 * caption      of the table
 * first        columns to be shown at once, NULL after the last; others when asked for. NULL: all are shown
 * resolution   times below it are said to be so, in ns; 0: all are exact
 */
void page_table(const page_t *page, const sheet_t *sheet, const char *caption, const char *const *first,
                double resolution);

/* page_folded - likewise, when a reader asks for it. */
void page_folded(const page_t *page, const sheet_t *sheet, const char *title, bool is_printed);

/* page_chart - a chart of a table. Of a table that has several, they follow each other. */
void page_chart(page_t *page, const sheet_t *sheet, const chart_t *chart);

/* page_draw - a chart of another kind, which report.js describes. Takes over the data. */
void page_draw(page_t *page, json_t *data);

#endif
