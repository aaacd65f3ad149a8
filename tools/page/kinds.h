/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kinds.h - the results that there are, and what a report shows of each.
 */
#ifndef KINDS_H
#define KINDS_H

#include "page/page.h"

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

#endif
