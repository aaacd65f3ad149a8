/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * output.h - what programs write: always as in the C locale, and never lost without a word.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include "common/cli/options.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef enum output_format { FORMAT_TABLE, FORMAT_CSV, FORMAT_JSON } output_format_t;
extern const char *const output_formats[]; /* their names, NULL after the last */

/* Where results go. Part of a program's settings: the options fill in all but the file. */
typedef struct output {
    int64_t format;   /* output_format_t */
    const char *path; /* NULL: standard output. Of use on rank 0 only */
    FILE *file;
    bool is_buffered; /* rows need not be written at once */
} output_t;

/* The lines of a program's options table for a output_t at an offset in its settings. */
#define FORMAT_OPTION(its_place, its_more)                                                                           \
    OPTION(0, "format", "FORMAT", OPTION_CHOICE, its_place, .names = NAMES(output_formats), .default_text = "table", \
           .doc = "in which format the results are",                                                                 \
           .more = "`table` is for people, `csv` is comma-separated values after comment lines, `json` one JSON "    \
                   "object in each line, the first of which has the head. "                                          \
                   "In the last two, times are in nanoseconds." its_more)
#define FILE_OPTION(its_letter, its_name, its_place, ...) \
    OPTION(its_letter, its_name, "FILE", OPTION_TEXT, its_place, __VA_ARGS__)
#define OUTPUT_OPTIONS(place)                                          \
    FORMAT_OPTION((place) + offsetof(output_t, format), ""),           \
        FILE_OPTION('o', "output", (place) + offsetof(output_t, path), \
                    .doc = "write to FILE instead of standard output")

/*
 * output_begin - before anything else in main. Numbers are then read and written with a decimal point, whatever locale
 * libraries set. A standard stream that is closed cannot be taken for another file later; writing to it fails. A line
 * on standard error is written at once.
 */
void output_begin(void);

/* output_flush - let what was printed so far go to the file. Returns whether all of it could be written. */
bool output_flush(FILE *file);

/* An option that names a file to be written, and the path; NULL: it was not given. */
typedef struct output_option {
    const char *name;
    const char *path;
} output_option_t;

/*
 * outputs_check - whether each option has a file of its own that can be written, before the first of them is emptied.
 * Returns true, or false after a line on standard error.
 */
bool outputs_check(const output_option_t *options, int count, const char *program);

/*
 * output_folder - make the folder of an option, or see that files can be made in it, before results are printed.
 * Returns false after a line on standard error.
 */
bool output_folder(const char *path, const char *option, const char *program);

/*
 * output_create - open the file of an option for writing; standard output for no path. Returns NULL after one line on
 * standard error.
 */
FILE *output_create(const char *path, const char *option, const char *program);

/*
 * output_finish - close a file (standard output is only flushed) and look whether all of it was written. Returns true,
 * or false after one line on standard error that names the program and the path.
 */
bool output_finish(FILE *file, const char *path, const char *program);

/* output_answer - the exit status of a program whose options were bad, or which has printed what they asked for. */
int output_answer(options_outcome_t outcome, const char *program);

/* output_columns - the width of the terminal that a file is, or so many columns. */
int output_columns(FILE *file, int usual);

#endif
