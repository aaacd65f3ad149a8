/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_compare.c - the statistics of mpix_compare: distributions against published tables, permutation tests against
 * counts by hand, and how often verdicts are wrong where the truth is known.
 */
#include "bench/compare/distributions.h"
#include "bench/compare/inference.h"
#include "bench/test/simulation/launch_noise.h"
#include "unit/support.h"

static const rule_t rule = {.level = 0.05, .seed = 7, .permutations = 1999};

enum { ROWS = 20 };

/* What the last inference came to. */
static finding_t findings[ROWS];
static inference_t inference;

static void infer_all(const sides_t *sides)
{
    ck_assert(infer(sides, &rule, findings, &inference));
}

static sides_t one_row(int in_blocks, int left_launches, const double *left, int right_launches, const double *right)
{
    return (sides_t){
        .rows = 1, .launches = {left_launches, right_launches}, .in_blocks = in_blocks != 0, .logs = {left, right}};
}

/* ---- Distributions */

static const struct {
    double tails, freedom, t;
} student_table[] = {{0.05, 1, 12.7062}, {0.05, 9, 2.26216},   {0.01, 9, 3.24984},
                     {0.5, 2, 0.816497}, {0.05, 120, 1.97993}, {0.001, 5, 6.86883}};

LOOP_TEST(student_is_as_in_tables, COUNT_OF(student_table))
{
    double t = student_limit(student_table[_i].tails, student_table[_i].freedom);

    EXPECT(fabs(t / student_table[_i].t - 1) < 1e-5, "%g", t);
    EXPECT(fabs(student_tails(t, student_table[_i].freedom) / student_table[_i].tails - 1) < 1e-9, "%g", t);
}

TEST(limits)
{
    EXPECT(student_limit(0, 5) == INFINITY, "%g", student_limit(0, 5));
    EXPECT(student_tails(INFINITY, 5) == 0, "%g", student_tails(INFINITY, 5));
    EXPECT(student_tails(0, 5) == 1, "%g", student_tails(0, 5));
    /* The limit for no event in 100: 1 - 0.05^(1/100). For 5 in 50, and the 20th percentile of chi-square: tables. */
    EXPECT(fabs(binomial_limit(0, 100, 0.95) - 0.0295130) < 1e-6, "%g", binomial_limit(0, 100, 0.95));
    EXPECT(fabs(binomial_limit(5, 50, 0.95) - 0.199146) < 1e-3, "%g", binomial_limit(5, 50, 0.95));
    EXPECT(binomial_limit(7, 7, 0.95) == 1, "%g", binomial_limit(7, 7, 0.95));
    EXPECT(fabs(deviation_limit(1, 9) - sqrt(9 / 5.38005)) < 2e-3, "%g", deviation_limit(1, 9));
}

/* ---- Permutations that can be counted */

TEST(blocks_counted_by_hand)
{
    /* Only the signs as measured have so great a sum: 1 of 2^5 but for opposites. One row more has no say. */
    const double left[] = {0, 0, 0, 0, 0, 0}, right[] = {0.1, 0.2, 0.15, 0.12, 0.11, 0.13};
    const sides_t sides = one_row(true, 6, left, 6, right);

    infer_all(&sides);
    ck_assert_int_eq(inference.permutations, 32);
    EXPECT(inference.is_exact && inference.can_decide, "%d", inference.can_decide);
    EXPECT(fabs(findings[0].p - 1.0 / 32) < 1e-12, "%g", findings[0].p);
    EXPECT(fabs(findings[0].log_ratio - 0.135) < 1e-12, "%g", findings[0].log_ratio);
    EXPECT(findings[0].differs && findings[0].low > 0 && findings[0].high > 0.135, "%g %g", findings[0].low,
           findings[0].high);
}

TEST(sides_counted_by_hand)
{
    /* Of the 35 ways, but for opposites, to choose 4 of 8, the first is as measured. */
    const double left[] = {1, 2, 3, 4}, right[] = {5, 6, 7, 8.5};
    const sides_t sides = one_row(false, 4, left, 4, right);

    infer_all(&sides);
    ck_assert_int_eq(inference.permutations, 35);
    EXPECT(fabs(findings[0].p - 1.0 / 35) < 1e-12, "%g", findings[0].p);
    EXPECT(fabs(findings[0].log_ratio - 4.125) < 1e-12, "%g", findings[0].log_ratio);
    EXPECT(findings[0].differs && findings[0].low > 0, "%g", findings[0].low);
}

/* By hand, as the definition says: for each of the 2^n choices of signs, the greatest t of all rows. */
static double p_by_hand(const double *differences, int rows, int blocks, int row)
{
    int as_great = 0;
    for (int bits = 0; bits < 1 << blocks; bits++) {
        double greatest = 0, own = 0;
        for (int other = 0; other < rows; other++) {
            double sum = 0, squares = 0, measured = 0;
            for (int i = 0; i < blocks; i++) {
                double value = differences[other * blocks + i];
                sum += (bits >> i & 1) != 0 ? value : -value;
                measured += value;
                squares += value * value;
            }
            double mean = sum / blocks, variance = (squares - blocks * mean * mean) / (blocks - 1);
            greatest = fmax(greatest, variance > 1e-15 ? fabs(mean) / sqrt(variance / blocks) : 1e9);
            mean = measured / blocks;
            variance = (squares - blocks * mean * mean) / (blocks - 1);
            if (other == row)
                own = fabs(mean) / sqrt(variance / blocks);
        }
        as_great += greatest >= own * (1 - 1e-9);
    }
    return as_great / (double)(1 << blocks);
}

LOOP_TEST(greatest_row_is_as_by_definition, 5)
{
    enum { MANY = 5, BLOCKS = 8 };
    chance dice = chance_of_round(_i);
    double left[MANY * BLOCKS], right[MANY * BLOCKS], differences[MANY * BLOCKS];
    sides_t sides = {.rows = MANY, .launches = {BLOCKS, BLOCKS}, .in_blocks = true, .logs = {left, right}};
    int first = 0;

    for (int i = 0; i < MANY * BLOCKS; i++) {
        left[i] = chance_unit(&dice);
        right[i] = chance_unit(&dice) + (i < BLOCKS ? 0.4 : 0);
        differences[i] = right[i] - left[i];
    }
    infer_all(&sides);
    for (int row = 1; row < MANY; row++)
        if (fabs(findings[row].log_ratio) / findings[row].deviation >
            fabs(findings[first].log_ratio) / findings[first].deviation)
            first = row;
    EXPECT(fabs(findings[first].p - p_by_hand(differences, MANY, BLOCKS, first)) < 1e-9, "%g, by hand %g",
           findings[first].p, p_by_hand(differences, MANY, BLOCKS, first));
    for (int row = 0; row < MANY; row++) {
        bool excludes = findings[row].low > 0 || findings[row].high < 0;
        EXPECT(excludes == findings[row].differs, "row %d: p %g, interval %g to %g", row, findings[row].p,
               findings[row].low, findings[row].high);
        EXPECT(findings[row].p <= p_by_hand(differences, MANY, BLOCKS, row) + 1e-9 ||
                   findings[row].p == findings[first].p,
               "row %d: %g: a step down makes no p greater", row, findings[row].p);
    }
}

TEST(too_few_launches_decide_nothing)
{
    const double left[] = {0, 0.01, 0, 0.02, 0.01}, right[] = {1, 1.01, 1, 1.02, 1.03};

    for (int launches = 1; launches <= 5; launches++)
        for (int in_blocks = 0; in_blocks <= (launches > 3 ? 0 : 1); in_blocks++) {
            int fewer = launches > 3 ? 2 : launches, more = launches > 3 ? 3 : launches;
            const sides_t sides = one_row(in_blocks, fewer, left, more, right);
            infer_all(&sides);
            EXPECT(!inference.can_decide && !findings[0].differs, "%d launches: p %g", launches, findings[0].p);
            EXPECT(isinf(findings[0].low) && isinf(findings[0].high), "%d launches: %g", launches, findings[0].low);
            EXPECT(findings[0].log_ratio > 0.9, "%g", findings[0].log_ratio);
        }
}

TEST(one_launch_against_many_decides_nothing)
{
    double many[40], one[] = {9};
    for (int i = 0; i < COUNT_OF(many); i++)
        many[i] = i % 2;
    for (int side = 0; side < 2; side++)
        for (int launches = 12; launches <= COUNT_OF(many); launches += 28) {
            const sides_t sides =
                side == 1 ? one_row(false, 1, one, launches, many) : one_row(false, launches, many, 1, one);
            infer_all(&sides);
            EXPECT(!inference.can_decide && inference.lacks_launches, "%d against 1: p %g", launches, findings[0].p);
            EXPECT(isinf(findings[0].low) && isinf(findings[0].high), "%g to %g", findings[0].low, findings[0].high);
            ck_assert_int_eq(launches_needed(&sides, &inference, findings, 0.05), 0);
        }
}

TEST(too_few_permutations_are_not_too_few_launches)
{
    double left[40] = {0}, right[40] = {1};
    sides_t sides = one_row(false, 40, left, 40, right);
    rule_t few = {0.001, 1, 99}, enough = {0.001, 1, 999};

    ck_assert(infer(&sides, &few, findings, &inference));
    EXPECT(!inference.can_decide && !inference.lacks_launches, "%" PRId64, inference.permutations);
    ck_assert(infer(&sides, &enough, findings, &inference));
    EXPECT(inference.can_decide, "%" PRId64, inference.permutations);
    /* 120 ways to choose 2 of 16 are not enough, however many are drawn. */
    sides.launches[0] = 14;
    sides.launches[1] = 2;
    ck_assert(infer(&sides, &enough, findings, &inference));
    EXPECT(!inference.can_decide && inference.lacks_launches, "%" PRId64, inference.permutations);
}

TEST(sides_are_compared_by_welch)
{
    /* Variances 6 and 25 * 8 / 7. */
    static const double left[] = {1, 2, 3, 4, 5, 6, 7, 8}, right[] = {10, 20, 10, 20, 10, 20, 10, 20};
    sides_t sides = one_row(false, 8, left, 8, right);
    const double parts[] = {6.0 / 8, 25.0 / 7}, error = sqrt(parts[0] + parts[1]);
    double freedom = pow(error, 4) / (parts[0] * parts[0] / 7 + parts[1] * parts[1] / 7);

    infer_all(&sides);
    EXPECT(fabs(findings[0].error - error) < 1e-12, "%g, not %g", findings[0].error, error);
    EXPECT(fabs(findings[0].freedom - freedom) < 1e-9, "%g, not %g", findings[0].freedom, freedom);
    EXPECT(fabs(findings[0].log_ratio - 10.5) < 1e-12 && findings[0].differs, "p %g", findings[0].p);
    EXPECT(findings[0].high - 10.5 >= student_limit(0.05, freedom) * error * (1 - 1e-9), "%g", findings[0].high);
    EXPECT(findings[0].p >= student_tails(10.5 / error, freedom), "%g", findings[0].p);
    sides.launches[1] = 2;
    infer_all(&sides);
    EXPECT(findings[0].freedom == 1, "%g degrees of freedom with 2 launches", findings[0].freedom);
}

TEST(equal_values_do_not_differ)
{
    static const double left[] = {3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3}, right[] = {3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4};
    sides_t sides = {.rows = 2, .launches = {6, 6}, .in_blocks = true, .logs = {left, right}};

    infer_all(&sides);
    EXPECT(!findings[0].differs && findings[0].low == 0 && findings[0].high == 0, "%g", findings[0].p);
    EXPECT(findings[1].differs && fabs(findings[1].low - 1) < 1e-12, "%g", findings[1].p);
}

/* Means of equal values are rounded, and what is left is no deviation. */
LOOP_TEST(constant_rows_have_no_say, 12)
{
    enum { MOST = 14, ROWS = 3 };
    static const double constants[] = {300, 1.25, 2120};
    double logs[2][ROWS * MOST];
    for (int n = 6; n <= MOST; n++) {
        sides_t sides = {.rows = ROWS, .launches = {n, n - _i % 2}, .logs = {logs[0], logs[1]}};
        for (int side = 0; side < 2; side++)
            for (int i = 0; i < sides.launches[side]; i++) {
                double *row = logs[side] + i;
                int launches = sides.launches[side], third = 2 * launches;
                row[0] = 5 + side * log(2) + 0.01 * ((7 * i + side) % 5);
                row[launches] = log(constants[_i / 2 % 3]) + (_i >= 6 ? side * log(2) : 0);
                row[third] = 3 + 0.02 * ((3 * i + side) % 4);
            }
        infer_all(&sides);
        EXPECT(findings[0].differs && findings[0].low > 0 && findings[0].high < 2, "%d launches: p %g, %g to %g", n,
               findings[0].p, findings[0].low, findings[0].high);
        EXPECT(!findings[2].differs && findings[2].low > -1 && findings[2].high < 1, "%d launches: p %g, %g to %g", n,
               findings[2].p, findings[2].low, findings[2].high);
    }
}

TEST(drawn_permutations_follow_the_seed)
{
    enum { BLOCKS = 30 };
    campaign_t campaign = {.rows = 3, .blocks = BLOCKS, .deviation = 0.1};
    chance dice = chance_of_round(0);
    finding_t once[3], again[3], other[3];
    rule_t other_rule = {0.05, 8, 1999};

    campaign_make(&campaign);
    make_campaign(&campaign, &dice);
    for (int in_blocks = 0; in_blocks <= 1; in_blocks++) {
        sides_t sides = campaign_sides(&campaign);
        sides.in_blocks = in_blocks;
        ck_assert(infer(&sides, &rule, once, &inference));
        ck_assert(infer(&sides, &rule, again, &inference));
        ck_assert(infer(&sides, &other_rule, other, &inference));
        EXPECT(!inference.is_exact && inference.permutations == 2000, "%" PRId64, inference.permutations);
        for (int row = 0; row < 3; row++) {
            EXPECT(once[row].p == again[row].p, "%g %g", once[row].p, again[row].p);
            EXPECT(fabs(once[row].p - other[row].p) < 0.1, "%g %g", once[row].p, other[row].p);
        }
    }
    campaign_free(&campaign);
}

/* ---- Verdicts */

static const struct {
    double low, high, same_percent;
    verdict_t verdict;
} verdicts[] = {
    {1.01, 1.04, 5, VERDICT_SAME},       {1.01, 1.04, 0, VERDICT_SLOWER},      {0.96, 1.049, 5, VERDICT_SAME},
    {0.952, 0.99, 5, VERDICT_FASTER},    {0.953, 0.99, 5, VERDICT_SAME},       {0.9, 1.01, 5, VERDICT_UNDECIDED},
    {1, 1.2, 5, VERDICT_UNDECIDED},      {1.001, 1.2, 5, VERDICT_SLOWER},      {0.5, 0.9, 5, VERDICT_FASTER},
    {0, INFINITY, 5, VERDICT_UNDECIDED}, {0.999, 1.001, 0, VERDICT_UNDECIDED},
};

LOOP_TEST(verdict_is_by_the_interval, COUNT_OF(verdicts))
{
    finding_t finding = {.low = log(verdicts[_i].low), .high = log(verdicts[_i].high)};
    verdict_t verdict = verdict_of(&finding, verdicts[_i].same_percent);

    EXPECT(verdict == verdicts[_i].verdict, "%g to %g: %s", verdicts[_i].low, verdicts[_i].high,
           verdict_name(verdict, false));
}

/* ---- Where the truth is known */

/* MH_ROUNDS changes how many. Of a thing with itself, 5 % are wrong; of those that differ, 80 % are found. */
enum { COMPARISONS = 200, TRIALS = 100, FEW_BLOCKS = 8 };
static const double wrong_part = 0.05, missed_part = 0.2;

/* The most of so many that are of such a part, but for a chance of one in a million. */
static int most_by_chance(int all, double part)
{
    double chance_of_more = 0;
    int most = all + 1;
    while (most > 0 && chance_of_more < 1e-6) {
        most--;
        chance_of_more += exp(lgamma(all + 1) - lgamma(most + 1) - lgamma(all - most + 1) + most * log(part) +
                              (all - most) * log1p(-part));
    }
    return most;
}

static void expect_few_wrong(int wrong, const char *what)
{
    int all = rounds_of(COMPARISONS), most = most_by_chance(all, wrong_part);
    EXPECT(wrong <= most, "%s: %d of %d comparisons were wrong, at most %d may be", what, wrong, all, most);
}

TEST(most_by_chance_is_as_in_tables)
{
    ck_assert_int_eq(most_by_chance(200, wrong_part), 27);
    ck_assert_int_eq(most_by_chance(100, missed_part), 41);
    ck_assert_int_eq(most_by_chance(5, missed_part), 5);
}

/* Nothing differs. */
static const double same[] = {0, 0};

/* Of campaigns, or of such a part of their launches, where rows of even and odd numbers differ by so much. */
static int count_wrong_comparisons(campaign_t campaign, const part_t *part, bool in_blocks, const double truths[2])
{
    /* Few drawn permutations are as seldom wrong as many. */
    const rule_t few = {.level = 0.05, .seed = 7, .permutations = 499};
    campaign_t room = campaign;
    int wrong = 0;

    campaign_make(&campaign);
    campaign_make(&room);
    for (int i = 0; i < rounds_of(COMPARISONS); i++) {
        chance dice = chance_of_round(i);
        bool any = false;
        make_campaign(&campaign, &dice);
        for (int place = 0; place < ROWS * campaign.blocks; place++)
            campaign.logs[1][place] += truths[place / campaign.blocks % 2];
        sides_t sides = part ? part_take(part, &campaign, room.logs) : campaign_sides(&campaign);
        sides.in_blocks = in_blocks;
        ck_assert(infer(&sides, &few, findings, &inference));
        for (int row = 0; row < ROWS; row++)
            any = any || findings[row].low > truths[row % 2] || findings[row].high < truths[row % 2];
        wrong += any;
    }
    campaign_free(&campaign);
    campaign_free(&room);
    return wrong;
}

static campaign_t small_campaign(noise_t noise)
{
    return (campaign_t){.rows = ROWS, .blocks = FEW_BLOCKS, .noise = noise, .deviation = 0.05};
}

LOOP_TEST(few_wrong_verdicts, NOISES)
{
    expect_few_wrong(count_wrong_comparisons(small_campaign((noise_t)_i), NULL, true, same), noise_names[_i]);
}

/* Only where no launch depends on the one before, nor on when it was. */
static const noise_t independent[] = {NOISE_NORMAL, NOISE_BIMODAL, NOISE_HEAVY, NOISE_MEASURED};

LOOP_TEST(few_wrong_verdicts_without_blocks, COUNT_OF(independent))
{
    campaign_t campaign = small_campaign(independent[_i]);
    expect_few_wrong(count_wrong_comparisons(campaign, NULL, false, same), noise_names[independent[_i]]);
}

/* Few launches that vary much against many that do not: by a pooled deviation half of all comparisons are wrong. */
static const part_t uneven[] = {{{30, 5}, {1, 10}}, {{30, 5}, {10, 1}}, {{10, 10}, {1, 10}}, {{12, 3}, {1, 1}}};

LOOP_TEST(few_wrong_verdicts_of_uneven_sides, COUNT_OF(uneven))
{
    campaign_t campaign = {.rows = ROWS, .blocks = 30, .deviation = 0.01};
    expect_few_wrong(count_wrong_comparisons(campaign, &uneven[_i], false, same), "uneven sides");
}

TEST(predicted_launches_suffice)
{
    campaign_t campaign = {.rows = ROWS, .deviation = 0.02, .log_ratio = log(1.05), .different_rows = 1};
    int trials = rounds_of(TRIALS), missed = 0;

    for (int i = 0; i < trials; i++) {
        chance dice = chance_of_round(i);
        sides_t sides;
        for (int again = 0; again < 2; again++) {
            campaign.blocks = again ? (int)launches_needed(&sides, &inference, findings, log(1.05)) : 10;
            campaign_make(&campaign);
            sides = campaign_sides(&campaign);
            make_campaign(&campaign, &dice);
            infer_all(&sides);
            campaign_free(&campaign);
        }
        missed += findings[0].low <= 0;
    }
    EXPECT(missed <= most_by_chance(trials, missed_part), "%d of %d differences of 5 %% were missed", missed, trials);
}

/* Intervals hold what they promise where there are differences too, in all rows at once. */
TEST(intervals_contain_the_truth)
{
    static const double truths[] = {0.5, 0.02};
    campaign_t campaign = {.rows = ROWS, .blocks = 10, .deviation = 0.05};
    expect_few_wrong(count_wrong_comparisons(campaign, NULL, true, truths), "intervals");
}
