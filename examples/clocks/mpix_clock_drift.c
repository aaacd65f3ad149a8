/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_clock_drift - how the clocks of all ranks drift against those of rank 0, and for how long a straight line says
 * so.
 *
 * Rank 0 makes bursts of exchanges with each other rank in turn and keeps what they tell. All else follows when
 * measuring is over. The library has no part in this: what it is built on is what is measured.
 */
#include "common/options.h"
#include "drift/drift.h"

#include <math.h>
#include <stdlib.h>

#define PROGRESS_INTERVAL_NS INT64_C(500000000)

#define PLACE(field) offsetof(drift_settings_t, field)

static const option_spec_t options[] = {
    {0, "duration-s", "S", OPTION_DECIMAL, PLACE(duration_s), 0.1, 1e6, NULL, "how long to measure"},
    {0, "interval-s", "S", OPTION_DECIMAL, PLACE(interval_s), 0.001, 1e5, NULL,
     "from one burst with a rank to the next, in seconds;\nlonger where all ranks' bursts take longer"},
    {0, "exchanges", "N", OPTION_INTEGER, PLACE(exchanges), 1, 10000, NULL,
     "exchanges in a burst with each clock, after those\nthat are discarded"},
    {0, "clocks", "LIST", OPTION_CHOICES, PLACE(clocks), 0, 0, machine_clock_name, "which to measure"},
    {0, "threshold-ns", "NS", OPTION_DECIMAL, PLACE(threshold_ns), 1, 1e12, NULL,
     "greatest residual of what counts as linear;\nelse the median half width, about the time of a\nmessage"},
    RESULTS_OPTIONS(PLACE(results),
                    "write rank,clock,time_ns,offset_ns,half_width_ns,used,\nresidual_ns of each burst to FILE"),
};

static const char notes[] =
    "Offsets are those of a rank's clock minus rank 0's, estimated from bursts: the middle of the window that the "
    "least\n"
    "delays of both directions leave. The run is cut into windows of one length, with a line fitted to each.\n"
    "  window          length of the windows\n"
    "  fits            their number\n"
    "  slope           the mean of their slopes: the drift; 1 ppb is 1 ns in a second\n"
    "  min, max        the least and the greatest slope\n"
    "  rms, max        root mean square and greatest of all residuals: how far offsets are from the line\n"
    "  half            the median half width of the bursts' windows: no offset is more wrong than that of its burst\n"
    "  points          bursts that count; a burst whose window is wider than 1.5 times the median does not\n"
    "  linear          length up to which all windows, wherever they begin, have residuals within the threshold; the\n"
    "                  whole time: linearity ended later, or not at all\n"
    "\n"
    "Exit status: 0 if all is well, 1 if a call failed, 2 for a bad option or less than 2 ranks.\n";

static const program_spec_t program =
    PROGRAM_SPEC("mpix_clock_drift", "Measures how the clocks of all ranks drift against those of rank 0.");

/* ---- Getting ready */

/* Leaves out clocks that a rank lacks, or refuses if these were asked for. Collective. */
static int choose_clocks(drift_run_t *run)
{
    const int64_t all = (1 << MACHINE_CLOCKS) - 1;
    int64_t asked_for = run->settings.clocks;
    for (int clock = 0; clock < MACHINE_CLOCKS; clock++) {
        if ((asked_for >> clock & 1) == 0)
            continue;
        if (world_all(&run->world, machine_clock_lack(clock) == NULL))
            run->clock_list[run->clock_count++] = clock;
        else if (asked_for == all)
            run->settings.clocks &= ~(INT64_C(1) << clock);
        else
            return world_refuse(&run->world,
                                "option --clocks: \"%s\" is not allowed here, a rank has no invariant "
                                "time stamp counter",
                                machine_clocks[clock].name);
    }
    return STATUS_GOOD;
}

static void *room(const drift_run_t *run, int64_t count, size_t item_bytes)
{
    return world_room(&run->world, count, item_bytes, ": give less for --duration-s or more for --interval-s");
}

/* On rank 0. */
static void allocate(drift_run_t *run)
{
    run->max_rounds = (int64_t)floor(run->settings.duration_s / run->settings.interval_s) + 1;
    run->series_count = (run->world.ranks - 1) * run->clock_count;
    run->exchanges = room(run, run->clock_count * run->settings.exchanges, sizeof(run->exchanges[0]));
    run->series = room(run, run->series_count, sizeof(run->series[0]));
    run->widths_ns = room(run, run->max_rounds, sizeof(run->widths_ns[0]));
    run->begin_tick_ns = room(run, INT64_C(2) * run->world.ranks, sizeof(double));
    run->end_tick_ns = run->begin_tick_ns + run->world.ranks;
    for (series_t *series = run->series; series < run->series + run->series_count; series++) {
        series->points = room(run, run->max_rounds, sizeof(series->points[0]));
        series->time_s = room(run, 3 * run->max_rounds, sizeof(double));
        series->offset_ns = series->time_s + run->max_rounds;
        series->residual_ns = series->offset_ns + run->max_rounds;
    }
}

static void release_memory(drift_run_t *run)
{
    for (int i = 0; i < run->series_count; i++) {
        free(run->series[i].points);
        free(run->series[i].time_s);
    }
    free(run->series);
    free(run->exchanges);
    free(run->widths_ns);
    free(run->begin_tick_ns);
}

/* ---- Measuring */

static void measure_rank(drift_run_t *run, const burst_t *burst, int rank, int64_t begin_ns)
{
    burst_measure(burst, rank, run->exchanges);
    for (int place = 0; place < run->clock_count; place++) {
        bool is_counter = machine_clock_is_counter(run->clock_list[place]);
        offset_window_t window =
            burst_window(run->exchanges + place * burst->exchanges, burst->exchanges,
                         is_counter ? run->begin_tick_ns[0] : 1, is_counter ? run->begin_tick_ns[rank] : 1);
        int64_t at_ns = window.min_at_ns + (window.max_at_ns - window.min_at_ns) / 2;
        run->series[(rank - 1) * run->clock_count + place].points[run->rounds] = (point_t){
            (double)(at_ns - begin_ns) * 1e-9, offset_window_middle_ns(&window), offset_window_half_width_ns(&window)};
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
static void gather_ticks(const drift_run_t *run, const counter_rate_t *rate, MPI_Comm kernel, double *tick_ns)
{
    double own_ns = counter_rate_ns(rate);
    MPI_Bcast(&own_ns, 1, MPI_DOUBLE, 0, kernel);
    MPI_Gather(&own_ns, 1, MPI_DOUBLE, tick_ns, 1, MPI_DOUBLE, 0, run->world.comm);
}

/*
 * Offsets of counters were reckoned by the rates known at the beginning. Those from all the time of the run are better:
 * turn each series by what they differ.
 */
static void correct_counters(const drift_run_t *run)
{
    double own_ratio = run->end_tick_ns[0] / run->begin_tick_ns[0];
    for (int i = 0; i < run->series_count; i++) {
        int rank = drift_rank_of(run, i);
        double change = run->end_tick_ns[rank] / run->begin_tick_ns[rank] - own_ratio;
        for (int round = 0; round < run->rounds && machine_clock_is_counter(drift_clock_of(run, i)); round++) {
            point_t *point = &run->series[i].points[round];
            point->offset_ns += llround(change * point->time_s * 1e9);
        }
    }
}

/* All rounds of bursts. Collective. */
static void measure(drift_run_t *run, MPI_Comm kernel)
{
    const burst_t burst = {&run->world, run->world.comm, run->settings.clocks, run->settings.exchanges};
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
    gather_ticks(run, &rate, kernel, run->end_tick_ns);
}

static int run_program(drift_run_t *run)
{
    if (run->world.ranks < 2)
        return world_refuse(&run->world, "1 rank has nothing to compare its clocks with: start 2 or more");
    int status = choose_clocks(run);
    if (status == STATUS_GOOD)
        status = results_open(&run->settings.results, &run->world);
    if (status == STATUS_GOOD) {
        if (run->world.rank == 0)
            allocate(run);
        MPI_Comm kernel = kernel_split(&run->world);
        measure(run, kernel);
        MPI_Comm_free(&kernel);
    }
    if (status == STATUS_GOOD && run->world.rank == 0) {
        correct_counters(run);
        drift_analyze(run);
        status = drift_report(run);
        release_memory(run);
    }
    return results_close(&run->settings.results, &run->world, status);
}

int main(int argc, char **argv)
{
    drift_run_t run = {
        .settings = {.duration_s = 10, .interval_s = 0.1, .exchanges = 10, .clocks = (1 << MACHINE_CLOCKS) - 1}};
    int status;
    world_begin(&run.world, program.name, &argc, &argv);
    if (world_options(&run.world, &program, argc, argv, &run.settings, sizeof(run.settings), &status))
        status = run_program(&run);
    return world_end(&run.world, status);
}
