/* SPDX-License-Identifier: BSD-3-Clause */
/* table.c - write rows for people and for programs, or keep them. */
#define _GNU_SOURCE /* mempcpy, stpcpy */
#include "common/results/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const output_formats[] = {[FORMAT_TABLE] = "table",
                                      [FORMAT_CSV] = "csv",
#ifdef MH_WITH_JANSSON
                                      [FORMAT_JSON] = "json",
#endif
                                      NULL};

bool cell_lacks(const cell_t *cell)
{
    return cell->text && cell->text[0] == '\0';
}

bool cells_equal(const cell_t *a, const cell_t *b)
{
    return a->text && b->text ? strcmp(a->text, b->text) == 0 : a->text == b->text && a->number == b->number;
}

/* A negative number that is shown as zero has no sign. */
static double as_shown(double number, int decimals)
{
    return signbit(number) && nearbyint(number * pow(10, decimals)) == 0 ? 0 : number;
}

double column_value(const column_t *column, double number, int *decimals)
{
    *decimals = column->type == TYPE_INTEGER ? 0 : column->divisor > 0 ? 1 : column->decimals;
    return as_shown(number, *decimals);
}

/* ---- JSON */

#ifdef MH_WITH_JANSSON
json_t *json_text(const char *text)
{
    json_t *value = json_string(text);
    if (value)
        return value;
    char *whole = or_exit(malloc(3 * strlen(text) + 1)), *end = whole;
    while (*text != '\0') {
        size_t bytes = 1;
        for (; bytes <= 4; bytes++) {
            value = strnlen(text, bytes) == bytes ? json_stringn(text, bytes) : NULL;
            json_decref(value);
            if (value)
                break;
        }
        end = value ? mempcpy(end, text, bytes) : stpcpy(end, "\xef\xbf\xbd");
        text += value ? bytes : 1;
    }
    *end = '\0';
    value = or_exit(json_string(whole));
    free(whole);
    return value;
}

json_t *json_cell(const column_t *column, const cell_t *cell)
{
    int decimals;
    double number = column_value(column, cell->number, &decimals), power = pow(10, decimals);
    if (cell->text && cell->text[0] != '\0')
        return json_text(cell->text);
    if (cell->text || !isfinite(number))
        return json_null();
    if (decimals == 0 && fabs(number) < 1e18)
        return or_exit(json_integer(llrint(number)));
    return or_exit(json_real(fabs(number) < 1e15 ? nearbyint(number * power) / power : number));
}

void json_print(FILE *file, json_t *value)
{
    json_dumpf(value, file, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    json_decref(value);
}

static void print_json_head(const table_t *table, const head_item_t *items, int item_count)
{
    json_t *head = or_exit(json_object()), *columns = or_exit(json_array()), *provenance = or_exit(json_object());
    json_object_set_new(head, "schema", json_text(table->schema->name));
    json_object_set_new(head, "version", or_exit(json_integer(SCHEMA_VERSION)));
    json_object_set_new(head, "columns", columns);
    for (const column_t *column = table->columns; column < table->columns + table->column_count; column++)
        if (column->name)
            json_array_append_new(columns, or_exit(json_pack("{s:s, s:s, s:s, s:s, s:s}", "name", column->name, "unit",
                                                             column->unit, "role", column_roles[column->role], "type",
                                                             column_types[column->type], "doc", column->doc)));
    json_object_set_new(head, "provenance", provenance);
    for (const head_item_t *item = items; item < items + item_count; item++)
        json_object_set_new(provenance, item->key, json_text(item->value));
    json_print(table->output->file, head);
    fputc('\n', table->output->file);
}

static void print_json_row(const table_t *table, const cell_t *cells)
{
    json_t *row = or_exit(json_object());
    for (int i = 0; i < table->column_count; i++)
        if (table->columns[i].name)
            json_object_set_new(row, table->columns[i].name, json_cell(&table->columns[i], &cells[i]));
    json_print(table->output->file, row);
    fputc('\n', table->output->file);
}
#else
static void print_json_head(const table_t *table, const head_item_t *items, int item_count)
{
    (void)table, (void)items, (void)item_count; /* the options have no such format */
}

static void print_json_row(const table_t *table, const cell_t *cells)
{
    (void)table, (void)cells;
}
#endif

/* ---- Comma-separated values */

void quote_csv(FILE *file, const char *text)
{
    if (!strpbrk(text, "#,\"\r\n")) {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

static void print_csv_head(const table_t *table, const head_item_t *items, int item_count)
{
    FILE *file = table->output->file;
    const char *separator = "";
    fprintf(file, "# schema: %s %d\n", table->schema->name, SCHEMA_VERSION);
    for (const head_item_t *item = items; item < items + item_count; item++) {
        fprintf(file, "# %s: ", item->key);
        for (const char *next = item->value; *next != '\0'; next++)
            fputc((unsigned char)*next < ' ' ? ' ' : *next, file);
        fputc('\n', file);
    }
    for (const column_t *column = table->columns; column < table->columns + table->column_count; column++)
        if (column->name)
            fprintf(file, "# column: %s,%s,%s,%s,%s\n", column->name, column->unit, column_roles[column->role],
                    column_types[column->type], column->doc);
    for (const column_t *column = table->columns; column < table->columns + table->column_count; column++)
        if (column->name) {
            fprintf(file, "%s%s", separator, column->name);
            separator = ",";
        }
    fputc('\n', file);
}

static void print_csv_row(const table_t *table, const cell_t *cells)
{
    FILE *file = table->output->file;
    const char *separator = "";
    for (int i = 0; i < table->column_count; i++) {
        int decimals;
        double number = column_value(&table->columns[i], cells[i].number, &decimals);
        if (!table->columns[i].name)
            continue;
        fputs(separator, file);
        separator = ",";
        if (cells[i].text)
            quote_csv(file, cells[i].text);
        else
            fprintf(file, "%.*f", decimals, number);
    }
    fputc('\n', file);
}

/* ---- The table for people */

/* Beyond this, whole numbers are not exact either. */
#define MAX_EXACT 1e15

/* With as many digits as fit into the column, if not all do. */
static void print_number(FILE *file, const column_t *column, double number)
{
    enum { MIN_EXPONENT_BYTES = 7 }; /* the point, e+308, and the blank before it */
    int width = column->width - 1, digits = column->width - MIN_EXPONENT_BYTES - (number < 0);
    bool may_round = column->decimals > 0 || fabs(number) >= MAX_EXACT;
    if (may_round && snprintf(NULL, 0, "%.*f", column->decimals, number) > width)
        fprintf(file, "%*.*g", width, digits, number);
    else
        fprintf(file, "%*.*f", width, column->decimals, number);
}

static double for_people(const column_t *column, double number)
{
    return as_shown(number / (column->divisor > 0 ? column->divisor : 1), column->decimals);
}

static void print_titles(const table_t *table)
{
    FILE *file = table->output->file;
    char begin = '#';
    for (const column_t *column = table->columns; column < table->columns + table->column_count; column++)
        if (column->title && column->width > 0) {
            fprintf(file, "%c%*s", begin, column->width - 1, column->title);
            begin = ' ';
        }
    fputc('\n', file);
}

/* A path in a line below a row has so many letters at most. */
enum { BELOW_COLUMNS = 100, BELOW_INDENT = 8, BELOW_BYTES = 8192, PATH_LETTERS = 40 };

/* used: how many columns of the line have something in them, 0 before the first line. */
static void print_word(FILE *file, char *word, int limit, int *used)
{
    text_shorten(word, strchr(word, '/') ? PATH_LETTERS : limit - BELOW_INDENT);
    const int letters = text_letters(word);
    const bool begins_line = *used == 0 || *used + 1 + letters > limit;
    fprintf(file, "%s%*s%s", begins_line ? *used > 0 ? "\n" : "" : " ", begins_line ? BELOW_INDENT : 0, "", word);
    *used = letters + (begins_line ? BELOW_INDENT : *used + 1);
}

/* Columns without a width, after their titles, in as many lines as it takes. */
static void print_below(const table_t *table, const cell_t *cells)
{
    FILE *file = table->output->file;
    const int limit = output_columns(file, BELOW_COLUMNS) - 1; /* a semicolon may come after it */
    int used = 0;
    for (int i = 0; i < table->column_count; i++) {
        const column_t *column = &table->columns[i];
        char text[BELOW_BYTES], *rest;
        if (!column->title || column->width > 0 || cell_lacks(&cells[i]))
            continue;
        if (cells[i].text)
            snprintf(text, sizeof text, "%s %s", column->title, cells[i].text);
        else
            snprintf(text, sizeof text, "%s %.*f", column->title, column->decimals,
                     for_people(column, cells[i].number));
        fputs(used > 0 ? ";" : "", file);
        used += used > 0;
        for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
            print_word(file, word, limit, &used);
    }
    if (used > 0)
        fputc('\n', file);
}

static void print_aligned_row(const table_t *table, const cell_t *cells)
{
    FILE *file = table->output->file;
    for (int i = 0; i < table->column_count; i++) {
        const column_t *column = &table->columns[i];
        if (!column->title || column->width == 0)
            continue;
        fputc(' ', file);
        if (cells[i].text)
            fprintf(file, "%*s", column->width - 1, cells[i].text[0] == '\0' ? "-" : cells[i].text);
        else
            print_number(file, column, for_people(column, cells[i].number));
    }
    fputc('\n', file);
    print_below(table, cells);
}

/* ---- All formats */

char *head_item(head_t *head, const char *key)
{
    head_item_t *item = &head->items[head->count++];
    item->key = key;
    item->value[0] = '\0';
    return item->value;
}

void table_head(const table_t *table, const head_item_t *items, int item_count)
{
    static head_t usual;
    if (usual.count == 0)
        head_add(&usual, "package", "libmpix_harmonize %s", options_version());
    if (item_count == 0) {
        items = usual.items;
        item_count = usual.count;
    }
    if (table->sheet) {
        table->sheet->schema = or_exit(strdup(table->schema->name));
        for (int i = 0; i < table->column_count; i++)
            if (table->columns[i].name)
                sheet_add_column(table->sheet, &table->columns[i]);
        return;
    }
    if (table->output->format == FORMAT_JSON)
        print_json_head(table, items, item_count);
    else if (table->output->format == FORMAT_CSV)
        print_csv_head(table, items, item_count);
    else
        print_titles(table);
    output_flush(table->output->file);
}

static void keep_row(const table_t *table, const cell_t *cells)
{
    cell_t *named = or_exit(calloc((size_t)table->column_count, sizeof named[0]));
    int count = 0;
    for (int i = 0; i < table->column_count; i++)
        if (table->columns[i].name)
            named[count++] = cells[i];
    sheet_add(table->sheet, named);
    free(named);
}

void table_row(const table_t *table, const cell_t *cells)
{
    if (table->sheet) {
        keep_row(table, cells);
        return;
    }
    if (table->output->format == FORMAT_JSON)
        print_json_row(table, cells);
    else if (table->output->format == FORMAT_CSV)
        print_csv_row(table, cells);
    else
        print_aligned_row(table, cells);
    if (!table->output->is_buffered)
        output_flush(table->output->file);
}

/* ---- Rows in memory */

const char *sheet_text(sheet_t *sheet, const char *text)
{
    sheet->texts = or_exit(array_grow(sheet->texts, sheet->text_count, sizeof sheet->texts[0]));
    return sheet->texts[sheet->text_count++] = or_exit(strdup(text));
}

void sheet_add_column(sheet_t *sheet, const column_t *column)
{
    sheet->columns = or_exit(array_grow(sheet->columns, sheet->column_count, sizeof sheet->columns[0]));
    column_t *copy = &sheet->columns[sheet->column_count++];
    *copy = *column;
    copy->name = sheet_text(sheet, column->name);
    copy->unit = sheet_text(sheet, column->unit);
    copy->doc = sheet_text(sheet, column->doc);
    copy->title = NULL;
}

void sheet_add(sheet_t *sheet, const cell_t *cells)
{
    int64_t place = sheet->row_count++ * sheet->column_count;
    for (int i = 0; i < sheet->column_count; i++) {
        sheet->cells = or_exit(array_grow(sheet->cells, place + i, sizeof sheet->cells[0]));
        sheet->cells[place + i] = cells[i];
        if (cells[i].text)
            sheet->cells[place + i].text = cell_lacks(&cells[i]) ? "" : sheet_text(sheet, cells[i].text);
    }
}

const cell_t *sheet_at(const sheet_t *sheet, int64_t row, int column)
{
    return &sheet->cells[row * sheet->column_count + column];
}

int sheet_column(const sheet_t *sheet, const char *name)
{
    for (int i = 0; i < sheet->column_count; i++)
        if (strcmp(sheet->columns[i].name, name) == 0)
            return i;
    return -1;
}

typedef struct place {
    const sheet_t *sheet;
    int64_t row;
} place_t;

/* Numbers come before texts, which are in the order of their bytes. */
static int order_of_cells(const cell_t *a, const cell_t *b)
{
    if (a->text && b->text)
        return strcmp(a->text, b->text);
    return a->text || b->text ? (a->text ? 1 : -1) : (a->number > b->number) - (a->number < b->number);
}

static int by_keys(const void *left, const void *right)
{
    const place_t *a = left, *b = right;
    int order = 0;
    for (int i = 0; order == 0 && i < a->sheet->column_count; i++)
        if (a->sheet->columns[i].role == ROLE_KEY)
            order = order_of_cells(sheet_at(a->sheet, a->row, i), sheet_at(b->sheet, b->row, i));
    return order != 0 ? order : (a->row > b->row) - (a->row < b->row);
}

void sheet_sort(sheet_t *sheet)
{
    if (sheet->row_count == 0)
        return;
    size_t row_bytes = (size_t)sheet->column_count * sizeof(cell_t);
    place_t *places = or_exit(calloc((size_t)sheet->row_count + 1, sizeof places[0]));
    cell_t *sorted = or_exit(malloc(array_bytes(sheet->row_count + 1, row_bytes)));
    for (int64_t i = 0; i < sheet->row_count; i++)
        places[i] = (place_t){sheet, i};
    qsort(places, (size_t)sheet->row_count, sizeof places[0], by_keys);
    for (int64_t i = 0; i < sheet->row_count; i++)
        memcpy(&sorted[i * sheet->column_count], sheet_at(sheet, places[i].row, 0), row_bytes);
    free(sheet->cells);
    free(places);
    sheet->cells = sorted;
}

void sheet_free(sheet_t *sheet)
{
    for (int64_t i = 0; i < sheet->text_count; i++)
        free(sheet->texts[i]);
    free(sheet->texts);
    free(sheet->columns);
    free(sheet->cells);
    free(sheet->schema);
    *sheet = (sheet_t){.row_count = 0};
}
