/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rows.h - what rows of results say together: rows are objects of JSON, an array of them a table.
 */
#ifndef ROWS_H
#define ROWS_H

#include "results/results.h"

/* The column that says which file a row is from. It is a key only if no other column distinguishes rows. */
extern const char rows_file_column[];

/* text_value - a text from the system as a value of JSON. What is not ASCII becomes ? if it is not UTF-8. */
json_t *text_value(const char *text);

/* row_number - a number of a row, NAN where there is none. */
double row_number(const json_t *row, const char *column);

/* rows_columns - the columns of all rows, in their order, as the keys of an object. The caller frees it. */
json_t *rows_columns(const json_t *rows);

/* rows_differ - whether a column has more than one value. */
bool rows_differ(const json_t *rows, const char *column);

/*
 * rows_keys - the least list of columns, in their order, by which rows are told apart as by all columns that are keys.
 *
 * is_key   whether a column is one, with what the caller passes it
 *
 * Returns an array of names. The caller frees it.
 */
json_t *rows_keys(const json_t *rows, bool (*is_key)(const json_t *rows, const char *column, const void *passed),
                  const void *passed);

/* row_label - the values of a row's keys, with commas between. The caller frees it, by free. */
char *row_label(const json_t *row, const json_t *keys);

/*
 * rows_split - sort rows into groups by what is the same in some columns.
 *
 * Returns an object: an array of rows by each label, in their order. The caller frees it.
 */
json_t *rows_split(const json_t *rows, const json_t *keys);

#endif
