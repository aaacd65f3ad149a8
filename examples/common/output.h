/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * output.h - what programs write: always as in the C locale, and never lost without a word. Results are a table, a row
 * for each single measurement, and a chart.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "plot.h"

#include <stdint.h>

typedef enum output_format { FORMAT_TABLE, FORMAT_CSV, FORMAT_JSON } output_format_t;
extern const char *const output_formats[]; /* their names, NULL after the last */

/* Where results go. Part of a program's settings: the options fill in all but the file. */
typedef struct output {
    int64_t format;   /* output_format_t */
    const char *path; /* NULL: standard output. Of use on rank 0 only */
    FILE *file;
} output_t;

/* The lines of a program's options table for a output_t at an offset in its settings. */
#define OUTPUT_OPTIONS(place)                                                                                       \
    OPTION(0, "format", "FORMAT", OPTION_CHOICE, (place) + offsetof(output_t, format), 0, 0, NAMES(output_formats), \
           "table", "table, csv, or json (a line for each row)"),                                                   \
        FILE_OPTION("output", (place) + offsetof(output_t, path), "write to FILE, not to standard output")

/*
 * output_begin - before anything else in main. Numbers are then read and written with a decimal point, whatever locale
 * libraries set. A standard stream that is closed cannot be taken for another file later; writing to it fails.
 */
void output_begin(void);

/*
 * output_finish - close a file (standard output is only flushed) and look whether all of it was written. Returns true,
 * or false after one line on standard error that names the program and the path.
 */
bool output_finish(FILE *file, const char *path, const char *program);

/* ---- Rows for people, aligned, or for programs: comma-separated values, or lines of JSON */

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
    const char *schema; /* its name for programs, that of the program with hyphens */
} table_t;

/*
 * table_head - print the line of titles. For programs, what the rows are comes before: a comment with the schema, or a
 * line of JSON with the schema and the version of this package.
 */
void table_head(const table_t *table);

/*
 * schema_begin - begin the first line of JSON: its schema and the object of what is known of all rows, which the caller
 * closes with "}}\n".
 */
void schema_begin(FILE *file, const char *schema);

/* table_row - print a row of as many cells as there are columns. */
void table_row(const table_t *table, const cell_t *cells);

/* quote_json - print a text as a string. What is not UTF-8 becomes the replacement character. */
void quote_json(FILE *file, const char *text);

/* quote_csv - print a text as a cell of comma-separated values, in quotes if it needs them. */
void quote_csv(FILE *file, const char *text);

/* ---- All results of a program */

/* Part of a program's settings: the options fill in formats and paths. */
typedef struct results {
    output_t output;
    output_t raw; /* its file is NULL if there is none */
    const char *plot_path;
    plot_file_t plot;
} results_t;

/* The lines of a program's options table for a results_t at an offset in its settings. */
#define RESULTS_OPTIONS(place, raw_doc)                                                             \
    OUTPUT_OPTIONS((place) + offsetof(results_t, output)),                                          \
        FILE_OPTION("raw", (place) + offsetof(results_t, raw) + offsetof(output_t, path), raw_doc), \
        PLOT_OPTION((place) + offsetof(results_t, plot_path))

/* results_open - open all files before anything is measured. Collective. Returns a status, after a line if bad. */
int results_open(results_t *results, const world_t *world, const plot_chart_t *chart);

/* results_close - draw the chart, close all. Returns the status, or STATUS_FAILED after a line if that failed. */
int results_close(results_t *results, const world_t *world, int status);

/* text_append - print to the end of a text, as far as there is room in its array of so many bytes. */
void text_append(char *text, size_t text_bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif /* OUTPUT_H */
