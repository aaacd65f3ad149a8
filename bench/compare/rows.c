/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.c - collect one value of each launch for each row. */
#include "bench/compare/rows.h"

#include "common/cli/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const cell_t *rows_key(const rows_t *rows, const series_t *row, const char *name)
{
    static const cell_t none = {"", 0};
    for (int i = 0; i < rows->key_count; i++)
        if (strcmp(rows->keys[i]->name, name) == 0)
            return &row->keys[i];
    return &none;
}

static void find_keys(rows_t *rows)
{
    const sheet_t *sheet = &rows->variant->launches[0].file.sheet;
    rows->keys = or_exit(calloc((size_t)sheet->column_count + 1, sizeof rows->keys[0]));
    for (int i = 0; i < sheet->column_count; i++)
        if (sheet->columns[i].role == ROLE_KEY)
            rows->keys[rows->key_count++] = &sheet->columns[i];
}

/* Where the keys are in a launch. False after a complaint: it has others. */
static bool place_keys(const rows_t *rows, const measured_t *launch, int *places, char *complaint)
{
    const sheet_t *sheet = &launch->file.sheet;
    int count = 0;
    for (int i = 0; i < sheet->column_count; i++)
        count += sheet->columns[i].role == ROLE_KEY;
    for (int i = 0; i < rows->key_count; i++) {
        places[i] = sheet_column(sheet, rows->keys[i]->name);
        if (places[i] < 0 || sheet->columns[places[i]].role != ROLE_KEY || count != rows->key_count)
            return complain(complaint, "%.400s and %.400s have other keys", launch->path,
                            rows->variant->launches[0].path);
    }
    return true;
}

static bool have_equal_keys(const rows_t *rows, const series_t *row, const sheet_t *sheet, int64_t at,
                            const int *places)
{
    for (int i = 0; i < rows->key_count; i++)
        if (!cells_equal(&row->keys[i], sheet_at(sheet, at, places[i])))
            return false;
    return true;
}

/* The row with these keys, which is made if there is none yet. Launches mostly have their rows in the same order. */
static series_t *row_of(rows_t *rows, const sheet_t *sheet, int64_t at, const int *places)
{
    for (int i = 0; i < rows->count; i++) {
        series_t *row = &rows->list[(at + i) % rows->count];
        if (have_equal_keys(rows, row, sheet, at, places))
            return row;
    }
    rows->list = or_exit(array_grow(rows->list, rows->count, sizeof(series_t)));
    series_t *row = &rows->list[rows->count++];
    *row = (series_t){.keys = or_exit(calloc((size_t)rows->key_count + 1, sizeof(cell_t))),
                      .logs = or_exit(malloc(array_bytes(rows->variant->count, sizeof(double))))};
    for (int i = 0; i < rows->key_count; i++)
        row->keys[i] = *sheet_at(sheet, at, places[i]);
    for (int i = 0; i < rows->variant->count; i++)
        row->logs[i] = NAN;
    return row;
}

static bool add_launch(rows_t *rows, int launch, const char *column, int *places, char *complaint)
{
    const measured_t *from = &rows->variant->launches[launch];
    const sheet_t *sheet = &from->file.sheet;
    int place = sheet_column(sheet, column), span = sheet_column(sheet, "arrival_span_ns");
    if (!place_keys(rows, from, places, complaint))
        return false;
    if (place < 0 || sheet->columns[place].type == TYPE_TEXT || sheet->columns[place].role == ROLE_KEY)
        return complain(complaint, "%.400s has no figure %.60s", from->path, column);
    for (int64_t i = 0; i < sheet->row_count; i++) {
        const cell_t *value = sheet_at(sheet, i, place);
        series_t *row = row_of(rows, sheet, i, places);
        if (!isnan(row->logs[launch])) {
            char operation[CELL_BYTES], size[CELL_BYTES];
            cell_write(rows_key(rows, row, "operation"), operation);
            cell_write(rows_key(rows, row, "size_bytes"), size);
            return complain(complaint, "%.400s has two rows of %.100s, %.30s bytes", from->path, operation, size);
        }
        if (!value->text && value->number > 0)
            row->logs[launch] = log(value->number);
        row->span_ns += span >= 0 ? sheet_at(sheet, i, span)->number : 0;
    }
    return true;
}

bool rows_collect(const variant_t *variant, const char *column, rows_t *rows, char complaint[COMPLAINT_BYTES])
{
    *rows = (rows_t){.variant = variant};
    find_keys(rows);
    int *places = or_exit(calloc((size_t)rows->key_count + 1, sizeof places[0]));
    bool good = true;
    for (int i = 0; i < variant->count && good; i++)
        good = add_launch(rows, i, column, places, complaint);
    free(places);
    for (series_t *row = rows->list; row < rows->list + rows->count; row++) {
        for (int i = 0; i < variant->count; i++)
            row->mean_log += row->logs[i];
        row->mean_log /= variant->count;
        row->span_ns /= variant->count;
    }
    return good;
}

void rows_free(rows_t *rows)
{
    for (int i = 0; i < rows->count; i++) {
        free(rows->list[i].logs);
        free(rows->list[i].keys);
    }
    free(rows->list);
    free(rows->keys);
    *rows = (rows_t){.count = 0};
}

static bool are_same(const rows_t *rows, const series_t *row, const rows_t *others, const series_t *other)
{
    for (int i = 0; i < rows->key_count; i++)
        if (!cells_equal(&row->keys[i], rows_key(others, other, rows->keys[i]->name)))
            return false;
    return rows->key_count == others->key_count;
}

const series_t *rows_find(const rows_t *rows, const rows_t *others, const series_t *row)
{
    for (int i = 0; i < rows->count; i++)
        if (are_same(others, row, rows, &rows->list[i]))
            return &rows->list[i];
    return NULL;
}
