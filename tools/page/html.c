/* SPDX-License-Identifier: BSD-3-Clause */
/* html.c - escape texts, and print tables and the frame of a page. */
#include "page/html.h"

#include "page/rows.h"
#include "page/value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void html_text(FILE *file, const char *text)
{
    static const char special[] = "&<>\"'";
    static const char *const names[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (; *text != '\0'; text++) {
        const char *place = strchr(special, *text);
        if (place)
            fputs(names[place - special], file);
        else /* characters that HTML does not have are spaces */
            fputc(((unsigned char)*text < ' ' && *text != '\n') || *text == 0x7f ? ' ' : *text, file);
    }
}

/* ---- Cells */

/* How the numbers of a column are shown: divided by a unit, with so many decimals. */
typedef struct form {
    const char *column;
    bool is_number; /* in all rows that have a value */
    double divisor;
    const char *unit;
    int decimals;
} form_t;

/* The geometric mean of what is not 0, so that a few great values do not hide the others; and whether all are whole. */
static double typical_size(const json_t *rows, const char *column, bool *whole)
{
    double sum = 0;
    int count = 0;
    *whole = true;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        double number = row_number(json_array_get(rows, i), column);
        if (!isfinite(number))
            continue;
        *whole = *whole && number == nearbyint(number);
        if (number != 0) {
            sum += log(fabs(number));
            count++;
        }
    }
    return count > 0 ? exp(sum / count) : 0;
}

static form_t find_form(const json_t *rows, const char *column)
{
    unit_t unit = value_unit(column);
    form_t form = {.column = column, .divisor = 1, .unit = value_unit_name(unit)};
    bool whole;
    double size = typical_size(rows, column, &whole);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *value = json_object_get(json_array_get(rows, i), column);
        if (json_is_number(value))
            form.is_number = true;
        else if (value && !json_is_null(value))
            return (form_t){.column = column, .unit = value_unit_name(unit)};
    }
    if (unit == UNIT_TIME)
        form.divisor = value_time_unit(size, &form.unit);
    size /= form.divisor;
    if (!whole || form.divisor > 1)
        form.decimals = size >= 100 ? 1 : size >= 10 ? 2 : 3;
    return form;
}

/* Prints values within a cell: of an object, pairs, of an array, words. */
static void print_parts(FILE *file, json_t *value)
{
    const char *key, *separator = "";
    json_t *part;
    size_t i;
    json_array_foreach(value, i, part)
    {
        fputs(separator, file);
        print_parts(file, part);
        separator = " ";
    }
    json_object_foreach(value, key, part)
    {
        fprintf(file, "%s", separator);
        html_text(file, key);
        fputc('=', file);
        print_parts(file, part);
        separator = " ";
    }
    if (json_is_string(value))
        html_text(file, json_string_value(value));
    else if (json_is_boolean(value))
        fputs(json_is_true(value) ? "yes" : "no", file);
    else if (json_is_number(value))
        fprintf(file, "%.15g", json_number_value(value));
}

static void print_number(FILE *file, const form_t *form, double number)
{
    fprintf(file, fabs(number) < 1e15 ? "%.*f" : "%.*e", form->decimals, number);
}

static void print_value(FILE *file, const form_t *form, json_t *value)
{
    if (!value || json_is_null(value))
        fputs("–", file);
    else if (form->is_number)
        print_number(file, form, json_number_value(value) / form->divisor);
    else
        print_parts(file, value);
}

/* ---- Tables */

static bool is_among(const char *column, const char *const *list)
{
    for (int i = 0; list[i]; i++)
        if (strcmp(list[i], column) == 0)
            return true;
    return false;
}

/* Prints what all rows have in common. */
static void print_same(FILE *file, const json_t *rows, json_t *columns)
{
    const json_t *row = json_array_get(rows, 0);
    bool any = false;
    const char *column;
    json_t *unused;
    json_object_foreach(columns, column, unused)
    {
        json_t *value = json_object_get(row, column);
        char title[VALUE_BYTES];
        if (rows_differ(rows, column) || !value || json_is_null(value))
            continue;
        form_t form = find_form(rows, column);
        value_title(column, title);
        fputs(any ? "" : "<dl class=\"same\">", file);
        fputs("<div><dt>", file);
        html_text(file, title);
        fputs("</dt> <dd>", file);
        print_value(file, &form, value);
        fprintf(file, "%s%s</dd></div>\n", form.unit[0] != '\0' ? " " : "", form.unit);
        any = true;
    }
    fputs(any ? "</dl>\n" : "", file);
}

static void print_heading(FILE *file, const form_t *form, bool is_more)
{
    char title[VALUE_BYTES];
    value_title(form->column, title);
    fprintf(file, "<th scope=\"col\" class=\"%s%s\" title=\"", form->is_number ? "number" : "text",
            is_more ? " more" : "");
    html_text(file, form->column);
    fputs("\">", file);
    html_text(file, title);
    if (form->unit[0] != '\0')
        fprintf(file, " <span class=\"unit\">%s</span>", form->unit);
    fputs("</th>", file);
}

static void print_row(FILE *file, const json_t *row, const form_t *forms, int count, const char *const *first)
{
    fputs("<tr>", file);
    for (int i = 0; i < count; i++) {
        json_t *value = json_object_get(row, forms[i].column);
        const char *more = first && !is_among(forms[i].column, first) ? " more" : "";
        const char *tag = i == 0 ? "th scope=\"row\"" : "td";
        if (json_is_number(value))
            fprintf(file, "<%s class=\"number%s\" data-value=\"%.15g\">", tag, more, json_number_value(value));
        else
            fprintf(file, "<%s class=\"%s%s\">", tag, forms[i].is_number ? "number" : "text", more);
        print_value(file, &forms[i], value);
        fputs(i == 0 ? "</th>" : "</td>", file);
    }
    fputs("</tr>\n", file);
}

/* Fills in the columns that are shown, those of first before others. Returns how many; *more: of which are others. */
static int choose_columns(const json_t *rows, json_t *columns, const char *const *first, form_t *forms, int *more)
{
    int count = 0;
    const char *column;
    json_t *unused;
    for (int others = 0; others < 2; others++) {
        *more = count;
        json_object_foreach(columns, column, unused)
        {
            bool is_first = !first || is_among(column, first);
            if (is_first == !others && (json_array_size(rows) == 1 || rows_differ(rows, column)))
                forms[count++] = find_form(rows, column);
        }
    }
    *more = count - *more;
    return count;
}

static void print_table(FILE *file, const json_t *rows, const char *caption, const form_t *forms, int count,
                        const char *const *first)
{
    fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"", file);
    html_text(file, caption);
    fputs("\">\n<table class=\"sortable\">\n<caption>", file);
    html_text(file, caption);
    fputs("</caption>\n<thead><tr>", file);
    for (int i = 0; i < count; i++)
        print_heading(file, &forms[i], first && !is_among(forms[i].column, first));
    fputs("</tr></thead>\n<tbody>\n", file);
    for (size_t i = 0; i < json_array_size(rows); i++)
        print_row(file, json_array_get(rows, i), forms, count, first);
    fputs("</tbody></table></div>\n", file);
}

void html_table(FILE *file, const json_t *rows, const char *caption, const char *const *first)
{
    json_t *columns = rows_columns(rows);
    form_t *forms = need(calloc(json_object_size(columns) + 1, sizeof forms[0]));
    int more, count = choose_columns(rows, columns, first, forms, &more);
    if (json_array_size(rows) > 1)
        print_same(file, rows, columns);
    fputs("<div class=\"table\">\n", file);
    if (more > 0 && more < count)
        fprintf(file, "<label class=\"all\"><input type=\"checkbox\"> all %d columns</label>\n", count);
    if (count > 0)
        print_table(file, rows, caption, forms, count, more < count ? first : NULL);
    fputs("</div>\n", file);
    free(forms);
    json_decref(columns);
}

/* ---- Pages */

/* The policy lets browsers load nothing from anywhere. */
void html_begin(FILE *file, const char *program, const char *title)
{
    fprintf(file,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
            "script-src 'unsafe-inline'; img-src data:\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta name=\"color-scheme\" content=\"light dark\">\n"
            "<meta name=\"generator\" content=\"%s " PACKAGE_VERSION "\">\n"
            "<link rel=\"icon\" href=\"data:,\">\n<title>",
            program);
    html_text(file, title);
    fputs("</title>\n<style>\n", file);
    fputs(report_css, file);
    fputs("</style>\n</head>\n<body>\n<header>\n<h1>", file);
    html_text(file, title);
    fputs("</h1>\n", file);
}

void html_end(FILE *file, const char *program)
{
    fprintf(file, "</main>\n<footer>%s " PACKAGE_VERSION "</footer>\n<script>\n", program);
    fputs(report_js, file);
    fputs("</script>\n</body>\n</html>\n", file);
}
