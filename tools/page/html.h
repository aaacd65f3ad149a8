/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * html.h - pages, texts and tables in HTML. Nothing that comes from a file is ever markup.
 */
#ifndef HTML_H
#define HTML_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* report.css and report.js; make writes the file that defines them. */
extern const char report_css[];
extern const char report_js[];

/* html_begin - the head of a page, up to what else its <header> has. program: that makes the page. */
void html_begin(FILE *file, const char *program, const char *title);

/* html_end - the end of a page: of its <main>, and all after it. */
void html_end(FILE *file, const char *program);

/* html_text - print a text with its special characters escaped. */
void html_text(FILE *file, const char *text);

/*
 * html_table - print rows as a table that can be sorted: of the columns whose values differ, and before it those that
 * are the same in all rows.
 *
 * rows      an array of objects
 * caption   of the table
 * first     columns to be shown at once, NULL after the last; others when asked for. NULL: all are shown
 */
void html_table(FILE *file, const json_t *rows, const char *caption, const char *const *first);

#endif
