/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * description.h - what a campaign compares: its variants, from a file or from the command line. No MPI.
 *
 * Each variant is said in words:
 *
 *     [NAME:] [VARIABLE=VALUE]... COMMAND [ARGUMENT]...
 *
 * In a file it is a line, and has a name. On the command line, variants are separated by --, and those without a name
 * are A, B, C and so on. The line of the name * has what all lines after it share: variables, and the command of
 * those that name none.
 */
#ifndef DESCRIPTION_H
#define DESCRIPTION_H

#include <jansson.h>
#include <stdbool.h>

enum { MAX_VARIANTS = 64, MAX_NAME_BYTES = 64 };

/*
 * description_of_words, description_of_file - the variants, as the manifest has them: an array of objects with the keys
 * name, command (an array of words) and environment (an object of texts).
 *
 * program   for messages
 *
 * Returns the array, which the caller owns; or NULL after one line on standard error.
 */
json_t *description_of_words(const char *program, int count, char **words);
json_t *description_of_file(const char *program, const char *path);

/* description_allows_name - whether a variant may have this name, which is a folder's, too. */
bool description_allows_name(const char *name);

#endif
