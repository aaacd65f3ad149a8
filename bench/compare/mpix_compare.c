/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_compare - which of two variants was faster, by several launches of each; and whether a variant keeps the
 * guidelines of self-consistent performance.
 *
 * It reads what mpix_bench wrote, and does not use MPI.
 */
#include "common/cli/options.h"
#include "common/cli/output.h"
#include "common/cli/text.h"
#include "bench/compare/comparison.h"

#include <math.h>

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

static const char *const undecided[] = {"pass", "fail", NULL};

#define FIELD(field) offsetof(compare_settings_t, field)

static const option_spec_t options[] = {
    {0, "guidelines", NULL, OPTION_SWITCH, FIELD(by_guidelines),
     .doc = "check guidelines within one variant, such as allreduce against reduce+bcast, instead of comparing two",
     .more = "See Guidelines."},
    {0, "column", "NAME", OPTION_TEXT, FIELD(column), .default_text = USUAL_COLUMN,
     .doc = "the value compared: a column of mpix_bench(1) whose name ends in _ns, such as makespan_ns",
     .more = "The default is the median of the valid samples."},
    {0, "level-percent", "PERCENT", OPTION_PERCENT, FIELD(level_percent), .min = 0.01, .max = 50, .default_text = "5",
     .doc = "the maximum probability that any row gets a wrong verdict"},
    {0, "same-percent", "PERCENT", OPTION_PERCENT, FIELD(same_percent), .max = 1000, .default_text = "5",
     .doc = "a row is the same if its whole interval lies between 1 / (1 + PERCENT / 100) and 1 + PERCENT / 100",
     .more = "Even if it excludes 1. With 0, no row is."},
    {0, "fail-if-slower-percent", "PERCENT", OPTION_PERCENT, FIELD(fail_percent), .max = 1000,
     .doc = "exit with 1 if the whole interval of some row lies above 1 + PERCENT / 100, else with 3 if the interval "
            "of some row contains this value or a row was left out",
     .more = "By default, verdicts do not change the exit status."},
    {0, "undecided", "OUTCOME", OPTION_CHOICE, FIELD(undecided), .names = NAMES(undecided),
     .doc = "with --fail-if-slower-percent, exit with 0 (pass) or 1 (fail) instead of 3"},
    {0, "permutations", "N", OPTION_INTEGER, FIELD(permutations), .min = 99, .max = 1e6, .default_text = "9999",
     .doc = "permutations drawn at random, if all are too many"},
    SEED_OPTION(FIELD(seed), .doc = "the seed of the random permutations"),
    OUTPUT_OPTIONS(FIELD(output)),
};
static const option_spec_t operand = {0, "results", "RESULTS", OPTION_TEXTS, .place = FIELD(operands)};

static const char notes[] =
    "A, B: a file that mpix_bench wrote with --format json; a folder of such files; or FOLDER:VARIANT of a\n"
    "campaign. Each file is a launch. A campaign of two variants can be given alone; with --guidelines, give one\n"
    "variant.\n"
    "\n"
    "A launch counts as one value for each row. A test permutes the labels of launches for all rows together. The\n"
    "first line says how many more launches would find a difference of 5 % in all rows. Of guidelines, the table\n"
    "shows what is violated, csv and json show all.\n"
    "--help-columns says what the columns are.\n"
    "\n"
    "Exit status: 0 if all is well, 1 if --fail-if-slower-percent fails or output could not be written, 2 for a bad\n"
    "option or for what cannot be read or compared, 3 if --fail-if-slower-percent is undecided.\n";

static const program_spec_t program = PROGRAM_SPEC(
    program_name,
    "Compares what mpix_bench measured in several launches: which variant is faster, and how sure this is.",
    .operand = &operand, .schemas = SCHEMAS(&comparison_schema),
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

/* ---- From files to verdicts */

/* What the table does not say, on standard error. */
static void tell(const comparison_t *comparison)
{
    const inference_t *inference = &comparison->inference;
    double level_percent = 100 * comparison->rule.level;
    char text[COMPLAINT_BYTES];
    if (!inference->can_decide && inference->lacks_launches)
        fprintf(stderr,
                "%s: no verdict is possible: launches differ, and for a level of %g %% more are needed%s: %lld\n",
                program_name, level_percent, comparison->by_guidelines ? "" : " of each",
                (long long)comparison_missing(comparison));
    else if (!inference->can_decide)
        fprintf(stderr, "%s: no verdict is possible: for a level of %g %%, give --permutations %.0f or more\n",
                program_name, level_percent, ceil(100 / level_percent) - 1);
    if (comparison->variants->left_out > 0)
        fprintf(stderr, "%s: blocks of the campaign left out, as they are not done: %d\n", program_name,
                comparison->variants->left_out);
    for (int reason = 0; reason < REASONS; reason++)
        if (pairs_explain(&comparison->pairs, (reason_t)reason, text))
            fprintf(stderr, "%s: %s\n", program_name, text);
}

/* A row that could not be compared leaves it undecided: what vanished may have been the slowest. */
static int status_of(const compare_settings_t *settings, const comparison_t *comparison)
{
    const pairs_t *pairs = &comparison->pairs;
    if (settings->fail_percent == ABSENT)
        return STATUS_GOOD;
    const double limit = log1p(settings->fail_percent / 100);
    bool passes = true;
    for (int reason = 0; reason < REASONS; reason++)
        passes = passes && pairs->left_out[reason] == 0;
    for (int i = 0; i < pairs->count; i++) {
        if (comparison->findings[i].low > limit)
            return STATUS_FAILED;
        passes = passes && comparison->findings[i].high <= limit;
    }
    if (passes)
        return STATUS_GOOD;
    return settings->undecided == ABSENT ? STATUS_UNDECIDED : settings->undecided == 0 ? STATUS_GOOD : STATUS_FAILED;
}

static int compare(compare_settings_t *settings, variants_t *variants, comparison_t *comparison)
{
    output_t *output = &settings->output;
    char complaint[COMPLAINT_BYTES];
    if (!variants_read(&settings->operands, settings->by_guidelines ? 1 : 2, variants, complaint) ||
        !comparison_make(comparison, complaint)) {
        fprintf(stderr, "%s: %s\n", program_name, complaint);
        return STATUS_BAD_OPTION;
    }
    output->file = output_create(output->path, "--output", program_name);
    if (!output->file)
        return STATUS_BAD_OPTION;
    tell(comparison);
    comparison_print(comparison, output);
    int status = status_of(settings, comparison);
    return output_finish(output->file, output->path, program_name) ? status : STATUS_FAILED;
}

int main(int argc, char **argv)
{
    static compare_settings_t settings;
    static variants_t variants;
    output_begin();
    options_outcome_t outcome = read_options(argc, argv, &settings);
    if (outcome != OPTIONS_RUN)
        return output_answer(outcome, program_name);
    comparison_t comparison = {.variants = &variants,
                               .rule = {.level = settings.level_percent / 100,
                                        .seed = (uint64_t)settings.seed,
                                        .permutations = settings.permutations},
                               .column = settings.column,
                               .same_percent = settings.same_percent,
                               .by_guidelines = settings.by_guidelines != 0};
    int status = compare(&settings, &variants, &comparison);
    comparison_free(&comparison);
    variants_free(&variants);
    return status;
}
