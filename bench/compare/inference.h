/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inference.h - what can be said of two sides that were measured in several launches: ratios, their intervals, and a
 * test of all rows together. Pure.
 *
 * A launch gives one value for each row: its logarithm is compared. Launches differ from each other by more than the
 * samples within them do, so a launch counts once, however many samples it has.
 *
 * The test is by permutation of the labels of launches, of all rows at once. Where launches come in blocks, one of each
 * side, labels change places within blocks: that is exact whatever the noise is, and even if it drifts, if the order
 * within each block was random. A row's statistic is Student's t. Its p is the share of permutations in which the
 * largest t of any row is not less, where rows with a greater t are left out (step-down max-T, after Westfall and
 * Young): the chance of any false verdict in all rows together is limited, and rows may depend on each other.
 *
 * Without blocks, all labels change places, and t is Welch's, as the sides may differ in number and deviation. If they
 * differ in deviation, the test by permutation holds for many launches only. There p is at least that of Welch's test
 * with the correction of Bonferroni.
 *
 * The interval is the mean and so many standard errors as the largest of three: the test's limit, if the row did not
 * pass it; the same test's limit of all rows when each is centered on its own mean, which is how far estimates stray
 * when there are differences; and Student's t, in blocks for one row, else for all. It contains no difference exactly
 * if the test does not find one.
 */
#ifndef INFERENCE_H
#define INFERENCE_H

#include <stdbool.h>
#include <stdint.h>

/* Side 0 is the reference, side 1 is judged. */
typedef struct sides {
    int rows;
    int launches[2];
    bool in_blocks;        /* launch i of both is block i, so there are as many of both */
    const double *logs[2]; /* [row * launches + launch] */
} sides_t;

typedef struct rule {
    double level;         /* the probability that any row differs by the test where none does in truth */
    uint64_t seed;        /* of permutations that are drawn, as there are too many */
    int64_t permutations; /* how many are drawn */
} rule_t;

/* Of a row; logarithms of side 1 / side 0. */
typedef struct finding {
    double log_ratio;
    double low, high; /* the interval, corrected for all rows; infinite if no verdict is possible */
    double p;         /* corrected likewise */
    double deviation; /* between blocks, else between launches: root mean square of both sides; NAN: not known */
    double error;     /* standard error of log_ratio */
    double freedom;   /* its degrees of freedom; 0: the deviation is not known */
    double freedom_per_launch; /* with as many of each side, what each but the first adds: from 1 to 2 */
    bool differs;              /* p is at most the level */
} finding_t;

/* How the test was made. */
typedef struct inference {
    int64_t permutations; /* that were looked at; of those that differ in sign only, one */
    bool is_exact;        /* all that there are */
    bool can_decide;      /* there are enough for the level */
    bool lacks_launches;  /* if it cannot decide: more permutations would not help */
    double row_level;     /* that of a test of one row alone that is as strict */
} inference_t;

/*
 * infer - compare the sides.
 *
 * sides     at least one row, and one launch of each side
 * rule      level above 0 and below 1
 * findings  out: one for each row
 *
 * Returns false where memory lacks.
 */
bool infer(const sides_t *sides, const rule_t *rule, finding_t *findings, inference_t *inference);

/* What a finding means in words. */
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

/*
 * launches_needed - how many of each side would find a difference in a row with a probability of 80 %.
 *
 * sides          what was compared
 * inference      as infer gave it
 * finding        of the row. For its deviation the upper limit of 80 % confidence is taken
 * log_ratio      the difference, above 0
 *
 * Returns the number, or 0 where the deviation is not known: with one launch of a side.
 */
int64_t launches_needed(const sides_t *sides, const inference_t *inference, const finding_t *finding, double log_ratio);

#endif
