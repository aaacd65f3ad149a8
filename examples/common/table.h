/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table.h - rows for people, aligned, or for programs: comma-separated values, or lines of JSON.
 */
#ifndef TABLE_H
#define TABLE_H

#include "output.h"

typedef struct column {
    const char *title; /* in the table for people */
    const char *name;  /* for programs, with its unit */
    int width;         /* characters, at least two more than the title */
    int decimals;
    double unit; /* people see numbers divided by this, programs see whole ones; 0: both see the same */
} column_t;

typedef struct cell {
    const char *text; /* printed if it is not NULL; "" for no value */
    double number;
} cell_t;

typedef struct table {
    const column_t *columns;
    int column_count;
    const output_t *output;
} table_t;

/* table_head - print the line of titles; JSON has none. */
void table_head(const table_t *table);

/* table_row - print a row of as many cells as there are columns. */
void table_row(const table_t *table, const cell_t *cells);

/* quote_json - print a text as a string. What is not UTF-8 becomes the replacement character. */
void quote_json(FILE *file, const char *text);

#endif /* TABLE_H */
