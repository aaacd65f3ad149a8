/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c - the table, the raw file and the chart. */
#include "drift/drift.h"

#include "common/output.h"

/* More curves in one panel cannot be told apart. */
enum { SHOWN_RANKS = 16 };

/* The run in parts and as a whole. */
static const int window_parts[] = {8, 4, 2, 1};
enum { WINDOW_LENGTHS = sizeof(window_parts) / sizeof(window_parts[0]) };

static const column_t columns[] = {
    {"rank", "rank", 7, 0, 0},
    {"clock", "clock", 14, 0, 0},
    {"window(s)", "window_ns", 11, 3, 1e9},
    {"fits", "fits", 6, 0, 0},
    {"slope(ppb)", "slope_ppb", 13, 1, 0},
    {"min(ppb)", "slope_min_ppb", 13, 1, 0},
    {"max(ppb)", "slope_max_ppb", 13, 1, 0},
    {"rms(ns)", "residual_rms_ns", 11, 1, 0},
    {"max(ns)", "residual_max_ns", 11, 1, 0},
    {"half(ns)", "half_width_ns", 10, 0, 0},
    {"points", "points", 8, 0, 0},
    {"linear(s)", "linear_ns", 11, 3, 1e9},
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static void print_row(const drift_run_t *run, const table_t *table, int number, int windows)
{
    const series_t *series = &run->series[number];
    fits_t fits = drift_fit_windows(run, series, windows);
    const char *figure = fits.good ? NULL : "";
    table_row(table, (cell_t[]){{NULL, drift_rank_of(run, number)},
                                {machine_clock_name(drift_clock_of(run, number)), 0},
                                {NULL, drift_duration_s(run, series) / windows * 1e9},
                                {NULL, windows},
                                {figure, fits.slope_ppb},
                                {figure, fits.min_ppb},
                                {figure, fits.max_ppb},
                                {figure, fits.rms_ns},
                                {figure, fits.max_ns},
                                {NULL, (double)series->half_width_ns},
                                {NULL, series->count},
                                {NULL, series->linear_s * 1e9}});
}

static void print_table(const drift_run_t *run)
{
    const output_t *output = &run->settings.results.output;
    const table_t table = {columns, COLUMNS, output, "mpix-clock-drift"};
    if (output->format == FORMAT_TABLE) {
        world_describe(&run->world, output->file, "drift of clocks against those of rank 0");
        fprintf(
            output->file,
            "# Bursts: %d with each rank, %g s apart or more, of %lld exchanges with each clock after %d discarded\n"
            "# Linear: while residuals are at most ",
            run->rounds, run->settings.interval_s, (long long)run->settings.exchanges, BURST_DISCARDED);
        if (run->settings.threshold_ns > 0)
            fprintf(output->file, "%g ns\n", run->settings.threshold_ns);
        else
            fprintf(output->file, "the median half width\n");
    }
    table_head(&table);
    for (int i = 0; i < run->series_count; i++)
        for (int k = 0; k < WINDOW_LENGTHS; k++)
            print_row(run, &table, i, window_parts[k]);
}

/* Writes each burst to the raw file. */
static void write_raw(const drift_run_t *run)
{
    FILE *file = run->settings.results.raw.file;
    if (file == NULL)
        return;
    fprintf(file, "rank,clock,time_ns,offset_ns,half_width_ns,used,residual_ns\n");
    for (int i = 0; i < run->series_count; i++) {
        const double *residual_ns = run->series[i].residual_ns;
        for (int round = 0; round < run->rounds; round++) {
            const point_t *point = &run->series[i].points[round];
            bool is_used = drift_is_undisturbed(&run->series[i], point);
            fprintf(file, "%d,%s,%.0f,%lld,%lld,%d,", drift_rank_of(run, i), machine_clock_name(drift_clock_of(run, i)),
                    point->time_s * 1e9, (long long)point->offset_ns, (long long)point->half_width_ns, is_used);
            if (is_used)
                fprintf(file, "%.1f", *residual_ns++);
            fputc('\n', file);
        }
    }
}

/* What a chart is made of, for all clocks and the ranks that are shown. */
typedef struct chart {
    plot_panel_t panels[2 * MACHINE_CLOCKS]; /* offsets of a clock, then its residuals */
    plot_series_t series[2 * MACHINE_CLOCKS][SHOWN_RANKS];
    char titles[2 * MACHINE_CLOCKS][64];
    char ranks[SHOWN_RANKS][24];
} chart_t;

static void fill_panel(const drift_run_t *run, chart_t *chart, int number, int shown)
{
    bool of_residuals = number % 2 != 0;
    snprintf(chart->titles[number], sizeof(chart->titles[number]), "%s%s",
             machine_clock_name(drift_clock_of(run, number / 2)), of_residuals ? ": residuals of one line" : "");
    for (int i = 0; i < shown; i++) {
        const series_t *series = &run->series[i * run->clock_count + number / 2];
        snprintf(chart->ranks[i], sizeof(chart->ranks[i]), "rank %d", 1 + i);
        chart->series[number][i] = (plot_series_t){.title = chart->ranks[i],
                                                   .style = of_residuals ? PLOT_POINTS : PLOT_LINES,
                                                   .color = 1 + i,
                                                   .count = series->count,
                                                   .x = series->time_s,
                                                   .y = of_residuals ? series->residual_ns : series->offset_ns};
    }
    chart->panels[number] = (plot_panel_t){
        .title = chart->titles[number],
        .x = {.label = "time (s)"},
        .y = {.label = of_residuals ? "residual (ns)" : "offset minus the first (ns)"},
        .series = chart->series[number],
        .series_count = shown,
    };
}

int drift_report(drift_run_t *run)
{
    int shown = run->world.ranks - 1 < SHOWN_RANKS ? run->world.ranks - 1 : SHOWN_RANKS;
    chart_t chart;
    const plot_t plot = {.title = shown < run->world.ranks - 1
                                      ? "Drift of clocks against those of rank 0: the first 16 other ranks"
                                      : "Drift of clocks against those of rank 0",
                         .panels = chart.panels,
                         .panel_count = 2 * run->clock_count,
                         .columns = 2};
    print_table(run);
    write_raw(run);
    for (int number = 0; number < 2 * run->clock_count; number++)
        fill_panel(run, &chart, number, shown);
    return plot_draw(&run->settings.results.plot, &run->world, &plot);
}
