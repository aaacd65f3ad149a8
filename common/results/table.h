/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * table.h - the columns of a tool's results, declared once, and rows of them: aligned for people, as comma-separated
 * values or lines of JSON for programs, or kept in memory.
 *
 * Files say in their head what their columns are, so readers need no list of names. --help-columns prints the same.
 */
#ifndef TABLE_H
#define TABLE_H

#include "common/cli/output.h"
#include "common/cli/memory.h"
#include "common/cli/text.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Rows with the same keys were measured alike. Figures are what came out. */
typedef enum column_role { ROLE_KEY, ROLE_FIGURE } column_role_t;
typedef enum column_type { TYPE_TEXT, TYPE_INTEGER, TYPE_NUMBER } column_type_t;
extern const char *const column_roles[], *const column_types[]; /* their names, NULL after the last */

typedef struct column {
    const char *name; /* for programs, with its unit at the end; NULL: only people see it */
    const char *unit; /* "" for none */
    column_role_t role;
    column_type_t type;
    const char *doc;   /* one line */
    const char *title; /* in the table for people; NULL: only programs see it */
    int width;         /* characters, at least two more than the title; 0: in a line below the row */
    int decimals;
    double divisor; /* people see numbers divided by this; 0: as programs do */
} column_t;

/* The columns that a tool may write, and what a row is. */
typedef struct schema {
    const char *name; /* that of the program with hyphens */
    const char *doc;  /* sentences, in lines */
    const column_t *columns;
    int column_count;
    size_t column_bytes; /* from one column to the next: they may be members of an array of something larger */
} schema_t;
/* Of an array of columns. */
#define SCHEMA(name, doc, columns)                                                     \
    {                                                                                  \
        (name), (doc), (columns), sizeof(columns) / sizeof(column_t), sizeof(column_t) \
    }

/* Raised if a column changes its meaning, its name or its unit, or is removed. */
enum { SCHEMA_VERSION = 2 };

typedef struct cell {
    const char *text; /* of a column of texts; "" for no value, of numbers too; NULL: it is a number */
    double number;
} cell_t;

/* text_cell - a text. number_cell - a number; no value, if it is not finite. */
static inline cell_t text_cell(const char *value)
{
    return (cell_t){.text = value};
}

static inline cell_t number_cell(double value)
{
    return (cell_t){isfinite(value) ? NULL : "", value};
}

/* Rows in memory, with texts of their own. */
typedef struct sheet {
    char *schema;
    column_t *columns;
    int column_count;
    int64_t row_count;
    cell_t *cells; /* row by row */
    char **texts;  /* all that were allocated */
    int64_t text_count;
} sheet_t;

typedef struct table {
    const schema_t *schema;
    const column_t *columns; /* of the schema, those that there are */
    int column_count;
    const output_t *output;
    sheet_t *sheet; /* gets the rows, if it is not NULL */
} table_t;

/* A table with all columns of a schema. */
#define TABLE(of_schema, to_output)                                                    \
    {                                                                                  \
        .schema = &(of_schema), .columns = (of_schema).columns, .output = (to_output), \
        .column_count = (of_schema).column_count                                       \
    }

/* What is known of all rows. Longer values, of command lines and of the MPI library's choices, are cut off. */
enum { HEAD_ITEMS = 32, HEAD_BYTES = 2048 };
typedef struct head_item {
    const char *key; /* lower case with underscores */
    char value[HEAD_BYTES];
} head_item_t;
typedef struct head {
    int count;
    head_item_t items[HEAD_ITEMS];
} head_t;

/* head_item - where the value of another item is to be written, which is empty. head_add - print it. */
char *head_item(head_t *head, const char *key);
#define head_add(head, key, ...) text_append(head_item((head), (key)), HEAD_BYTES, __VA_ARGS__)

/*
 * table_head - print the line of titles. For programs, it comes after the schema, the columns, and the items; if there
 * are none, after the version of this package.
 */
void table_head(const table_t *table, const head_item_t *items, int item_count);

/* table_row - print a row of as many cells as there are columns. */
void table_row(const table_t *table, const cell_t *cells);

/* column_value - a number as programs see it: whole, or with so many decimals. *decimals: how many. */
double column_value(const column_t *column, double number, int *decimals);

/* sheet_add - add a row. sheet_text: a copy of a text, which lives as long as the sheet. They end without memory. */
void sheet_add(sheet_t *sheet, const cell_t *cells);
const char *sheet_text(sheet_t *sheet, const char *text);

/* sheet_add_column - before there are rows. Its texts are copied. */
void sheet_add_column(sheet_t *sheet, const column_t *column);

/* sheet_at - the cell of a row in a column. sheet_column - the place of a column, -1 if there is none of this name. */
const cell_t *sheet_at(const sheet_t *sheet, int64_t row, int column);
int sheet_column(const sheet_t *sheet, const char *name);

/* sheet_sort - order the rows by their keys, the first one first. Rows with equal keys stay in their order. */
void sheet_sort(sheet_t *sheet);

/* sheet_free - free all that it has. */
void sheet_free(sheet_t *sheet);

/* cells_equal - whether two cells have the same value. cell_lacks - whether it has none. */
bool cells_equal(const cell_t *a, const cell_t *b);
bool cell_lacks(const cell_t *cell);

/* quote_csv - print a text as a cell of comma-separated values, in quotes if it needs them. */
void quote_csv(FILE *file, const char *text);

#ifdef MH_WITH_JANSSON
#include <jansson.h>

/* json_text - a text as a value of JSON. What is not UTF-8 becomes the replacement character. */
json_t *json_text(const char *text);

/* json_cell - the value of a cell: a text, a whole or another number, or null. */
json_t *json_cell(const column_t *column, const cell_t *cell);

/* json_print - print a value in one line, and free it. */
void json_print(FILE *file, json_t *value);
#endif

#endif
