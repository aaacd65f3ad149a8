/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table.h - rows for people, aligned, or comma-separated values.
 */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>

struct column {
    const char *title;    /* in the table for people */
    const char *csv_name; /* in comma-separated values, with its unit */
    int width;            /* characters, at least two more than the title */
    int decimals;
};

struct cell {
    const char *text; /* printed where it is not NULL; "" for no value */
    double number;
};

struct table {
    const struct column *columns;
    int column_count;
    bool csv;
};

/* table_head - print the line of titles. */
void table_head(const struct table *table);

/* table_row - print a row of as many cells as there are columns. */
void table_row(const struct table *table, const struct cell *cells);

#endif /* TABLE_H */
