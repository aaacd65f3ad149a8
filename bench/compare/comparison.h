/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * comparison.h - two variants compared, or the guidelines checked in one: from launches to rows of verdicts.
 */
#ifndef COMPARISON_H
#define COMPARISON_H

#include "bench/compare/noise.h"
#include "bench/compare/pairs.h"
#include "bench/compare/variants.h"

typedef struct comparison {
    /* In. */
    const variants_t *variants;
    rule_t rule;
    const char *column;  /* that is compared */
    double same_percent; /* what counts as the same */
    bool by_guidelines;
    /* Out. */
    rows_t rows[2];
    pairs_t pairs;
    finding_t *findings; /* of the pairs */
    inference_t inference;
    double resolution_ns; /* the largest of the launches' clocks; 0: not known, or a mean, which is finer */
    int hidden;           /* rows that differ by the test, but by no more than the clock's step */
} comparison_t;

/* How mpix_compare decides, unless it is told otherwise. */
#define USUAL_COLUMN "median_ns"
#define USUAL_LEVEL_PERCENT 5
#define USUAL_SAME_PERCENT 5
#define USUAL_PERMUTATIONS 9999
#define USUAL_SEED 1

/* The difference for which it is said how many launches find it. */
#define FOUND_PERCENT 5

/* The columns after the keys, which are those of what is compared. */
extern const schema_t comparison_schema;

/*
 * comparison_make - compare.
 *
 * comparison   what goes in is set; to be freed by the caller, after an error too
 *
 * Returns false after a complaint.
 */
bool comparison_make(comparison_t *comparison, char complaint[COMPLAINT_BYTES]);
void comparison_free(comparison_t *comparison);

/* comparison_print - the head and all rows; in the table of guidelines, those violated. */
void comparison_print(const comparison_t *comparison, const output_t *output);

/* comparison_sheet - all rows, as programs see them. To be freed by the caller. */
sheet_t comparison_sheet(const comparison_t *comparison);

/*
 * comparison_missing - how many launches more of each side would find a difference of FOUND_PERCENT in all rows; 0 if
 * no row is undecided.
 */
int64_t comparison_missing(const comparison_t *comparison);

/* comparison_noise - a sentence if the machine was busy, or launches differ. Returns false, and an empty text, else. */
bool comparison_noise(const comparison_t *comparison, char text[COMPLAINT_BYTES]);

/* comparison_summary - the verdict on all rows in a sentence, which names the variants. */
void comparison_summary(const comparison_t *comparison, char text[COMPLAINT_BYTES]);

#endif
