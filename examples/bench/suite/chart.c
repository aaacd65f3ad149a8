/* SPDX-License-Identifier: BSD-3-Clause */
/* chart.c - the chart of --plot: medians of run times over message sizes, a curve for each job. */
#include "suite/bench.h"

#include <stdio.h>
#include <stdlib.h>

void chart_open(bench_t *bench)
{
    if (bench->plan.settings.results.plot.path != NULL)
        bench->curves = world_room(&bench->world, bench->plan.job_count, sizeof(bench->curves[0]), "");
}

void chart_add(bench_t *bench, int job, const row_t *row)
{
    if (bench->curves == NULL || row->analysis.valid == 0)
        return;
    chart_curve_t *curve = &bench->curves[job];
    /* What has no messages is drawn at the left end of the logarithmic axis. */
    double bytes = row->keys.size_bytes > 0 ? (double)row->keys.size_bytes : 1;
    int place = curve->count++;
    snprintf(curve->title, sizeof(curve->title), "%s, %s %s", row->keys.operation, row->keys.release,
             row->keys.barrier);
    for (; place > 0 && curve->bytes[place - 1] > bytes; place--) {
        curve->bytes[place] = curve->bytes[place - 1];
        for (int i = 0; i < CHART_LINES; i++)
            curve->us[i][place] = curve->us[i][place - 1];
    }
    curve->bytes[place] = bytes;
    curve->us[CHART_MEDIAN][place] = row->analysis.median_ns / 1e3;
    curve->us[CHART_LOW][place] = (double)row->analysis.median_low_ns / 1e3;
    curve->us[CHART_HIGH][place] = (double)row->analysis.median_high_ns / 1e3;
}

int chart_draw(bench_t *bench)
{
    if (bench->curves == NULL)
        return STATUS_GOOD;
    int count = CHART_LINES * bench->plan.job_count;
    plot_series_t *series = world_room(&bench->world, count, sizeof(series[0]), "");
    for (int i = 0; i < count; i++) {
        const chart_curve_t *curve = &bench->curves[i / CHART_LINES];
        bool is_median = i % CHART_LINES == CHART_MEDIAN;
        series[i] = (plot_series_t){.title = is_median ? curve->title : NULL,
                                    .style = is_median ? PLOT_LINES_POINTS : PLOT_LINES,
                                    .color = 1 + i / CHART_LINES,
                                    .count = curve->count,
                                    .x = curve->bytes,
                                    .y = curve->us[i % CHART_LINES]};
    }
    const plot_panel_t panel = {.x = {.label = "message size (bytes)", .logarithmic = true},
                                .y = {.label = "median run time (us), 95 % confidence interval", .logarithmic = true},
                                .series = series,
                                .series_count = count};
    const plot_t plot = {.title = "Run times of MPI operations", .panels = &panel, .panel_count = 1};
    int status = plot_draw(&bench->plan.settings.results.plot, &bench->world, &plot);
    free(series);
    free(bench->curves);
    return status;
}
