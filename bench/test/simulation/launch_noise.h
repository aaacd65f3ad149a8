/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch_noise.h - campaigns that were never run: what launches of two variants would have measured, with noise of
 * several kinds between launches, of which the truth is known.
 *
 * Launches come one after the other in time. In each block, both variants are launched in random order. Of the rows of
 * a launch half of the variance is common to all.
 */
#ifndef LAUNCH_NOISE_H
#define LAUNCH_NOISE_H

#include "bench/compare/inference.h"
#include "unit/support.h"

typedef enum noise {
    NOISE_NORMAL,
    NOISE_BIMODAL, /* a launch is fast or slow, in each half of the rows */
    NOISE_HEAVY,   /* of Student's t with 2 degrees of freedom: some launches are far off, the variance infinite */
    NOISE_AUTOCORRELATED, /* each launch resembles the one before it */
    NOISE_DRIFTING,       /* all becomes slower while the campaign goes on, each row at its own rate */
    NOISE_MEASURED,       /* as in campaigns that were run: most launches are alike, a few are disturbed */
    NOISES
} noise_t;

extern const char *const noise_names[NOISES];

typedef struct campaign {
    int rows;
    int blocks;
    noise_t noise;
    double deviation; /* between launches, of logarithms */
    double log_ratio; /* of variant 1 to variant 0 in truth, in the first rows. In all others they are the same */
    int different_rows;
    double *logs[2]; /* variants; room for [row * blocks + block] */
} campaign_t;

/* campaign_make - take room for the logarithms; the caller frees both. Ends the program where memory lacks. */
void campaign_make(campaign_t *campaign);
void campaign_free(campaign_t *campaign);

/* make_campaign - measure. */
void make_campaign(const campaign_t *campaign, chance *dice);

/* campaign_sides - what was measured, to be compared. */
sides_t campaign_sides(const campaign_t *campaign);

/* The first launches of a campaign, as those of two sides that differ in number and in deviation. */
typedef struct part {
    int launches[2];
    double factors[2]; /* of the logarithms */
} part_t;

/* part_take - what was measured there, without blocks. logs: room as in the campaign, for both sides. */
sides_t part_take(const part_t *part, const campaign_t *campaign, double *logs[2]);

/*
 * pooled_test_errs - whether the samples of all launches together, taken for independent, would tell the variants apart
 * in any row: by a t test with the correction of Bonferroni.
 *
 * samples   of each row in each launch
 * spread    deviation of logarithms within a launch
 */
bool pooled_test_errs(const campaign_t *campaign, int samples, double spread, double level, chance *dice);

#endif
