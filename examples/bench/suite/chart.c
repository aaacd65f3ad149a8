/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite/chart.h"

#include <stdio.h>
#include <stdlib.h>

static plot_series_t *lines_of(const chart_t *chart, int curve)
{
    return &chart->series[(size_t)CHART_LINES * (size_t)curve];
}

bool chart_open(chart_t *chart, plot_file_t *file, int curves, int points)
{
    chart->file = file;
    if (file->path == NULL)
        return true;
    chart->bytes = malloc((1 + CHART_LINES) * (size_t)points * sizeof(chart->bytes[0]));
    for (int i = 0; i < CHART_LINES && chart->bytes != NULL; i++)
        chart->us[i] = chart->bytes + (size_t)(1 + i) * (size_t)points;
    chart->series = calloc(CHART_LINES * (size_t)curves, sizeof(chart->series[0]));
    chart->titles = calloc((size_t)curves, sizeof(chart->titles[0]));
    return chart->bytes != NULL && chart->series != NULL && chart->titles != NULL;
}

void chart_begin(chart_t *chart, const row_keys_t *keys)
{
    if (chart->file->path == NULL)
        return;
    plot_series_t *lines = lines_of(chart, chart->curves);
    char *title = chart->titles[chart->curves++];
    snprintf(title, sizeof(chart->titles[0]), "%s, %s %s", keys->operation, keys->release, keys->barrier);
    for (int i = 0; i < CHART_LINES; i++)
        lines[i] = (plot_series_t){
            .color = chart->curves, .x = chart->bytes + chart->points, .y = chart->us[i] + chart->points};
    lines[CHART_MEDIAN].title = title;
    lines[CHART_MEDIAN].style = PLOT_LINES_POINTS;
}

void chart_add(chart_t *chart, const row_t *row)
{
    if (chart->file->path == NULL || row->analysis.valid == 0)
        return;
    plot_series_t *lines = lines_of(chart, chart->curves - 1);
    /* What has no messages is drawn at the left end of the logarithmic axis. */
    double bytes = row->keys.size_bytes > 0 ? (double)row->keys.size_bytes : 1;
    int place = chart->points++;
    for (; place > chart->points - 1 - lines->count && chart->bytes[place - 1] > bytes; place--) {
        chart->bytes[place] = chart->bytes[place - 1];
        for (int i = 0; i < CHART_LINES; i++)
            chart->us[i][place] = chart->us[i][place - 1];
    }
    chart->bytes[place] = bytes;
    chart->us[CHART_MEDIAN][place] = row->analysis.median_ns / 1e3;
    chart->us[CHART_LOW][place] = (double)row->analysis.median_low_ns / 1e3;
    chart->us[CHART_HIGH][place] = (double)row->analysis.median_high_ns / 1e3;
    for (int i = 0; i < CHART_LINES; i++)
        lines[i].count++;
}

int chart_draw(chart_t *chart, const world_t *world)
{
    const plot_panel_t panel = {.x = {.label = "message size (bytes)", .logarithmic = true},
                                .y = {.label = "median run time (us), 95 % confidence interval", .logarithmic = true},
                                .series = chart->series,
                                .series_count = CHART_LINES * chart->curves};
    const plot_t plot = {.title = "Run times of MPI operations", .panels = &panel, .panel_count = 1};
    return plot_draw(chart->file, world, &plot);
}

void chart_close(chart_t *chart)
{
    free(chart->bytes);
    free(chart->series);
    free(chart->titles);
}
