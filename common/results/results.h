/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * results.h - reading what the programs wrote with --format json. By Jansson.
 */
#ifndef RESULTS_H
#define RESULTS_H

#include "common/results/table.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* A file of results. */
typedef struct result_file {
    json_t *provenance; /* object: how the results came about, texts by name */
    sheet_t sheet;      /* with the columns that the head of the file declares */
    bool is_foreign;    /* it could be read, but does not begin as results do, or as wanted ones */
} result_file_t;

/* The name of a file that is no results, but says what the files beside it are. */
extern const char manifest_name[];

/* Room for one line about what is wrong with a file. */
enum { COMPLAINT_BYTES = 1024 };

/*
 * result_file_read - read a file of lines of JSON.
 *
 * All of it has to be there: a torn line is an error. All values are of the columns that the head declares, and of
 * their types.
 *
 * path        of the file
 * file        out, to be freed by the caller, after an error too
 * complaint   out, after an error: one line that names the file and, if there is one, the line
 *
 * Returns whether it could be read.
 */
bool result_file_read(const char *path, result_file_t *file, char complaint[COMPLAINT_BYTES]);

/* result_text_read - the same of a text, which is written over. name: in complaints. */
bool result_text_read(char *text, const char *name, result_file_t *file, char complaint[COMPLAINT_BYTES]);

/* result_file_free - free what was read; of an empty one nothing. */
void result_file_free(result_file_t *file);

/* cell_write - a value as text: "" for none. Cut off if it is too long. */
enum { CELL_BYTES = 256 };
void cell_write(const cell_t *cell, char text[CELL_BYTES]);

/* text_at - the text that an object has at a key, "" for none. */
const char *text_at(const json_t *object, const char *key);

/*
 * complain - write a complaint, without the ends of lines that may be in what it names.
 *
 * Returns false, so that callers can return its result.
 */
bool complain(char complaint[COMPLAINT_BYTES], const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * json_clean - a value with the texts and keys in it as text_clean leaves them, with ends of lines in texts. For what
 * comes from files. value, which may be NULL, is given away.
 */
json_t *json_clean(json_t *value);

#endif
