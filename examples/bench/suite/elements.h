/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * elements.h - the values of messages: numbers that every datatype holds exactly, and that every reduction keeps exact.
 * No MPI.
 */
#ifndef ELEMENTS_H
#define ELEMENTS_H

#include <stdbool.h>
#include <stdint.h>

/* What an element holds. The second is the imaginary part, or the location of a pair; else 0. */
struct number {
    int64_t first;
    int64_t second;
};

/* MPI's groups of datatypes, which say what reductions are defined. Those of TEXT are never reduced. */
enum element_class {
    ELEMENT_TEXT,
    ELEMENT_BYTE,
    ELEMENT_LOGICAL,
    ELEMENT_INTEGER,
    ELEMENT_FLOATING,
    ELEMENT_COMPLEX,
    ELEMENT_PAIR
};

struct element {
    const char *name;
    enum element_class class;
    int bytes;
    int64_t most; /* the greatest number used, 2^k - 1; so are all from 0 on, and the sums of two are exact */
    void (*put)(void *at, struct number number);
    bool (*equals)(const void *at, struct number number);
};

/* element_at - NULL after the last. */
const struct element *element_at(int index);

struct reduction; /* elements.c */

/* element_reduction_at - NULL after the last. */
const struct reduction *element_reduction_at(int index);
const char *element_reduction_name(const struct reduction *reduction);
bool element_reduction_allows(const struct reduction *reduction, const struct element *element);

/* Which values a call has. */
struct values {
    const struct element *element;
    const struct reduction *reduction; /* NULL: the operation does not reduce */
    int ranks;
    int64_t call;
};

/* Who made a block of a result: the values of block `place` of ranks first to last, reduced; none if last < first. */
struct origin {
    int first;
    int last;
    int place;
};

/* values_of - element `index` of block `place` that a rank contributes. */
struct number values_of(const struct values *values, int rank, int place, int64_t index);

/* values_fill - contribute a block of count elements. */
void values_fill(const struct values *values, int rank, int place, void *block, int64_t count);

/* values_wrong - how many of count elements of a result are not what they must be. */
int64_t values_wrong(const struct values *values, const struct origin *origin, const void *block, int64_t count);

#endif /* ELEMENTS_H */
