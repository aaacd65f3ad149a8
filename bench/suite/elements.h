/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * elements.h - datatypes, reductions, and the values of messages: numbers that every datatype holds exactly, and that
 * every reduction keeps exact. No MPI but for handles.
 */
#ifndef ELEMENTS_H
#define ELEMENTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* What an element holds. The second is the imaginary part, or the location of a pair; else 0. */
typedef struct number {
    int64_t first;
    int64_t second;
} number_t;

/* MPI's groups of datatypes, which say what reductions are defined. Those of TEXT are never reduced. */
typedef enum element_class {
    ELEMENT_TEXT,
    ELEMENT_BYTE,
    ELEMENT_LOGICAL,
    ELEMENT_INTEGER,
    ELEMENT_FLOATING,
    ELEMENT_COMPLEX,
    ELEMENT_PAIR
} element_class_t;

/* A number of C. */
typedef struct scalar {
    int bytes;
    void (*put)(void *at, int64_t number);
    bool (*equals)(const void *at, int64_t number);
} scalar_t;

typedef struct element {
    const char *name; /* MPI's in lower case, as OSU's --type has it */
    MPI_Datatype type;
    element_class_t class;
    int bytes;
    int64_t max; /* the largest number used, 2^k - 1; so are all from 0 on, and the sums of two are exact */
    const scalar_t *first;
    const scalar_t *second; /* NULL: there is none */
} element_t;

/* Those of --type; the last has no name. */
extern const element_t datatypes[];

typedef enum contribution { GIVES_TERM, GIVES_FACTOR, GIVES_ANY, GIVES_TRUTH, GIVES_PLACE } contribution_t;
typedef enum combination { BY_SUM, BY_PRODUCT, BY_MAX, BY_MIN, BY_AND, BY_OR, BY_XOR, BY_COMPOSITION } combination_t;

typedef struct reduction {
    const char *name;
    MPI_Op op;
    unsigned classes; /* bit i: defined on class i */
    int contributors; /* who give another than the neutral number, at most; or EVERYONE */
    int64_t neutral;  /* or ALL_BITS */
    contribution_t contribution;
    combination_t combination;
} reduction_t;

enum { EVERYONE = 0 };

/* Those of --op; the last has no name. */
extern const reduction_t reductions[];

/*
 * numbers_compose - what BY_COMPOSITION is, which does not commute: numbers are functions x -> a x + b, with a and b in
 * their halves.
 */
uint64_t numbers_compose(uint64_t outer, uint64_t inner);

/* element_named, reduction_named - the one of this name, which is there. */
const element_t *element_named(const char *name);
const reduction_t *reduction_named(const char *name);

/* reduction_allows - whether MPI defines a reduction on a datatype. */
bool reduction_allows(const reduction_t *reduction, const element_t *element);

/* Which values a call has. */
typedef struct values {
    const element_t *element;
    const reduction_t *reduction; /* NULL: the operation does not reduce */
    int ranks;
    int64_t call;
} values_t;

/* Who made a block of a result: the values of block `place` of ranks first to last, reduced; none if last < first. */
typedef struct origin {
    int first;
    int last;
    int place;
    int step;      /* from one of these ranks to the next; 0: 1 */
    int64_t index; /* of the first element that is compared */
} origin_t;

/* values_of - element `index` of block `place` that a rank contributes. */
number_t values_of(const values_t *values, int rank, int place, int64_t index);

/* values_fill - contribute a block of count elements. */
void values_fill(const values_t *values, int rank, int place, void *block, int64_t count);

/* values_wrong - how many of count elements of a result are not what they must be. */
int64_t values_wrong(const values_t *values, const origin_t *origin, const void *block, int64_t count);

#endif
