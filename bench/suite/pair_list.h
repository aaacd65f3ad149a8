/* SPDX-License-Identifier: BSD-3-Clause */
/* pair_list.h - files of two numbers in each line. No MPI. */
#ifndef PAIR_LIST_H
#define PAIR_LIST_H

#include <stdbool.h>
#include <stdint.h>

enum { PAIR_LIST_WHY_BYTES = 300, PAIR_LIST_PATH_BYTES = 256 };

typedef struct number_pair {
    int first;
    int second;
} number_pair_t;

typedef struct pair_list {
    char path[PAIR_LIST_PATH_BYTES]; /* on rank 0 */
    int64_t count;
    number_pair_t *pairs;
} pair_list_t;

/* Those of all files that jobs name, each read once. All zero: none. */
typedef struct pair_lists {
    int64_t count;
    pair_list_t *items;
} pair_lists_t;

/*
 * pair_lists_read - read a file, which has at least a pair, unless its list is there. A # begins a comment.
 *
 * lists   to be freed by pair_lists_free, also after an error
 * place   out: of the list of the file
 * path    shorter than PAIR_LIST_PATH_BYTES
 * what    the numbers are called, as in "SOURCE, DESTINATION"
 * why     out: one clause that names the file, what is wrong, and what is allowed
 */
bool pair_lists_read(pair_lists_t *lists, int *place, const char *path, const char *what,
                     char why[PAIR_LIST_WHY_BYTES]);

void pair_lists_free(pair_lists_t *lists);

/* number_read - read a whole number from 0 to max at *text, and move on behind it. Returns -1 if there is none. */
int64_t number_read(const char **text, int64_t max);

#endif
