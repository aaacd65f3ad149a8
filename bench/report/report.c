/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c - print the sections of the page. */
#include "bench/report/report.h"

#include "pure/order_statistics.h"
#include "bench/compare/comparison.h"
#include "common/page/page.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES = 32, TITLE_BYTES = 512, MOST_OPERATIONS = 4 };

/* The launches of one kind, in campaigns or by themselves. */
typedef struct section {
    const json_t *kind;
    bool is_campaign;
    int files;
    double resolution;
} section_t;

/* A launch, and where it is from. */
typedef struct entry {
    const source_t *source;
    const variant_t *variant;
    const measured_t *launch;
    const section_t *section;
} entry_t;

typedef struct report {
    page_t page;
    const source_t *sources;
    int count;
    entry_t *entries;
    int entry_count;
    section_t sections[32];
    int section_count;
} report_t;

/*
 * Of a schema, as kinds.json has it: title; text, what the reader has to know about the figures; bands, what these are
 * in its own charts; first, the columns to be seen at once in tables, or all; folded, of single measurements, the
 * title of their table, which is not seen at once; distribution, see distribution_sheet; and charts. NULL: there is
 * none.
 */
static const json_t *kind_of(const char *schema)
{
    static const json_t *kinds;
    if (!kinds)
        kinds = or_exit(json_loads(report_kinds, JSON_REJECT_DUPLICATES, NULL));
    return json_object_get(kinds, schema);
}

bool report_wants(const char *schema)
{
    return kind_of(schema) != NULL;
}

/* A paragraph of a kind, if it has this one. */
static void print_text(const report_t *report, const json_t *kind, const char *name)
{
    const json_t *text = json_object_get(kind, name);
    if (!text)
        return;
    fputs("<p>", report->page.file);
    for (size_t i = 0; i < json_array_size(text); i++)
        fputs(json_string_value(json_array_get(text, i)), report->page.file);
    fputs("</p>\n", report->page.file);
}

/* ---- Launches */

/* A folder without a manifest that has only one file of a kind is not a campaign of that kind. */
static bool is_in_campaign(const source_t *source, const char *schema)
{
    int launches = 0;
    for (int i = 0; i < source->variant_count; i++)
        for (int k = 0; k < source->variants[i].count; k++)
            launches += strcmp(source->variants[i].launches[k].file.sheet.schema, schema) == 0;
    return source->manifest || (source->is_folder && launches > 1);
}

static section_t *section_of(report_t *report, const json_t *kind, bool is_campaign)
{
    section_t *section = report->sections;
    while (section < report->sections + report->section_count &&
           (section->kind != kind || section->is_campaign != is_campaign))
        section++;
    if (section == report->sections + report->section_count) {
        *section = (section_t){.kind = kind, .is_campaign = is_campaign};
        report->section_count++;
    }
    return section;
}

static void add_variant(report_t *report, const source_t *source, const variant_t *variant)
{
    for (const measured_t *launch = variant->launches; launch < variant->launches + variant->count; launch++) {
        const char *schema = launch->file.sheet.schema;
        const json_t *kind = kind_of(schema);
        bool are_single = json_object_get(kind, "folded") != NULL;
        section_t *section = section_of(report, kind, !are_single && is_in_campaign(source, schema));
        section->files++;
        section->resolution =
            fmax(section->resolution, strtod(text_at(launch->file.provenance, "resolution_ns"), NULL));
        report->entries = or_exit(array_grow(report->entries, report->entry_count, sizeof report->entries[0]));
        report->entries[report->entry_count++] = (entry_t){source, variant, launch, section};
    }
}

/* ---- All rows of a section as one table */

/* What tells a launch from others. The file comes last: it names a curve only if no other key does. */
typedef enum origin { FOLDER, VARIANT, LAUNCH, FILE_NAME, ORIGINS } origin_t;

static bool has_origin(const report_t *report, const section_t *section, origin_t origin)
{
    return origin == FILE_NAME ? !section->is_campaign && section->files > 1
                               : section->is_campaign && (origin != FOLDER || report->count > 1);
}

static const column_t origins[ORIGINS] = {
    [FOLDER] = {"folder", "", ROLE_KEY, TYPE_TEXT, "the folder", NULL, 0, 0, 0},
    [VARIANT] = {"variant", "", ROLE_KEY, TYPE_TEXT, "the variant", NULL, 0, 0, 0},
    [LAUNCH] = {"launch", "", ROLE_KEY, TYPE_INTEGER, "its launch", NULL, 0, 0, 0},
    [FILE_NAME] = {"file", "", ROLE_KEY, TYPE_TEXT, "the file", NULL, 0, 0, 0},
};

static void add_rows(const report_t *report, const entry_t *entry, const sheet_t *from, sheet_t *all)
{
    const cell_t values[ORIGINS] = {[FOLDER] = {entry->source->path, 0},
                                    [VARIANT] = {entry->variant->name, 0},
                                    [LAUNCH] = {NULL, (double)entry->launch->number},
                                    [FILE_NAME] = {entry->launch->path, 0}};
    cell_t *cells = or_exit(calloc((size_t)all->column_count + 1, sizeof cells[0]));
    for (int64_t row = 0; row < from->row_count; row++) {
        for (int i = 0; i < all->column_count; i++)
            cells[i] = (cell_t){"", 0};
        for (int i = 0; i < ORIGINS; i++)
            if (has_origin(report, entry->section, (origin_t)i))
                cells[sheet_column(all, origins[i].name)] = values[i];
        for (int i = 0; i < from->column_count; i++)
            cells[sheet_column(all, from->columns[i].name)] = *sheet_at(from, row, i);
        sheet_add(all, cells);
    }
    free(cells);
}

/* How a launch came about as a table of one row. */
static sheet_t provenance_sheet(const measured_t *launch)
{
    sheet_t sheet = {.schema = NULL};
    size_t count = json_object_size(launch->file.provenance);
    cell_t *cells = or_exit(calloc(count + 1, sizeof cells[0]));
    const char *key;
    json_t *value;
    json_object_foreach(launch->file.provenance, key, value)
    {
        cells[sheet.column_count] = (cell_t){json_string_value(value), 0};
        sheet_add_column(&sheet, &(column_t){.name = key, .unit = "", .type = TYPE_TEXT, .doc = ""});
    }
    if (count > 0)
        sheet_add(&sheet, cells);
    free(cells);
    return sheet;
}

/* Whether two rows have the same keys, but for the one in the column `except`. */
static bool have_same_keys(const sheet_t *sheet, int64_t a, int64_t b, int except)
{
    for (int i = 0; i < sheet->column_count; i++)
        if (sheet->columns[i].role == ROLE_KEY && i != except &&
            !cells_equal(sheet_at(sheet, a, i), sheet_at(sheet, b, i)))
            return false;
    return true;
}

/*
 * How a column is distributed over the rows that differ in the key `each` alone and, if `if` names a column, have 1
 * there: keys, values, and the share of rows that have no more. The rarest thousandth, interruptions mostly, would fill
 * most of a chart.
 */
static sheet_t distribution_sheet(const sheet_t *rows, const json_t *distribution)
{
    enum { POINTS = 200 };
    static const column_t share = {"share", "", ROLE_FIGURE, TYPE_NUMBER, "the share that has no more", NULL, 0, 6, 0};
    int column = sheet_column(rows, text_at(distribution, "column"));
    int each = sheet_column(rows, text_at(distribution, "each")),
        flag = sheet_column(rows, text_at(distribution, "if"));
    double *values = or_exit(calloc((size_t)rows->row_count + 1, sizeof values[0]));
    cell_t *cells = or_exit(calloc((size_t)rows->column_count + 2, sizeof cells[0]));
    sheet_t made = {.schema = NULL};
    for (int i = 0; i < rows->column_count; i++)
        if (rows->columns[i].role == ROLE_KEY && i != each)
            sheet_add_column(&made, &rows->columns[i]);
    if (column >= 0)
        sheet_add_column(&made, &rows->columns[column]);
    sheet_add_column(&made, &share);
    for (int64_t from = 0, end; column >= 0 && from < rows->row_count; from = end) {
        cell_t *next = cells;
        int64_t count = 0;
        end = from + 1; /* rows are in the order of their keys */
        while (end < rows->row_count && have_same_keys(rows, from, end, each))
            end++;
        for (int64_t row = from; row < end; row++)
            if (!sheet_at(rows, row, column)->text && (flag < 0 || sheet_at(rows, row, flag)->number == 1))
                values[count++] = sheet_at(rows, row, column)->number;
        sort_reals(values, count);
        for (int i = 0; i < rows->column_count; i++)
            if (rows->columns[i].role == ROLE_KEY && i != each)
                *next++ = *sheet_at(rows, from, i);
        for (int point = 1; point <= POINTS && count > 0; point++) {
            double part = 0.999 * point / POINTS;
            next[0] = number_cell(values[quantile_place(count, part)]);
            next[1] = number_cell(part);
            sheet_add(&made, cells);
        }
    }
    free(cells);
    free(values);
    return made;
}

static void add_column(sheet_t *sheet, const column_t *column)
{
    if (sheet_column(sheet, column->name) < 0)
        sheet_add_column(sheet, column);
}

static sheet_t gather(const report_t *report, const section_t *section, bool provenance)
{
    const json_t *distribution = json_object_get(section->kind, "distribution");
    sheet_t all = {.schema = NULL};
    for (int pass = 0; pass < 2; pass++) { /* columns, then rows */
        for (int i = FOLDER; i < ORIGINS; i++)
            if (has_origin(report, section, (origin_t)i) && pass == (i == FILE_NAME))
                add_column(&all, &origins[i]);
        for (const entry_t *entry = report->entries; entry < report->entries + report->entry_count; entry++) {
            if (entry->section != section)
                continue;
            const sheet_t *read = &entry->launch->file.sheet;
            sheet_t own = provenance     ? provenance_sheet(entry->launch)
                          : distribution ? distribution_sheet(read, distribution)
                                         : (sheet_t){.schema = NULL};
            const sheet_t *from = provenance || distribution ? &own : read;
            for (int i = 0; i < from->column_count && pass == 0; i++)
                add_column(&all, &from->columns[i]);
            if (pass == 1)
                add_rows(report, entry, from, &all);
            sheet_free(&own);
        }
    }
    return all;
}

/* ---- Medians over launches */

/* Adds the row of what the rows from one on, of several launches, have in common with it. Returns their values. */
static json_t *add_median(const sheet_t *rows, int64_t from, int place, sheet_t *medians, bool *is_done)
{
    int launch = sheet_column(rows, origins[LAUNCH].name);
    double *values = or_exit(calloc((size_t)rows->row_count, sizeof values[0]));
    cell_t *cells = or_exit(calloc((size_t)medians->column_count + 1, sizeof cells[0])), *next = cells;
    json_t *singles = or_exit(json_array());
    int64_t count = 0;
    for (int i = 0; i < rows->column_count; i++)
        if (rows->columns[i].role == ROLE_KEY && i != launch)
            *next++ = *sheet_at(rows, from, i);
    for (int64_t row = from; row < rows->row_count; row++) {
        const cell_t *cell = sheet_at(rows, row, place);
        if (is_done[row] || !have_same_keys(rows, from, row, launch))
            continue;
        is_done[row] = true;
        if (!cell->text) {
            json_array_append_new(singles, or_exit(json_real(cell->number)));
            values[count++] = cell->number;
        }
    }
    sort_reals(values, count);
    double median = count > 0 ? middle_of(values, count) : NAN, last = count > 0 ? values[count - 1] : NAN;
    double first = count > 0 ? values[0] : NAN, spread = median > 0 ? (last - first) / median * 100 : NAN;
    const double figures[] = {(double)count, median, first, last, spread};
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
        *next++ = number_cell(figures[i]);
    sheet_add(medians, cells);
    free(cells);
    free(values);
    return singles;
}

/* singles: out, of each row of the medians the value of each launch. */
static sheet_t make_medians(const sheet_t *rows, const char *figure, json_t *singles)
{
    int place = sheet_column(rows, figure), launch = sheet_column(rows, origins[LAUNCH].name);
    const column_t *column = &rows->columns[place];
    const column_t columns[] = {
        {"launches", "", ROLE_FIGURE, TYPE_INTEGER, "launches that have a value", NULL, 0, 0, 0},
        /* The rows have this column: NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
        {column->name, column->unit, ROLE_FIGURE, TYPE_NUMBER, column->doc, NULL, 0, 9, 0},
        {"min", column->unit, ROLE_FIGURE, TYPE_NUMBER, "the smallest of the launches", NULL, 0, 9, 0},
        {"max", column->unit, ROLE_FIGURE, TYPE_NUMBER, "the largest of the launches", NULL, 0, 9, 0},
        {"spread_percent", "%", ROLE_FIGURE, TYPE_NUMBER, "their difference, of the median", NULL, 0, 2, 0}};
    bool *is_done = or_exit(calloc((size_t)rows->row_count + 1, sizeof is_done[0]));
    sheet_t medians = {.schema = NULL};
    for (int i = 0; i < rows->column_count; i++)
        if (rows->columns[i].role == ROLE_KEY && i != launch)
            sheet_add_column(&medians, &rows->columns[i]);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        sheet_add_column(&medians, &columns[i]);
    for (int64_t row = 0; row < rows->row_count; row++)
        if (!is_done[row])
            json_array_append_new(singles, add_median(rows, row, place, &medians, is_done));
    free(is_done);
    return medians;
}

/* ---- Sections */

static const char *first_column(const json_t *chart)
{
    return text_at(json_array_get(json_object_get(chart, "measures"), 0), "column");
}

static void print_charts(report_t *report, const section_t *section, const sheet_t *rows)
{
    json_t *charts = or_exit(json_deep_copy(json_object_get(section->kind, "charts")));
    for (size_t i = json_array_size(charts); i-- > 0;) {
        json_t *chart = json_array_get(charts, i);
        json_object_set_new(chart, "resolution", or_exit(json_real(section->resolution)));
        const char *lanes = text_at(chart, "y");
        if (sheet_column(rows, first_column(chart)) < 0 || (lanes[0] != '\0' && sheet_column(rows, lanes) < 0))
            json_array_remove(charts, i);
    }
    page_charts(&report->page, rows, charts);
}

static void print_source(report_t *report, const source_t *source)
{
    const page_t *page = &report->page;
    const json_t *seed = json_object_get(source->manifest, "seed");
    fputs("<p>Campaign <b>", page->file);
    page_text(page, source->path);
    fputs("</b>", page->file);
    if (json_is_number(seed))
        fprintf(page->file, ": launches in random order, seed %.15g", json_number_value(seed));
    else if (!source->manifest)
        fputs(": a folder of results, of which each file counts as a launch", page->file);
    if (source->missing > 0)
        fprintf(page->file, ". <strong>Launches without results: %d</strong>", source->missing);
    fputs(".</p>\n", page->file);
    char *commands = source->manifest
                         ? json_dumps(json_object_get(source->manifest, "variants"), JSON_INDENT(1) | JSON_ENCODE_ANY)
                         : NULL;
    if (commands) {
        fputs("<details class=\"print\"><summary>Commands</summary><pre>", page->file);
        page_text(page, commands);
        fputs("</pre></details>\n", page->file);
    }
    free(commands);
}

static void print_campaigns(report_t *report, const section_t *section, sheet_t *rows, const json_t *usual)
{
    json_t *chart = or_exit(json_copy((json_t *)usual));
    const json_t *measures = json_object_get(usual, "measures"), *measure = json_array_get(measures, 0);
    const char *figure = first_column(usual);
    const bool several = json_array_size(measures) > 1;
    char value_title[128];
    json_t *singles = or_exit(json_array());
    sheet_t medians = make_medians(rows, figure, singles);
    snprintf(value_title, sizeof value_title, "%s%s%s", text_at(chart, "valueTitle"), several ? ", " : "",
             several ? text_at(measure, "title") : "");
    json_t *median =
        or_exit(json_pack("{s:s, s:s, s:s, s:s}", "column", figure, "title", "median", "low", "min", "high", "max"));
    json_object_set_new(chart, "valueTitle", json_text(value_title));
    json_object_set_new(chart, "measures", or_exit(json_pack("[o]", median)));
    json_object_set_new(chart, "singles", singles);
    json_object_set_new(chart, "resolution", or_exit(json_real(section->resolution)));
    fputs("<p>Lines are medians over launches, bands reach from the smallest to the largest launch, and small points "
          "are launches.</p>\n",
          report->page.file);
    for (int i = 0; i < report->count; i++)
        if (report->sources[i].is_folder)
            print_source(report, &report->sources[i]);
    page_charts(&report->page, &medians, or_exit(json_pack("[o]", chart)));
    page_table(&report->page, &medians, "Medians over launches, and how far launches are apart", NULL,
               section->resolution);
    page_folded(&report->page, rows, "Every launch", false);
    sheet_free(&medians);
}

/* What is compared with what. */
static void print_relations(const report_t *report, const section_t *section)
{
    for (const entry_t *entry = report->entries; entry < report->entries + report->entry_count; entry++) {
        const json_t *provenance = entry->launch->file.provenance;
        const char *base = text_at(provenance, "base"), *variant = text_at(provenance, "variant");
        if (entry->section != section || base[0] == '\0' || variant[0] == '\0')
            continue;
        fputs("<p>", report->page.file);
        page_text(&report->page, variant);
        fputs(" in relation to ", report->page.file);
        page_text(&report->page, base);
        fputs("</p>\n", report->page.file);
    }
}

static void print_section(report_t *report, int number)
{
    const section_t *section = &report->sections[number];
    const json_t *columns = json_object_get(section->kind, "first");
    const char *title = text_at(section->kind, "title"), *folded = text_at(section->kind, "folded");
    const char *first[MAX_NAMES] = {NULL};
    sheet_t rows = gather(report, section, false), heads = gather(report, section, true);
    fprintf(report->page.file, "<section id=\"section-%d\">\n<h2>%s%s</h2>\n", number + 1, title,
            section->is_campaign ? ", by launches" : "");
    print_text(report, section->kind, "text");
    print_relations(report, section);
    for (size_t i = 0; i < json_array_size(columns) && i < MAX_NAMES - 1; i++)
        first[i] = json_string_value(json_array_get(columns, i));
    const json_t *chart = json_array_get(json_object_get(section->kind, "charts"), 0);
    if (section->is_campaign && sheet_column(&rows, first_column(chart)) >= 0) {
        print_campaigns(report, section, &rows, chart);
    } else {
        print_text(report, section->kind, "bands");
        print_charts(report, section, &rows);
        if (folded[0] != '\0')
            page_folded(&report->page, &rows, folded, false);
        else
            page_table(&report->page, &rows, title, columns ? first : NULL, section->resolution);
    }
    if (heads.row_count > 0)
        page_folded(&report->page, &heads, "How it was measured", true);
    fputs("</section>\n", report->page.file);
    sheet_free(&rows);
    sheet_free(&heads);
}

/* ---- Verdicts */

static void print_verdict(report_t *report, const source_t *source, const variant_t *judged)
{
    variants_t variants = {.count = 0};
    comparison_t comparison = {.variants = &variants,
                               .rule = {USUAL_LEVEL_PERCENT / 100.0, USUAL_SEED, USUAL_PERMUTATIONS},
                               .column = USUAL_COLUMN,
                               .same_percent = USUAL_SAME_PERCENT};
    char text[COMPLAINT_BYTES];
    page_t *page = &report->page;
    bool good =
        variants_pair(source, &source->variants[0], judged, &variants, text) && comparison_make(&comparison, text);
    if (good)
        comparison_summary(&comparison, text);
    fputs("<p class=\"verdict\">", page->file);
    page_text(page, text);
    fputs(".</p>\n", page->file);
    if (good && comparison_noise(&comparison, text)) {
        fputs("<p>", page->file);
        page_text(page, text);
        fputs(".</p>\n", page->file);
    }
    if (good) {
        sheet_t rows = comparison_sheet(&comparison);
        json_t *charts = or_exit(json_deep_copy(json_object_get(kind_of(comparison_schema.name), "charts")));
        char title[256];
        snprintf(title, sizeof title, "%.100s in relation to %.100s", judged->name, source->variants[0].name);
        json_object_set_new(json_array_get(charts, 0), "title", json_text(title));
        page_charts(page, &rows, charts);
        page_table(page, &rows, title, NULL, 0);
        sheet_free(&rows);
    }
    comparison_free(&comparison);
    variants_free(&variants);
}

/* Whether the variants of a source can be compared: all have results of mpix_bench. */
static bool has_verdict(const source_t *source)
{
    bool has = source->variant_count > 1;
    for (int i = 0; i < source->variant_count; i++)
        for (int k = 0; k < source->variants[i].count; k++)
            has = has && variants_wants(source->variants[i].launches[k].file.sheet.schema);
    return has;
}

static bool has_verdicts(const report_t *report)
{
    for (int i = 0; i < report->count; i++)
        if (has_verdict(&report->sources[i]))
            return true;
    return false;
}

/* How each variant of a campaign compares with its first one. */
static void print_verdicts(report_t *report)
{
    fputs("<section id=\"verdicts\">\n<h2>Verdicts</h2>\n", report->page.file);
    print_text(report, kind_of(comparison_schema.name), "text");
    for (const source_t *source = report->sources; source < report->sources + report->count; source++)
        for (int i = 1; i < source->variant_count && has_verdict(source); i++)
            print_verdict(report, source, &source->variants[i]);
    fputs("</section>\n", report->page.file);
}

/* ---- The page */

static void print_contents(const report_t *report)
{
    FILE *file = report->page.file;
    fputs("<nav aria-label=\"Contents\"><ul>\n", file);
    fputs(has_verdicts(report) ? "<li><a href=\"#verdicts\">Verdicts</a></li>\n" : "", file);
    for (int i = 0; i < report->section_count; i++) {
        const section_t *section = &report->sections[i];
        fprintf(file, "<li><a href=\"#section-%d\">%s%s</a> <span class=\"tool\">%d %s</span></li>\n", i + 1,
                text_at(section->kind, "title"), section->is_campaign ? ", by launches" : "", section->files,
                section->files == 1 ? "file" : "files");
    }
    fputs("</ul></nav>\n", file);
}

/* So many characters of what the heads of all results have; empty: they differ, or have none. */
static void find_common(const report_t *report, const char *key, int length, char common[TITLE_BYTES])
{
    common[0] = '\0';
    for (const entry_t *entry = report->entries; entry < report->entries + report->entry_count; entry++) {
        const char *its = text_at(entry->launch->file.provenance, key);
        if (entry == report->entries)
            snprintf(common, TITLE_BYTES, "%.*s", length, its);
        else if (strncmp(common, its, (size_t)length) != 0)
            common[0] = '\0';
    }
}

/* The operations of all rows, and one more than MOST_OPERATIONS if there are more. Returns how many. */
static int find_operations(const report_t *report, const char *operations[MOST_OPERATIONS + 1])
{
    int count = 0;
    for (const entry_t *entry = report->entries; entry < report->entries + report->entry_count; entry++) {
        const sheet_t *rows = &entry->launch->file.sheet;
        const int place = sheet_column(rows, "operation");
        for (int64_t row = 0; place >= 0 && row < rows->row_count && count <= MOST_OPERATIONS; row++) {
            const char *operation = sheet_at(rows, row, place)->text;
            int i = 0;
            while (i < count && strcmp(operations[i], operation) != 0)
                i++;
            operations[i] = operation;
            count += i == count;
        }
    }
    return count;
}

/* What was measured, where, with which MPI library, and when, as far as it is the same for all. */
static void name_results(const report_t *report, char title[TITLE_BYTES])
{
    const char *operations[MOST_OPERATIONS + 1];
    const int count = find_operations(report, operations);
    char ranks[TITLE_BYTES], nodes[TITLE_BYTES], host[TITLE_BYTES], library[TITLE_BYTES], date[TITLE_BYTES];
    find_common(report, "ranks", 12, ranks);
    find_common(report, "nodes", 12, nodes);
    find_common(report, "host", 60, host);
    find_common(report, "mpi_library", 60, library);
    find_common(report, "date", strlen("YYYY-MM-DD"), date);
    snprintf(title, TITLE_BYTES, "%s",
             report->section_count == 1 ? text_at(report->sections[0].kind, "title") : "Results");
    for (int i = 0; i < count && count <= MOST_OPERATIONS; i++)
        text_append(title, TITLE_BYTES, "%s%.60s", i == 0 ? ": " : ", ", operations[i]);
    if (ranks[0])
        text_append(title, TITLE_BYTES, "; %s rank%s", ranks, strcmp(ranks, "1") == 0 ? "" : "s");
    if (nodes[0] && strcmp(nodes, "1") != 0)
        text_append(title, TITLE_BYTES, " on %s nodes", nodes);
    else if (ranks[0] && host[0])
        text_append(title, TITLE_BYTES, " on %s", host);
    text_append(title, TITLE_BYTES, "%s%s%s%s", library[0] ? "; " : "", library, date[0] ? "; " : "", date);
    text_one_line(title);
}

void report_print(FILE *file, const source_t *sources, int count, const char *title)
{
    report_t report = {.sources = sources, .count = count};
    char own_title[TITLE_BYTES];
    for (int i = 0; i < count; i++)
        for (int k = 0; k < sources[i].variant_count; k++)
            add_variant(&report, &sources[i], &sources[i].variants[k]);
    name_results(&report, own_title);
    report.page = page_begin(file, "mpix_report", title ? title : own_title);
    print_contents(&report);
    page_main(&report.page);
    if (has_verdicts(&report))
        print_verdicts(&report);
    for (int i = 0; i < report.section_count; i++)
        print_section(&report, i);
    page_end(&report.page);
    free(report.entries);
}
