/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_choose.c - which candidates mpix_tune chooses: ranges by hand, and how often a table gets a rule by chance, or
 * lacks one that would gain; and how the file ends.
 */
#include "bench/tune/choose.h"

#include "bench/tune/paged_text.h"
#include "bench/compare/inference.h"
#include "unit/support.h"

enum { CANDIDATES = 6, SIZES = 8, SCREENED = 3, MEASURED = 14, TUNINGS = 40 };

/* ---- Ranges by hand: a digit is a ratio in tenths, a letter beside it that the test finds no difference */

static evidence_t one_of(const char *text)
{
    double value = (text[0] - '0') / 10.0;
    return (evidence_t){value, value - 0.04, value + 0.04, text[1] != 'u', text[1] != 'u' && value > 1};
}

/* What is chosen at each size: the candidate's digit, or a dot. */
static void chosen_of(const char *const *rows, int candidates, int sizes, char *text)
{
    evidence_t all[CANDIDATES * SIZES];
    choice_t choices[SIZES];
    for (int i = 0; i < candidates; i++)
        for (int size = 0; size < sizes; size++)
            all[i * sizes + size] = one_of(rows[i] + (size_t)2 * size);
    int count = choose(all, candidates, sizes, 0.05, NULL, choices);
    memset(text, '.', (size_t)sizes);
    text[sizes] = '\0';
    for (int i = 0; i < count; i++)
        for (int size = choices[i].first; size <= choices[i].last; size++)
            text[size] = (char)('0' + choices[i].candidate);
}

static const struct {
    const char *what;
    const char *rows[2];
    const char *chosen;
} tables[] = {
    {"nothing gains", {":  9u:  ", "9u9u9u9u"}, "...."},
    {"what does not differ is not chosen", {"5u5u5u5u", "8 8 8 8 "}, "1111"},
    {"the best at each size", {"5 5 9 9 ", "8 8 4 4 "}, "0011"},
    {"one range where nothing separates", {"5 5 5 5 ", "5 5 5 : "}, "0000"},
    {"a candidate that is worse is not taken for a longer range", {"5 5 : : ", "8 8 8 8 "}, "0011"},
    {"the library's own choice in between", {"5 : : 5 ", ": : : : "}, "0..0"},
};

LOOP_TEST(ranges_are_as_by_hand, COUNT_OF(tables))
{
    char text[SIZES + 1];
    chosen_of(tables[_i].rows, 2, 4, text);
    EXPECT(strcmp(text, tables[_i].chosen) == 0, "%s: %s instead of %s", tables[_i].what, text, tables[_i].chosen);
}

TEST(sizes_without_rules_are_left)
{
    const evidence_t all[] = {one_of("5"), one_of("5")};
    const bool is_allowed[] = {false, true};
    choice_t choices[2];
    ck_assert_int_eq(choose(all, 1, 2, 0.05, is_allowed, choices), 1);
    ck_assert_int_eq(choices[0].first, 1);
}

/* The least gain of several arrivals, a gain only if it is one with each, and slower if with one; in any order. */
TEST(arrivals_are_added_up)
{
    const char *const arrivals[] = {"5 ", "9u", "; ", ":u"};
    for (int mask = 1; mask < 1 << COUNT_OF(arrivals); mask++)
        for (int way = 0; way < 2; way++) {
            evidence_t all = {0};
            for (int i = 0; i < COUNT_OF(arrivals); i++) {
                int place = way == 0 ? i : COUNT_OF(arrivals) - 1 - i;
                evidence_t one = one_of(arrivals[place]);
                if (mask & 1 << place)
                    evidence_add(&all, &one);
            }
            double ratio = mask & 4 ? 1.1 : mask & 8 ? 1.0 : mask & 2 ? 0.9 : 0.5;
            EXPECT(fabs(all.ratio - ratio) < 1e-9 && all.differs == !(mask & 10) && all.is_slower == !!(mask & 4),
                   "arrivals %#x: ratio %g, differs %d, slower %d", (unsigned)mask, all.ratio, all.differs,
                   all.is_slower);
        }
}

/* ---- Whole tunings of which the truth is known */

typedef struct truth {
    double deviation;
    double gain; /* of candidate 0 in the first half of all sizes */
    chance *dice;
} truth_t;

/* The logarithms of a variant's launches; half of the variance is common to the sizes of a launch. */
static void launch_all(const truth_t *truth, int launches, double log_ratio, double *logs)
{
    for (int launch = 0; launch < launches; launch++) {
        double common = chance_normal(truth->dice) * truth->deviation * M_SQRT1_2;
        for (int size = 0; size < SIZES; size++)
            logs[size * launches + launch] =
                common + chance_normal(truth->dice) * truth->deviation * M_SQRT1_2 + (size < SIZES / 2 ? log_ratio : 0);
    }
}

/* A campaign of the library's own choice and those that join, as a table of evidence. */
static void compare_all(const truth_t *truth, int launches, const bool *joins, double level, evidence_t *all)
{
    double base[SIZES * MEASURED], judged[SIZES * MEASURED];
    launch_all(truth, launches, 0, base);
    memset(all, 0, sizeof *all * CANDIDATES * SIZES);
    for (int i = 0; i < CANDIDATES; i++) {
        finding_t findings[SIZES];
        inference_t inference;
        if (!joins[i])
            continue;
        launch_all(truth, launches, i == 0 ? log1p(-truth->gain) : 0, judged);
        const sides_t sides = {SIZES, {launches, launches}, true, {base, judged}};
        const rule_t rule = {.level = level, .seed = 1, .permutations = 999};
        ck_assert(infer(&sides, &rule, findings, &inference));
        for (int size = 0; size < SIZES; size++)
            all[i * SIZES + size] = (evidence_t){exp(findings[size].log_ratio), exp(findings[size].low),
                                                 exp(findings[size].high), findings[size].differs, false};
    }
}

/* Returns at how many sizes a rule is written. gained: at how many of those that gain in truth. */
static int tune_once(const truth_t *truth, double min_gain, int *gained)
{
    evidence_t all[CANDIDATES * SIZES];
    choice_t choices[SIZES];
    bool joins[CANDIDATES];
    int rules = 0;
    memset(joins, true, sizeof joins);
    compare_all(truth, SCREENED, joins, 0.05, all);
    int finalists = choose_screened(all, CANDIDATES, SIZES, min_gain, joins);
    *gained = 0;
    if (finalists == 0)
        return 0;
    compare_all(truth, MEASURED, joins, 0.05 / finalists, all);
    int count = choose(all, CANDIDATES, SIZES, min_gain, NULL, choices);
    for (int i = 0; i < count; i++) {
        rules += choices[i].last - choices[i].first + 1;
        for (int size = choices[i].first; size <= choices[i].last; size++)
            *gained += choices[i].candidate == 0 && size < SIZES / 2;
    }
    return rules;
}

/* With no least gain, so that the test alone decides. */
TEST(few_tables_get_a_rule_by_chance)
{
    int wrong = 0, tunings = rounds_of(TUNINGS), gained;
    for (int i = 0; i < tunings; i++) {
        chance dice = chance_of_round(i);
        const truth_t truth = {.deviation = 0.05, .dice = &dice};
        wrong += tune_once(&truth, 0, &gained) > 0;
    }
    printf("rules by chance in %d of %d tunings\n", wrong, tunings);
    EXPECT(wrong <= 0.05 * tunings + 3.3 * sqrt(0.05 * 0.95 * tunings), "%d of %d", wrong, tunings);
}

TEST(a_gain_of_ten_percent_is_found)
{
    int found = 0, tunings = rounds_of(TUNINGS), gained;
    for (int i = 0; i < tunings; i++) {
        chance dice = chance_of_round(i);
        const truth_t truth = {.deviation = 0.03, .gain = 0.1, .dice = &dice};
        tune_once(&truth, 0.05, &gained);
        found += gained == SIZES / 2;
    }
    printf("a gain of 10 %% was found in %d of %d tunings\n", found, tunings);
    EXPECT(found >= 0.8 * tunings, "%d of %d", found, tunings);
}

/* ---- The file */

TEST(no_file_fills_its_last_page)
{
    static char text[2 * SMALLEST_PAGE_BYTES + 2];
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    for (size_t length = SMALLEST_PAGE_BYTES - 3; length <= 2 * SMALLEST_PAGE_BYTES + 1; length++) {
        rewind(file);
        memset(text, 'x', length);
        ck_assert(paged_text_write(file, text));
        long bytes = ftell(file);
        ck_assert_msg(bytes > (long)length && bytes % SMALLEST_PAGE_BYTES != 0, "%ld bytes of %zu", bytes, length);
    }
    fclose(file);
}
