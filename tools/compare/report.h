/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report.h - what mpix_compare prints.
 */
#ifndef COMPARE_REPORT_H
#define COMPARE_REPORT_H

#include "common/output.h"
#include "compare/pairs.h"
#include "compare/verdict.h"

typedef struct comparison {
    const pairs_t *pairs;
    const variants_t *variants;
    const finding_t *findings; /* of the pairs */
    inference_t inference;
    rule_t rule;
    const char *column;  /* that is compared */
    double same_percent; /* what counts as the same */
    bool by_guidelines;
} comparison_t;

/* The difference for which an undecided row states the number of launches. */
#define FOUND_PERCENT 5.0

/* report_comparison - the head and all rows; in the table of guidelines, those violated. */
void report_comparison(const comparison_t *comparison, const output_t *output);

/* min_launches - how many launches of each side allow a verdict at all. */
int min_launches(const comparison_t *comparison);

#endif
