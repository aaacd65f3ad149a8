/* SPDX-License-Identifier: BSD-3-Clause */
/* inference.c - permute launches, and find intervals and probabilities for all rows together. */
#include "bench/compare/inference.h"

#include "pure/random.h"
#include "common/cli/memory.h"
#include "bench/compare/distributions.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* With no more values than this all permutations are looked at: at most 8,192, as of two opposite ones one suffices. */
enum { MAX_ENUMERATED = 14 };
/* Sums that differ by less are equal but for rounding. */
#define HAIR 1e-12

/* Likewise relative, where a count of permutations is too great to be exact. */
#define WIDE_HAIR 1e-9

/*
 * Rows as sums over values with signs: a permutation is a choice of signs. In blocks, a value is the difference within
 * a block, and all signs are choices. Else values are those of all launches, and as many have a plus as there are
 * launches of side 1. The squares of a row's values are scaled to the sum 1. In place of t stands its share,
 * t^2 / (t^2 + freedom), which grows with it and is at most 1.
 */
typedef struct scores {
    const sides_t *sides;
    int rows;
    int values;
    double freedom;
    double *scaled;      /* [value * rows + place] */
    double *sums;        /* scratch: of a permutation, by place; without blocks, of the values with a plus */
    double *squares;     /* likewise */
    double *observed;    /* the share as measured, by place: descending */
    int *row;            /* at a place */
    double *signs;       /* scratch */
    double *max;         /* share of each permutation */
    int64_t *as_great;   /* by place: permutations in which it, or a row after it, comes to what was observed there */
    finding_t *findings; /* the caller's, by row */
} scores_t;

/* ---- Permutations */

typedef struct walk {
    bool is_exact;
    int64_t count;
    int64_t place; /* in the sequence */
    uint64_t bits; /* signs of the permutation, if all are looked at */
    uint64_t random;
} walk_t;

/* Of two that are opposites of each other, and so have the same shares, one. */
static bool is_permutation(const scores_t *scores, uint64_t bits)
{
    const sides_t *sides = scores->sides;
    bool has_opposite = sides->in_blocks || sides->launches[0] == sides->launches[1];
    return !(has_opposite && (bits & 1) != 0) && (sides->in_blocks || __builtin_popcountll(bits) == sides->launches[1]);
}

static walk_t walk_begin(const scores_t *scores, const rule_t *rule)
{
    walk_t walk = {.is_exact = scores->values <= MAX_ENUMERATED, .random = rule->seed};
    if (!walk.is_exact)
        walk.count = rule->permutations + 1; /* with that which was measured */
    for (uint64_t bits = 0; walk.is_exact && bits < UINT64_C(1) << scores->values; bits++)
        walk.count += is_permutation(scores, bits);
    return walk;
}

/* The signs as they were measured. */
static void sign_as_measured(scores_t *scores)
{
    for (int i = 0; i < scores->values; i++)
        scores->signs[i] = scores->sides->in_blocks || i >= scores->sides->launches[0] ? 1 : -1;
}

static void draw_signs(scores_t *scores, uint64_t *random)
{
    uint64_t bits = 0;
    for (int i = 0; i < scores->values; i++) {
        if (scores->sides->in_blocks) {
            bits = i % 64 == 0 ? random_next(random) : bits >> 1;
            scores->signs[i] = (bits & 1) != 0 ? 1 : -1;
        } else {
            int other = (int)(random_fraction(random) * (i + 1));
            scores->signs[i] = scores->signs[other];
            scores->signs[other] = i >= scores->sides->launches[0] ? 1 : -1;
        }
    }
}

static void next_signs(scores_t *scores, walk_t *walk)
{
    walk->place++;
    if (!walk->is_exact && walk->place == 1) {
        sign_as_measured(scores);
    } else if (!walk->is_exact) {
        draw_signs(scores, &walk->random);
    } else {
        walk->bits += walk->place > 1;
        while (!is_permutation(scores, walk->bits))
            walk->bits++;
        for (int i = 0; i < scores->values; i++)
            scores->signs[i] = (walk->bits >> i & 1) != 0 ? 1 : -1;
    }
}

/* The sums of the rows from a place on with the present signs. */
static void add_up(scores_t *scores, int from)
{
    bool in_blocks = scores->sides->in_blocks;
    memset(scores->sums, 0, (size_t)scores->rows * sizeof scores->sums[0]);
    memset(scores->squares, 0, (size_t)scores->rows * sizeof scores->squares[0]);
    for (int i = 0; i < scores->values; i++) {
        const double *scaled = scores->scaled + (int64_t)i * scores->rows, sign = scores->signs[i];
        for (int place = from; place < scores->rows && (in_blocks || sign > 0); place++) {
            scores->sums[place] += sign * scaled[place];
            scores->squares[place] += scaled[place] * scaled[place];
        }
    }
}

/* The share of t: in blocks Student's, else Welch's. The values of a row then have the sum 0, their squares 1. */
static double share_at(const scores_t *scores, int place)
{
    double sum = scores->sums[place], squares = scores->squares[place];
    if (scores->sides->in_blocks)
        return sum * sum / scores->values;
    const double counts[] = {scores->sides->launches[0], scores->sides->launches[1]};
    double gap = sum * (1 / counts[0] + 1 / counts[1]);
    double error_square = (1 - squares - sum * sum / counts[0]) / (counts[0] * (counts[0] - 1)) +
                          (squares - sum * sum / counts[1]) / (counts[1] * (counts[1] - 1));
    return gap * gap / (gap * gap + scores->freedom * fmax(error_square, 0));
}

/* The largest share of the rows from a place on, in each permutation. Counts for each place those that reach it. */
static void look_at_all(scores_t *scores, const rule_t *rule, int from)
{
    walk_t walk = walk_begin(scores, rule);
    memset(scores->as_great, 0, (size_t)scores->rows * sizeof scores->as_great[0]);
    for (int64_t i = 0; i < walk.count; i++) {
        double max = 0;
        next_signs(scores, &walk);
        add_up(scores, from);
        for (int place = scores->rows - 1; place >= from; place--) {
            max = fmax(max, share_at(scores, place));
            scores->as_great[place] += max >= scores->observed[place] * (1 - HAIR);
        }
        scores->max[i] = max;
    }
}

/* ---- Scores */

/* Whether the deviation between launches is known. */
static bool has_variances(const sides_t *sides)
{
    return sides->launches[0] > 1 && sides->launches[1] > 1;
}

static double log_at(const sides_t *sides, int row, int value)
{
    int first = sides->launches[0];
    if (sides->in_blocks)
        return sides->logs[1][(int64_t)row * sides->launches[1] + value] - sides->logs[0][(int64_t)row * first + value];
    return value < first ? sides->logs[0][(int64_t)row * first + value]
                         : sides->logs[1][(int64_t)row * sides->launches[1] + value - first];
}

/* The means of the sides; in blocks that of side 0 is 0. */
static void average(const scores_t *scores, int row, double means[2])
{
    const sides_t *sides = scores->sides;
    means[0] = means[1] = 0;
    for (int i = 0; i < scores->values; i++) {
        int side = sides->in_blocks || i >= sides->launches[0];
        means[side] += log_at(sides, row, i) / sides->launches[side];
    }
}

/* Deviations of this part of a mean are those of sums of equal values, and mean nothing. */
#define ROUNDING 1e-13

/* Fills in the scores of a place; centered: each side less its mean. */
static void scale_row(scores_t *scores, int place, bool centered)
{
    const sides_t *sides = scores->sides;
    double means[2], squares = 0, count = scores->values;
    double overall, *scaled = scores->scaled + place;
    average(scores, scores->row[place], means);
    overall = (means[0] * sides->launches[0] + means[1] * sides->launches[1]) / count;
    for (int i = 0; i < scores->values; i++) {
        double center = sides->in_blocks ? 0 : overall;
        if (centered)
            center = means[sides->in_blocks || i >= sides->launches[0]];
        double deviation = log_at(sides, scores->row[place], i) - center;
        squares += deviation * deviation;
        scaled[(int64_t)i * scores->rows] = deviation;
    }
    bool is_rounding = squares <= count * (ROUNDING * (1 + fabs(overall))) * (ROUNDING * (1 + fabs(overall)));
    for (int i = 0; i < scores->values; i++)
        scaled[(int64_t)i * scores->rows] *= is_rounding ? 0 : 1 / sqrt(squares);
}

static void scale_rows(scores_t *scores, bool centered)
{
    for (int place = 0; place < scores->rows; place++)
        scale_row(scores, place, centered);
}

/*
 * The estimate by Welch and Satterthwaite is too large when the deviation of few launches came out too small, which is
 * when t is large. With one less than the launches of the smaller side, t always errs on the safe side. The closer the
 * sides are in number, the less that is needed; compare_study tries it.
 */
static double most_freedom(const sides_t *sides)
{
    double fewer = fmin(sides->launches[0], sides->launches[1]), more = fmax(sides->launches[0], sides->launches[1]);
    return sides->in_blocks ? fewer - 1 : fmax(fewer - 1, 2 * (fewer - 3) * fewer / more);
}

/* By Welch and Satterthwaite. In blocks there is one variance, that of differences, which are on side 1. */
static void estimate_row(scores_t *scores, int row)
{
    const sides_t *sides = scores->sides;
    double means[2], variances[2] = {0, 0}, parts[2], freedom = 0;
    average(scores, row, means);
    finding_t finding = {
        .log_ratio = means[1] - means[0], .low = -INFINITY, .high = INFINITY, .p = 1, .deviation = NAN};
    for (int i = 0; i < scores->values; i++) {
        int side = sides->in_blocks || i >= sides->launches[0];
        double deviation = log_at(sides, row, i) - means[side];
        variances[side] += deviation * deviation / (sides->launches[side] - 1);
    }
    for (int side = 0; side < 2; side++) {
        parts[side] = variances[side] / sides->launches[side];
        freedom += parts[side] * parts[side] / (sides->launches[side] - 1);
    }
    if (has_variances(sides)) {
        double sum = variances[0] + variances[1], part = parts[0] + parts[1];
        finding.deviation = sqrt(sides->in_blocks ? sum : sum / 2);
        finding.error = sqrt(part);
        finding.freedom = fmin(part > 0 ? part * part / freedom : scores->freedom, most_freedom(sides));
        finding.freedom_per_launch =
            sum > 0 ? sum * sum / (variances[0] * variances[0] + variances[1] * variances[1]) : 1;
    }
    scores->findings[row] = finding;
}

/* Greater shares first. */
static void order_rows(scores_t *scores)
{
    for (int place = 0; place < scores->rows; place++)
        scores->row[place] = place;
    scale_rows(scores, false);
    sign_as_measured(scores);
    add_up(scores, 0);
    for (int row = 0; row < scores->rows; row++) {
        double share = share_at(scores, row);
        int place = row;
        for (; place > 0 && scores->observed[place - 1] < share; place--) {
            scores->observed[place] = scores->observed[place - 1];
            scores->row[place] = scores->row[place - 1];
        }
        scores->observed[place] = share;
        scores->row[place] = row;
    }
    scale_rows(scores, false);
}

/* ---- The test */

static int descending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a < b) - (a > b);
}

/* The t that a row must exceed, by the permutations that were looked at last. */
static double find_limit(scores_t *scores, const rule_t *rule, int64_t count)
{
    int64_t allowed = (int64_t)(rule->level * (double)count * (1 + HAIR));
    qsort(scores->max, (size_t)count, sizeof scores->max[0], descending);
    double share = allowed > 0 ? scores->max[allowed] : 1;
    return share < 1 - HAIR ? sqrt(scores->freedom * share / (1 - share)) : INFINITY;
}

/* Fills in p of all rows, by permutations. Returns how many differ. */
static int step_down(scores_t *scores, const rule_t *rule, int64_t count)
{
    double p = 0;
    int differing = 0;
    for (int place = 0; place < scores->rows; place++) {
        finding_t *finding = &scores->findings[scores->row[place]];
        p = fmax(p, (double)scores->as_great[place] / (double)count);
        finding->p = p;
        finding->differs = p <= rule->level * (1 + HAIR);
        differing += finding->differs;
    }
    return differing;
}

/*
 * If the sides differ in deviation, permutations mix unlike values: with few launches of one side, their t has shorter
 * tails than the true one. Without blocks, p is therefore at least Welch's, by Bonferroni for all rows.
 */
static void raise_to_welch(scores_t *scores, const rule_t *rule)
{
    for (int row = 0; row < scores->rows && !scores->sides->in_blocks; row++) {
        finding_t *finding = &scores->findings[row];
        double tails = finding->error > 0 ? student_tails(finding->log_ratio / finding->error, finding->freedom) : 0;
        finding->p = fmin(fmax(finding->p, tails * scores->rows), 1);
        finding->differs = finding->p <= rule->level * (1 + HAIR);
    }
}

/* In spite of rounding, it contains 0 if and only if there is no difference. */
static void set_interval(finding_t *finding, double limit)
{
    double reach = isinf(limit) ? INFINITY : limit * finding->error;
    finding->low = finding->log_ratio - reach;
    finding->high = finding->log_ratio + reach;
    if (!finding->differs) {
        finding->low = fmin(finding->low, 0);
        finding->high = fmax(finding->high, 0);
    } else if (finding->log_ratio > 0) {
        finding->low = fmax(finding->low, DBL_MIN);
    } else {
        finding->high = fmin(finding->high, -DBL_MIN);
    }
}

static void test_rows(scores_t *scores, const rule_t *rule, inference_t *inference)
{
    int64_t count = inference->permutations;
    order_rows(scores);
    look_at_all(scores, rule, 0);
    int differing = step_down(scores, rule, count);
    double all_limit = find_limit(scores, rule, count), rest_limit = all_limit;
    if (differing > 0 && differing < scores->rows) {
        look_at_all(scores, rule, differing);
        rest_limit = find_limit(scores, rule, count);
    }
    raise_to_welch(scores, rule);
    scale_rows(scores, true);
    look_at_all(scores, rule, 0);
    bool in_blocks = scores->sides->in_blocks;
    double own_limit = find_limit(scores, rule, count),
           own_level = in_blocks ? rule->level : rule->level / scores->rows;
    for (int row = 0; row < scores->rows; row++) {
        finding_t *finding = &scores->findings[row];
        double limit = fmax(own_limit, student_limit(own_level, finding->freedom));
        set_interval(finding, finding->differs ? limit : fmax(limit, rest_limit));
    }
    if (in_blocks) {
        double limit = fmax(fmax(all_limit, own_limit), student_limit(rule->level, scores->freedom));
        inference->row_level = fmax(student_tails(limit, scores->freedom), inference->row_level);
    }
}

/* All in one piece, of which each number takes as much as the largest. */
static double *allocate(scores_t *scores, int64_t permutations)
{
    int64_t rows = scores->rows, values = scores->values;
    double *memory = malloc(array_bytes(rows * values + 5 * rows + values + permutations, sizeof(double)));
    if (!memory)
        return NULL;
    scores->scaled = memory;
    scores->sums = scores->scaled + rows * values;
    scores->squares = scores->sums + rows;
    scores->observed = scores->squares + rows;
    scores->signs = scores->observed + rows;
    scores->max = scores->signs + values;
    scores->as_great = (int64_t *)(void *)(scores->max + permutations);
    scores->row = (int *)(scores->as_great + rows);
    return memory;
}

/* How many permutations there are but for opposites, whether all are looked at or not. */
static double count_permutations(const sides_t *sides)
{
    double first = sides->launches[0], second = sides->launches[1];
    if (sides->in_blocks)
        return exp2(first - 1);
    return exp(lgamma(first + second + 1) - lgamma(first + 1) - lgamma(second + 1)) / (first == second ? 2 : 1);
}

bool infer(const sides_t *sides, const rule_t *rule, finding_t *findings, inference_t *inference)
{
    int values = sides->in_blocks ? sides->launches[0] : sides->launches[0] + sides->launches[1];
    scores_t scores = {.sides = sides, .rows = sides->rows, .values = values, .findings = findings};
    scores.freedom = values - (sides->in_blocks ? 1 : 2);
    walk_t walk = walk_begin(&scores, rule);
    bool has_launches = has_variances(sides) && rule->level * count_permutations(sides) * (1 + WIDE_HAIR) >= 1;
    *inference = (inference_t){.permutations = walk.count,
                               .is_exact = walk.is_exact,
                               .lacks_launches = !has_launches,
                               .can_decide = has_launches && rule->level * (double)walk.count * (1 + HAIR) >= 1,
                               .row_level = rule->level / sides->rows};
    double *memory = allocate(&scores, walk.count);
    for (int row = 0; memory && row < sides->rows; row++)
        estimate_row(&scores, row);
    if (memory && inference->can_decide)
        test_rows(&scores, rule, inference);
    free(memory);
    return memory != NULL;
}

/* ---- Verdicts */

verdict_t verdict_of(const finding_t *finding, double same_percent)
{
    double margin = log1p(same_percent / 100);
    if (same_percent > 0 && finding->low >= -margin && finding->high <= margin)
        return VERDICT_SAME;
    if (finding->high < 0)
        return VERDICT_FASTER;
    return finding->low > 0 ? VERDICT_SLOWER : VERDICT_UNDECIDED;
}

const char *verdict_name(verdict_t verdict, bool by_guideline)
{
    static const char *const names[VERDICTS] = {"faster", "slower", "same", "undecided"};
    static const char *const by_guidelines[VERDICTS] = {"kept", "violated", "kept", "undecided"};
    return by_guideline ? by_guidelines[verdict] : names[verdict];
}

/* ---- How many launches */

/* Whether so many of each side suffice. */
static bool suffices(const sides_t *sides, const inference_t *inference, const finding_t *finding, double log_ratio,
                     int64_t launches)
{
    double count = (double)launches, freedom = finding->freedom_per_launch * (count - 1);
    double deviation = deviation_limit(finding->deviation, finding->freedom);
    double error = deviation * sqrt((sides->in_blocks ? 1 : 2) / count);
    double reach = student_limit(inference->row_level, freedom) + student_limit(0.4, freedom); /* 20 % on one side */
    /* The logarithm of how many permutations there are but for opposites: without blocks, by Stirling's formula. */
    double choices = sides->in_blocks ? count - 1 : 2 * count - 1 - log2(3.14159265358979 * count) / 2;
    return choices >= -log2(inference->row_level) && reach * error <= log_ratio;
}

int64_t launches_needed(const sides_t *sides, const inference_t *inference, const finding_t *finding, double log_ratio)
{
    const int64_t many = INT64_C(1) << 40;
    int64_t low = 1, high = 2;
    if (!(finding->freedom > 0))
        return 0;
    while (high < many && !suffices(sides, inference, finding, log_ratio, high))
        low = high, high *= 2;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (suffices(sides, inference, finding, log_ratio, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}
