/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.c - compare, label and group rows. */
#include "page/rows.h"

#include "page/value.h"
#include "results/results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char rows_file_column[] = "file";

json_t *text_value(const char *text)
{
    json_t *value = json_string(text);
    if (value)
        return value;
    char *copy = need(strdup(text));
    for (char *next = copy; *next != '\0'; next++)
        if ((unsigned char)*next >= 0x80)
            *next = '?';
    value = need(json_string(copy));
    free(copy);
    return value;
}

double row_number(const json_t *row, const char *column)
{
    const json_t *value = column ? json_object_get(row, column) : NULL;
    return json_is_number(value) ? json_number_value(value) : NAN;
}

json_t *rows_columns(const json_t *rows)
{
    json_t *columns = need(json_object()), *row, *value;
    const char *column;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        json_object_foreach(row, column, value)
        {
            if (!json_object_get(columns, column))
                json_object_set_new(columns, column, json_true());
        }
    }
    return columns;
}

bool rows_differ(const json_t *rows, const char *column)
{
    const json_t *first = json_object_get(json_array_get(rows, 0), column);
    for (size_t i = 1; i < json_array_size(rows); i++) {
        const json_t *other = json_object_get(json_array_get(rows, i), column);
        if (other != first && (!other || !first || !json_equal(other, first)))
            return true;
    }
    return false;
}

/* Prints the value of a key as it is named beside others: a text as it is, "4 KiB", "ranks 8". */
static void print_key(FILE *file, const char *column, const json_t *value)
{
    char text[VALUE_BYTES], title[VALUE_BYTES];
    if (json_is_string(value)) {
        fputs(json_string_value(value), file);
        return;
    }
    value_name(json_number_value(value), value_unit(column), text);
    value_title(column, title);
    if (value_unit(column) == UNIT_NONE)
        fprintf(file, "%s ", title);
    fputs(text, file);
}

char *row_label(const json_t *row, const json_t *keys)
{
    char *label = NULL;
    size_t bytes = 0;
    FILE *file = need(open_memstream(&label, &bytes));
    bool any = false;
    for (size_t i = 0; i < json_array_size(keys); i++) {
        const char *column = json_string_value(json_array_get(keys, i));
        const json_t *value = json_object_get(row, column);
        if (!json_is_number(value) && text_at(row, column)[0] == '\0')
            continue;
        fputs(any ? ", " : "", file);
        print_key(file, column, value);
        any = true;
    }
    fclose(file);
    return need(label);
}

json_t *rows_split(const json_t *rows, const json_t *keys)
{
    json_t *groups = need(json_object()), *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        char *label = row_label(row, keys);
        json_t *group = json_object_get(groups, label);
        if (!group) {
            group = need(json_array());
            json_object_set_new(groups, label, group);
        }
        json_array_append(group, row);
        free(label);
    }
    return groups;
}

/* Adds a key if it distinguishes more groups than there are. */
static void add_key(json_t *keys, const json_t *rows, const char *column, size_t *groups)
{
    json_array_append_new(keys, need(json_string(column)));
    json_t *split = rows_split(rows, keys);
    if (json_object_size(split) > *groups)
        *groups = json_object_size(split);
    else
        json_array_remove(keys, json_array_size(keys) - 1);
    json_decref(split);
}

json_t *rows_keys(const json_t *rows, bool (*is_key)(const json_t *rows, const char *column, const void *passed),
                  const void *passed)
{
    json_t *columns = rows_columns(rows), *keys = need(json_array()), *value;
    size_t groups = 1;
    const char *column;
    json_object_foreach(columns, column, value)
    {
        if (strcmp(column, rows_file_column) != 0 && is_key(rows, column, passed) && rows_differ(rows, column))
            add_key(keys, rows, column, &groups);
    }
    if (json_object_get(columns, rows_file_column))
        add_key(keys, rows, rows_file_column, &groups);
    json_decref(columns);
    return keys;
}
