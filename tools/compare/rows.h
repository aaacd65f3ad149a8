/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rows.h - the rows of a variant's launches brought together: what was measured, and one value of each launch.
 *
 * The columns before the column valid say what was measured: operation, ranks, size and all else that a time depends
 * on. They are the keys of a row.
 */
#ifndef ROWS_H
#define ROWS_H

#include "compare/launches.h"

/* A measured row. */
typedef struct series {
    json_t *keys;   /* texts by name, in the order of the columns; "" for none */
    double *logs;   /* by launch: the logarithm of the value, NAN where there is none */
    double span_ns; /* of the imposed arrivals: the sum over launches, 0 of none */
} series_t;

typedef struct rows {
    const variant_t *variant;
    int count;
    series_t *list; /* in the order of the files */
    json_t *index;  /* by the text of all keys, a row's place */
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

/* rows_find - the row with these keys, or NULL. */
const series_t *rows_find(const rows_t *rows, const json_t *keys);

/* rows_key - the text of a key, "" where there is none. */
const char *rows_key(const series_t *row, const char *name);

/* rows_is_complete - whether there is a value of every launch. */
bool rows_is_complete(const rows_t *rows, const series_t *row);

/* rows_mean_log - the mean over launches of a complete row. */
double rows_mean_log(const rows_t *rows, const series_t *row);

/* rows_mean_span_ns - likewise of the longest delay of imposed arrivals. */
double rows_mean_span_ns(const rows_t *rows, const series_t *row);

#endif
