/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c - print verdicts, and how they were reached. */
#include "compare/report.h"

#include "common/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char schema[] = "mpix-compare";

enum { MAX_KEYS = 32, MAX_COLUMNS = MAX_KEYS + 16, TEXT_BYTES = 64 };

/* What a column shows. */
typedef enum figure {
    FIGURE_KEY,
    FIGURE_BOUND,           /* by a guideline, in words */
    FIGURE_BOUND_OPERATION, /* by a guideline */
    FIGURE_BOUND_SIZE,
    FIGURE_BASE,
    FIGURE_JUDGED,
    FIGURE_RATIO,
    FIGURE_LOW,
    FIGURE_HIGH,
    FIGURE_P,
    FIGURE_VERDICT,
    FIGURE_LAUNCHES
} figure_t;

typedef struct layout {
    table_t table;
    column_t columns[MAX_COLUMNS];
    figure_t figures[MAX_COLUMNS];
} layout_t;

/* ---- Head */

int min_launches(const comparison_t *comparison)
{
    const double level = comparison->rule.level;
    double permutations = 1;
    int launches = 1;
    for (; level * permutations * (1 + 1e-12) < 1; launches++)
        permutations *= comparison->pairs->in_blocks ? 2 : (4 * launches + 2) / (launches + 1.0);
    return launches;
}

static bool is_table(const output_t *output)
{
    return output->format == FORMAT_TABLE;
}

/* A line of the head. */
static void head_item(const output_t *output, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void head_item(const output_t *output, const char *key, const char *format, ...)
{
    char text[2 * COMPLAINT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    text_one_line(text);
    if (output->format != FORMAT_JSON) {
        fprintf(output->file, "# %s: %s\n", key, text);
        return;
    }
    if (strcmp(key, "program") == 0)
        schema_begin(output->file, schema);
    else
        fputc(',', output->file);
    quote_json(output->file, key);
    fputc(':', output->file);
    quote_json(output->file, text);
}

static const char *const left_out_names[REASONS] = {"rows_only_in_a", "rows_only_in_b", "rows_incomplete",
                                                    "rows_other_arrival"};

static void print_head(const comparison_t *comparison, const output_t *output)
{
    const inference_t *inference = &comparison->inference;
    const variants_t *variants = comparison->variants;
    const pairs_t *pairs = comparison->pairs;
    head_item(output, "program", "mpix_compare %s", options_version());
    for (int i = 0; i < variants->count; i++) {
        const char *name = variants->count == 1 ? "results" : i == 0 ? "a" : "b";
        head_item(output, name, "%s", variants->list[i].name);
        head_item(output, i == 0 ? "launches_a" : "launches_b", "%d", variants->list[i].count);
    }
    head_item(output, "column", "%s", comparison->column);
    head_item(output, "rows", "%d", pairs->count);
    for (int i = 0; i < REASONS; i++)
        if (pairs->left_out[i] > 0)
            head_item(output, left_out_names[i], "%d", pairs->left_out[i]);
    head_item(output, "labels", "%s",
              comparison->by_guidelines ? "permuted within launches"
              : variants->in_blocks     ? "permuted within blocks of the campaign"
                                        : "permuted over all launches, in whatever order these were");
    head_item(output, "permutations", "%" PRId64 "%s", inference->permutations,
              inference->is_exact ? ", all there are" : ", drawn at random");
    head_item(output, "seed", "%" PRIu64, comparison->rule.seed);
    head_item(output, "level_percent", "%g", 100 * comparison->rule.level);
    head_item(output, "same_percent", "%g", comparison->same_percent);
    if (!inference->can_decide)
        head_item(output, "no_verdict", "too few %s for the level",
                  inference->lacks_launches ? "launches" : "permutations");
    fputs(output->format == FORMAT_JSON ? "}}\n" : "", output->file);
}

/* ---- Columns */

static column_t *add_column(layout_t *layout, figure_t figure, const char *name, int width)
{
    int place = layout->table.column_count++;
    layout->columns[place] = (column_t){.title = name, .name = name, .width = width};
    layout->figures[place] = figure;
    return &layout->columns[place];
}

static void add_number(layout_t *layout, figure_t figure, const char *title, const char *name, int decimals)
{
    column_t *column = add_column(layout, figure, name, 10);
    column->title = title;
    column->decimals = decimals;
}

/* In the table microseconds, else nanoseconds. */
static void add_time(layout_t *layout, figure_t figure, const char *title, const char *name)
{
    bool in_table = is_table(layout->table.output);
    column_t *column = add_column(layout, figure, name, 14);
    column->title = title;
    column->decimals = in_table ? 2 : 1;
    column->unit = in_table ? 1e3 : 0;
}

/* Whether rows differ in a key, so that the table has to show it, and how wide it is. */
static bool key_varies(const pairs_t *pairs, const char *name, int *width)
{
    const char *first = rows_key(pairs->list[0].judged, name);
    bool varies = false;
    *width = (int)strlen(name) + 2;
    for (int i = 0; i < pairs->count; i++) {
        const char *text = rows_key(pairs->list[i].judged, name);
        varies = varies || strcmp(text, first) != 0;
        *width = (int)strlen(text) + 2 > *width ? (int)strlen(text) + 2 : *width;
    }
    return varies;
}

/* Keys that all rows have in common are said once, above the table. */
static void add_keys(layout_t *layout, const comparison_t *comparison)
{
    const output_t *output = layout->table.output;
    const pairs_t *pairs = comparison->pairs;
    const char *name;
    json_t *value;
    json_object_foreach(pairs->list[0].judged->keys, name, value)
    {
        const char *text = json_string_value(value);
        int width;
        bool varies = key_varies(pairs, name, &width);
        bool is_shown = varies || strcmp(name, "operation") == 0 || strcmp(name, "size_bytes") == 0;
        if ((is_shown || !is_table(output)) && layout->table.column_count < MAX_KEYS)
            add_column(layout, FIGURE_KEY, name, width);
        else if (is_table(output) && text[0] != '\0')
            fprintf(output->file, "# %s: %s\n", name, text);
    }
}

static layout_t lay_out(const comparison_t *comparison, const output_t *output)
{
    bool by_guidelines = comparison->by_guidelines;
    layout_t layout = {.table = {.output = output, .schema = schema}};
    add_keys(&layout, comparison);
    if (by_guidelines && is_table(output)) {
        add_column(&layout, FIGURE_BOUND, "no_slower_than", 34);
    } else if (by_guidelines) {
        add_column(&layout, FIGURE_BOUND_OPERATION, "bound_operation", 0);
        add_column(&layout, FIGURE_BOUND_SIZE, "bound_size_bytes", 0);
    }
    if (by_guidelines) {
        add_time(&layout, FIGURE_JUDGED, "Time(us)", "time_ns");
        add_time(&layout, FIGURE_BASE, "Bound(us)", "bound_time_ns");
    } else {
        add_time(&layout, FIGURE_BASE, "A(us)", "a_ns");
        add_time(&layout, FIGURE_JUDGED, "B(us)", "b_ns");
    }
    add_number(&layout, FIGURE_RATIO, by_guidelines ? "Ratio" : "B/A", "ratio", 4);
    add_number(&layout, FIGURE_LOW, "Low", "ratio_low", 4);
    add_number(&layout, FIGURE_HIGH, "High", "ratio_high", 4);
    add_number(&layout, FIGURE_P, "p", "p", 4);
    if (!is_table(output))
        add_column(&layout, FIGURE_LAUNCHES, "launches_needed", 0);
    add_column(&layout, FIGURE_VERDICT, is_table(output) ? "Verdict" : "verdict", 38);
    return layout;
}

/* ---- Rows */

/* Numbers stay numbers for programs. */
static cell_t key_cell(const layout_t *layout, int column, const series_t *row)
{
    const char *name = layout->columns[column].name, *text = rows_key(row, name);
    bool is_number = strcmp(name, "ranks") == 0 || strcmp(name, "size_bytes") == 0;
    return is_number && text[0] != '\0' ? (cell_t){NULL, strtod(text, NULL)} : (cell_t){text, 0};
}

static cell_t number_cell(double number)
{
    return (cell_t){isfinite(number) ? NULL : "", number};
}

static bool is_other_operation(const pair_t *pair)
{
    return strcmp(rows_key(pair->base, "operation"), rows_key(pair->judged, "operation")) != 0;
}

/* The verdict in the table, with what it is worth. */
static void write_verdict(const comparison_t *comparison, const finding_t *finding, int64_t needed, char *text)
{
    verdict_t verdict = verdict_of(finding, comparison->same_percent);
    const char *name = verdict_name(verdict, comparison->by_guidelines);
    text[0] = '\0';
    text_append(text, TEXT_BYTES, "%s", name);
    if (verdict == VERDICT_SAME && !comparison->by_guidelines)
        text_append(text, TEXT_BYTES, " within %g %%", comparison->same_percent);
    if (verdict == VERDICT_UNDECIDED && needed > 0)
        text_append(text, TEXT_BYTES, ", 5 %%: %" PRId64 " launches", needed);
}

static cell_t cell_of(const comparison_t *comparison, const layout_t *layout, int column, int row, int64_t needed,
                      char text[TEXT_BYTES])
{
    const pair_t *pair = &comparison->pairs->list[row];
    const finding_t *finding = &comparison->findings[row];
    text[0] = '\0';
    switch (layout->figures[column]) {
    case FIGURE_KEY:
        return key_cell(layout, column, pair->judged);
    case FIGURE_BOUND:
        if (is_other_operation(pair))
            return (cell_t){rows_key(pair->base, "operation"), 0};
        text_append(text, TEXT_BYTES, "%s bytes", rows_key(pair->base, "size_bytes"));
        return (cell_t){text, 0};
    case FIGURE_BOUND_OPERATION:
        return (cell_t){rows_key(pair->base, "operation"), 0};
    case FIGURE_BOUND_SIZE:
        return number_cell(strtod(rows_key(pair->base, "size_bytes"), NULL));
    case FIGURE_BASE:
        return number_cell(exp(rows_mean_log(comparison->pairs->rows[0], pair->base)));
    case FIGURE_JUDGED:
        return number_cell(exp(rows_mean_log(comparison->pairs->rows[1], pair->judged)));
    case FIGURE_RATIO:
        return number_cell(exp(finding->log_ratio));
    case FIGURE_LOW:
        return number_cell(isinf(finding->low) ? NAN : exp(finding->low));
    case FIGURE_HIGH:
        return number_cell(exp(finding->high));
    case FIGURE_P:
        return number_cell(comparison->inference.can_decide ? finding->p : NAN);
    case FIGURE_LAUNCHES:
        return number_cell(needed > 0 ? (double)needed : NAN);
    case FIGURE_VERDICT:
        if (is_table(layout->table.output))
            write_verdict(comparison, finding, needed, text);
        else
            text_append(text, TEXT_BYTES, "%s",
                        verdict_name(verdict_of(finding, comparison->same_percent), comparison->by_guidelines));
        return (cell_t){text, 0};
    }
    return number_cell(NAN);
}

static void print_row(const comparison_t *comparison, const layout_t *layout, int row)
{
    cell_t cells[MAX_COLUMNS];
    char texts[MAX_COLUMNS][TEXT_BYTES];
    const finding_t *finding = &comparison->findings[row];
    sides_t sides = pairs_sides(comparison->pairs);
    bool is_open = verdict_of(finding, comparison->same_percent) == VERDICT_UNDECIDED;
    int64_t needed = is_open ? launches_needed(&sides, &comparison->inference, finding, log1p(FOUND_PERCENT / 100)) : 0;
    for (int i = 0; i < layout->table.column_count; i++)
        cells[i] = cell_of(comparison, layout, i, row, needed, texts[i]);
    table_row(&layout->table, cells);
}

/* Of a table: how many verdicts there are of each kind. */
static void print_counts(const comparison_t *comparison, const output_t *output)
{
    int counts[VERDICTS] = {0};
    for (int i = 0; i < comparison->pairs->count; i++)
        counts[verdict_of(&comparison->findings[i], comparison->same_percent)]++;
    if (comparison->by_guidelines)
        fprintf(output->file, "# guidelines: %d violated, %d kept, %d undecided\n", counts[VERDICT_SLOWER],
                counts[VERDICT_SAME] + counts[VERDICT_FASTER], counts[VERDICT_UNDECIDED]);
    else
        fprintf(output->file, "# b is: %d faster, %d slower, %d same within %g %%, %d undecided\n",
                counts[VERDICT_FASTER], counts[VERDICT_SLOWER], counts[VERDICT_SAME], comparison->same_percent,
                counts[VERDICT_UNDECIDED]);
}

void report_comparison(const comparison_t *comparison, const output_t *output)
{
    print_head(comparison, output);
    layout_t layout = lay_out(comparison, output);
    layout.table.columns = layout.columns;
    if (is_table(output))
        print_counts(comparison, output);
    if (output->format != FORMAT_JSON)
        table_head(&layout.table);
    for (int i = 0; i < comparison->pairs->count; i++)
        if (!is_table(output) || !comparison->by_guidelines ||
            verdict_of(&comparison->findings[i], comparison->same_percent) == VERDICT_SLOWER)
            print_row(comparison, &layout, i);
}
