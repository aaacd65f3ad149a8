/* SPDX-License-Identifier: BSD-3-Clause */
/* results.c - parse JSON of results into rows. */
#include "common/results/results.h"

#include "common/cli/text.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

const char manifest_name[] = "manifest.json";

/* Of numbers whose column does not say how many they have. */
enum { MAX_DECIMALS = 9 };

/* A file that is being read. */
typedef struct reader {
    const char *path;
    char *text; /* all of it, with a zero at its end */
    char *next;
    long line; /* that next is in, from 1 */
    result_file_t *file;
    char *complaint;
} reader_t;

bool complain(char complaint[COMPLAINT_BYTES], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(complaint, COMPLAINT_BYTES, format, arguments);
    va_end(arguments);
    text_one_line(complaint);
    return false;
}

/* ---- The text */

static bool load_text(reader_t *reader)
{
    size_t room = 0;
    FILE *stream = fopen(reader->path, "r");
    ssize_t bytes = stream ? getdelim(&reader->text, &room, '\0', stream) : -1;
    bool is_read = stream && !ferror(stream), is_empty = is_read && bytes < 0;
    bool good = is_read && bytes > 0 && reader->text[bytes - 1] != '\0';
    if (is_empty)
        complain(reader->complaint, "%.400s is empty", reader->path);
    else if (!is_read)
        complain(reader->complaint, "%.400s cannot be read: %s", reader->path, strerror(errno));
    else if (!good)
        complain(reader->complaint, "%.400s is not a text file", reader->path);
    if (stream)
        fclose(stream);
    return good;
}

static bool complain_of_line(const reader_t *reader, const char *what)
{
    return complain(reader->complaint, "%.400s, line %ld %s", reader->path, reader->line, what);
}

/* ---- The head */

static bool add_column(reader_t *reader, const char *const parts[5])
{
    int role = names_find(NAMES(column_roles), parts[2]), type = names_find(NAMES(column_types), parts[3]);
    if (role < 0 || type < 0 || parts[0][0] == '\0' || sheet_column(&reader->file->sheet, parts[0]) >= 0)
        return complain_of_line(reader, "declares a column that is none");
    sheet_add_column(&reader->file->sheet, &(column_t){.name = parts[0],
                                                       .unit = parts[1],
                                                       .role = (column_role_t)role,
                                                       .type = (column_type_t)type,
                                                       .doc = parts[4],
                                                       .decimals = type == TYPE_NUMBER ? MAX_DECIMALS : 0});
    return true;
}

static bool set_schema(reader_t *reader, const char *name, json_int_t version)
{
    sheet_t *sheet = &reader->file->sheet;
    free(sheet->schema);
    sheet->schema = or_exit(strdup(name));
    return version == SCHEMA_VERSION ||
           complain(reader->complaint, "%.400s has the schema %.60s %" JSON_INTEGER_FORMAT ", only version %d is known",
                    reader->path, name, version, SCHEMA_VERSION);
}

/* Whether there was a head. */
static bool check_head(const reader_t *reader)
{
    const sheet_t *sheet = &reader->file->sheet;
    reader->file->is_foreign = !sheet->schema || sheet->column_count == 0;
    return !reader->file->is_foreign ||
           complain(reader->complaint, "%.400s does not begin as --format json does", reader->path);
}

/* ---- Lines of JSON */

static bool take_head(reader_t *reader, const json_t *head)
{
    const json_t *columns = json_object_get(head, "columns"), *provenance = json_object_get(head, "provenance");
    const char *key;
    json_t *value;
    if (json_is_string(json_object_get(head, "schema")) &&
        !set_schema(reader, text_at(head, "schema"), json_integer_value(json_object_get(head, "version"))))
        return false;
    for (size_t i = 0; i < json_array_size(columns); i++) {
        const json_t *column = json_array_get(columns, i);
        const char *const parts[] = {text_at(column, "name"), text_at(column, "unit"), text_at(column, "role"),
                                     text_at(column, "type"), text_at(column, "doc")};
        if (!add_column(reader, parts))
            return false;
    }
    json_object_foreach((json_t *)provenance, key, value)
    {
        if (json_is_string(value))
            json_object_set(reader->file->provenance, key, value);
    }
    return check_head(reader);
}

static bool take_value(reader_t *reader, const json_t *value, const column_t *column, cell_t *cell)
{
    bool is_fit = column->type == TYPE_TEXT      ? json_is_string(value)
                  : column->type == TYPE_INTEGER ? json_is_integer(value)
                                                 : json_is_number(value);
    *cell = (cell_t){"", 0};
    if (json_is_string(value) && is_fit)
        cell->text = json_string_value(value);
    else if (is_fit)
        *cell = (cell_t){NULL, json_number_value(value)};
    else if (value && !json_is_null(value))
        return complain(reader->complaint, "%.400s, line %ld: the value of %.60s is not of type %s", reader->path,
                        reader->line, column->name, column_types[column->type]);
    return true;
}

static bool take_row(reader_t *reader, const json_t *object)
{
    sheet_t *sheet = &reader->file->sheet;
    cell_t *cells = or_exit(calloc((size_t)sheet->column_count, sizeof cells[0]));
    bool good = true;
    size_t known = 0;
    for (int i = 0; i < sheet->column_count && good; i++) {
        const json_t *value = json_object_get(object, sheet->columns[i].name);
        known += value != NULL;
        good = take_value(reader, value, &sheet->columns[i], &cells[i]);
    }
    if (good && (known < json_object_size(object) || known == 0))
        good = complain_of_line(reader, "has other columns than the first line declares");
    if (good)
        sheet_add(sheet, cells);
    free(cells);
    return good;
}

/* The value with clean texts. value is given away. */
json_t *json_clean(json_t *value)
{
    json_t *clean = value, *part;
    const char *key;
    if (json_is_string(value)) {
        char *text = or_exit(strdup(json_string_value(value)));
        text_clean(text, "\n\t");
        clean = json_string_nocheck(text);
        free(text);
    } else if (json_is_array(value)) {
        clean = json_array();
        for (size_t i = 0; i < json_array_size(value); i++)
            json_array_append_new(clean, json_clean(json_incref(json_array_get(value, i))));
    } else if (json_is_object(value)) {
        clean = json_object();
        json_object_foreach(value, key, part)
        {
            char *clean_key = or_exit(strdup(key));
            text_one_line(clean_key);
            json_object_set_new_nocheck(clean, clean_key, json_clean(json_incref(part)));
            free(clean_key);
        }
    } else {
        return value;
    }
    json_decref(value);
    return or_exit(clean);
}

/* Lines of blanks only are read over; the last one need not have an end, as its object has. */
static bool read_json_line(reader_t *reader, const char *end)
{
    json_error_t error;
    size_t bytes = (size_t)(end - reader->next);
    if (strspn(reader->next, " \t\r") >= bytes)
        return true;
    json_t *object = json_clean(json_loadb(reader->next, bytes, JSON_REJECT_DUPLICATES, &error));
    bool is_object = json_is_object(object);
    bool good = is_object && (reader->file->sheet.schema ? take_row(reader, object) : take_head(reader, object));
    if (!is_object)
        complain(reader->complaint, "%.400s, line %ld is torn or no object of JSON (%s)", reader->path, reader->line,
                 !object ? error.text : "another value");
    json_decref(object);
    return good;
}

static bool read_json(reader_t *reader)
{
    for (; *reader->next != '\0'; reader->line++) {
        const char *end = reader->next + strcspn(reader->next, "\n");
        if (!read_json_line(reader, end))
            return false;
        reader->next += end - reader->next + (*end == '\n');
    }
    return check_head(reader);
}

/* ---- All of it */

static bool read_text(reader_t *reader)
{
    *reader->file = (result_file_t){.provenance = or_exit(json_object())};
    reader->next = reader->text;
    reader->line = 1;
    if (reader->text[0] != '{') {
        reader->file->is_foreign = true;
        return complain(reader->complaint, "%.400s is not JSON: let the tool that measures write it with --format json",
                        reader->path);
    }
    return read_json(reader) &&
           (reader->file->sheet.row_count > 0 || complain(reader->complaint, "%.400s has no row", reader->path));
}

bool result_text_read(char *text, const char *name, result_file_t *file, char complaint[COMPLAINT_BYTES])
{
    reader_t reader = {.path = name, .text = text, .file = file, .complaint = complaint};
    return read_text(&reader);
}

bool result_file_read(const char *path, result_file_t *file, char complaint[COMPLAINT_BYTES])
{
    reader_t reader = {.path = path, .file = file, .complaint = complaint};
    const char *slash = strrchr(path, '/');
    *file = (result_file_t){.provenance = NULL};
    if (strcmp(slash ? slash + 1 : path, manifest_name) == 0)
        return complain(complaint, "%.400s is the manifest of a campaign: give its folder", path);
    bool good = load_text(&reader) && read_text(&reader);
    free(reader.text);
    return good;
}

void result_file_free(result_file_t *file)
{
    json_decref(file->provenance);
    sheet_free(&file->sheet);
    file->provenance = NULL;
}

void cell_write(const cell_t *cell, char text[CELL_BYTES])
{
    bool is_whole = !cell->text && cell->number == nearbyint(cell->number) && fabs(cell->number) < 1e15;
    if (cell->text)
        snprintf(text, CELL_BYTES, "%s", cell->text);
    else
        snprintf(text, CELL_BYTES, is_whole ? "%.0f" : "%.17g", cell->number);
}

const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}
