/* SPDX-License-Identifier: BSD-3-Clause */
/* report.h - files of results, folders and campaigns as a page: which results there are, and what it shows of each. */
#ifndef PAGE_REPORT_H
#define PAGE_REPORT_H

#include "page/page.h"
#include "results/source.h"

#include <stdio.h>

enum { MAX_CHARTS = 3, MAX_NAMES = 32 };

typedef struct kind {
    const char *schema;
    const char *title;
    const char *text;             /* what the reader has to know about the figures */
    const char *first[MAX_NAMES]; /* columns to be seen at once in tables, up to NULL; none: all */
    chart_t charts[MAX_CHARTS];   /* up to one without a title */
} kind_t;

/* kind_of - the kind of a schema, or NULL. */
const kind_t *kind_of(const char *schema);

/* report_print - print the page: verdicts first, then a section for each kind of results. */
void report_print(FILE *file, const source_t *sources, int count, const char *title);

/* report_wants - whether files of a schema can be reported. */
bool report_wants(const char *schema);

#endif
