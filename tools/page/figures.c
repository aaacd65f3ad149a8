/* SPDX-License-Identifier: BSD-3-Clause */
/* figures.c - choose series, axes and panels for rows, and draw them. */
#include "page/figures.h"

#include "common/room.h"
#include "common/statistics.h"
#include "page/rows.h"
#include "page/svg.h"
#include "results/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A picture in the making. */
typedef struct builder {
    const chart_t *chart;
    const kind_t *kind;
    const char *x; /* column, NULL for strips */
    picture_t picture;
    series_t *series;
    json_t *looks;   /* numbers of series in all panels, by name */
    json_t *numbers; /* of series, by name */
    json_t *strips;  /* numbers of strips, by name */
} builder_t;

/* ---- Series */

/* The columns of a panel and of the horizontal axis do not name a series. */
static bool is_series_key(const json_t *rows, const char *column, const void *passed)
{
    const builder_t *builder = passed;
    const chart_t *chart = builder->chart;
    if ((chart->panel && strcmp(column, chart->panel) == 0) || (builder->x && strcmp(column, builder->x) == 0) ||
        (chart->ignored && strcmp(column, chart->ignored) == 0))
        return false;
    return kind_is_key(rows, column, builder->kind);
}

/* The number that a name has in a list, which it joins. */
static int number_of(json_t *list, const char *name)
{
    const json_t *number = json_object_get(list, name);
    if (!number)
        json_object_set_new(list, name, need(json_integer((json_int_t)json_object_size(list))));
    return number ? (int)json_integer_value(number) : (int)json_object_size(list) - 1;
}

static series_t *series_of(builder_t *builder, const char *name)
{
    int number = number_of(builder->numbers, name), *count = &builder->picture.series_count;
    if (number == *count) {
        builder->series = need(room_for_another(builder->series, (*count)++, sizeof builder->series[0]));
        builder->series[number] =
            (series_t){.name = need(strdup(name)), .look = builder->x ? number_of(builder->looks, name) : number};
    }
    return &builder->series[number];
}

static bool has_point(const series_t *series, const point_t *point)
{
    for (int i = 0; i < series->count; i++)
        if (series->points[i].place == point->place && series->points[i].value == point->value)
            return true;
    return false;
}

static void add_point(series_t *series, point_t point)
{
    series->points = need(room_for_another(series->points, series->count, sizeof series->points[0]));
    series->points[series->count++] = point;
}

static int by_place(const void *a, const void *b)
{
    const point_t *one = a, *other = b;
    return (one->place > other->place) - (one->place < other->place);
}

static double number_drawn(const json_t *row, const char *column)
{
    return value_drawn(row_number(row, column));
}

/* A curve is named by its keys, a mark of a strip by what was measured, as the keys name the strip. */
static void add_measure(builder_t *builder, const json_t *row, const char *label, const measure_t *measure)
{
    bool several = builder->chart->measures[1].column != NULL;
    double value = number_drawn(row, measure->column);
    char *name = need(malloc(strlen(label) + strlen(measure->title) + 3));
    sprintf(name, "%s%s%s", builder->x ? label : "", builder->x && several && label[0] != '\0' ? ": " : "",
            several ? measure->title : "");
    point_t point = {.place = builder->x ? number_drawn(row, builder->x) : number_of(builder->strips, label),
                     .value = value,
                     .low = number_drawn(row, measure->low),
                     .high = number_drawn(row, measure->high),
                     .single = json_object_get(row, "singles"),
                     .note = builder->chart->note ? text_at(row, builder->chart->note) : ""};
    if (isfinite(point.place) && isfinite(value) &&
        (!builder->chart->ignored || !has_point(series_of(builder, name), &point)))
        add_point(series_of(builder, name), point);
    free(name);
}

static void add_rows(builder_t *builder, const json_t *rows)
{
    json_t *keys = rows_keys(rows, is_series_key, builder), *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        char *label = row_label(row, keys);
        if (label[0] == '\0' && json_array_size(keys) > 0) {
            free(label);
            label = need(strdup("none")); /* beside those that have a name */
        }
        for (int k = 0; k < MAX_MEASURES && builder->chart->measures[k].column; k++)
            add_measure(builder, row, label, &builder->chart->measures[k]);
        free(label);
    }
    json_decref(keys);
    for (int k = 0; k < builder->picture.series_count && builder->x; k++)
        qsort(builder->series[k].points, (size_t)builder->series[k].count, sizeof(point_t), by_place);
}

/* ---- Pictures */

static void draw(FILE *file, builder_t *builder, const char *title, int number)
{
    const chart_t *chart = builder->chart;
    picture_t *picture = &builder->picture;
    size_t strips = json_object_size(builder->strips);
    const char **names = need(calloc(strips + 1, sizeof names[0])), *name;
    json_t *place;
    json_object_foreach(builder->strips, name, place)
    {
        names[json_integer_value(place)] = name;
    }
    picture->title = title;
    picture->place_title = chart->x_title;
    picture->value_title = chart->value_title;
    picture->place_axis = (axis_t){.scale = chart->x_scale, .unit = chart->x ? value_unit(chart->x) : UNIT_NONE};
    picture->value_axis = (axis_t){.scale = chart->scale, .unit = value_unit(chart->measures[0].column)};
    picture->strips = !builder->x ? names : NULL;
    picture->strip_count = (int)strips;
    picture->has_bars = chart->reference != 0;
    picture->reference = chart->reference;
    picture->series = builder->series;
    svg_figure(file, picture, number);
    free(names);
}

static void print_panel(FILE *file, const json_t *rows, const kind_t *kind, const chart_t *chart, const char *panel,
                        json_t *looks, int *number)
{
    bool has_curves = chart->x && rows_differ(rows, chart->x);
    builder_t builder = {.chart = chart,
                         .kind = kind,
                         .x = has_curves ? chart->x : NULL,
                         .looks = looks,
                         .numbers = need(json_object()),
                         .strips = need(json_object())};
    char *title = need(malloc(strlen(chart->title) + strlen(panel) + 3));
    sprintf(title, "%s%s%s", chart->title, panel[0] != '\0' ? ": " : "", panel);
    add_rows(&builder, rows);
    if (builder.picture.series_count > 0)
        draw(file, &builder, title, ++*number);
    for (int i = 0; i < builder.picture.series_count; i++) {
        free(builder.series[i].name);
        free(builder.series[i].points);
    }
    free(builder.series);
    free(title);
    json_decref(builder.numbers);
    json_decref(builder.strips);
}

void figures_print(FILE *file, const json_t *rows, const kind_t *kind, const chart_t *chart, int *number)
{
    json_t *keys = need(json_array()), *looks = need(json_object()), *part;
    const char *panel;
    if (chart->panel)
        json_array_append_new(keys, need(json_string(chart->panel)));
    json_t *panels = rows_split(rows, keys);
    fputs("<div class=\"charts\">\n", file);
    json_object_foreach(panels, panel, part)
    {
        print_panel(file, part, kind, chart, panel, looks, number);
    }
    fputs("</div>\n", file);
    json_decref(panels);
    json_decref(looks);
    json_decref(keys);
}

/* ---- Launches */

static bool is_thing_key(const json_t *rows, const char *column, const void *kind)
{
    return strcmp(column, "launch") != 0 && kind_is_key(rows, column, kind);
}

/* Adds what the launches of one thing come to. */
static void summarize(json_t *thing, const json_t *rows, const chart_t *chart)
{
    const char *column = chart->measures[0].column;
    double *values = need(calloc(json_array_size(rows) + 1, sizeof values[0]));
    json_t *singles = need(json_array());
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        double value = number_drawn(json_array_get(rows, i), column);
        if (!isfinite(value))
            continue;
        values[count++] = value;
        json_array_append_new(singles, need(json_real(value)));
    }
    sort_reals(values, (int64_t)count);
    json_object_set_new(thing, "launches", need(json_integer((json_int_t)count)));
    if (count > 0) {
        double median = middle_of(values, count);
        json_object_set_new(thing, column, need(json_real(median)));
        json_object_set_new(thing, chart->measures[0].low, need(json_real(values[0])));
        json_object_set_new(thing, chart->measures[0].high, need(json_real(values[count - 1])));
        if (median > 0)
            json_object_set_new(thing, "spread_percent",
                                need(json_real((values[count - 1] - values[0]) / median * 100)));
    }
    json_object_set_new(thing, "singles", singles);
    free(values);
}

json_t *figures_launches(const json_t *rows, const kind_t *kind, chart_t *chart)
{
    json_t *things = need(json_array()), *keys = rows_keys(rows, is_thing_key, kind);
    json_t *split = rows_split(rows, keys), *part;
    const char *label;
    static char names[3][VALUE_BYTES];
    const char *ending = strrchr(kind->charts[0].measures[0].column, '_');
    *chart = kind->charts[0];
    if (chart->measures[1].column) { /* it says which of them is left */
        snprintf(names[2], VALUE_BYTES, "%s, %s", chart->value_title, chart->measures[0].title);
        chart->value_title = names[2];
    }
    memset(&chart->measures[1], 0, sizeof chart->measures - sizeof chart->measures[0]);
    snprintf(names[0], VALUE_BYTES, "min%s", ending ? ending : "");
    snprintf(names[1], VALUE_BYTES, "max%s", ending ? ending : "");
    chart->measures[0].low = names[0];
    chart->measures[0].high = names[1];
    json_object_foreach(split, label, part)
    {
        json_t *thing = need(json_object()), *columns = rows_columns(part), *unused;
        const char *column;
        json_object_foreach(columns, column, unused)
        {
            json_t *value = json_object_get(json_array_get(part, 0), column);
            if (is_thing_key(part, column, kind))
                json_object_set(thing, column, value);
        }
        json_decref(columns);
        summarize(thing, part, chart);
        json_array_append_new(things, thing);
    }
    json_decref(split);
    json_decref(keys);
    return things;
}
