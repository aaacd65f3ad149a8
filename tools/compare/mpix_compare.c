/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_compare - which of two variants was faster, by several launches of each; and whether a variant keeps the
 * guidelines of self-consistent performance.
 *
 * It reads what mpix_bench wrote, and does not use MPI.
 */
#include "common/options.h"
#include "common/output.h"
#include "common/room.h"
#include "common/text.h"
#include "compare/pairs.h"
#include "compare/report.h"
#include "compare/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Beside those of all programs. */
enum { STATUS_UNDECIDED = 3 };

static const char program_name[] = "mpix_compare";

typedef struct compare_settings {
    text_list_t operands;
    int64_t by_guidelines;
    const char *column;
    double level_percent;
    double same_percent;
    double fail_percent;
    int64_t undecided;
    int64_t permutations;
    int64_t seed;
    output_t output;
} compare_settings_t;

/* All that is read and found. */
typedef struct compare_run {
    compare_settings_t settings;
    variants_t variants;
    rows_t rows[2];
    pairs_t pairs;
    finding_t *findings;
    char complaint[COMPLAINT_BYTES];
} compare_run_t;

static const char *const undecided[] = {"pass", "fail", NULL};

#define FIELD(field) offsetof(compare_settings_t, field)

static const option_spec_t options[] = {
    {0, "guidelines", NULL, OPTION_SWITCH, FIELD(by_guidelines), 0, 0, NULL, NULL,
     "check guidelines within one variant, such as allreduce\nagainst reduce+bcast, instead of comparing two"},
    {0, "column", "NAME", OPTION_TEXT, FIELD(column), 0, 0, NULL, "median_ns",
     "the value compared: a column whose name ends in _ns"},
    {0, "level-percent", "PERCENT", OPTION_PERCENT, FIELD(level_percent), 0.01, 50, NULL, "5",
     "how often any of all rows may get a wrong verdict"},
    {0, "same-percent", "PERCENT", OPTION_PERCENT, FIELD(same_percent), 0, 1000, NULL, "5",
     "a row is the same if its whole interval lies between\n1 / (1 + PERCENT / 100) and 1 + PERCENT / 100; 0: no\n"
     "row is"},
    {0, "fail-if-slower-percent", "PERCENT", OPTION_PERCENT, FIELD(fail_percent), 0, 1000, NULL, NULL,
     "exit with 1 if the whole interval of some row lies above\n1 + PERCENT / 100, else with 3 if some interval "
     "contains\nthis value or a row was left out"},
    {0, "undecided", "OUTCOME", OPTION_CHOICE, FIELD(undecided), 0, 0, NAMES(undecided), NULL,
     "with --fail-if-slower-percent, exit with 0 (pass)\nor 1 (fail) instead of 3"},
    {0, "permutations", "N", OPTION_INTEGER, FIELD(permutations), 99, 1e6, NULL, "9999",
     "permutations drawn at random, if all are too many"},
    {0, "seed", "N", OPTION_INTEGER, FIELD(seed), 0, 1e15, NULL, "1", "the seed of the random permutations"},
    OUTPUT_OPTIONS(FIELD(output)),
};
static const option_spec_t operand = {0, "results", "RESULTS", OPTION_TEXTS, FIELD(operands), 0, 0, NULL, NULL, ""};

static const char notes[] =
    "A, B: a file that mpix_bench wrote with --format json or csv; a folder of such files; or FOLDER:VARIANT of a\n"
    "campaign. Each file is a launch. A campaign of two variants can be given alone; with --guidelines, give one\n"
    "variant.\n"
    "\n"
    "A launch counts as one value for each row. A row's ratio is the geometric mean of B / A. Its interval is\n"
    "corrected for all rows, and p is that of a test that permutes the labels of launches for all rows together.\n"
    "The verdict on B is\n"
    "  same       if the interval lies within --same-percent of 1, else\n"
    "  faster     if it lies below 1,\n"
    "  slower     if it lies above,\n"
    "  undecided  if it contains 1; the table says how many launches of a new campaign would find a difference of 5 %\n"
    "A guideline is violated by a row that is slower than its bound, and kept by one that is faster or the same.\n"
    "The table shows what is violated, csv and json show all.\n"
    "\n"
    "Exit status: 0 if all is well, 1 if --fail-if-slower-percent fails or output could not be written, 2 for a bad\n"
    "option or for what cannot be read or compared, 3 if --fail-if-slower-percent is undecided.\n";

static const program_spec_t program = PROGRAM_SPEC(
    program_name,
    "Compares what mpix_bench measured in several launches: which variant is faster, and how sure this is.",
    .operand = &operand,
    .usage = "mpix_compare [OPTION]... A B\n"
             "       mpix_compare [OPTION]... CAMPAIGN\n"
             "       mpix_compare --guidelines [OPTION]... A");

static options_outcome_t read_options(int argc, char **argv, compare_settings_t *settings)
{
    options_outcome_t outcome = options_parse(&program, argc, argv, settings);
    if (outcome != OPTIONS_RUN)
        return outcome;
    if (!text_ends_in(settings->column, "_ns"))
        return options_refuse(program_name, "option --column: \"%.60s\" is not allowed, give a name that ends in _ns",
                              settings->column);
    if (settings->undecided != ABSENT && settings->fail_percent == ABSENT)
        return options_refuse(program_name, "option --undecided needs --fail-if-slower-percent");
    return OPTIONS_RUN;
}

/* ---- From files to findings */

static bool pair_rows(compare_run_t *run)
{
    const compare_settings_t *settings = &run->settings;
    int sides = settings->by_guidelines ? 1 : 2;
    if (!launches_read(&settings->operands, sides, &run->variants, run->complaint))
        return false;
    for (int i = 0; i < sides; i++)
        if (!rows_collect(&run->variants.list[i], settings->column, &run->rows[i], run->complaint))
            return false;
    return settings->by_guidelines ? pairs_by_guidelines(&run->rows[0], &run->pairs, run->complaint)
                                   : pairs_match(run->rows, run->variants.in_blocks, &run->pairs, run->complaint);
}

static comparison_t compare(compare_run_t *run)
{
    sides_t sides = pairs_sides(&run->pairs);
    comparison_t comparison = {.pairs = &run->pairs,
                               .variants = &run->variants,
                               .findings = run->findings,
                               .rule = {.level = run->settings.level_percent / 100,
                                        .seed = (uint64_t)run->settings.seed,
                                        .permutations = run->settings.permutations},
                               .column = run->settings.column,
                               .same_percent = run->settings.same_percent,
                               .by_guidelines = run->settings.by_guidelines != 0};
    if (!infer(&sides, &comparison.rule, run->findings, &comparison.inference))
        need(NULL);
    return comparison;
}

/* Why there are no verdicts. */
static void tell_obstacle(const compare_run_t *run, const comparison_t *comparison)
{
    const variant_t *list = run->variants.list;
    bool is_single = list[0].count == 1 || (run->variants.count > 1 && list[1].count == 1);
    double level_percent = run->settings.level_percent;
    if (comparison->inference.lacks_launches)
        fprintf(stderr,
                "%s: no verdict is possible: launches differ, and %s; for a level of %g %% it takes %d launches%s\n",
                program_name, is_single ? "there is only one" : "there are too few of them", level_percent,
                min_launches(comparison), comparison->by_guidelines ? "" : " of each");
    else
        fprintf(stderr, "%s: no verdict is possible: for a level of %g %%, give --permutations %.0f or more\n",
                program_name, level_percent, ceil(100 / level_percent) - 1);
}

/* What the table does not say, on standard error. */
static void tell(const compare_run_t *run, const comparison_t *comparison)
{
    char text[COMPLAINT_BYTES];
    if (!comparison->inference.can_decide)
        tell_obstacle(run, comparison);
    if (run->variants.left_out > 0)
        fprintf(stderr, "%s: blocks of the campaign left out, as they are not done: %d\n", program_name,
                run->variants.left_out);
    for (int reason = 0; reason < REASONS; reason++)
        if (pairs_explain(&run->pairs, (reason_t)reason, text))
            fprintf(stderr, "%s: %s\n", program_name, text);
}

/* ---- The answer */

/* A row that could not be compared leaves it undecided: what vanished may have been the slowest. */
static int status_of(const compare_settings_t *settings, const finding_t *findings, const pairs_t *pairs)
{
    if (settings->fail_percent == ABSENT)
        return STATUS_GOOD;
    judgment_t judgment = judge(findings, pairs->count, settings->fail_percent);
    bool is_whole = true;
    for (int reason = 0; reason < REASONS; reason++)
        is_whole = is_whole && pairs->left_out[reason] == 0;
    if (judgment == JUDGMENT_FAIL)
        return STATUS_FAILED;
    if (judgment == JUDGMENT_PASS && is_whole)
        return STATUS_GOOD;
    return settings->undecided == ABSENT ? STATUS_UNDECIDED : settings->undecided == 0 ? STATUS_GOOD : STATUS_FAILED;
}

static int run_comparison(compare_run_t *run)
{
    output_t *output = &run->settings.output;
    if (!pair_rows(run)) {
        fprintf(stderr, "%s: %s\n", program_name, run->complaint);
        return STATUS_BAD_OPTION;
    }
    output->file = output_create(output->path, "--output", program_name);
    if (!output->file)
        return STATUS_BAD_OPTION;
    run->findings = need(malloc(room_bytes(run->pairs.count, sizeof(finding_t))));
    comparison_t comparison = compare(run);
    tell(run, &comparison);
    report_comparison(&comparison, output);
    int status = status_of(&run->settings, run->findings, &run->pairs);
    return output_finish(output->file, output->path, program_name) ? status : STATUS_FAILED;
}

int main(int argc, char **argv)
{
    static compare_run_t run;
    output_begin();
    options_outcome_t outcome = read_options(argc, argv, &run.settings);
    if (outcome != OPTIONS_RUN)
        return output_answer(outcome, program_name);
    int status = run_comparison(&run);
    free(run.findings);
    pairs_free(&run.pairs);
    for (int i = 0; i < 2; i++)
        rows_free(&run.rows[i]);
    launches_free(&run.variants);
    return status;
}
