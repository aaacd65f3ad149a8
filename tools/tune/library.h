/* SPDX-License-Identifier: BSD-3-Clause */
/* library.h - what differs between MPI libraries: their algorithms, the form of their tuning files, and proofs. */
#ifndef TUNE_LIBRARY_H
#define TUNE_LIBRARY_H

#include "tune/tune.h"

enum { BEFORE_BYTES = 512 };

/* What a launch with a file shows at one size. */
typedef enum sight { SIGHT_RULE, SIGHT_USUAL, SIGHT_UNKNOWN } sight_t;

typedef struct library {
    const char *name;
    const char *suffix; /* of tuning files */

    /* Whether the library's own text names it. */
    bool (*is_it)(const char *version);

    /* Say what goes before the algorithms of rules, so that these may hold for nothing. Nothing said: nothing does. */
    void (*find_before)(const tune_t *tune, char before[BEFORE_BYTES]);

    /* Find the candidates. False after a complaint, which says why there are none. */
    bool (*enumerate)(tune_t *tune, char complaint[COMPLAINT_BYTES]);

    /* The smallest size for which a rule can hold; NULL: any. */
    int64_t (*min_bytes)(const tune_t *tune);

    /*
     * Write a file with ranges for exactly the ranks of the tuning, and if they are on several nodes, what has to be
     * beside it. False after a complaint.
     */
    bool (*write)(const tune_t *tune, const range_t *ranges, int count, const char *path,
                  char complaint[COMPLAINT_BYTES]);

    /* Add the variables that make the library read a file. */
    void (*set_environment)(json_t *environment, const char *file);

    /*
     * See whether a range's candidate is used at one size, if the file is in force.
     *
     * ranges   of the file
     * which    the range, whose candidate is expected or not
     * ranks    may be others than those of the tuning
     */
    sight_t (*look)(const tune_t *tune, const char *file, int which, int64_t bytes, int64_t ranks);
} library_t;

extern const library_t library_mpich, library_open_mpi;

#endif
