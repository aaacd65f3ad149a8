/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * verdict.h - what a finding means in words, and for the exit status.
 */
#ifndef VERDICT_H
#define VERDICT_H

#include "compare/inference.h"

typedef enum verdict { VERDICT_FASTER, VERDICT_SLOWER, VERDICT_SAME, VERDICT_UNDECIDED, VERDICTS } verdict_t;

/*
 * verdict_of - by the interval of the ratio: the same if it lies within so many percent of 1, on either side; else
 * faster or slower if it excludes 1; else undecided.
 *
 * same_percent   0: never the same
 */
verdict_t verdict_of(const finding_t *finding, double same_percent);

/* verdict_name - in one word. By a guideline: kept if faster or the same, violated if slower. */
const char *verdict_name(verdict_t verdict, bool by_guideline);

/* The outcome of a limit for all rows. */
typedef enum judgment { JUDGMENT_PASS, JUDGMENT_FAIL, JUDGMENT_UNDECIDED } judgment_t;

/* judge - fail if any interval lies above 1 and so many percent; else pass if all lie below; else undecided. */
judgment_t judge(const finding_t *findings, int count, double limit_percent);

#endif
