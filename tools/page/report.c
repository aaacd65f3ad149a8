/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c - print the sections of the page. */
#include "page/report.h"

#include "common/statistics.h"
#include "common/text.h"
#include "compare/comparison.h"

#include <stdlib.h>
#include <string.h>

/* The launches of one kind, in campaigns or by themselves. */
typedef struct section {
    const kind_t *kind;
    bool is_campaign;
    int files;
    bool in_folders; /* of several, so that rows say which */
    double resolution;
} section_t;

typedef struct report {
    page_t page;
    const source_t *sources;
    int count;
    section_t sections[32];
    int section_count;
} report_t;

bool report_wants(const char *schema)
{
    return kind_of(schema) != NULL;
}

/* ---- Launches */

/* A place among all launches of all sources. */
typedef struct walk {
    int source, variant, launch;
} walk_t;

/* The next launch, or NULL. Begins with a walk of zeros, whose launch is -1. */
static const measured_t *walk_next(const report_t *report, walk_t *walk)
{
    for (walk->launch++; walk->source < report->count; walk->source++, walk->variant = walk->launch = 0)
        for (; walk->variant < report->sources[walk->source].variant_count; walk->variant++, walk->launch = 0)
            if (walk->launch < report->sources[walk->source].variants[walk->variant].count)
                return &report->sources[walk->source].variants[walk->variant].launches[walk->launch];
    return NULL;
}
#define WALK_FROM_START ((walk_t){0, 0, -1})

/* A folder without a manifest that has only one file of a kind is not a campaign of that kind. */
static bool is_in_campaign(const source_t *source, const char *schema)
{
    int launches = 0;
    for (int i = 0; i < source->variant_count; i++)
        for (int k = 0; k < source->variants[i].count; k++)
            launches += strcmp(source->variants[i].launches[k].file.sheet.schema, schema) == 0;
    return source->manifest || (source->is_folder && launches > 1);
}

static bool is_of(const report_t *report, const section_t *section, const measured_t *launch, int source)
{
    const char *schema = launch->file.sheet.schema;
    return kind_of(schema) == section->kind && is_in_campaign(&report->sources[source], schema) == section->is_campaign;
}

static void find_sections(report_t *report)
{
    walk_t walk = WALK_FROM_START;
    for (const measured_t *launch; (launch = walk_next(report, &walk)) != NULL;) {
        const char *schema = launch->file.sheet.schema, *resolution;
        int place = 0;
        while (place < report->section_count && !is_of(report, &report->sections[place], launch, walk.source))
            place++;
        section_t *section = &report->sections[place];
        if (place == report->section_count) {
            *section = (section_t){.kind = kind_of(schema),
                                   .is_campaign = is_in_campaign(&report->sources[walk.source], schema)};
            report->section_count++;
        }
        section->files++;
        resolution = text_at(launch->file.provenance, "resolution_ns");
        section->resolution = fmax(section->resolution, strtod(resolution, NULL));
    }
    for (int i = 0; i < report->section_count; i++)
        report->sections[i].in_folders = report->sections[i].is_campaign && report->count > 1;
}

/* ---- All rows of a section as one table */

static int column_of(sheet_t *sheet, const column_t *column)
{
    int place = sheet_column(sheet, column->name);
    if (place >= 0)
        return place;
    sheet_add_column(sheet, column);
    return sheet->column_count - 1;
}

/* What tells a launch from others. The file comes last: it names a curve only if no other key does. */
typedef enum origin { FOLDER, VARIANT, LAUNCH, FILE_NAME, ORIGINS } origin_t;

static bool has_origin(const section_t *section, origin_t origin)
{
    return origin == FILE_NAME ? !section->is_campaign && section->files > 1
           : origin == FOLDER  ? section->in_folders
                               : section->is_campaign;
}

static const column_t origins[ORIGINS] = {
    [FOLDER] = {"folder", "", ROLE_KEY, TYPE_TEXT, "the folder", NULL, 0, 0, 0},
    [VARIANT] = {"variant", "", ROLE_KEY, TYPE_TEXT, "the variant", NULL, 0, 0, 0},
    [LAUNCH] = {"launch", "", ROLE_KEY, TYPE_INTEGER, "its launch", NULL, 0, 0, 0},
    [FILE_NAME] = {"file", "", ROLE_KEY, TYPE_TEXT, "the file", NULL, 0, 0, 0},
};

static void set_origin(const report_t *report, const section_t *section, const walk_t *walk, const sheet_t *all,
                       cell_t *cells)
{
    const source_t *source = &report->sources[walk->source];
    const variant_t *variant = &source->variants[walk->variant];
    const measured_t *launch = &variant->launches[walk->launch];
    const cell_t values[ORIGINS] = {[FOLDER] = {source->path, 0},
                                    [VARIANT] = {variant->name, 0},
                                    [LAUNCH] = {NULL, (double)launch->number},
                                    [FILE_NAME] = {launch->path, 0}};
    for (int i = 0; i < ORIGINS; i++)
        if (has_origin(section, (origin_t)i))
            cells[sheet_column(all, origins[i].name)] = values[i];
}

static void add_rows(const report_t *report, const section_t *section, const walk_t *walk, const sheet_t *from,
                     sheet_t *all)
{
    cell_t *cells = need(calloc((size_t)all->column_count + 1, sizeof cells[0]));
    for (int64_t row = 0; row < from->row_count; row++) {
        for (int i = 0; i < all->column_count; i++)
            cells[i] = (cell_t){"", 0};
        set_origin(report, section, walk, all, cells);
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
    cell_t *cells = need(calloc(count + 1, sizeof cells[0]));
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

static sheet_t gather(const report_t *report, const section_t *section, bool provenance)
{
    sheet_t all = {.schema = NULL};
    for (int pass = 0; pass < 2; pass++) { /* columns, then rows */
        walk_t walk = WALK_FROM_START;
        if (pass == 1 && has_origin(section, FILE_NAME))
            column_of(&all, &origins[FILE_NAME]);
        for (const measured_t *launch; (launch = walk_next(report, &walk)) != NULL;) {
            if (!is_of(report, section, launch, walk.source))
                continue;
            sheet_t head = provenance ? provenance_sheet(launch) : (sheet_t){.schema = NULL};
            const sheet_t *from = provenance ? &head : &launch->file.sheet;
            for (int i = FOLDER; i < FILE_NAME && pass == 0; i++)
                if (has_origin(section, (origin_t)i))
                    column_of(&all, &origins[i]);
            for (int i = 0; i < from->column_count && pass == 0; i++)
                column_of(&all, &from->columns[i]);
            if (pass == 1)
                add_rows(report, section, &walk, from, &all);
            sheet_free(&head);
        }
    }
    return all;
}

/* ---- Medians over launches */

/* A key of what was measured: not which launch it was. */
static bool is_key(const column_t *column)
{
    return column->role == ROLE_KEY && strcmp(column->name, "launch") != 0;
}

static bool are_of_one(const sheet_t *sheet, int64_t a, int64_t b)
{
    for (int i = 0; i < sheet->column_count; i++)
        if (is_key(&sheet->columns[i]) && !cells_equal(sheet_at(sheet, a, i), sheet_at(sheet, b, i)))
            return false;
    return true;
}

/* Adds the row of what the rows from one on have in common with it. */
static void add_median(const sheet_t *rows, int64_t from, int place, sheet_t *medians, bool *is_done)
{
    double *values = need(calloc((size_t)rows->row_count, sizeof values[0]));
    cell_t *cells = need(calloc((size_t)medians->column_count + 1, sizeof cells[0]));
    char *singles = NULL;
    size_t bytes;
    FILE *file = need(open_memstream(&singles, &bytes));
    int64_t count = 0;
    int keys = 0;
    for (int i = 0; i < rows->column_count; i++)
        if (is_key(&rows->columns[i]))
            cells[keys++] = *sheet_at(rows, from, i);
    for (int64_t row = from; row < rows->row_count; row++) {
        const cell_t *cell = sheet_at(rows, row, place);
        if (is_done[row] || !are_of_one(rows, from, row))
            continue;
        is_done[row] = true;
        if (!cell->text) {
            fprintf(file, "%.15g ", cell->number);
            values[count++] = cell->number;
        }
    }
    fclose(file);
    sort_reals(values, count);
    double median = count > 0 ? middle_of(values, count) : 0, last = count > 0 ? values[count - 1] : 0;
    double spread = median > 0 ? (last - values[0]) / median * 100 : NAN;
    const char *none = count > 0 ? NULL : "";
    const cell_t figures[] = {
        {NULL, (double)count}, {none, median}, {none, values[0]}, {none, last}, {isfinite(spread) ? NULL : "", spread},
        {singles, 0}};
    for (int i = keys; i < medians->column_count; i++)
        cells[i] = figures[i - keys];
    sheet_add(medians, cells);
    free(singles);
    free(cells);
    free(values);
}

/* with_singles: a last column has the value of each launch. */
static sheet_t make_medians(const sheet_t *rows, const char *figure, bool with_singles)
{
    int place = sheet_column(rows, figure);
    const column_t *column = &rows->columns[place];
    const column_t columns[] = {
        {"launches", "", ROLE_FIGURE, TYPE_INTEGER, "launches that have a value", NULL, 0, 0, 0},
        /* The rows have this column: NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
        {column->name, column->unit, ROLE_FIGURE, TYPE_NUMBER, column->doc, NULL, 0, 9, 0},
        {"min", column->unit, ROLE_FIGURE, TYPE_NUMBER, "the smallest of the launches", NULL, 0, 9, 0},
        {"max", column->unit, ROLE_FIGURE, TYPE_NUMBER, "the largest of the launches", NULL, 0, 9, 0},
        {"spread_percent", "%", ROLE_FIGURE, TYPE_NUMBER, "their difference, of the median", NULL, 0, 2, 0},
        {"singles", "", ROLE_FIGURE, TYPE_TEXT, "", NULL, 0, 0, 0}};
    bool *is_done = need(calloc((size_t)rows->row_count + 1, sizeof is_done[0]));
    sheet_t medians = {.schema = NULL};
    for (int i = 0; i < rows->column_count; i++)
        if (is_key(&rows->columns[i]))
            sheet_add_column(&medians, &rows->columns[i]);
    for (int i = 0; i < (with_singles ? 6 : 5); i++)
        sheet_add_column(&medians, &columns[i]);
    for (int64_t row = 0; row < rows->row_count; row++)
        if (!is_done[row])
            add_median(rows, row, place, &medians, is_done);
    free(is_done);
    return medians;
}

/* ---- Sections */

static void print_charts(report_t *report, const section_t *section, const sheet_t *rows)
{
    for (int i = 0; i < MAX_CHARTS && section->kind->charts[i].title; i++) {
        chart_t chart = section->kind->charts[i];
        chart.resolution = section->resolution;
        if (sheet_column(rows, chart.measures[0].column) >= 0)
            page_chart(&report->page, rows, &chart);
    }
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

static void print_campaigns(report_t *report, const section_t *section, sheet_t *rows)
{
    const char *figure = section->kind->charts[0].measures[0].column;
    chart_t chart = section->kind->charts[0];
    char value_title[128];
    sheet_t medians = make_medians(rows, figure, false), with_singles = make_medians(rows, figure, true);
    snprintf(value_title, sizeof value_title, "%s%s%s", chart.value_title, chart.measures[1].column ? ", " : "",
             chart.measures[1].column ? chart.measures[0].title : "");
    memset(chart.measures, 0, sizeof chart.measures);
    chart.measures[0] = (measure_t){figure, "median", "min", "max"};
    chart.value_title = value_title;
    chart.singles = "singles";
    chart.resolution = section->resolution;
    fputs("<p>Lines are medians over launches, bands reach from the smallest to the largest launch, and small points "
          "are launches.</p>\n",
          report->page.file);
    for (int i = 0; i < report->count; i++)
        if (report->sources[i].is_folder)
            print_source(report, &report->sources[i]);
    page_chart(&report->page, &with_singles, &chart);
    report->page.last = NULL;
    page_table(&report->page, &medians, "Medians over launches, and how far launches are apart", NULL,
               section->resolution);
    page_folded(&report->page, rows, "Every launch", false);
    sheet_free(&medians);
    sheet_free(&with_singles);
}

static void print_section(report_t *report, int number)
{
    const section_t *section = &report->sections[number];
    sheet_t rows = gather(report, section, false), heads = gather(report, section, true);
    fprintf(report->page.file, "<section id=\"section-%d\">\n<h2>%s%s</h2>\n<p>%s</p>\n", number + 1,
            section->kind->title, section->is_campaign ? ", by launches" : "", section->kind->text);
    if (section->is_campaign) {
        print_campaigns(report, section, &rows);
    } else {
        print_charts(report, section, &rows);
        const char *const *first = section->kind->first;
        page_table(&report->page, &rows, section->kind->title, first[0] ? first : NULL, section->resolution);
    }
    if (heads.row_count > 0)
        page_folded(&report->page, &heads, "How it was measured", true);
    fputs("</section>\n", report->page.file);
    report->page.last = NULL;
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
    if (good) {
        const kind_t *kind = kind_of(comparison_schema.name);
        sheet_t rows = comparison_sheet(&comparison);
        char title[256];
        chart_t chart = kind->charts[0];
        snprintf(title, sizeof title, "%.100s in relation to %.100s", judged->name, source->variants[0].name);
        chart.title = title;
        page_chart(page, &rows, &chart);
        page_table(page, &rows, title, NULL, 0);
        page->last = NULL;
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

/* How each variant of a campaign compares with its first one. Returns whether there is any. */
static bool print_verdicts(report_t *report)
{
    bool any = false;
    for (int i = 0; i < report->count; i++) {
        const source_t *source = &report->sources[i];
        if (!has_verdict(source))
            continue;
        if (!any)
            fprintf(report->page.file, "<section id=\"verdicts\">\n<h2>Verdicts</h2>\n<p>%s</p>\n",
                    kind_of(comparison_schema.name)->text);
        any = true;
        for (int k = 1; k < source->variant_count; k++)
            print_verdict(report, source, &source->variants[k]);
    }
    fputs(any ? "</section>\n" : "", report->page.file);
    return any;
}

/* ---- The page */

static void print_contents(const report_t *report)
{
    FILE *file = report->page.file;
    bool any = false;
    fputs("<nav aria-label=\"Contents\"><ul>\n", file);
    for (int i = 0; i < report->count; i++)
        any = any || has_verdict(&report->sources[i]);
    fputs(any ? "<li><a href=\"#verdicts\">Verdicts</a></li>\n" : "", file);
    for (int i = 0; i < report->section_count; i++) {
        const section_t *section = &report->sections[i];
        fprintf(file, "<li><a href=\"#section-%d\">%s%s</a> <span class=\"tool\">%d %s</span></li>\n", i + 1,
                section->kind->title, section->is_campaign ? ", by launches" : "", section->files,
                section->files == 1 ? "file" : "files");
    }
    fputs("</ul></nav>\n", file);
}

void report_print(FILE *file, const source_t *sources, int count, const char *title)
{
    report_t report = {.page = page_begin(file, "mpix_report", title), .sources = sources, .count = count};
    find_sections(&report);
    print_contents(&report);
    page_main(&report.page);
    print_verdicts(&report);
    for (int i = 0; i < report.section_count; i++)
        print_section(&report, i);
    page_end(&report.page);
}
