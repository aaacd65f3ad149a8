/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page.h - pages of HTML that need no other file: texts, tables, and charts. Nothing that comes from a file is ever
 * markup.
 *
 * Tables are complete without scripts. A chart is data in the page, which the script in the page draws.
 */
#ifndef PAGE_H
#define PAGE_H

#include "common/results/table.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* The files of these names; make writes the file that defines them. */
extern const char report_css[], report_js[];

typedef struct page {
    FILE *file;
    const char *program; /* that makes it */
    json_t *data;        /* for the script: arrays "tables" and "charts" */
} page_t;

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

/*
 * page_charts - what the script draws of a table. Keys that tell rows apart name its curves.
 *
 * charts   takes over an array of objects:
 *   title, valueTitle  texts
 *   scale              of values: linear (if it is not there), log, or log2; likewise xScale
 *   panel              a chart for each value of this column; not there: one chart
 *   x, xTitle          curves over this column; not there: a strip for each row, along the scale of the values
 *   isCurve            a curve over x, even if x has one value, with points that show under the pointer
 *   isRelative         values are drawn minus the first of their curve
 *   measures           each a curve, or a mark in each strip: { column, title, low, high }, of which the last two are
 *                      columns of an interval around it, if they are there
 *   ignored            a key by which values do not differ
 *   without            rows that have a value in this column are left out
 *   type, y, yTitle    map: a cell for each value, at the places that columns x and y say, without most of the above
 *   reference          values are compared with this one
 *   note               a column that says something about a value
 *   singles            of each row of the table, numbers that its value stands for
 *   resolution         values below it, in ns, are not known exactly
 */
void page_charts(page_t *page, const sheet_t *sheet, json_t *charts);

/* page_draw - a chart of another kind, which report.js describes. Takes over the data. */
void page_draw(page_t *page, json_t *data);

#endif
