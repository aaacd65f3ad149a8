/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rows.h - the rows of a variant's launches brought together: what was measured, and one value of each launch.
 */
#ifndef COMPARE_ROWS_H
#define COMPARE_ROWS_H

#include "common/results/source.h"

/* A measured row. */
typedef struct series {
    cell_t *keys;    /* of the columns rows.keys */
    double *logs;    /* by launch: the logarithm of the value, NAN where there is none */
    double mean_log; /* over launches: NAN if one has no value */
    double span_ns;  /* the longest delay of imposed arrivals: the mean over launches, 0 of none */
} series_t;

/* Names, keys and their texts belong to the launches. */
typedef struct rows {
    const variant_t *variant;
    const column_t **keys; /* columns whose role is key, of the first launch */
    int key_count;
    int count;
    series_t *list; /* in the order of the files */
} rows_t;

/*
 * rows_collect - bring together what the launches of a variant measured.
 *
 * variant   outlives the rows
 * column    of the values: times in ns, or what else is greater if it is worse
 * rows      out, to be freed by the caller, after an error too
 *
 * Returns false after a complaint.
 */
bool rows_collect(const variant_t *variant, const char *column, rows_t *rows, char complaint[COMPLAINT_BYTES]);

void rows_free(rows_t *rows);

/* rows_find - the row that has the keys of a row of others, or NULL. */
const series_t *rows_find(const rows_t *rows, const rows_t *others, const series_t *row);

/* rows_key - a key of a row; one without a value if there is none of this name. */
const cell_t *rows_key(const rows_t *rows, const series_t *row, const char *name);

#endif
