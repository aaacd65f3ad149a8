/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c - the table, the raw file and the chart. */
#include "drift/drift.h"

#include "common/table.h"

/* More curves in one panel cannot be told apart. */
enum { SHOWN_RANKS = 16 };

/* The run as a whole and in parts. */
static const int window_parts[] = {8, 4, 2, 1};
enum { WINDOW_LENGTHS = sizeof(window_parts) / sizeof(window_parts[0]) };

static const column_t columns[] = {
    {"rank", "rank", 7, 0, 0},
    {"clock", "clock", 14, 0, 0},
    {"window(s)", "window_ns", 11, 3, 1e9},
    {"fits", "fits", 6, 0, 0},
    {"slope(ppb)", "slope_ppb", 13, 1, 0},
    {"least(ppb)", "slope_least_ppb", 13, 1, 0},
    {"most(ppb)", "slope_most_ppb", 13, 1, 0},
    {"rms(ns)", "residual_rms_ns", 11, 1, 0},
    {"max(ns)", "residual_max_ns", 11, 1, 0},
    {"half(ns)", "half_width_ns", 10, 0, 0},
    {"points", "points", 8, 0, 0},
    {"linear(s)", "linear_ns", 11, 3, 1e9},
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static void print_row(const drift_run_t *run, const table_t *table, int rank, int place, int windows)
{
    const series_t *series = drift_series_of(run, rank, place);
    fits_t fits = drift_fit_windows(run, series, windows);
    const char *figure = fits.good ? NULL : "";

    table_row(table, (cell_t[]){{NULL, rank},
                                {machine_clocks[run->clock_list[place]].name, 0},
                                {NULL, drift_duration_s(run, series) / windows * 1e9},
                                {NULL, windows},
                                {figure, fits.slope_ppb},
                                {figure, fits.least_ppb},
                                {figure, fits.most_ppb},
                                {figure, fits.rms_ns},
                                {figure, fits.most_ns},
                                {NULL, (double)series->half_width_ns},
                                {NULL, series->count},
                                {NULL, series->linear_s * 1e9}});
}

static void print_head(const drift_run_t *run)
{
    FILE *file = run->settings.output.file;

    world_describe(&run->world, file, "drift of clocks against those of rank 0");
    fprintf(file,
            "# Bursts: %d with each rank, %g s apart or more, of %lld exchanges with each clock after %d discarded\n",
            run->rounds, run->settings.interval_s, (long long)run->settings.exchanges, BURST_DISCARDED);
    if (run->settings.threshold_ns > 0)
        fprintf(file, "# Linear: while residuals are at most %g ns\n", run->settings.threshold_ns);
    else
        fprintf(file, "# Linear: while residuals are at most the median half width\n");
}

static void print_table(const drift_run_t *run)
{
    const table_t table = {columns, COLUMNS, &run->settings.output};

    if (run->settings.output.format == FORMAT_TABLE)
        print_head(run);
    table_head(&table);
    for (int rank = 1; rank < run->world.ranks; rank++) {
        for (int place = 0; place < run->clock_count; place++) {
            for (int i = 0; i < WINDOW_LENGTHS; i++)
                print_row(run, &table, rank, place, window_parts[i]);
        }
    }
}

/* Writes each burst to the raw file and closes it. */
static int write_raw(const drift_run_t *run)
{
    if (run->raw == NULL)
        return STATUS_GOOD;
    fprintf(run->raw, "rank,clock,time_ns,offset_ns,half_width_ns,used\n");
    for (int i = 0; i < (run->world.ranks - 1) * run->clock_count; i++) {
        const series_t *series = &run->series[i];

        for (int round = 0; round < run->rounds; round++) {
            const point_t *point = &series->points[round];

            fprintf(run->raw, "%d,%s,%.0f,%lld,%lld,%d\n", 1 + i / run->clock_count,
                    machine_clocks[run->clock_list[i % run->clock_count]].name, point->time_s * 1e9,
                    (long long)drift_middle_ns(point), (long long)drift_half_width_ns(point),
                    drift_is_undisturbed(series, point));
        }
    }
    return output_finish(run->raw, run->settings.raw_path, run->world.program) ? STATUS_GOOD : STATUS_FAILED;
}

/* What a chart is made of, for all clocks and the ranks that are shown. */
typedef struct chart {
    plot_panel_t panels[2 * MACHINE_CLOCKS]; /* offsets of a clock, then its residuals */
    plot_series_t series[2 * MACHINE_CLOCKS][SHOWN_RANKS];
    char titles[2 * MACHINE_CLOCKS][64];
    char ranks[SHOWN_RANKS][24];
} chart_t;

static void fill_panel(const drift_run_t *run, chart_t *chart, int number)
{
    int shown = run->world.ranks - 1 < SHOWN_RANKS ? run->world.ranks - 1 : SHOWN_RANKS;
    bool of_residuals = number % 2 != 0;

    snprintf(chart->titles[number], sizeof(chart->titles[number]), "%s%s",
             machine_clocks[run->clock_list[number / 2]].name, of_residuals ? ": residuals of one line" : "");
    for (int i = 0; i < shown; i++) {
        const series_t *series = drift_series_of(run, 1 + i, number / 2);

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

static int draw_chart(drift_run_t *run)
{
    chart_t chart;
    const plot_t plot = {.title = run->world.ranks - 1 > SHOWN_RANKS
                                      ? "Drift of clocks against those of rank 0: the first 16 other ranks"
                                      : "Drift of clocks against those of rank 0",
                         .panels = chart.panels,
                         .panel_count = 2 * run->clock_count,
                         .columns = 2};

    for (int i = 0; i < SHOWN_RANKS; i++)
        snprintf(chart.ranks[i], sizeof(chart.ranks[i]), "rank %d", 1 + i);
    for (int number = 0; number < 2 * run->clock_count; number++)
        fill_panel(run, &chart, number);
    return plot_draw(&run->plot, &run->world, &plot);
}

int drift_report(drift_run_t *run)
{
    int status = STATUS_GOOD;

    if (!drift_analyse(run)) {
        fprintf(stderr, "%s: out of memory\n", run->world.program);
        return STATUS_FAILED;
    }
    print_table(run);
    if (write_raw(run) != STATUS_GOOD)
        status = STATUS_FAILED;
    return draw_chart(run) == STATUS_GOOD ? status : STATUS_FAILED;
}
