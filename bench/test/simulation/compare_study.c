/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compare_study.c - how often mpix_compare is wrong, and how often it finds what is there, where the truth is known.
 *
 * Prints tables: of comparisons of a thing with itself, those with a verdict in any row; and of differences of 5 % in
 * one row, those found with as many launches as a first campaign predicted. MH_SEED=N sets another seed.
 *
 * Usage: compare_study [same|sides [FIRST LINE]|power]
 */
#include "bench/compare/distributions.h"
#include "bench/compare/inference.h"
#include "launch_noise.h"

#include <time.h>

enum {
    ROWS = 20,
    BLOCKS = 10,
    MAX_LAUNCHES = 30,
    COMPARISONS = 2000,
    TRIALS = 400,
    SAMPLES = 50,
    POOLED_COMPARISONS = 200,
    PERMUTATIONS = 1999
};
#define LEVEL 0.05
#define DIFFERENCE 0.05
#define SPREAD 0.05 /* of samples within a launch */

static const rule_t rule = {.level = LEVEL, .seed = 1, .permutations = PERMUTATIONS};

static void infer_sides(const sides_t *sides, finding_t *findings, inference_t *inference)
{
    if (!infer(sides, &rule, findings, inference))
        abort();
}

static void infer_or_end(const campaign_t *campaign, finding_t *findings, inference_t *inference)
{
    sides_t sides = campaign_sides(campaign);
    infer_sides(&sides, findings, inference);
}

static bool any_differs(const sides_t *sides)
{
    finding_t findings[ROWS];
    inference_t inference;
    infer_sides(sides, findings, &inference);
    for (int row = 0; row < sides->rows; row++)
        if (findings[row].differs)
            return true;
    return false;
}

/* Where all rows differ by just as much as does not count: how often any is called the same. */
static void compare_at_margin(noise_t noise, double deviation)
{
    campaign_t campaign = {.rows = ROWS,
                           .blocks = BLOCKS,
                           .noise = noise,
                           .deviation = deviation,
                           .log_ratio = log1p(DIFFERENCE),
                           .different_rows = ROWS};
    int wrong = 0;
    campaign_make(&campaign);
    for (int i = 0; i < COMPARISONS; i++) {
        chance dice = chance_of_round(3 * COMPARISONS * NOISES + (int)noise * COMPARISONS + i);
        finding_t findings[ROWS];
        inference_t inference;
        bool any = false;
        make_campaign(&campaign, &dice);
        infer_or_end(&campaign, findings, &inference);
        for (int row = 0; row < ROWS; row++)
            any = any || verdict_of(&findings[row], 100 * DIFFERENCE) == VERDICT_SAME;
        wrong += any;
    }
    campaign_free(&campaign);
    printf("%-16s %6d %9.2f %% %9.2f %%\n", noise_names[noise], wrong, 100.0 * wrong / COMPARISONS,
           100 * binomial_limit(wrong, COMPARISONS, 0.95));
    fflush(stdout);
}

static void compare_with_itself(noise_t noise)
{
    campaign_t campaign = {.rows = ROWS, .blocks = BLOCKS, .noise = noise, .deviation = 0.05};
    int wrong = 0, pooled_wrong = 0;
    campaign_make(&campaign);
    for (int i = 0; i < COMPARISONS; i++) {
        chance dice = chance_of_round((int)noise * COMPARISONS + i);
        make_campaign(&campaign, &dice);
        sides_t sides = campaign_sides(&campaign);
        wrong += any_differs(&sides);
        if (i < POOLED_COMPARISONS)
            pooled_wrong += pooled_test_errs(&campaign, SAMPLES, SPREAD, LEVEL, &dice);
    }
    campaign_free(&campaign);
    printf("%-16s %6d %9.2f %% %9.2f %% %13.1f %%\n", noise_names[noise], wrong, 100.0 * wrong / COMPARISONS,
           100 * binomial_limit(wrong, COMPARISONS, 0.95), 100.0 * pooled_wrong / POOLED_COMPARISONS);
    fflush(stdout);
}

/*
 * A thing with itself without blocks, where sides differ in number or deviation. Bimodal noise and that as measured are
 * not of mean 0, so a factor makes a difference of them.
 */
static const struct {
    part_t part;
    noise_t noise;
} uneven[] = {
    {{{10, 10}, {1, 1}}, NOISE_NORMAL},   {{{10, 10}, {1, 1}}, NOISE_BIMODAL}, {{{10, 10}, {1, 1}}, NOISE_HEAVY},
    {{{10, 10}, {1, 1}}, NOISE_MEASURED}, {{{10, 10}, {1, 10}}, NOISE_NORMAL}, {{{10, 10}, {1, 10}}, NOISE_HEAVY},
    {{{30, 5}, {1, 1}}, NOISE_NORMAL},    {{{30, 5}, {1, 1}}, NOISE_BIMODAL},  {{{30, 5}, {1, 1}}, NOISE_HEAVY},
    {{{30, 5}, {1, 1}}, NOISE_MEASURED},  {{{30, 5}, {1, 10}}, NOISE_NORMAL},  {{{30, 5}, {1, 10}}, NOISE_HEAVY},
    {{{30, 5}, {10, 1}}, NOISE_NORMAL},   {{{30, 5}, {1, 3}}, NOISE_NORMAL},   {{{30, 3}, {1, 2}}, NOISE_NORMAL},
    {{{30, 2}, {1, 1}}, NOISE_NORMAL},    {{{30, 2}, {1, 10}}, NOISE_NORMAL},  {{{4, 4}, {1, 10}}, NOISE_NORMAL},
    {{{10, 8}, {1, 10}}, NOISE_NORMAL},   {{{6, 6}, {1, 5}}, NOISE_NORMAL},    {{{12, 6}, {1, 3}}, NOISE_NORMAL},
    {{{5, 5}, {1, 4}}, NOISE_NORMAL},     {{{8, 8}, {1, 5}}, NOISE_NORMAL},    {{{4, 4}, {1, 1}}, NOISE_NORMAL},
};

static void compare_sides(int place)
{
    const part_t *part = &uneven[place].part;
    campaign_t campaign = {.rows = ROWS, .blocks = MAX_LAUNCHES, .noise = uneven[place].noise, .deviation = 0.01};
    campaign_t room = campaign;
    int wrong = 0;
    campaign_make(&campaign);
    campaign_make(&room);
    for (int i = 0; i < COMPARISONS; i++) {
        chance dice = chance_of_round(5 * COMPARISONS * NOISES + place * COMPARISONS + i);
        make_campaign(&campaign, &dice);
        sides_t sides = part_take(part, &campaign, room.logs);
        wrong += any_differs(&sides);
    }
    campaign_free(&campaign);
    campaign_free(&room);
    printf("%-16s %3d at %2g %% %3d at %2g %% %6d %9.2f %% %9.2f %%\n", noise_names[uneven[place].noise],
           part->launches[0], part->factors[0], part->launches[1], part->factors[1], wrong, 100.0 * wrong / COMPARISONS,
           100 * binomial_limit(wrong, COMPARISONS, 0.95));
    fflush(stdout);
}

/* Returns whether a difference in row 0 is found, with as many launches as a campaign of 10 blocks asks for. */
static bool find_difference(campaign_t *campaign, chance *dice)
{
    finding_t findings[ROWS];
    inference_t inference;
    campaign->blocks = BLOCKS;
    campaign_make(campaign);
    make_campaign(campaign, dice);
    infer_or_end(campaign, findings, &inference);
    sides_t sides = campaign_sides(campaign);
    int64_t needed = launches_needed(&sides, &inference, &findings[0], log1p(DIFFERENCE));
    campaign_free(campaign);
    campaign->blocks = (int)needed;
    campaign_make(campaign);
    make_campaign(campaign, dice);
    infer_or_end(campaign, findings, &inference);
    campaign_free(campaign);
    return findings[0].differs && findings[0].low > 0;
}

static void find_differences(noise_t noise, double deviation)
{
    campaign_t campaign = {
        .rows = ROWS, .noise = noise, .deviation = deviation, .log_ratio = log1p(DIFFERENCE), .different_rows = 1};
    int found = 0;
    double launches = 0;
    for (int i = 0; i < TRIALS; i++) {
        chance dice = chance_of_round(-1 - (int)noise * TRIALS - i);
        found += find_difference(&campaign, &dice);
        launches += campaign.blocks;
    }
    printf("%-16s %8.0f %% %10.1f %9d %8.1f %%\n", noise_names[noise], 100 * deviation, launches / TRIALS, found,
           100.0 * found / TRIALS);
    fflush(stdout);
}

static void study_same(void)
{
    printf("A thing compared with itself: %d comparisons of %d rows and %d launches of each, level %.0f %%\n"
           "noise            verdict in any row   95 %% limit  pooled samples\n",
           COMPARISONS, ROWS, BLOCKS, 100 * LEVEL);
    for (noise_t noise = 0; noise < NOISES; noise++)
        compare_with_itself(noise);
    printf("\nA difference of %.0f %% in all rows, deviation 1 %%\n"
           "noise            called the same      95 %% limit\n",
           100 * DIFFERENCE);
    for (noise_t noise = 0; noise < NOISES; noise++)
        compare_at_margin(noise, 0.01);
    printf("\n");
}

static void study_sides(int first)
{
    printf("A thing compared with itself without blocks: launches, and deviations between them\n"
           "noise            a           b           verdict in any row   95 %% limit\n");
    for (int i = first; i < COUNT_OF(uneven); i++)
        compare_sides(i);
    printf("\n");
}

static void study_power(void)
{
    static const double deviations[] = {0.02, 0.05, 0.10};
    printf("A difference of %.0f %% in one of %d rows: %d trials\n"
           "noise            deviation   launches     found     share\n",
           100 * DIFFERENCE, ROWS, TRIALS);
    for (int i = 0; i < COUNT_OF(deviations); i++)
        find_differences(NOISE_NORMAL, deviations[i]);
    find_differences(NOISE_BIMODAL, 0.02);
    find_differences(NOISE_AUTOCORRELATED, 0.05);
    find_differences(NOISE_DRIFTING, 0.02);
    find_differences(NOISE_MEASURED, 0.02);
}

int main(int argc, char **argv)
{
    const char *part = argc > 1 ? argv[1] : "all";
    clock_t start = clock();
    bool is_all = strcmp(part, "all") == 0;
    if (is_all || strcmp(part, "same") == 0)
        study_same();
    if (is_all || strcmp(part, "sides") == 0)
        study_sides(argc > 2 ? atoi(argv[2]) : 0);
    if (is_all || strcmp(part, "power") == 0)
        study_power();
    printf("Seed %" PRIu64 ", %.0f s\n", base_seed(), (double)(clock() - start) / CLOCKS_PER_SEC);
    return 0;
}
