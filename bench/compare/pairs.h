/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pairs.h - which rows are compared with which: the same of two variants, or what one library owes by the guidelines of
 * self-consistent performance.
 */
#ifndef PAIRS_H
#define PAIRS_H

#include "bench/compare/inference.h"
#include "bench/compare/rows.h"

/* What is judged, and what it is compared with. */
typedef struct pair {
    const series_t *judged;
    const series_t *base;
} pair_t;

/* Why rows are left out. */
typedef enum reason {
    ONLY_BASE_HAS,
    ONLY_VARIANT_HAS,
    NO_VALUE,      /* in some launch */
    OTHER_ARRIVAL, /* their imposed arrivals differ */
    REASONS
} reason_t;

typedef struct pairs {
    const rows_t *rows[2]; /* of the bases, and of the judged */
    bool in_blocks;
    int count;
    pair_t *list;
    int left_out[REASONS];
    pair_t unlike;   /* the first that is left out for its arrivals */
    double *logs[2]; /* as infer takes them */
} pairs_t;

/* Arrivals differ if the mean over launches of their longest delay differs by more than this. */
#define ARRIVAL_PERCENT 10.0

/*
 * pairs_match - the rows with the same keys in two variants.
 *
 * rows      of the variant that is compared with, and of the one that is judged; they outlive the pairs
 * pairs     out, to be freed by the caller, after an error too
 *
 * Returns false after a complaint, which says what is not comparable.
 */
bool pairs_match(const rows_t rows[2], bool in_blocks, pairs_t *pairs, char complaint[COMPLAINT_BYTES]);

/*
 * pairs_by_guidelines - rows of a variant that are not to be slower than another row of the same launch. The blocks are
 * the launches.
 *
 * As pairs_match.
 */
bool pairs_by_guidelines(const rows_t *rows, pairs_t *pairs, char complaint[COMPLAINT_BYTES]);

/* pairs_explain - say in words that rows were left out for a reason. Returns false where there are none. */
bool pairs_explain(const pairs_t *pairs, reason_t reason, char text[COMPLAINT_BYTES]);

/* pairs_sides - what infer takes. Valid as long as the pairs. */
sides_t pairs_sides(const pairs_t *pairs);

void pairs_free(pairs_t *pairs);

#endif
