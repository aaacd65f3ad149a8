/* SPDX-License-Identifier: BSD-3-Clause */
/* comparison.c - compare, and print verdicts and how they were reached. */
#include "bench/compare/comparison.h"

#include "common/cli/memory.h"
#include "common/cli/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_KEYS = 32, TEXT_BYTES = 128, TITLE_BYTES = 32 };

/* What each column after the keys shows. */
typedef enum figure {
    BASE_OPERATION,
    BASE_SIZE,
    BASE_NS,
    TIME_NS,
    RATIO,
    RATIO_LOW,
    RATIO_HIGH,
    P,
    LAUNCHES,
    VERDICT,
    FIGURES
} figure_t;
enum { MAX_COLUMNS = MAX_KEYS + FIGURES };

#define NUMBER(name, doc, title)                                 \
    {                                                            \
        name, "", ROLE_FIGURE, TYPE_NUMBER, doc, title, 10, 4, 0 \
    }

static const column_t columns[] = {
    [BASE_OPERATION] = {"base_operation", "", ROLE_KEY, TYPE_TEXT,
                        "with --guidelines: the operation that the row is compared with", "no slower than", 34, 0, 0},
    [BASE_SIZE] = {"base_size_bytes", "bytes", ROLE_KEY, TYPE_INTEGER, "with --guidelines: its message size",
                   "of bytes", 12, 0, 0},
    [BASE_NS] =
        {"base_ns", "ns", ROLE_FIGURE, TYPE_NUMBER,
         "the geometric mean over launches of the value compared, of A, whose name is then the title in the table; "
         "with --guidelines, of what the operation is compared with, which base_operation and base_size_bytes name",
         "bound(us)", 14, 2, 1e3},
    [TIME_NS] = {"time_ns", "ns", ROLE_FIGURE, TYPE_NUMBER,
                 "the same of B, whose name is then the title in the table; with --guidelines, of the operation",
                 "time(us)", 14, 2, 1e3},
    [RATIO] = NUMBER("ratio", "the quotient time_ns / base_ns", "ratio"),
    [RATIO_LOW] = NUMBER(
        "ratio_low",
        "the lower bound of the interval of the ratio, corrected for all rows. Empty if no verdict is possible", "low"),
    [RATIO_HIGH] = NUMBER("ratio_high", "its upper bound", "high"),
    [P] = NUMBER(
        "p", "the p of the test, corrected for all rows: the probability of such a difference between equal variants",
        "p"),
    [LAUNCHES] =
        {"launches_needed", "", ROLE_FIGURE, TYPE_INTEGER,
         "if the verdict is undecided: the number of launches of each side that would find a difference of 5 % in "
         "this row with a probability of 80 %. It is computed from the upper limit, at 80 % confidence, of the "
         "deviation between launches. It is meant for a new campaign: do not add launches until a verdict pleases. "
         "The table has it after undecided",
         NULL, 0, 0, 0},
    [VERDICT] =
        {"verdict", "", ROLE_FIGURE, TYPE_TEXT,
         "the verdict: same if the interval lies within --same-percent of 1 (the table has the percentage), else "
         "faster if it lies below 1, slower if it lies above, undecided if it contains 1; with --guidelines, violated "
         "if the operation is slower, kept if it is faster or the same, or undecided",
         "verdict", 0, 0, 0},
};
const schema_t comparison_schema =
    SCHEMA("mpix-compare",
           "A row for each row that both variants have, after its keys, which are those of `mpix-bench`. With\n"
           "`--guidelines`, a row for each guideline: an operation that should be no slower than another one.",
           columns);

/* The table, and its columns' texts. */
typedef struct layout {
    table_t table;
    column_t columns[MAX_COLUMNS];
    int keys;       /* how many columns come before the figures */
    figure_t first; /* of these */
    char titles[2][TITLE_BYTES];
    char common[COMPLAINT_BYTES]; /* what all rows have in common, in words */
} layout_t;

/* ---- From launches to findings */

/* Readings dither, so that the mean of many is finer than a step of the clock. */
static bool is_mean(const char *column)
{
    static const char *const means[] = {"avg_ns",      "min_mean_ns", "max_mean_ns", "mean_ns",
                                        "makespan_ns", "in_call_ns",  NULL};
    return names_find(NAMES(means), column) >= 0;
}

static double find_resolution_ns(const comparison_t *comparison)
{
    double resolution_ns = 0;
    for (const variant_t *variant = comparison->variants->list;
         variant < comparison->variants->list + comparison->variants->count && !is_mean(comparison->column); variant++)
        for (int i = 0; i < variant->count; i++)
            resolution_ns =
                fmax(resolution_ns, strtod(text_at(variant->launches[i].file.provenance, "resolution_ns"), NULL));
    return isfinite(resolution_ns) ? resolution_ns : 0;
}

/* Each of both values is known to half a step of the clock, however many launches agree on it. */
static void widen(comparison_t *comparison, int row)
{
    const double half_ns = comparison->resolution_ns / 2;
    const double base_ns = exp(comparison->pairs.list[row].base->mean_log);
    const double time_ns = exp(comparison->pairs.list[row].judged->mean_log);
    finding_t *finding = &comparison->findings[row];
    finding->low = fmin(finding->low, log(fmax(time_ns - half_ns, 0) / (base_ns + half_ns)));
    finding->high = fmax(finding->high, log((time_ns + half_ns) / fmax(base_ns - half_ns, 0)));
    if (finding->differs && finding->low <= 0 && finding->high >= 0) {
        finding->differs = false;
        comparison->hidden++;
    }
}

/* Whether a difference of FOUND_PERCENT is less than the clock's step, so that no number of launches finds it. */
static bool hides(const comparison_t *comparison, int row)
{
    double base_ns = exp(comparison->pairs.list[row].base->mean_log);
    return base_ns * FOUND_PERCENT / 100 <= comparison->resolution_ns;
}

bool comparison_make(comparison_t *comparison, char complaint[COMPLAINT_BYTES])
{
    const variants_t *variants = comparison->variants;
    rows_t *rows = comparison->rows;
    for (int i = 0; i < variants->count; i++)
        if (!rows_collect(&variants->list[i], comparison->column, &rows[i], complaint))
            return false;
    if (!(comparison->by_guidelines ? pairs_by_guidelines(&rows[0], &comparison->pairs, complaint)
                                    : pairs_match(rows, variants->in_blocks, &comparison->pairs, complaint)))
        return false;
    sides_t sides = pairs_sides(&comparison->pairs);
    comparison->findings = or_exit(malloc(array_bytes(comparison->pairs.count, sizeof(finding_t))));
    if (!infer(&sides, &comparison->rule, comparison->findings, &comparison->inference))
        or_exit(NULL);
    comparison->resolution_ns = find_resolution_ns(comparison);
    for (int row = 0; row < comparison->pairs.count && comparison->resolution_ns > 0; row++)
        widen(comparison, row);
    return true;
}

void comparison_free(comparison_t *comparison)
{
    free(comparison->findings);
    pairs_free(&comparison->pairs);
    for (int i = 0; i < 2; i++)
        rows_free(&comparison->rows[i]);
}

/* ---- Verdicts */

static verdict_t verdict_at(const comparison_t *comparison, int row)
{
    return verdict_of(&comparison->findings[row], comparison->same_percent);
}

/* How many launches of each side allow a verdict at all. */
static int min_launches(const comparison_t *comparison)
{
    const double level = comparison->rule.level;
    double permutations = 1;
    int launches = 1;
    for (; level * permutations * (1 + 1e-12) < 1; launches++)
        permutations *= comparison->pairs.in_blocks ? 2 : (4 * launches + 2) / (launches + 1.0);
    return launches;
}

/* Of an undecided row; 0 of others, and if it is not known. */
static int64_t needed_at(const comparison_t *comparison, int row)
{
    sides_t sides = pairs_sides(&comparison->pairs);
    if (verdict_at(comparison, row) != VERDICT_UNDECIDED || hides(comparison, row))
        return 0;
    int64_t needed =
        launches_needed(&sides, &comparison->inference, &comparison->findings[row], log1p(FOUND_PERCENT / 100.0));
    int least = comparison->inference.lacks_launches ? min_launches(comparison) : 0;
    return needed > 0 && needed < least ? least : needed;
}

/* Whether a row tells how much launches differ: one launch of each does not. */
static bool is_deviation_known(const comparison_t *comparison)
{
    for (int i = 0; i < comparison->pairs.count; i++)
        if (verdict_at(comparison, i) != VERDICT_UNDECIDED || needed_at(comparison, i) > 0)
            return true;
    return false;
}

int64_t comparison_missing(const comparison_t *comparison)
{
    sides_t sides = pairs_sides(&comparison->pairs);
    int launches = sides.launches[0] < sides.launches[1] ? sides.launches[0] : sides.launches[1];
    int64_t most = comparison->inference.lacks_launches ? min_launches(comparison) : 0;
    for (int i = 0; i < comparison->pairs.count; i++) {
        int64_t needed = needed_at(comparison, i);
        most = needed > most ? needed : most;
    }
    return most > launches ? most - launches : 0;
}

bool comparison_noise(const comparison_t *comparison, char text[COMPLAINT_BYTES])
{
    text[0] = '\0';
    if (comparison->by_guidelines)
        return false;
    const noise_t noise = noise_find(&comparison->pairs, comparison->column);
    return noise_tell(&noise, comparison->column, text);
}

void comparison_summary(const comparison_t *comparison, char text[COMPLAINT_BYTES])
{
    static const char *const words[VERDICTS] = {
        [VERDICT_FASTER] = "faster", [VERDICT_SLOWER] = "slower", [VERDICT_SAME] = "the same"};
    const variant_t *list = comparison->variants->list;
    int counts[VERDICTS] = {0}, rows = comparison->pairs.count;
    int64_t missing = comparison_missing(comparison);
    for (int i = 0; i < rows; i++)
        counts[verdict_at(comparison, i)]++;
    text[0] = '\0';
    if (comparison->by_guidelines)
        text_append(text, COMPLAINT_BYTES, "Of %d guidelines, %d are violated, %d kept, %d undecided", rows,
                    counts[VERDICT_SLOWER], counts[VERDICT_SAME] + counts[VERDICT_FASTER], counts[VERDICT_UNDECIDED]);
    for (int i = 0, said = 0; i < VERDICTS && !comparison->by_guidelines; i++) {
        if (i == VERDICT_UNDECIDED && said == 0)
            text_append(text, COMPLAINT_BYTES, "It is undecided whether %.200s is faster than %.200s", list[1].name,
                        list[0].name);
        else if (i == VERDICT_UNDECIDED && counts[i] > 0)
            text_append(text, COMPLAINT_BYTES, ", and undecided in %d", counts[i]);
        if (i == VERDICT_UNDECIDED || counts[i] == 0)
            continue;
        if (said++ == 0)
            text_append(text, COMPLAINT_BYTES, "%.200s is %s %s %.200s", list[1].name, words[i],
                        i == VERDICT_SAME ? "as" : "than", list[0].name);
        else
            text_append(text, COMPLAINT_BYTES, ", %s", words[i]);
        text_append(text, COMPLAINT_BYTES,
                    counts[i] == rows ? " in all %d rows"
                    : said > 1        ? " in %d"
                    : counts[i] == 1  ? " in %d row"
                                      : " in %d rows",
                    counts[i]);
    }
    if (comparison->hidden > 0)
        text_append(text, COMPLAINT_BYTES, "; in %d the difference is within a step of the clock, %g ns",
                    comparison->hidden, comparison->resolution_ns);
    const char *of_each = comparison->by_guidelines ? "" : " of each";
    if (missing > 0 && is_deviation_known(comparison))
        text_append(text, COMPLAINT_BYTES, "; %" PRId64 " more launches%s would find a difference of %d %%", missing,
                    of_each, FOUND_PERCENT);
    else if (missing > 0)
        text_append(text, COMPLAINT_BYTES,
                    "; how much launches differ is not known, and a verdict takes %" PRId64 " more%s at least", missing,
                    of_each);
}

/* ---- The head */

static const char *how_permuted(const comparison_t *comparison)
{
    return comparison->by_guidelines         ? "permuted within launches"
           : comparison->variants->in_blocks ? "permuted within blocks of the campaign"
                                             : "permuted over all launches, in whatever order these were";
}

static void make_head(const comparison_t *comparison, head_t *head)
{
    static const char *const left_out_names[REASONS] = {"rows_only_in_base", "rows_only_in_variant", "rows_incomplete",
                                                        "rows_other_arrival"};
    const inference_t *inference = &comparison->inference;
    const variants_t *variants = comparison->variants;
    char noise[COMPLAINT_BYTES];
    head_add(head, "program", "mpix_compare %s", options_version());
    for (int i = 0; i < variants->count; i++) {
        head_add(head, i == 0 ? "base" : "variant", "%s", variants->list[i].name);
        head_add(head, i == 0 ? "launches_base" : "launches_variant", "%d", variants->list[i].count);
    }
    head_add(head, "figure", "%s", comparison->column);
    head_add(head, "rows", "%d", comparison->pairs.count);
    for (int i = 0; i < REASONS; i++)
        if (comparison->pairs.left_out[i] > 0)
            head_add(head, left_out_names[i], "%d", comparison->pairs.left_out[i]);
    head_add(head, "labels", "%s", how_permuted(comparison));
    head_add(head, "permutations", "%" PRId64 "%s", inference->permutations,
             inference->is_exact ? ", all there are" : ", drawn at random");
    head_add(head, "seed", "%" PRIu64, comparison->rule.seed);
    head_add(head, "level_percent", "%g", 100 * comparison->rule.level);
    head_add(head, "same_percent", "%g", comparison->same_percent);
    head_add(head, "launches_missing", "%" PRId64, comparison_missing(comparison));
    if (!inference->can_decide)
        head_add(head, "no_verdict", "too few %s for the level",
                 inference->lacks_launches ? "launches" : "permutations");
    if (comparison->resolution_ns > 0)
        head_add(head, "resolution_ns", "%g", comparison->resolution_ns);
    if (comparison_noise(comparison, noise))
        head_add(head, "noise", "%s", noise);
    for (int i = 0; i < head->count; i++)
        text_one_line(head->items[i].value);
}

/* ---- Columns */

/* How wide a key is, and whether rows differ in it, so that the table has to show it. */
static bool key_varies(const comparison_t *comparison, int key, int *width)
{
    const pairs_t *pairs = &comparison->pairs;
    bool varies = false;
    *width = (int)strlen(pairs->rows[1]->keys[key]->name) + 2;
    for (int i = 0; i < pairs->count; i++) {
        char text[CELL_BYTES];
        cell_write(&pairs->list[i].judged->keys[key], text);
        varies = varies || !cells_equal(&pairs->list[i].judged->keys[key], &pairs->list[0].judged->keys[key]);
        *width = (int)strlen(text) + 2 > *width ? (int)strlen(text) + 2 : *width;
    }
    return varies;
}

/* Keys that all rows have in common are said once, above the table. */
static void add_keys(layout_t *layout, const comparison_t *comparison)
{
    const rows_t *rows = comparison->pairs.rows[1];
    for (int i = 0; i < rows->key_count && i < MAX_KEYS; i++) {
        column_t *column = &layout->columns[layout->keys++];
        char text[CELL_BYTES];
        int width;
        *column = *rows->keys[i];
        column->title = NULL;
        if (key_varies(comparison, i, &width) || strcmp(column->name, "operation") == 0 ||
            strcmp(column->name, "size_bytes") == 0) {
            column->title = column->name;
            column->width = width;
            column->decimals = 0;
            continue;
        }
        cell_write(&comparison->pairs.list[0].judged->keys[i], text);
        if (text[0] != '\0')
            text_append(layout->common, sizeof layout->common, "%s%s %s", layout->common[0] != '\0' ? ", " : "",
                        column->name, text);
    }
}

/* The end of a name says most. */
static void write_title(const char *name, char title[TITLE_BYTES])
{
    size_t length = strlen(name), room = TITLE_BYTES - sizeof "(us)";
    snprintf(title, TITLE_BYTES, "%s(us)", length > room ? name + length - room : name);
}

/* The verdict as people read it. */
static void write_verdict(const comparison_t *comparison, int row, char text[TEXT_BYTES])
{
    verdict_t verdict = verdict_at(comparison, row);
    const char *name = comparison->variants->list[1].name;
    text[0] = '\0';
    if (comparison->by_guidelines || verdict == VERDICT_UNDECIDED)
        text_append(text, TEXT_BYTES, "%s", verdict_name(verdict, comparison->by_guidelines));
    else if (verdict == VERDICT_SAME)
        text_append(text, TEXT_BYTES, "same within %g %%", comparison->same_percent);
    else
        text_append(text, TEXT_BYTES, "%.80s is %s", name, verdict_name(verdict, false));
}

static void lay_out(const comparison_t *comparison, const output_t *output, layout_t *layout)
{
    *layout = (layout_t){.table = {.schema = &comparison_schema, .columns = layout->columns, .output = output}};
    add_keys(layout, comparison);
    layout->table.column_count = layout->keys;
    layout->first = comparison->by_guidelines ? BASE_OPERATION : BASE_NS;
    for (int i = (int)layout->first; i < FIGURES; i++) {
        column_t *column = &layout->columns[layout->table.column_count++];
        *column = columns[i];
        if ((i == BASE_NS || i == TIME_NS) && !comparison->by_guidelines) {
            write_title(comparison->variants->list[i - BASE_NS].name, layout->titles[i - BASE_NS]);
            column->title = layout->titles[i - BASE_NS];
        }
        if (column->title && column->width < (int)strlen(column->title) + 2)
            column->width = (int)strlen(column->title) + 2;
        for (int row = 0; row < comparison->pairs.count && i == VERDICT; row++) {
            char text[TEXT_BYTES];
            write_verdict(comparison, row, text);
            column->width = (int)strlen(text) + 2 > column->width ? (int)strlen(text) + 2 : column->width;
        }
    }
}

/* ---- Rows */

/* text: the verdict for people; NULL: it is for programs. */
static void take_figures(const comparison_t *comparison, int row, const char *text, cell_t figures[FIGURES])
{
    const pair_t *pair = &comparison->pairs.list[row];
    const rows_t *bases = comparison->pairs.rows[0];
    const finding_t *finding = &comparison->findings[row];
    int64_t needed = needed_at(comparison, row);
    const cell_t all[FIGURES] = {
        [BASE_OPERATION] = *rows_key(bases, pair->base, "operation"),
        [BASE_SIZE] = *rows_key(bases, pair->base, "size_bytes"),
        [BASE_NS] = number_cell(exp(pair->base->mean_log)),
        [TIME_NS] = number_cell(exp(pair->judged->mean_log)),
        [RATIO] = number_cell(exp(finding->log_ratio)),
        [RATIO_LOW] = number_cell(isinf(finding->low) ? NAN : exp(finding->low)),
        [RATIO_HIGH] = number_cell(exp(finding->high)),
        [P] = number_cell(comparison->inference.can_decide ? finding->p : NAN),
        [LAUNCHES] = number_cell(needed > 0 ? (double)needed : NAN),
        [VERDICT] = text_cell(text ? text : verdict_name(verdict_at(comparison, row), comparison->by_guidelines))};
    memcpy(figures, all, sizeof all);
}

static void write_rows(const comparison_t *comparison, const layout_t *layout)
{
    bool for_people = !layout->table.sheet && layout->table.output->format == FORMAT_TABLE;
    for (int row = 0; row < comparison->pairs.count; row++) {
        cell_t cells[MAX_COLUMNS], figures[FIGURES];
        char text[TEXT_BYTES];
        if (for_people && comparison->by_guidelines && verdict_at(comparison, row) != VERDICT_SLOWER)
            continue;
        write_verdict(comparison, row, text);
        take_figures(comparison, row, for_people ? text : NULL, figures);
        for (int i = 0; i < layout->table.column_count; i++)
            cells[i] = i < layout->keys ? comparison->pairs.list[row].judged->keys[i]
                                        : figures[(int)layout->first + i - layout->keys];
        table_row(&layout->table, cells);
    }
}

static void print_brief_head(const comparison_t *comparison, const layout_t *layout)
{
    FILE *file = layout->table.output->file;
    const variants_t *variants = comparison->variants;
    char summary[COMPLAINT_BYTES];
    comparison_summary(comparison, summary);
    text_one_line(summary);
    fprintf(file, "# %s\n# %s of", summary, comparison->column);
    for (int i = 0; i < variants->count; i++)
        fprintf(file, "%s %s, %d launch%s", i > 0 ? " and" : "", variants->list[i].name, variants->list[i].count,
                variants->list[i].count == 1 ? "" : "es");
    fprintf(file, "; %s, %" PRId64 " of them%s, seed %" PRIu64 "\n", how_permuted(comparison),
            comparison->inference.permutations, comparison->inference.is_exact ? ", all there are" : "",
            comparison->rule.seed);
    if (comparison_noise(comparison, summary))
        fprintf(file, "# %s\n", summary);
    if (layout->common[0] != '\0')
        fprintf(file, "# all rows: %s\n", layout->common);
}

void comparison_print(const comparison_t *comparison, const output_t *output)
{
    layout_t layout;
    head_t *head = or_exit(calloc(1, sizeof *head));
    lay_out(comparison, output, &layout);
    make_head(comparison, head);
    if (output->format == FORMAT_TABLE)
        print_brief_head(comparison, &layout);
    table_head(&layout.table, head->items, head->count);
    write_rows(comparison, &layout);
    free(head);
}

sheet_t comparison_sheet(const comparison_t *comparison)
{
    layout_t layout;
    sheet_t sheet = {.schema = NULL};
    lay_out(comparison, NULL, &layout);
    layout.table.sheet = &sheet;
    table_head(&layout.table, NULL, 0);
    write_rows(comparison, &layout);
    return sheet;
}
