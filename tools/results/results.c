/* SPDX-License-Identifier: BSD-3-Clause */
/* results.c - parse JSON and CSV of results into rows. */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "results/results.h"

#include "common/output.h"
#include "common/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

const char manifest_name[] = "manifest.json";

/* A file that is being read. */
typedef struct reader {
    const char *path;
    char *text; /* all of it, with a zero at its end */
    char *next;
    long line; /* that next is in, from 1 */
    result_file_t *file;
    char *complaint;
} reader_t;

void *need(void *pointer)
{
    if (!pointer) {
        fprintf(stderr, "%s: out of memory\n", program_invocation_short_name);
        exit(STATUS_FAILED);
    }
    return pointer;
}

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

/* The end of the line that is next, NULL if it has none. */
static char *find_end(const reader_t *reader)
{
    char *end = strchr(reader->next, '\n');
    if (!end)
        complain_of_line(reader, "is cut off: the file is not complete");
    return end;
}

static bool add_row(reader_t *reader, json_t *row)
{
    return json_array_append_new(reader->file->rows, row) == 0 || complain_of_line(reader, "is not a row");
}

/* Names of columns are plain, so that they need no quotes anywhere. */
static bool is_title(const char *title)
{
    return (isalpha((unsigned char)title[0]) || title[0] == '_') &&
           strspn(title, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") == strlen(title);
}

/* ---- Lines of JSON */

static bool is_row(const json_t *object)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)object, name, value)
    {
        if (!is_title(name) || json_is_object(value) || json_is_array(value))
            return false;
    }
    return json_object_size(object) > 0;
}

/* As in comments: its name and version. */
static bool take_schema(const reader_t *reader, const json_t *head)
{
    json_int_t version = json_integer_value(json_object_get(head, "version"));
    return !json_object_get(head, "schema") ||
           json_object_set_new(reader->file->provenance, "schema",
                               json_sprintf("%s %" JSON_INTEGER_FORMAT, text_at(head, "schema"), version)) == 0;
}

static bool take_object(reader_t *reader, json_t *object)
{
    json_t *provenance = json_object_get(object, "provenance");
    if (json_is_object(provenance)) {
        bool good = take_schema(reader, object) && json_object_update(reader->file->provenance, provenance) == 0;
        json_decref(object);
        return good;
    }
    if (is_row(object))
        return add_row(reader, object);
    json_decref(object);
    return complain_of_line(reader, "is not a row of results");
}

/* Lines of blanks only are read over; the last one need not have an end, as its object has. */
static bool read_json_line(reader_t *reader, const char *end)
{
    json_error_t error;
    size_t bytes = (size_t)(end - reader->next);
    if (strspn(reader->next, " \t\r") >= bytes)
        return true;
    json_t *object = json_loadb(reader->next, bytes, JSON_REJECT_DUPLICATES, &error);
    if (json_is_object(object))
        return take_object(reader, object);
    json_decref(object);
    return complain(reader->complaint, "%.400s, line %ld is torn or no object of JSON (%s)", reader->path, reader->line,
                    !object ? error.text : "another value");
}

static bool read_json(reader_t *reader)
{
    for (; *reader->next != '\0'; reader->line++) {
        const char *end = reader->next + strcspn(reader->next, "\n");
        if (!read_json_line(reader, end))
            return false;
        reader->next += end - reader->next + (*end == '\n');
    }
    return true;
}

/* ---- Comma-separated values */

/* Reads "# name: value" into the provenance. */
static bool read_comment(reader_t *reader)
{
    char *end = find_end(reader);
    if (!end)
        return false;
    *end = '\0';
    char *name = reader->next + 1 + strspn(reader->next + 1, " "), *colon = strstr(name, ": ");
    if (colon) {
        *colon = '\0';
        json_t *value = json_string(colon + 2);
        if (value)
            json_object_set_new(reader->file->provenance, name, value);
    }
    reader->next = end + 1;
    reader->line++;
    return true;
}

/* Takes the next field of a line, without its quotes, and what ended it. It is read over. Returns NULL at the end. */
static char *take_field(reader_t *reader, char *ended_by)
{
    char *field = reader->next, *to = field, *from = field;
    bool quoted = *from == '"';
    for (from += quoted; *from != '\0'; from++) {
        if (quoted && from[0] == '"' && from[1] != '"')
            quoted = false, from++;
        else if (quoted && from[0] == '"')
            from++;
        if (!quoted && (*from == ',' || *from == '\n' || *from == '\0'))
            break;
        if (*from == '\n')
            reader->line++;
        *to++ = *from;
    }
    *ended_by = *from;
    if (*from == '\0') {
        complain_of_line(reader, "is cut off: the file is not complete");
        return NULL;
    }
    reader->next = from + 1;
    *to = '\0';
    if (to > field && to[-1] == '\r' && *ended_by == '\n')
        to[-1] = '\0';
    return field;
}

static json_t *value_of(const char *field)
{
    char *end;
    if (field[0] == '\0')
        return json_null();
    if (isdigit((unsigned char)field[0]) || (field[0] == '-' && isdigit((unsigned char)field[1]))) {
        errno = 0;
        long long whole = strtoll(field, &end, 10);
        if (*end == '\0' && errno == 0)
            return json_integer(whole);
        double number = strtod(field, &end);
        if (*end == '\0' && isfinite(number))
            return json_real(number);
    }
    json_t *text = json_string(field);
    return text ? text : json_string("\xef\xbf\xbd"); /* the character for what is none, as it is no UTF-8 */
}

static bool read_titles(reader_t *reader, json_t *titles)
{
    char ended_by = ',';
    while (ended_by == ',') {
        const char *title = take_field(reader, &ended_by);
        if (!title)
            return false;
        if (!is_title(title))
            return complain(reader->complaint, "%.400s has no results in --format json or csv", reader->path);
        json_array_append_new(titles, json_string(title));
    }
    reader->line++;
    return json_array_size(titles) > 1 ||
           complain(reader->complaint, "%.400s has no results in --format json or csv", reader->path);
}

static bool read_values(reader_t *reader, const json_t *titles)
{
    json_t *row = json_object();
    char ended_by = ',';
    size_t column = 0;
    for (; ended_by == ','; column++) {
        const char *field = take_field(reader, &ended_by), *title = json_string_value(json_array_get(titles, column));
        if (!field) {
            json_decref(row);
            return false;
        }
        if (title)
            json_object_set_new(row, title, value_of(field));
    }
    if (column == json_array_size(titles)) {
        bool good = add_row(reader, row);
        reader->line++;
        return good;
    }
    json_decref(row);
    return complain(reader->complaint, "%.400s, line %ld has %zu fields, not %zu", reader->path, reader->line, column,
                    json_array_size(titles));
}

static bool read_csv(reader_t *reader)
{
    bool good = true;
    json_t *titles = json_array();
    while (good && *reader->next == '#')
        good = read_comment(reader);
    if (good && *reader->next == '\0')
        good = complain(reader->complaint, "%.400s has no results in --format json or csv", reader->path);
    good = good && read_titles(reader, titles);
    while (good && *reader->next != '\0')
        good = read_values(reader, titles);
    json_decref(titles);
    return good;
}

/* ---- All of it */

static bool read_text(reader_t *reader)
{
    *reader->file = (result_file_t){json_object(), json_array()};
    reader->next = reader->text;
    reader->line = 1;
    bool good = reader->text[0] == '{' ? read_json(reader) : read_csv(reader);
    if (!good)
        result_file_free(reader->file);
    return good && (json_array_size(reader->file->rows) > 0 ||
                    complain(reader->complaint, "%.400s has no row of results", reader->path));
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
    *file = (result_file_t){NULL, NULL};
    if (strcmp(slash ? slash + 1 : path, manifest_name) == 0)
        return complain(complaint, "%.400s is the manifest of a campaign: give its folder", path);
    bool good = load_text(&reader) && read_text(&reader);
    free(reader.text);
    return good;
}

void result_file_free(result_file_t *file)
{
    json_decref(file->provenance);
    json_decref(file->rows);
    *file = (result_file_t){NULL, NULL};
}

json_t *result_load(const char *path, char complaint[COMPLAINT_BYTES])
{
    reader_t reader = {.path = path, .complaint = complaint};
    json_error_t error;
    json_t *value = NULL;
    if (load_text(&reader)) {
        value = json_loads(reader.text, JSON_REJECT_DUPLICATES, &error);
        if (!value)
            complain(complaint, "%.400s, line %d: %s", path, error.line, error.text);
    }
    free(reader.text);
    return value;
}

void result_text(const json_t *value, char text[RESULT_TEXT_BYTES])
{
    text[0] = '\0';
    if (json_is_string(value))
        text_append(text, RESULT_TEXT_BYTES, "%s", json_string_value(value));
    else if (json_is_integer(value))
        text_append(text, RESULT_TEXT_BYTES, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        text_append(text, RESULT_TEXT_BYTES, "%.17g", json_real_value(value));
    else if (json_is_boolean(value))
        text_append(text, RESULT_TEXT_BYTES, "%s", json_is_true(value) ? "true" : "false");
}

const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}
