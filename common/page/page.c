/* SPDX-License-Identifier: BSD-3-Clause */
/* page.c - escape texts, print tables and the frame of a page, and give the script its data. */
#include "common/page/page.h"

#include "common/cli/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 64 };

void page_text(const page_t *page, const char *text)
{
    static const char special[] = "&<>\"'";
    static const char *const names[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    json_t *whole = json_text(text);
    for (const char *next = json_string_value(whole); *next != '\0'; next++) {
        const char *place = strchr(special, *next);
        if (place)
            fputs(names[place - special], page->file);
        else /* characters that HTML does not have are spaces */
            fputc(((unsigned char)*next < ' ' && *next != '\n') || *next == 0x7f ? ' ' : *next, page->file);
    }
    json_decref(whole);
}

/* ---- Values */

/* How the numbers of a column are shown: divided by a unit, with so many decimals. */
typedef struct form {
    const column_t *column;
    int place; /* of the column */
    double divisor;
    const char *unit;
    int decimals;
    double resolution;
} form_t;

/* The geometric mean of what is not 0, so that a few great values do not hide the others; and whether all are whole. */
static double typical_size(const sheet_t *sheet, int place, bool *whole)
{
    double sum = 0;
    int count = 0;
    *whole = true;
    for (int64_t i = 0; i < sheet->row_count; i++) {
        const cell_t *cell = sheet_at(sheet, i, place);
        if (cell->text)
            continue;
        *whole = *whole && cell->number == nearbyint(cell->number);
        if (cell->number != 0) {
            sum += log(fabs(cell->number));
            count++;
        }
    }
    return count > 0 ? exp(sum / count) : 0;
}

static form_t find_form(const sheet_t *sheet, int place, double resolution)
{
    static const struct {
        double ns;
        const char *name;
    } steps[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};
    const column_t *column = &sheet->columns[place];
    form_t form = {.column = column, .place = place, .divisor = 1, .unit = column->unit};
    bool whole, is_time = strcmp(column->unit, "ns") == 0;
    double size = typical_size(sheet, place, &whole);
    if (strcmp(column->unit, "bytes") == 0)
        form.unit = "";
    for (int step = 0; is_time && (step == 0 || size < form.divisor * 0.9995) && step < 4; step++) {
        form.divisor = steps[step].ns;
        form.unit = steps[step].name;
    }
    size /= form.divisor;
    if (!whole || form.divisor > 1)
        form.decimals = size >= 100 ? 1 : size >= 10 ? 2 : 3;
    if (is_time && column->role == ROLE_FIGURE && resolution > 1 && form.divisor == 1)
        form.decimals = 0;
    form.resolution = is_time && column->role == ROLE_FIGURE ? resolution : 0;
    return form;
}

/* Powers of two as people say them. */
static void write_bytes(double bytes, char text[TEXT_BYTES])
{
    static const char *const prefixes[] = {"", " KiB", " MiB", " GiB", " TiB"};
    double rest = bytes;
    int power = 0;
    for (; power < 4 && rest >= 1024 && fmod(rest, 1024) == 0; power++)
        rest /= 1024;
    snprintf(text, TEXT_BYTES, "%.15g%s", rest, prefixes[power]);
}

static void print_value(const page_t *page, const form_t *form, const cell_t *cell)
{
    char text[TEXT_BYTES];
    double number = cell->number / form->divisor;
    if (cell_lacks(cell))
        fputs("–", page->file);
    else if (cell->text)
        page_text(page, cell->text);
    else if (strcmp(form->column->unit, "bytes") == 0) {
        write_bytes(cell->number, text);
        fputs(text, page->file);
    } else if (cell->number >= 0 && cell->number < form->resolution)
        fprintf(page->file, "&lt; %.3g", form->resolution / form->divisor);
    else
        fprintf(page->file, fabs(number) < 1e15 ? "%.*f" : "%.*e", form->decimals, number);
}

/* The name of a column without its unit: "p99.9" for p99.9_ns. */
static void write_title(const column_t *column, char title[TEXT_BYTES])
{
    static const char *const endings[][2] = {{"ns", "_ns"},         {"bytes", "_bytes"}, {"ppb", "_ppb"},
                                             {"MB/s", "_mb_per_s"}, {"%", "_percent"},   {"1/s", "_per_s"}};
    snprintf(title, TEXT_BYTES, "%s", column->name);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (strcmp(column->unit, endings[i][0]) == 0 && text_ends_in(title, endings[i][1]))
            title[strlen(title) - strlen(endings[i][1])] = '\0';
    for (char *next = title; *next != '\0'; next++)
        if (*next == '_')
            *next = ' ';
}

static void print_title(const page_t *page, const column_t *column)
{
    char title[TEXT_BYTES];
    write_title(column, title);
    page_text(page, title);
}

/* ---- Tables */

static bool differs(const sheet_t *sheet, int place)
{
    for (int64_t i = 1; i < sheet->row_count; i++)
        if (!cells_equal(sheet_at(sheet, i, place), sheet_at(sheet, 0, place)))
            return true;
    return false;
}

static bool is_among(const char *column, const char *const *list)
{
    for (int i = 0; list && list[i]; i++)
        if (strcmp(list[i], column) == 0)
            return true;
    return !list;
}

/* Prints what all rows have in common. */
static void print_same(const page_t *page, const sheet_t *sheet, double resolution)
{
    bool any = false;
    for (int i = 0; i < sheet->column_count; i++) {
        if (differs(sheet, i) || cell_lacks(sheet_at(sheet, 0, i)))
            continue;
        form_t form = find_form(sheet, i, resolution);
        fputs(any ? "" : "<dl class=\"same\">", page->file);
        fputs("<div><dt>", page->file);
        print_title(page, form.column);
        fputs("</dt> <dd>", page->file);
        print_value(page, &form, sheet_at(sheet, 0, i));
        fprintf(page->file, "%s%s</dd></div>\n", form.unit[0] != '\0' ? " " : "", form.unit);
        any = true;
    }
    fputs(any ? "</dl>\n" : "", page->file);
}

static void print_heading(const page_t *page, const form_t *form, bool is_more)
{
    fprintf(page->file, "<th scope=\"col\" class=\"%s%s\" title=\"",
            form->column->type == TYPE_TEXT ? "text" : "number", is_more ? " more" : "");
    page_text(page, form->column->name);
    fputs(": ", page->file);
    page_text(page, form->column->doc);
    fputs("\">", page->file);
    print_title(page, form->column);
    if (form->unit[0] != '\0')
        fprintf(page->file, " <span class=\"unit\">%s</span>", form->unit);
    fputs("</th>", page->file);
}

static void print_row(const page_t *page, const sheet_t *sheet, int64_t row, const form_t *forms, int count,
                      const char *const *first)
{
    fputs("<tr>", page->file);
    for (int i = 0; i < count; i++) {
        const cell_t *cell = sheet_at(sheet, row, forms[i].place);
        const char *tag = i == 0 ? "th scope=\"row\"" : "td";
        fprintf(page->file, "<%s class=\"%s%s\"", tag, forms[i].column->type == TYPE_TEXT ? "text" : "number",
                is_among(forms[i].column->name, first) ? "" : " more");
        if (!cell->text)
            fprintf(page->file, " data-value=\"%.15g\"", cell->number);
        fputc('>', page->file);
        print_value(page, &forms[i], cell);
        fputs(i == 0 ? "</th>" : "</td>", page->file);
    }
    fputs("</tr>\n", page->file);
}

static void print_table(const page_t *page, const sheet_t *sheet, const char *caption, const form_t *forms, int count,
                        const char *const *first)
{
    fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"", page->file);
    page_text(page, caption);
    fputs("\">\n<table class=\"sortable\">\n<caption>", page->file);
    page_text(page, caption);
    fputs("</caption>\n<thead><tr>", page->file);
    for (int i = 0; i < count; i++)
        print_heading(page, &forms[i], !is_among(forms[i].column->name, first));
    fputs("</tr></thead>\n<tbody>\n", page->file);
    for (int64_t i = 0; i < sheet->row_count; i++)
        print_row(page, sheet, i, forms, count, first);
    fputs("</tbody></table></div>\n", page->file);
}

void page_table(const page_t *page, const sheet_t *sheet, const char *caption, const char *const *first,
                double resolution)
{
    form_t *forms = or_exit(calloc((size_t)sheet->column_count + 1, sizeof forms[0]));
    int count = 0, firsts = 0;
    for (int others = 0; others < 2; others++)
        for (int i = 0; i < sheet->column_count; i++)
            if (is_among(sheet->columns[i].name, first) == !others && (sheet->row_count == 1 || differs(sheet, i))) {
                forms[count++] = find_form(sheet, i, resolution);
                firsts += !others;
            }
    if (sheet->row_count > 1)
        print_same(page, sheet, resolution);
    fputs("<div class=\"table\">\n", page->file);
    if (firsts > 0 && firsts < count)
        fprintf(page->file, "<label class=\"all\"><input type=\"checkbox\"> all %d columns</label>\n", count);
    if (count > 0)
        print_table(page, sheet, caption, forms, count, firsts > 0 ? first : NULL);
    fputs("</div>\n", page->file);
    free(forms);
}

void page_folded(const page_t *page, const sheet_t *sheet, const char *title, bool is_printed)
{
    fprintf(page->file, "<details%s><summary>%s</summary>\n", is_printed ? " class=\"print\"" : "", title);
    page_table(page, sheet, title, NULL, 0);
    fputs("</details>\n", page->file);
}

/* ---- Charts */

static json_t *table_data(const sheet_t *sheet)
{
    json_t *columns = or_exit(json_array()), *rows = or_exit(json_array());
    for (int i = 0; i < sheet->column_count; i++) {
        const column_t *column = &sheet->columns[i];
        char title[TEXT_BYTES];
        write_title(column, title);
        json_array_append_new(columns, or_exit(json_pack("{s:o, s:o, s:o, s:b}", "name", json_text(column->name),
                                                         "title", json_text(title), "unit", json_text(column->unit),
                                                         "key", column->role == ROLE_KEY)));
    }
    for (int64_t i = 0; i < sheet->row_count; i++) {
        json_t *row = or_exit(json_array());
        for (int k = 0; k < sheet->column_count; k++)
            json_array_append_new(row, json_cell(&sheet->columns[k], sheet_at(sheet, i, k)));
        json_array_append_new(rows, row);
    }
    return or_exit(json_pack("{s:o, s:o}", "columns", columns, "rows", rows));
}

void page_draw(page_t *page, json_t *data)
{
    json_t *charts = json_object_get(page->data, "charts");
    fprintf(page->file, "<div class=\"charts\" data-chart=\"%zu\"></div>\n", json_array_size(charts));
    json_array_append_new(charts, data);
}

void page_charts(page_t *page, const sheet_t *sheet, json_t *charts)
{
    json_t *tables = json_object_get(page->data, "tables"), *chart;
    size_t i, table = json_array_size(tables);
    json_array_append_new(tables, table_data(sheet));
    json_array_foreach(charts, i, chart)
    {
        json_object_set_new(chart, "table", or_exit(json_integer((json_int_t)table)));
        page_draw(page, json_incref(chart));
    }
    json_decref(charts);
}

/* ---- The frame */

/* The policy lets browsers load nothing from anywhere. */
page_t page_begin(FILE *file, const char *program, const char *title)
{
    page_t page = {.file = file, .program = program};
    page.data = or_exit(json_pack("{s:[], s:[]}", "tables", "charts"));
    fprintf(file,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
            "script-src 'unsafe-inline'; img-src data:\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta name=\"color-scheme\" content=\"light dark\">\n"
            "<meta name=\"generator\" content=\"%s %s\">\n"
            "<link rel=\"icon\" href=\"data:,\">\n<title>",
            program, options_version());
    page_text(&page, title);
    fputs("</title>\n<style>\n", file);
    fputs(report_css, file);
    fputs("</style>\n</head>\n<body>\n<header>\n<h1>", file);
    page_text(&page, title);
    fputs("</h1>\n", file);
    return page;
}

void page_main(const page_t *page)
{
    fputs("</header>\n<main>\n", page->file);
}

/* No text in the data ends the element. */
static void print_data(const page_t *page)
{
    char *text = or_exit(json_dumps(page->data, JSON_COMPACT | JSON_REAL_PRECISION(15)));
    fputs("<script type=\"application/json\" id=\"data\">", page->file);
    for (const char *next = text; *next != '\0'; next++)
        if (*next == '<')
            fputs("\\u003c", page->file);
        else
            fputc(*next, page->file);
    fputs("</script>\n", page->file);
    free(text);
}

void page_end(page_t *page)
{
    fprintf(page->file, "</main>\n<footer>%s %s</footer>\n", page->program, options_version());
    print_data(page);
    fputs("<script>\n", page->file);
    fputs(report_js, page->file);
    fputs("</script>\n</body>\n</html>\n", page->file);
    json_decref(page->data);
}
