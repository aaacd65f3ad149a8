/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_clock_drift - how the clocks of all ranks drift against those of rank 0, and for how long a straight line says so.
 *
 * Rank 0 makes bursts of exchanges with each other rank in turn and keeps what they tell. All else follows when measuring
 * is over. The library has no part in this: what it is built on is what is measured.
 */
#include "common/burst.h"
#include "common/exit_clock.h"
#include "common/kernel.h"
#include "common/line.h"
#include "common/machine_clock.h"
#include "common/options.h"
#include "common/output.h"
#include "common/plot.h"
#include "common/statistics.h"
#include "common/table.h"
#include "common/world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A burst whose window is so many times as wide as the median one met a disturbance, and does not count. */
#define MOST_WIDTH_RATIO 1.5

/* Through two points there is always a line. */
enum { LEAST_POINTS = 3 };

/* Linearity is looked for in steps of this part of the run. */
enum { REACH_STEPS = 16 };

/* More curves in one panel cannot be told apart. */
enum { SHOWN_RANKS = 16 };

#define PROGRESS_INTERVAL_NS INT64_C(500000000)

/* The run as a whole and in parts. */
static const int window_parts[] = {8, 4, 2, 1};
enum { WINDOW_LENGTHS = sizeof(window_parts) / sizeof(window_parts[0]) };

struct drift_settings {
    double seconds;
    double interval_s;
    int64_t exchanges;
    int64_t clocks; /* bit i for clock i */
    double threshold_ns; /* 0: the series' own */
    struct output output;
    const char *raw_path; /* these two on rank 0 only */
    const char *plot_path;
};

/* What a burst said of one clock. */
struct point {
    double time_s; /* since measuring began */
    struct offset_window window;
};

/* One clock of one rank over time, on rank 0. The arrays are of the undisturbed points. */
struct series {
    struct point *points; /* all: as many as there were rounds */
    int64_t half_width_ns; /* median */
    double *time_s;
    double *offset_ns; /* minus the first */
    double *residual_ns; /* from the line through all */
    int count;
    double threshold_ns;
    double linear_s;
};

struct drift_run {
    struct world world;
    struct drift_settings settings;
    int clock_list[MACHINE_CLOCKS]; /* those measured */
    int clock_count;
    FILE *raw;
    struct plot_file plot;

    /* Rank 0 only */
    struct exchange *exchanges; /* of one burst */
    struct series *series;      /* of rank r and the clock at place c: [(r - 1) * clock_count + c] */
    int64_t most_rounds;
    int rounds;
    double *begin_tick_ns; /* of each rank's tsc, as known before and after */
    double *end_tick_ns;
};

/* The fits of all windows of one length. */
struct fits {
    int windows;
    bool good; /* each window has points enough */
    double slope_ppb, least_ppb, most_ppb;
    double rms_ns, most_ns;
};

#define PLACE(field) offsetof(struct drift_settings, field)

static const struct option_spec options[] = {
    {0, "seconds", "S", OPTION_DECIMAL, PLACE(seconds), 0.1, 1e6, NULL, "how long to measure"},
    {0, "interval", "S", OPTION_DECIMAL, PLACE(interval_s), 0.001, 1e5, NULL,
     "from one burst with a rank to the next, in seconds;\nlonger where all ranks' bursts take longer"},
    {'n', "exchanges", "N", OPTION_INTEGER, PLACE(exchanges), 1, 10000, NULL,
     "exchanges in a burst with each clock, after those\nthat are discarded"},
    {0, "clocks", "LIST", OPTION_CHOICES, PLACE(clocks), 0, 0, machine_clock_name, "which to measure"},
    {0, "threshold", "NS", OPTION_DECIMAL, PLACE(threshold_ns), 1, 1e12, NULL,
     "greatest residual of what counts as linear;\nelse the median half width, about the time of a\nmessage"},
    {0, "raw", "FILE", OPTION_TEXT, PLACE(raw_path), 0, 0, NULL,
     "write rank,clock,time_ns,offset_ns,half_width_ns,used\nof each burst to FILE"},
    OUTPUT_OPTIONS(PLACE(output)),
    PLOT_OPTION(PLACE(plot_path)),
};

static const char notes[] =
    "Offsets are those of a rank's clock minus rank 0's, estimated from bursts: the middle of the window that the least\n"
    "delays of both directions leave. The run is cut into windows of one length, with a line fitted to each.\n"
    "  window          length of the windows\n"
    "  fits            their number\n"
    "  slope           the mean of their slopes: the drift; 1 ppb is 1 ns in a second\n"
    "  least, most     the least and the greatest slope\n"
    "  rms, max        root mean square and greatest of all residuals: how far offsets are from the line\n"
    "  half            the median half width of the bursts' windows: no offset is more wrong than that of its burst\n"
    "  points          bursts that count; a burst whose window is wider than 1.5 times the median does not\n"
    "  linear          length up to which all windows, wherever they begin, have residuals within the threshold; the\n"
    "                  whole time: linearity ended later, or not at all\n"
    "\n"
    "Exit status: 0 if all is well, 1 if a call failed, 2 for a bad option or less than 2 ranks.\n";

static const struct program_spec program = {"mpix_clock_drift",
                                            "Measures how the clocks of all ranks drift against those of rank 0.",
                                            options, sizeof(options) / sizeof(options[0]), notes, NULL, false};

static const struct column columns[] = {
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

/* ---- Measuring */

static struct series *series_of(const struct drift_run *run, int rank, int place)
{
    return &run->series[(rank - 1) * run->clock_count + place];
}

static void measure_rank(struct drift_run *run, const struct burst *burst, int rank, int64_t begin_ns)
{
    burst_measure(burst, rank, run->exchanges);
    for (int place = 0; place < run->clock_count; place++) {
        bool is_tsc = run->clock_list[place] == MACHINE_CLOCK_TSC;
        struct offset_window window =
            burst_window(run->exchanges + place * burst->exchanges, burst->exchanges,
                         is_tsc ? run->begin_tick_ns[0] : 1, is_tsc ? run->begin_tick_ns[rank] : 1);

        series_of(run, rank, place)->points[run->rounds] =
            (struct point){(double)(window.at_ns - begin_ns) * 1e-9, window};
    }
}

static void show_progress(const struct drift_run *run, int64_t spent_ns)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\rmeasuring: %.0f of %g s ", (double)spent_ns * 1e-9, run->settings.seconds);
}

static void sleep_until(int64_t time_ns)
{
    int64_t wait_ns = time_ns - system_time_ns();
    struct timespec wait = {wait_ns / 1000000000, wait_ns % 1000000000};

    if (wait_ns > 0)
        nanosleep(&wait, NULL);
}

/* Rank 0: a round of bursts each interval, until the time is over. A round that comes late puts off the next. */
static void measure_rounds(struct drift_run *run, const struct burst *burst)
{
    int64_t begin_ns = system_time_ns();
    int64_t next_ns = begin_ns;
    int64_t progress_ns = begin_ns;

    do {
        sleep_until(next_ns);
        next_ns += (int64_t)(run->settings.interval_s * 1e9);
        for (int rank = 1; rank < run->world.ranks; rank++)
            measure_rank(run, burst, rank, begin_ns);
        run->rounds++;
        if (system_time_ns() >= progress_ns) {
            show_progress(run, system_time_ns() - begin_ns);
            progress_ns += PROGRESS_INTERVAL_NS;
        }
        if (next_ns < system_time_ns())
            next_ns = system_time_ns();
    } while ((double)(next_ns - begin_ns) * 1e-9 <= run->settings.seconds && run->rounds < run->most_rounds);
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%*s\r", 50, "");
}

/* Brings the length of a tick on each rank, as its kernel's first rank has measured it, to rank 0. Collective. */
static void gather_ticks(const struct drift_run *run, const struct tsc_rate *rate, MPI_Comm kernel, double *tick_ns)
{
    double own_ns = tsc_rate_ns(rate);

    MPI_Bcast(&own_ns, 1, MPI_DOUBLE, 0, kernel);
    MPI_Gather(&own_ns, 1, MPI_DOUBLE, tick_ns, 1, MPI_DOUBLE, 0, run->world.comm);
}

/*
 * Offsets of tsc were reckoned by the rates known at the beginning. Those from all the time of the run are better: turn
 * each series by what they differ.
 */
static void correct_tsc(const struct drift_run *run, int place)
{
    double own_ratio = run->end_tick_ns[0] / run->begin_tick_ns[0];

    for (int rank = 1; rank < run->world.ranks; rank++) {
        const struct series *series = series_of(run, rank, place);
        double change = run->end_tick_ns[rank] / run->begin_tick_ns[rank] - own_ratio;

        for (int i = 0; i < run->rounds; i++) {
            struct point *point = &series->points[i];
            int64_t shift_ns = llround(change * point->time_s * 1e9);

            point->window.low_ns += shift_ns;
            point->window.high_ns += shift_ns;
        }
    }
}

static void measure(struct drift_run *run, MPI_Comm kernel)
{
    const struct burst burst = {&run->world, run->world.comm, run->settings.clocks, run->settings.exchanges};
    struct tsc_rate rate;

    tsc_rate_begin(&rate);
    gather_ticks(run, &rate, kernel, run->begin_tick_ns);
    if (run->world.rank > 0) {
        while (burst_serve(&burst, 0)) {
        }
    } else {
        measure_rounds(run, &burst);
        for (int rank = 1; rank < run->world.ranks; rank++)
            burst_end(&burst, rank);
    }
    gather_ticks(run, &rate, kernel, run->end_tick_ns);
    if (run->world.rank == 0 && run->clock_list[0] == MACHINE_CLOCK_TSC)
        correct_tsc(run, 0);
}

/* ---- What it comes to */

static int64_t middle_ns(const struct point *point)
{
    return point->window.low_ns + (point->window.high_ns - point->window.low_ns) / 2;
}

/* Coarse clocks, and clocks that were set during the burst, may leave less than nothing. */
static int64_t half_width_ns(const struct point *point)
{
    return llabs(point->window.high_ns - point->window.low_ns) / 2;
}

static bool is_undisturbed(const struct series *series, const struct point *point)
{
    return (double)half_width_ns(point) <= MOST_WIDTH_RATIO * (double)series->half_width_ns;
}

/* Returns false if out of memory. */
static bool find_half_width(const struct drift_run *run, struct series *series)
{
    int64_t *widths_ns = malloc((size_t)run->rounds * sizeof(widths_ns[0]));

    if (widths_ns == NULL)
        return false;
    for (int i = 0; i < run->rounds; i++)
        widths_ns[i] = half_width_ns(&series->points[i]);
    sort_ascending(widths_ns, run->rounds);
    series->half_width_ns = quantile(widths_ns, run->rounds, 0.5);
    free(widths_ns);
    return true;
}

static bool collect_points(const struct drift_run *run, struct series *series)
{
    size_t bytes = (size_t)run->rounds * sizeof(double);
    int64_t first_ns = 0;

    series->time_s = malloc(bytes);
    series->offset_ns = malloc(bytes);
    series->residual_ns = malloc(bytes);
    if (series->time_s == NULL || series->offset_ns == NULL || series->residual_ns == NULL ||
        !find_half_width(run, series))
        return false;
    for (int i = 0; i < run->rounds; i++) {
        const struct point *point = &series->points[i];

        if (!is_undisturbed(series, point))
            continue;
        if (series->count == 0)
            first_ns = middle_ns(point);
        series->time_s[series->count] = point->time_s;
        series->offset_ns[series->count++] = (double)(middle_ns(point) - first_ns);
    }
    return true;
}

/* When measuring ended, as the series tells. */
static double duration_s(const struct drift_run *run, const struct series *series)
{
    return series->points[run->rounds - 1].time_s;
}

/* The place of the first point at or after a time. */
static int find_point(const struct series *series, double time_s)
{
    int place = 0;

    while (place < series->count && series->time_s[place] < time_s)
        place++;
    return place;
}

/* Fits a line to points [first, end). Returns false where they are too few. */
static bool fit_window(const struct series *series, int first, int end, struct line *line,
                       struct residuals *residuals)
{
    if (end - first < LEAST_POINTS)
        return false;
    *line = line_fit(series->time_s + first, series->offset_ns + first, end - first);
    *residuals = line_residuals(line, series->time_s + first, series->offset_ns + first, end - first);
    return true;
}

/* Cuts the run into so many windows. */
static struct fits fit_windows(const struct drift_run *run, const struct series *series, int windows)
{
    struct fits fits = {.windows = windows, .good = true, .least_ppb = INFINITY, .most_ppb = -INFINITY};
    double window_s = duration_s(run, series) / windows;
    double square_sum = 0;
    int first = 0;

    for (int i = 0; i < windows && fits.good; i++) {
        int end = i + 1 < windows ? find_point(series, window_s * (i + 1)) : series->count;
        struct residuals residuals;
        struct line line;

        fits.good = fit_window(series, first, end, &line, &residuals);
        if (!fits.good)
            break;
        fits.slope_ppb += line.slope / windows;
        fits.least_ppb = fmin(fits.least_ppb, line.slope);
        fits.most_ppb = fmax(fits.most_ppb, line.slope);
        fits.most_ns = fmax(fits.most_ns, residuals.most);
        square_sum += residuals.square_sum;
        first = end;
    }
    fits.rms_ns = sqrt(square_sum / fmax(series->count, 1));
    return fits;
}

/* Whether all windows of so many steps that have points enough are linear. *any: whether there is one. */
static bool is_linear(const struct drift_run *run, const struct series *series, int steps, bool *any)
{
    double step_s = duration_s(run, series) / REACH_STEPS;

    *any = false;
    for (int begin = 0; begin + steps <= REACH_STEPS; begin++) {
        int end = begin + steps < REACH_STEPS ? find_point(series, step_s * (begin + steps)) : series->count;
        struct residuals residuals;
        struct line line;

        if (!fit_window(series, find_point(series, step_s * begin), end, &line, &residuals))
            continue;
        *any = true;
        if (residuals.most > series->threshold_ns)
            return false;
    }
    return true;
}

static void find_reach(const struct drift_run *run, struct series *series)
{
    bool any;

    for (int steps = 1; steps <= REACH_STEPS && is_linear(run, series, steps, &any); steps++) {
        if (any)
            series->linear_s = duration_s(run, series) * steps / REACH_STEPS;
    }
}

static void find_residuals(struct series *series)
{
    struct line line = line_fit(series->time_s, series->offset_ns, series->count);

    for (int i = 0; i < series->count; i++)
        series->residual_ns[i] = line_residual(&line, series->time_s[i], series->offset_ns[i]);
}

/* Returns false if out of memory. */
static bool analyse(const struct drift_run *run)
{
    for (int i = 0; i < (run->world.ranks - 1) * run->clock_count; i++) {
        struct series *series = &run->series[i];

        if (!collect_points(run, series))
            return false;
        series->threshold_ns =
            run->settings.threshold_ns > 0 ? run->settings.threshold_ns : (double)series->half_width_ns;
        find_residuals(series);
        find_reach(run, series);
    }
    return true;
}

/* ---- How it is shown */

static void print_row(const struct drift_run *run, const struct table *table, int rank, int place, int windows)
{
    const struct series *series = series_of(run, rank, place);
    struct fits fits = fit_windows(run, series, windows);
    const char *figure = fits.good ? NULL : "";

    table_row(table, (struct cell[]){{NULL, rank},
                                     {machine_clocks[run->clock_list[place]].name, 0},
                                     {NULL, duration_s(run, series) / windows * 1e9},
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

static void print_head(const struct drift_run *run)
{
    FILE *file = run->settings.output.file;

    world_describe(&run->world, file, "drift of clocks against those of rank 0");
    fprintf(file, "# Bursts: %d with each rank, %g s apart or more, of %lld exchanges with each clock after %d discarded\n",
           run->rounds, run->settings.interval_s, (long long)run->settings.exchanges, BURST_DISCARDED);
    if (run->settings.threshold_ns > 0)
        fprintf(file, "# Linear: while residuals are at most %g ns\n", run->settings.threshold_ns);
    else
        fprintf(file, "# Linear: while residuals are at most the median half width\n");
}

static void print_table(const struct drift_run *run)
{
    const struct table table = {columns, COLUMNS, &run->settings.output};

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
static int write_raw(const struct drift_run *run)
{

    if (run->raw == NULL)
        return STATUS_GOOD;
    fprintf(run->raw, "rank,clock,time_ns,offset_ns,half_width_ns,used\n");
    for (int i = 0; i < (run->world.ranks - 1) * run->clock_count; i++) {
        const struct series *series = &run->series[i];

        for (int round = 0; round < run->rounds; round++) {
            const struct point *point = &series->points[round];

            fprintf(run->raw, "%d,%s,%.0f,%lld,%lld,%d\n", 1 + i / run->clock_count,
                    machine_clocks[run->clock_list[i % run->clock_count]].name, point->time_s * 1e9,
                    (long long)middle_ns(point), (long long)half_width_ns(point), is_undisturbed(series, point));
        }
    }
    return output_finish(run->raw, run->settings.raw_path, program.name) ? STATUS_GOOD : STATUS_FAILED;
}

/* What a chart is made of, for all clocks and the ranks that are shown. */
struct chart {
    struct plot_panel panels[2 * MACHINE_CLOCKS]; /* offsets of a clock, then its residuals */
    struct plot_series series[2 * MACHINE_CLOCKS][SHOWN_RANKS];
    char titles[2 * MACHINE_CLOCKS][64];
    char ranks[SHOWN_RANKS][24];
};

static void fill_panel(const struct drift_run *run, struct chart *chart, int number)
{
    int shown = run->world.ranks - 1 < SHOWN_RANKS ? run->world.ranks - 1 : SHOWN_RANKS;
    bool of_residuals = number % 2 != 0;

    snprintf(chart->titles[number], sizeof(chart->titles[number]), "%s%s",
             machine_clocks[run->clock_list[number / 2]].name, of_residuals ? ": residuals of one line" : "");
    for (int i = 0; i < shown; i++) {
        const struct series *series = series_of(run, 1 + i, number / 2);

        chart->series[number][i] = (struct plot_series){.title = chart->ranks[i],
                                                        .style = of_residuals ? PLOT_POINTS : PLOT_LINES,
                                                        .colour = 1 + i,
                                                        .count = series->count,
                                                        .x = series->time_s,
                                                        .y = of_residuals ? series->residual_ns : series->offset_ns};
    }
    chart->panels[number] = (struct plot_panel){
        .title = chart->titles[number],
        .x = {.label = "time (s)"},
        .y = {.label = of_residuals ? "residual (ns)" : "offset minus the first (ns)"},
        .series = chart->series[number],
        .series_count = shown,
    };
}

static int draw_chart(struct drift_run *run)
{
    struct chart chart;
    const struct plot plot = {.title = run->world.ranks - 1 > SHOWN_RANKS
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

/* On rank 0. */
static int report(struct drift_run *run)
{
    int status = STATUS_GOOD;

    if (!analyse(run)) {
        fprintf(stderr, "%s: out of memory\n", program.name);
        return STATUS_FAILED;
    }
    print_table(run);
    if (write_raw(run) != STATUS_GOOD)
        status = STATUS_FAILED;
    return draw_chart(run) == STATUS_GOOD ? status : STATUS_FAILED;
}

/* ---- Getting ready */

/* Leaves out clocks that a rank lacks, or refuses where these were asked for. Collective. */
static int choose_clocks(struct drift_run *run)
{
    const int64_t all = (1 << MACHINE_CLOCKS) - 1;
    int64_t asked_for = run->settings.clocks;

    for (int clock = 0; clock < MACHINE_CLOCKS; clock++) {
        if ((asked_for >> clock & 1) == 0)
            continue;
        if (world_all(&run->world, machine_clock_lack(clock) == NULL)) {
            run->clock_list[run->clock_count++] = clock;
            continue;
        }
        if (asked_for != all)
            return world_refuse(&run->world, "option --clocks: \"%s\" is not allowed here, a rank has no invariant "
                                "time stamp counter (see --help)", machine_clocks[clock].name);
        run->settings.clocks &= ~(INT64_C(1) << clock);
    }
    return STATUS_GOOD;
}

static bool allocate_on_root(struct drift_run *run)
{
    int count = (run->world.ranks - 1) * run->clock_count;
    bool good;

    run->exchanges = malloc((size_t)(run->clock_count * run->settings.exchanges) * sizeof(run->exchanges[0]));
    run->series = calloc((size_t)count, sizeof(run->series[0]));
    run->begin_tick_ns = malloc((size_t)run->world.ranks * sizeof(double));
    run->end_tick_ns = malloc((size_t)run->world.ranks * sizeof(double));
    good = run->exchanges != NULL && run->series != NULL && run->begin_tick_ns != NULL && run->end_tick_ns != NULL;
    for (int i = 0; i < count && good; i++) {
        run->series[i].points = malloc((size_t)run->most_rounds * sizeof(struct point));
        good = run->series[i].points != NULL;
    }
    return good;
}

static int allocate(struct drift_run *run)
{
    double rounds = floor(run->settings.seconds / run->settings.interval_s) + 1;
    bool good = rounds <= INT32_MAX;

    run->most_rounds = good ? (int64_t)rounds : 0;
    if (good && run->world.rank == 0)
        good = allocate_on_root(run);
    return world_all(&run->world, good)
               ? STATUS_GOOD
               : world_refuse(&run->world, "out of memory: give less for --seconds or more for --interval");
}

static void release_memory(struct drift_run *run)
{
    for (int i = 0; run->series != NULL && i < (run->world.ranks - 1) * run->clock_count; i++) {
        free(run->series[i].points);
        free(run->series[i].time_s);
        free(run->series[i].offset_ns);
        free(run->series[i].residual_ns);
    }
    free(run->series);
    free(run->exchanges);
    free(run->begin_tick_ns);
    free(run->end_tick_ns);
}

static int get_ready(struct drift_run *run)
{
    int status;

    if (run->world.ranks < 2)
        return world_refuse(&run->world, "1 rank has nothing to compare its clocks with: start 2 or more");
    status = choose_clocks(run);
    if (status == STATUS_GOOD)
        status = plot_open(&run->plot, &run->world, run->settings.plot_path);
    if (status == STATUS_GOOD)
        status = output_open(&run->settings.output, &run->world);
    if (status == STATUS_GOOD)
        status = output_create(&run->world, "--raw", run->settings.raw_path, &run->raw);
    return status == STATUS_GOOD ? allocate(run) : status;
}

static int run_program(struct drift_run *run)
{
    MPI_Comm kernel;
    int status = get_ready(run);

    if (status == STATUS_GOOD && !kernel_split(&run->world, &kernel))
        status = STATUS_FAILED;
    else if (status == STATUS_GOOD) {
        measure(run, kernel);
        MPI_Comm_free(&kernel);
        if (run->world.rank == 0)
            status = report(run);
    }
    if (output_close(&run->settings.output, &run->world) != STATUS_GOOD)
        status = STATUS_FAILED;
    plot_close(&run->plot);
    release_memory(run);
    return status;
}

int main(int argc, char **argv)
{
    struct drift_run run = {
        .settings = {.seconds = 10, .interval_s = 0.1, .exchanges = 10, .clocks = (1 << MACHINE_CLOCKS) - 1},
        .plot = {.descriptor = -1}};
    int status;

    world_begin(&run.world, program.name, &argc, &argv);
    if (world_options(&run.world, &program, argc, argv, &run.settings, sizeof(run.settings), &status))
        status = run_program(&run);
    return world_end(&run.world, status);
}
