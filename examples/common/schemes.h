/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * schemes.h - the ways to synchronise processes before what is measured.
 */
#ifndef SCHEMES_H
#define SCHEMES_H

#include <mpi.h>

enum scheme_index { SCHEME_BARRIER, SCHEME_HARMONIZE, SCHEME_NONE, SCHEME_COUNT };

/* How many of them release processes, so that there is a skew to measure: the first ones. */
enum { RELEASING_SCHEMES = SCHEME_NONE };

struct scheme {
    const char *name;
    const char *call;                          /* the function behind it, for messages */
    const char *cadence;                       /* how operations follow each other when it is called before each */
    int (*release)(MPI_Comm comm, int *valid); /* valid: whether this process may use what it measures next */
};

extern const struct scheme schemes[SCHEME_COUNT];

/* scheme_name - the name of a scheme, NULL after the last. */
const char *scheme_name(int index);

/* releasing_scheme_name - the same for those that release processes. */
const char *releasing_scheme_name(int index);

#endif /* SCHEMES_H */
