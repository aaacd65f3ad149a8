/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.c - collect one value of each launch for each row. */
#include "compare/rows.h"

#include "common/room.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A key that comes after the first column that is none. */
static const char arrival[] = "arrival", arrival_span[] = "arrival_span_ns";

/* The keys of a row, as texts, so that both formats have the same. The caller frees them. */
static json_t *take_keys(const json_t *row)
{
    char text[RESULT_TEXT_BYTES];
    const char *name;
    bool is_key = true;
    json_t *value, *keys = json_object();
    json_object_foreach((json_t *)row, name, value)
    {
        is_key = is_key && strcmp(name, launch_first_figure) != 0;
        if (!is_key && strcmp(name, arrival) != 0)
            continue;
        result_text(value, text);
        json_object_set_new(keys, name, json_string(text));
    }
    return keys;
}

/* The place of the row with these keys, or -1. */
static int find_place(const rows_t *rows, const char *text)
{
    const json_t *place = json_object_get(rows->index, text);
    return place ? (int)json_integer_value(place) : -1;
}

/* The row with these keys, which is made if there is none yet. Takes over the keys. */
static series_t *row_of(rows_t *rows, json_t *keys)
{
    char *text = need(json_dumps(keys, JSON_COMPACT));
    int place = find_place(rows, text);
    if (place < 0) {
        place = rows->count++;
        rows->list = need(room_for_another(rows->list, place, sizeof(series_t)));
        rows->list[place] = (series_t){.keys = json_incref(keys),
                                       .logs = need(malloc(room_bytes(rows->variant->count, sizeof(double))))};
        for (int i = 0; i < rows->variant->count; i++)
            rows->list[place].logs[i] = NAN;
        json_object_set_new(rows->index, text, need(json_integer(place)));
    }
    json_decref(keys);
    free(text);
    return &rows->list[place];
}

const char *rows_key(const series_t *row, const char *name)
{
    const char *text = json_string_value(json_object_get(row->keys, name));
    return text ? text : "";
}

static bool add_value(rows_t *rows, const launch_t *launch, const json_t *row, const char *column, char *complaint)
{
    const json_t *value = json_object_get(row, column);
    double number = json_number_value(value);
    if (!value || !(json_is_null(value) || json_is_number(value)))
        return complain(complaint, "%.400s has no column of numbers %.60s", launch->path, column);
    series_t *series = row_of(rows, take_keys(row));
    double *log_value = &series->logs[launch - rows->variant->launches];
    if (!isnan(*log_value))
        return complain(complaint, "%.400s has two rows of %.100s, %.30s bytes", launch->path,
                        rows_key(series, "operation"), rows_key(series, "size_bytes"));
    if (number > 0 && isfinite(number))
        *log_value = log(number);
    series->span_ns += json_number_value(json_object_get(row, arrival_span));
    return true;
}

bool rows_collect(const variant_t *variant, const char *column, rows_t *rows, char complaint[COMPLAINT_BYTES])
{
    *rows = (rows_t){.variant = variant, .index = json_object()};
    for (int i = 0; i < variant->count; i++) {
        const launch_t *launch = &variant->launches[i];
        for (size_t j = 0; j < json_array_size(launch->file.rows); j++)
            if (!add_value(rows, launch, json_array_get(launch->file.rows, j), column, complaint))
                return false;
    }
    return true;
}

void rows_free(rows_t *rows)
{
    for (int i = 0; i < rows->count; i++) {
        free(rows->list[i].logs);
        json_decref(rows->list[i].keys);
    }
    free(rows->list);
    json_decref(rows->index);
    *rows = (rows_t){.count = 0};
}

const series_t *rows_find(const rows_t *rows, const json_t *keys)
{
    char *text = need(json_dumps(keys, JSON_COMPACT));
    int place = find_place(rows, text);
    free(text);
    return place >= 0 ? &rows->list[place] : NULL;
}

bool rows_is_complete(const rows_t *rows, const series_t *row)
{
    int launch = 0;
    while (launch < rows->variant->count && !isnan(row->logs[launch]))
        launch++;
    return launch == rows->variant->count;
}

double rows_mean_log(const rows_t *rows, const series_t *row)
{
    double sum = 0;
    for (int i = 0; i < rows->variant->count; i++)
        sum += row->logs[i];
    return sum / rows->variant->count;
}

double rows_mean_span_ns(const rows_t *rows, const series_t *row)
{
    return row->span_ns / rows->variant->count;
}
