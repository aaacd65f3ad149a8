/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_clock drift - how the clocks of all ranks drift against those of rank 0, and for how long a straight line says
 * so.
 *
 * Rank 0 makes bursts of exchanges with each other rank in turn and keeps their windows. Everything else is computed
 * after the measurement. The library is not used, because its foundation is what is measured.
 */
#include "pure/line.h"
#include "pure/statistics.h"
#include "bench/clock/clock.h"
#include "common/cli/text.h"
#include "common/mpi/burst.h"
#include "common/mpi/clock_step.h"
#include "common/mpi/kernel.h"
#include "common/mpi/machine_clock.h"
#include "common/results/result_files.h"

#include <math.h>
#include <stdio.h>

typedef struct drift_settings {
    double duration_s;
    double interval_s;
    int64_t exchanges;
    int64_t clocks;      /* bit i for clock i */
    double threshold_ns; /* or ABSENT: the series' own */
    results_t results;
} drift_settings_t;

/* What a burst said of one clock. */
typedef struct point {
    double time_s; /* since measuring began */
    int64_t offset_ns;
    int64_t half_width_ns;
    bool is_used; /* whether it counts */
} point_t;

/* One clock of one rank over time, on rank 0. */
typedef struct series {
    int rank, clock;
    point_t *points;       /* as many as there were rounds */
    double *time_s;        /* of the undisturbed points */
    double *offset_ns;     /* of these minus the first */
    int count;             /* how many these are */
    mh_line line;          /* through all of them */
    int64_t half_width_ns; /* median */
    double duration_s;     /* until its last burst */
    double threshold_ns;
    double linear_s;
} series_t;

typedef struct drift_run {
    world_t world;
    drift_settings_t settings;
    int clock_count;
    double step_ns[MACHINE_CLOCKS]; /* of each clock on any rank the largest; 0: not known, or not measured */

    /* Rank 0 only, until the end of the program */
    exchange_t *exchanges; /* of one burst */
    series_t *series;      /* of each rank in turn one for each clock */
    int series_count;
    int64_t max_rounds;
    int rounds;
    int64_t *widths_ns;    /* one for each round */
    double *begin_tick_ns; /* of each rank's counter, as known before and after */
    double *end_tick_ns;
} drift_run_t;

#define PROGRESS_INTERVAL_NS INT64_C(500000000)

#define FIELD(field) offsetof(drift_settings_t, field)

static const option_spec_t options[] = {
    {0, "duration-s", "S", OPTION_DECIMAL, FIELD(duration_s), .min = 0.001, .max = 1e6, .default_text = "10",
     .doc = "the duration of the measurement"},
    {0, "interval-s", "S", OPTION_DECIMAL, FIELD(interval_s), .min = 0.001, .max = 1e5, .default_text = "0.1",
     .doc = "the time from one burst with a rank to the next",
     .more = "It is longer if the bursts of all ranks together take longer."},
    EXCHANGES_OPTION(FIELD(exchanges)),
    {0, "clocks", "LIST", OPTION_CHOICES, FIELD(clocks), .names = NAMES(machine_clocks),
     .default_text = "tsc,cntvct,monotonic_raw,monotonic,realtime,wtime", .doc = "the clocks to measure",
     .more = "See `mpix_clock list`. `tsc` and `cntvct` are left out if a rank has no such counter, or one that is not "
             "invariant; if requested, they are then an error."},
    {0, "threshold-ns", "NS", OPTION_DECIMAL, FIELD(threshold_ns), .min = 1, .max = 1e12,
     .default_doc = "for each clock of each rank, the median half width of its windows",
     .doc = "the maximum residual that counts as linear",
     .more = "The default is about the time of a message: while residuals are smaller, corrected times keep the "
             "order of sending and receiving."},
    RESULTS_OPTIONS(FIELD(results), RAW_DOC),
};

static const char notes[] =
    "An offset is the clock of a rank minus that of rank 0. It is estimated from a burst: the middle of the window\n"
    "that the shortest delays of both directions allow. The run is cut into windows of one length, with a line\n"
    "fitted to each.\n"
    "--help-columns says what the columns are.\n"
    "\n"
    "Exit status: 0 if all is well, 1 if a call failed, 2 for a bad option or fewer than 2 ranks.\n";

static const schema_t schema, raw_schema;
static const program_spec_t program =
    PROGRAM_SPEC("mpix_clock drift", "Measures how the clocks of all ranks drift against those of rank 0.",
                 .schemas = SCHEMAS(&schema, &raw_schema));

/* ---- Getting ready */

/* Leaves out clocks that a rank lacks, or refuses if these were asked for. Collective. */
static int choose_clocks(drift_run_t *run)
{
    const int64_t all = (1 << MACHINE_CLOCKS) - 1;
    int64_t asked_for = run->settings.clocks;
    for (int clock = 0; clock < MACHINE_CLOCKS; clock++) {
        if ((asked_for >> clock & 1) == 0)
            continue;
        const char *lack = machine_clock_lack(clock);
        if (world_all(&run->world, !lack))
            run->clock_count++;
        else if (asked_for == all)
            run->settings.clocks &= ~(INT64_C(1) << clock);
        else
            return world_refuse(&run->world, "option --clocks: \"%s\" is not allowed here: %s",
                                machine_clocks[clock].name, lack ? lack : "another rank cannot read it");
    }
    return STATUS_GOOD;
}

/* On rank 0. */
static void allocate(drift_run_t *run)
{
    static const char advice[] = ": give less for --duration-s or more for --interval-s";
    int ranks = run->world.ranks;
    int64_t max_rounds = (int64_t)floor(run->settings.duration_s / run->settings.interval_s) + 1;
    run->max_rounds = max_rounds;
    run->exchanges =
        world_allocate(&run->world, run->clock_count * run->settings.exchanges, sizeof run->exchanges[0], advice);
    run->series = world_allocate(&run->world, (ranks - 1) * (int64_t)run->clock_count, sizeof run->series[0], advice);
    run->widths_ns = world_allocate(&run->world, max_rounds, sizeof run->widths_ns[0], advice);
    run->begin_tick_ns = world_allocate(&run->world, ranks, sizeof run->begin_tick_ns[0], advice);
    run->end_tick_ns = world_allocate(&run->world, ranks, sizeof run->end_tick_ns[0], advice);
    for (int i = 0; i < (ranks - 1) * MACHINE_CLOCKS; i++) {
        if ((run->settings.clocks >> i % MACHINE_CLOCKS & 1) == 0)
            continue;
        series_t *series = &run->series[run->series_count++];
        *series = (series_t){.rank = 1 + i / MACHINE_CLOCKS, .clock = i % MACHINE_CLOCKS};
        series->points = world_allocate(&run->world, max_rounds, sizeof series->points[0], advice);
        series->time_s = world_allocate(&run->world, max_rounds, sizeof series->time_s[0], advice);
        series->offset_ns = world_allocate(&run->world, max_rounds, sizeof series->offset_ns[0], advice);
    }
}

/* ---- Measuring */

static void measure_rank(drift_run_t *run, const burst_t *burst, int rank, int64_t begin_ns)
{
    burst_measure(burst, rank, run->exchanges);
    for (int place = 0; place < run->clock_count; place++) {
        series_t *series = &run->series[(rank - 1) * run->clock_count + place];
        bool is_counter = machine_clock_is_counter(series->clock);
        burst_window_t window =
            burst_window(run->exchanges + place * burst->exchanges, burst->exchanges,
                         is_counter ? run->begin_tick_ns[0] : 1, is_counter ? run->begin_tick_ns[rank] : 1);
        int64_t at_ns = window.min_at_ns + (window.max_at_ns - window.min_at_ns) / 2;
        series->points[run->rounds] = (point_t){.time_s = (double)(at_ns - begin_ns) * 1e-9,
                                                .offset_ns = burst_offset_ns(&window),
                                                .half_width_ns = burst_half_width_ns(&window)};
    }
}

/* Rank 0: a round of bursts each interval, until the time is over. A round that comes late puts off the next. */
static void measure_rounds(drift_run_t *run, const burst_t *burst)
{
    int64_t begin_ns = system_time_ns(), next_ns = begin_ns, progress_ns = begin_ns;
    do {
        system_sleep_ns(next_ns - system_time_ns());
        next_ns += (int64_t)(run->settings.interval_s * 1e9);
        for (int rank = 1; rank < run->world.ranks; rank++)
            measure_rank(run, burst, rank, begin_ns);
        run->rounds++;
        int64_t now_ns = system_time_ns();
        if (now_ns >= progress_ns) {
            world_progress(&run->world, "measuring: %.0f of %g s", (double)(now_ns - begin_ns) * 1e-9,
                           run->settings.duration_s);
            progress_ns += PROGRESS_INTERVAL_NS;
        }
        if (next_ns < now_ns)
            next_ns = now_ns;
    } while ((double)(next_ns - begin_ns) * 1e-9 <= run->settings.duration_s && run->rounds < run->max_rounds);
    world_progress(&run->world, "%s", "");
}

/* Brings the length of a tick on each rank, as its kernel's first rank has measured it, to rank 0. Collective. */
static double gather_ticks(const drift_run_t *run, const counter_rate_t *rate, MPI_Comm kernel, double *tick_ns)
{
    double own_ns = kernel_tick_ns(rate, kernel);
    MPI_Gather(&own_ns, 1, MPI_DOUBLE, tick_ns, 1, MPI_DOUBLE, 0, run->world.comm);
    return own_ns;
}

static int64_t read_ticks(const void *clock)
{
    return machine_clock_ticks(*(const int *)clock);
}

/* The steps of all clocks. A counter has no smaller one than a tick. Collective. */
static void find_steps(drift_run_t *run, double tick_ns)
{
    for (int clock = 0; clock < MACHINE_CLOCKS; clock++)
        if ((run->settings.clocks >> clock & 1) != 0) {
            double step = (double)clock_step(read_ticks, &clock);
            run->step_ns[clock] = machine_clock_is_counter(clock) ? fmax(step, 1) * tick_ns : step;
        }
    MPI_Allreduce(MPI_IN_PLACE, run->step_ns, MACHINE_CLOCKS, MPI_DOUBLE, MPI_MAX, run->world.comm);
}

/* All rounds of bursts. Collective. */
static void measure(drift_run_t *run, MPI_Comm kernel)
{
    const burst_t burst = {&run->world, run->world.comm, run->settings.clocks, run->settings.exchanges, NULL};
    counter_rate_t rate;
    counter_rate_begin(&rate);
    gather_ticks(run, &rate, kernel, run->begin_tick_ns);
    if (run->world.rank > 0) {
        while (burst_serve(&burst, 0)) {
        }
    } else {
        measure_rounds(run, &burst);
        for (int rank = 1; rank < run->world.ranks; rank++)
            burst_end(&burst, rank);
    }
    find_steps(run, gather_ticks(run, &rate, kernel, run->end_tick_ns));
}

/* ---- Lines through the offsets of windows, and for how long one line is enough */

/* A burst whose window is so many times as wide as the median was disturbed, and does not count. */
#define MAX_WIDTH_RATIO 1.5

/* Through two points there is always a line. */
enum { MIN_POINTS = 3 };

/* Linearity is looked for in steps of this part of the run. */
enum { REACH_STEPS = 16 };

/* What lines through several windows come to. */
typedef struct fits {
    int count;
    double slope_sum_ppb, min_ppb, max_ppb;
    double square_sum, max_ns; /* of residuals */
} fits_t;

/*
 * Offsets of counters were computed with the rates known at the beginning. The rates over the whole run are better:
 * correct the series by the difference.
 */
static void correct_counter(const drift_run_t *run, series_t *series)
{
    double change =
        run->end_tick_ns[series->rank] / run->begin_tick_ns[series->rank] - run->end_tick_ns[0] / run->begin_tick_ns[0];
    for (int i = 0; i < run->rounds && machine_clock_is_counter(series->clock); i++)
        series->points[i].offset_ns += llround(change * series->points[i].time_s * 1e9);
}

static void collect_points(const drift_run_t *run, series_t *series)
{
    const point_t *first = NULL;
    for (int i = 0; i < run->rounds; i++)
        run->widths_ns[i] = series->points[i].half_width_ns;
    series->half_width_ns = mh_median(run->widths_ns, run->rounds);
    for (point_t *point = series->points; point < series->points + run->rounds; point++) {
        point->is_used = (double)point->half_width_ns <= MAX_WIDTH_RATIO * (double)series->half_width_ns;
        if (!point->is_used)
            continue;
        first = !first ? point : first;
        series->time_s[series->count] = point->time_s;
        series->offset_ns[series->count++] = (double)(point->offset_ns - first->offset_ns);
    }
}

/* The place of the first point at or after the beginning of one of so many parts of the run. */
static int find_point(const series_t *series, int part, int parts)
{
    double time_s = series->duration_s / parts * part;
    int place = 0;
    while (place < series->count && (part == parts || series->time_s[place] < time_s))
        place++;
    return place;
}

static double find_residual_ns(const series_t *series, const mh_line *line, int i)
{
    return series->offset_ns[i] - line->intercept - line->slope * series->time_s[i];
}

/* Fits a line to the window between two of so many parts of the run, if it has enough points. */
static void fit_window(const series_t *series, int begin, int end, int parts, fits_t *fits)
{
    int first = find_point(series, begin, parts), last = find_point(series, end, parts);
    if (last - first < MIN_POINTS)
        return;
    mh_line line = mh_line_fit(series->time_s + first, series->offset_ns + first, last - first);
    fits->min_ppb = fits->count > 0 ? fmin(fits->min_ppb, line.slope) : line.slope;
    fits->max_ppb = fits->count > 0 ? fmax(fits->max_ppb, line.slope) : line.slope;
    fits->slope_sum_ppb += line.slope;
    fits->count++;
    for (int i = first; i < last; i++) {
        double residual = find_residual_ns(series, &line, i);
        fits->square_sum += residual * residual;
        fits->max_ns = fmax(fits->max_ns, fabs(residual));
    }
}

/* Up to which length all windows that have points enough are linear. */
static double find_linear_s(const series_t *series)
{
    double linear_s = 0;
    for (int steps = 1; steps <= REACH_STEPS; steps++) {
        fits_t fits = {0};
        for (int begin = 0; begin + steps <= REACH_STEPS; begin++)
            fit_window(series, begin, begin + steps, REACH_STEPS, &fits);
        if (fits.max_ns > series->threshold_ns)
            break;
        if (fits.count > 0)
            linear_s = series->duration_s * steps / REACH_STEPS;
    }
    return linear_s;
}

/* Finds the line through each clock's offsets, and for how long it is linear. */
static void analyze(const drift_run_t *run)
{
    for (series_t *series = run->series; series < run->series + run->series_count; series++) {
        series->duration_s = series->points[run->rounds - 1].time_s;
        correct_counter(run, series);
        collect_points(run, series);
        series->line = mh_line_fit(series->time_s, series->offset_ns, series->count);
        series->threshold_ns =
            run->settings.threshold_ns > 0 ? run->settings.threshold_ns : (double)series->half_width_ns;
        series->linear_s = find_linear_s(series);
    }
}

/* ---- The table and the raw file */

/* More curves in one panel cannot be told apart. */

/* The run is shown in so many parts, half as many, and so on down to one. */
enum { MAX_WINDOWS = 8 };

static const column_t columns[] = {
    {"rank", "", ROLE_KEY, TYPE_INTEGER, "the rank", "rank", 7, 0, 0},
    {"clock", "", ROLE_KEY, TYPE_TEXT, "the clock", "clock", 14, 0, 0},
    {"window_ns", "ns", ROLE_KEY, TYPE_INTEGER, "the length of the windows", "window(s)", 11, 3, 1e9},
    {"fits", "", ROLE_FIGURE, TYPE_INTEGER, "the number of windows and of fitted lines", "fits", 6, 0, 0},
    {"slope_ppb", "ppb", ROLE_FIGURE, TYPE_NUMBER,
     "the mean slope of the lines, in nanoseconds per second: how much faster the clock runs than that of rank 0",
     "slope(ppb)", 13, 1, 0},
    {"slope_min_ppb", "ppb", ROLE_FIGURE, TYPE_NUMBER, "the minimum slope", "min(ppb)", 13, 1, 0},
    {"slope_max_ppb", "ppb", ROLE_FIGURE, TYPE_NUMBER,
     "the maximum slope. The slopes of windows of one length differ because the drift changes and offsets are not "
     "exact",
     "max(ppb)", 13, 1, 0},
    {"residual_rms_ns", "ns", ROLE_FIGURE, TYPE_NUMBER,
     "the root mean square of the residuals of all windows together. A residual is the distance of an offset from "
     "the line of its window",
     "rms(ns)", 11, 1, 0},
    {"residual_max_ns", "ns", ROLE_FIGURE, TYPE_NUMBER, "the maximum absolute residual", "max(ns)", 11, 1, 0},
    {"half_width_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "the median half width of the bursts' windows", "half(ns)", 10,
     0, 0},
    {"points", "", ROLE_FIGURE, TYPE_INTEGER,
     "the number of bursts that count. A burst whose window is wider than 1.5 times the median was disturbed and "
     "does not count",
     "points", 8, 0, 0},
    {"linear_ns", "ns", ROLE_FIGURE, TYPE_INTEGER,
     "the end of linearity: the maximum length, in sixteenths of the run, up to which all windows, wherever they "
     "begin, have residuals within the threshold. The same in all rows of a clock and rank. The whole duration of "
     "the run means that linearity ends later, or not at all; 0 means that not even the shortest windows are linear, "
     "or that none has 3 points",
     "linear(s)", 11, 3, 1e9},
};
static const schema_t schema =
    SCHEMA("mpix-clock-drift", "A row for each rank except 0, each clock, and each length of windows.", columns);

static void print_row(const table_t *table, const series_t *series, int windows)
{
    fits_t fits = {0};
    for (int i = 0; i < windows; i++)
        fit_window(series, i, i + 1, windows, &fits);
    const char *figure = fits.count == windows ? NULL : "";
    table_row(table, (cell_t[]){{NULL, series->rank},
                                {machine_clocks[series->clock].name, 0},
                                {NULL, series->duration_s / windows * 1e9},
                                {NULL, windows},
                                {figure, fits.slope_sum_ppb / windows},
                                {figure, fits.min_ppb},
                                {figure, fits.max_ppb},
                                {figure, sqrt(fits.square_sum / series->count)},
                                {figure, fits.max_ns},
                                {NULL, (double)series->half_width_ns},
                                {NULL, series->count},
                                {NULL, series->linear_s * 1e9}});
}

static void write_steps(const drift_run_t *run, char *text)
{
    for (int clock = 0; clock < MACHINE_CLOCKS; clock++)
        if (run->step_ns[clock] > 0)
            text_append(text, HEAD_BYTES, "%s%s %.3g", text[0] != '\0' ? ", " : "", machine_clocks[clock].name,
                        run->step_ns[clock]);
}

/* Of the table and of the raw file. */
static const head_t *make_head(const drift_run_t *run)
{
    static head_t head;
    if (head.count > 0)
        return &head;
    head_add(&head, "package", "libmpix_harmonize %s", options_version());
    write_steps(run, head_item(&head, "steps_ns"));
    return &head;
}

static void print_table(const drift_run_t *run)
{
    const head_t *head = make_head(run);
    const output_t *output = &run->settings.results.output;
    const table_t table = TABLE(schema, output);
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
            fputs("the median half width\n", output->file);
        fprintf(output->file, "# Steps of the clocks in ns: %s\n", head->items[head->count - 1].value);
    }
    table_head(&table, head->items, head->count);
    for (int i = 0; i < run->series_count; i++)
        for (int windows = MAX_WINDOWS; windows > 0; windows /= 2)
            print_row(&table, &run->series[i], windows);
}

static const column_t raw_columns[] = {
    {"rank", "", ROLE_KEY, TYPE_INTEGER, "the rank", NULL, 0, 0, 0},
    {"clock", "", ROLE_KEY, TYPE_TEXT, "the clock", NULL, 0, 0, 0},
    {"time_ns", "ns", ROLE_KEY, TYPE_INTEGER,
     "the time since the start of the measurement, in the middle between the exchanges that bound the window", NULL, 0,
     0, 0},
    {"offset_ns", "ns", ROLE_FIGURE, TYPE_INTEGER,
     "the offset. For a counter of a rank under another kernel than rank 0, only its changes have a meaning", NULL, 0,
     0, 0},
    {"half_width_ns", "ns", ROLE_FIGURE, TYPE_INTEGER, "half the width of the window", NULL, 0, 0, 0},
    {"used", "", ROLE_FIGURE, TYPE_INTEGER, "1 if the burst counts, else 0", NULL, 0, 0, 0},
    {"residual_ns", "ns", ROLE_FIGURE, TYPE_NUMBER,
     "how far the offset of a burst that counts is from one line through all of them", NULL, 0, 1, 0},
};
static const schema_t raw_schema =
    SCHEMA("mpix-clock-drift-raw", "Written by `mpix_clock drift --raw`: a row for each burst.", raw_columns);

/* Writes each burst to the raw file. */
static void write_raw(const drift_run_t *run)
{
    const table_t table = TABLE(raw_schema, &run->settings.results.raw);
    const head_t *head = make_head(run);
    if (!table.output->file)
        return;
    table_head(&table, head->items, head->count);
    for (const series_t *series = run->series; series < run->series + run->series_count; series++) {
        int used = 0;
        for (const point_t *point = series->points; point < series->points + run->rounds; point++)
            table_row(&table, (cell_t[]){{NULL, series->rank},
                                         {machine_clocks[series->clock].name, 0},
                                         {NULL, point->time_s * 1e9},
                                         {NULL, (double)point->offset_ns},
                                         {NULL, (double)point->half_width_ns},
                                         {NULL, point->is_used},
                                         {point->is_used ? NULL : "",
                                          point->is_used ? find_residual_ns(series, &series->line, used++) : 0}});
    }
}

/* ---- The program */

static int run_program(void *state, char **argv)
{
    (void)argv;
    drift_run_t *run = state;
    int status = world_require_ranks(&run->world, 2);
    if (status == STATUS_GOOD)
        status = choose_clocks(run);
    if (status == STATUS_GOOD)
        status = results_open(&run->settings.results, &run->world);
    if (status == STATUS_GOOD) {
        world_t kernel = kernel_split(&run->world);
        if (run->world.rank == 0)
            allocate(run);
        measure(run, kernel.comm);
        MPI_Comm_free(&kernel.comm);
        if (run->world.rank == 0) {
            analyze(run);
            print_table(run);
            write_raw(run);
        }
    }
    return results_close(&run->settings.results, &run->world, status);
}

static drift_run_t the_run; /* its memory is of use until the end */

const clock_command_t clock_drift = CLOCK_COMMAND("drift", drift_run_t, the_run, run_program);
