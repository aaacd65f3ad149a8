/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * choose.h - which candidate is used for which sizes: where the evidence separates it from the library's own choice by
 * a gain that is worth a rule. Pure.
 */
#ifndef TUNE_CHOOSE_H
#define TUNE_CHOOSE_H

#include <stdbool.h>

/* Of a candidate at a size: its time by that of the library's own choice; of several arrivals, the least gain. */
typedef struct evidence {
    double ratio, low, high; /* 0: not measured */
    bool differs;            /* by the test, at a level divided by the number of candidates, with each arrival */
    bool is_slower;          /* by the test, with some arrival */
} evidence_t;

/* evidence_add - what was found with another arrival. */
void evidence_add(evidence_t *evidence, const evidence_t *other);

/* Sizes by index, both included. */
typedef struct choice {
    int first, last;
    int candidate;
} choice_t;

/*
 * choose_screened - which candidates deserve fresh launches: at each size, those that are the best two of the screening
 * and gain at least half of what is worth a rule.
 *
 * all         [candidate * sizes + size]
 * is_chosen   out: for each candidate
 *
 * Returns how many.
 */
int choose_screened(const evidence_t *all, int candidates, int sizes, double min_gain, bool *is_chosen);

/*
 * choose - ranges of sizes. Neighboring sizes are one range if one candidate is chosen for both and nothing separates
 * it from the best at either.
 *
 * is_allowed   for each size, whether a rule can hold; NULL: all
 * choices      out: room for one of each size
 *
 * Returns how many there are, in the order of sizes.
 */
int choose(const evidence_t *all, int candidates, int sizes, double min_gain, const bool *is_allowed,
           choice_t *choices);

#endif
