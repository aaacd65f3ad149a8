/* SPDX-License-Identifier: BSD-3-Clause */
#include "compare/inference.h"

#include "common/random.h"
#include "common/room.h"
#include "compare/distributions.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* With no more values than this all permutations are looked at: at most 8,192, as of two opposite ones one suffices. */
enum { MAX_ENUMERATED = 14 };
/* Sums that differ by less are equal but for rounding. */
#define HAIR 1e-12

/*
 * Rows as sums over values with signs: a permutation is a choice of signs. The values are scaled so that the absolute
 * sum is at most 1; t is a function of it that grows with it. In blocks, a value is the difference within a block, and
 * all signs are choices. Else values are those of all launches, and as many have a plus as there are launches of side
 * 1.
 */
typedef struct scores {
    const sides_t *sides;
    int rows;
    int values;
    double freedom;
    double *scaled;      /* [value * rows + place] */
    double *sums;        /* scratch: of a permutation, by place */
    double *observed;    /* the absolute sum as measured, by place: descending */
    int *row;            /* at a place */
    double *signs;       /* scratch */
    double *greatest;    /* of each permutation */
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

/* Of two that are opposites of each other, and so have the same absolute sums, one. */
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
static void sign_as_measured(const scores_t *scores)
{
    for (int i = 0; i < scores->values; i++)
        scores->signs[i] = scores->sides->in_blocks || i >= scores->sides->launches[0] ? 1 : -1;
}

static void draw_signs(const scores_t *scores, uint64_t *random)
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

static void next_signs(const scores_t *scores, walk_t *walk)
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

/* The sums of all rows with the present signs. */
static void add_up(const scores_t *scores, int from)
{
    memset(scores->sums, 0, (size_t)scores->rows * sizeof(scores->sums[0]));
    for (int i = 0; i < scores->values; i++) {
        const double *scaled = scores->scaled + (int64_t)i * scores->rows;
        for (int place = from; place < scores->rows; place++)
            scores->sums[place] += scores->signs[i] * scaled[place];
    }
}

/* The greatest sum of the rows from a place on, in each permutation. Counts for each place those that reach it. */
static void look_at_all(const scores_t *scores, const rule_t *rule, int from)
{
    walk_t walk = walk_begin(scores, rule);
    memset(scores->as_great, 0, (size_t)scores->rows * sizeof(scores->as_great[0]));
    for (int64_t i = 0; i < walk.count; i++) {
        double greatest = 0;
        next_signs(scores, &walk);
        add_up(scores, from);
        for (int place = scores->rows - 1; place >= from; place--) {
            greatest = fmax(greatest, fabs(scores->sums[place]));
            scores->as_great[place] += greatest >= scores->observed[place] * (1 - HAIR);
        }
        scores->greatest[i] = greatest;
    }
}

/* ---- Scores */

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

/* Fills in the scores of a place; centered: each side less its mean. */
static void scale_row(const scores_t *scores, int place, bool centered)
{
    const sides_t *sides = scores->sides;
    double means[2], squares = 0, count = scores->values, factor = 1 / sqrt(count);
    double overall, *scaled = scores->scaled + place;
    average(scores, scores->row[place], means);
    overall = (means[0] * sides->launches[0] + means[1] * sides->launches[1]) / count;
    if (!sides->in_blocks)
        factor = sqrt(count / ((double)sides->launches[0] * sides->launches[1])) / 2;
    for (int i = 0; i < scores->values; i++) {
        double center = sides->in_blocks ? 0 : overall;
        if (centered)
            center = means[sides->in_blocks || i >= sides->launches[0]];
        double deviation = log_at(sides, scores->row[place], i) - center;
        squares += deviation * deviation;
        scaled[(int64_t)i * scores->rows] = deviation * factor;
    }
    for (int i = 0; i < scores->values; i++)
        scaled[(int64_t)i * scores->rows] *= squares > 0 ? 1 / sqrt(squares) : 0;
}

static void scale_rows(const scores_t *scores, bool centered)
{
    for (int place = 0; place < scores->rows; place++)
        scale_row(scores, place, centered);
}

/* The standard error of a log ratio is this times the deviation. */
static double error_factor(const sides_t *sides)
{
    return sides->in_blocks ? sqrt(1.0 / sides->launches[0])
                            : sqrt(1.0 / sides->launches[0] + 1.0 / sides->launches[1]);
}

static void estimate_row(const scores_t *scores, int row)
{
    finding_t *finding = &scores->findings[row];
    double means[2], squares = 0;
    average(scores, row, means);
    for (int i = 0; i < scores->values; i++) {
        double deviation =
            log_at(scores->sides, row, i) - means[scores->sides->in_blocks || i >= scores->sides->launches[0]];
        squares += deviation * deviation;
    }
    *finding = (finding_t){.log_ratio = means[1] - means[0],
                           .deviation = scores->freedom > 0 ? sqrt(squares / scores->freedom) : NAN,
                           .p = 1};
}

/* Greater sums first. */
static void order_rows(const scores_t *scores)
{
    for (int place = 0; place < scores->rows; place++)
        scores->row[place] = place;
    scale_rows(scores, false);
    sign_as_measured(scores);
    add_up(scores, 0);
    for (int row = 0; row < scores->rows; row++) {
        double sum = fabs(scores->sums[row]);
        int place = row;
        for (; place > 0 && scores->observed[place - 1] < sum; place--) {
            scores->observed[place] = scores->observed[place - 1];
            scores->row[place] = scores->row[place - 1];
        }
        scores->observed[place] = sum;
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
static double find_limit(const scores_t *scores, const rule_t *rule, int64_t count)
{
    int64_t allowed = (int64_t)(rule->level * (double)count * (1 + HAIR));
    qsort(scores->greatest, (size_t)count, sizeof(scores->greatest[0]), descending);
    double sum = allowed > 0 ? scores->greatest[allowed] : 1;
    return sum < 1 - HAIR ? sqrt(scores->freedom) * sum / sqrt(1 - sum * sum) : INFINITY;
}

/* Fills in p of all rows. Returns how many differ. */
static int step_down(const scores_t *scores, const rule_t *rule, int64_t count)
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

/* Whatever rounding does, it contains 0 if and only if there is no difference. */
static void set_interval(const scores_t *scores, finding_t *finding, double limit)
{
    double error = finding->deviation * error_factor(scores->sides);
    double reach = isinf(limit) ? INFINITY : limit * error;
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

static void test_rows(const scores_t *scores, const rule_t *rule, inference_t *inference)
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
    scale_rows(scores, true);
    look_at_all(scores, rule, 0);
    double own_limit = fmax(find_limit(scores, rule, count), student_limit(rule->level, scores->freedom));
    for (int place = 0; place < scores->rows; place++) {
        finding_t *finding = &scores->findings[scores->row[place]];
        set_interval(scores, finding, finding->differs ? own_limit : fmax(own_limit, rest_limit));
    }
    double tails = student_tails(fmax(all_limit, own_limit), scores->freedom);
    inference->row_level = fmax(tails, rule->level / scores->rows);
}

static bool take_room(scores_t *scores, int64_t permutations)
{
    int64_t rows = scores->rows;
    scores->scaled = malloc(room_bytes(rows * scores->values, sizeof(double)));
    scores->sums = malloc(room_bytes(rows, sizeof(double)));
    scores->observed = malloc(room_bytes(rows, sizeof(double)));
    scores->row = malloc(room_bytes(rows, sizeof(int)));
    scores->signs = malloc(room_bytes(scores->values, sizeof(double)));
    scores->greatest = malloc(room_bytes(permutations, sizeof(double)));
    scores->as_great = malloc(room_bytes(rows, sizeof(int64_t)));
    return scores->scaled != NULL && scores->sums != NULL && scores->observed != NULL && scores->row != NULL &&
           scores->signs != NULL && scores->greatest != NULL && scores->as_great != NULL;
}

static void give_room(scores_t *scores)
{
    free(scores->scaled);
    free(scores->sums);
    free(scores->observed);
    free(scores->row);
    free(scores->signs);
    free(scores->greatest);
    free(scores->as_great);
}

bool infer(const sides_t *sides, const rule_t *rule, finding_t *findings, inference_t *inference)
{
    int values = sides->in_blocks ? sides->launches[0] : sides->launches[0] + sides->launches[1];
    scores_t scores = {.sides = sides, .rows = sides->rows, .values = values, .findings = findings};
    scores.freedom = values - (sides->in_blocks ? 1 : 2);
    walk_t walk = walk_begin(&scores, rule);
    *inference = (inference_t){.permutations = walk.count,
                               .is_exact = walk.is_exact,
                               .can_decide = rule->level * (double)walk.count * (1 + HAIR) >= 1,
                               .row_level = rule->level / sides->rows,
                               .freedom = scores.freedom};
    bool good = take_room(&scores, walk.count);
    for (int row = 0; good && row < sides->rows; row++) {
        estimate_row(&scores, row);
        findings[row].low = -INFINITY;
        findings[row].high = INFINITY;
    }
    if (good && inference->can_decide && scores.freedom > 0)
        test_rows(&scores, rule, inference);
    give_room(&scores);
    return good;
}

/* ---- How many launches */

/* Whether so many of each side suffice. */
static bool suffices(const sides_t *sides, const inference_t *inference, double deviation, double log_ratio,
                     int64_t launches)
{
    double count = (double)launches, freedom = sides->in_blocks ? count - 1 : 2 * count - 2;
    double error = deviation * sqrt((sides->in_blocks ? 1 : 2) / count);
    double reach = student_limit(inference->row_level, freedom) + student_limit(0.4, freedom); /* 20 % on one side */
    /* The logarithm of how many permutations there are but for opposites: without blocks, by Stirling's formula. */
    double choices = sides->in_blocks ? count - 1 : 2 * count - 1 - log2(3.14159265358979 * count) / 2;
    return choices >= -log2(inference->row_level) && reach * error <= log_ratio;
}

int64_t launches_needed(const sides_t *sides, const inference_t *inference, double deviation, double log_ratio)
{
    const int64_t many = INT64_C(1) << 40;
    int64_t low = 1, high = 2;
    if (!(inference->freedom > 0))
        return 0;
    deviation = deviation_limit(deviation, inference->freedom);
    while (high < many && !suffices(sides, inference, deviation, log_ratio, high))
        low = high, high *= 2;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (suffices(sides, inference, deviation, log_ratio, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}
