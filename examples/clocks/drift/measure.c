/* SPDX-License-Identifier: BSD-3-Clause */
/* measure.c - rounds of bursts with all other ranks, and the rates of their counters. */
#include "drift/drift.h"

#include <math.h>
#include <time.h>
#include <unistd.h>

#define PROGRESS_INTERVAL_NS INT64_C(500000000)

series_t *drift_series_of(const drift_run_t *run, int rank, int place)
{
    return &run->series[(rank - 1) * run->clock_count + place];
}

static void measure_rank(drift_run_t *run, const burst_t *burst, int rank, int64_t begin_ns)
{
    burst_measure(burst, rank, run->exchanges);
    for (int place = 0; place < run->clock_count; place++) {
        bool is_tsc = run->clock_list[place] == MACHINE_CLOCK_TSC;
        offset_window_t window =
            burst_window(run->exchanges + place * burst->exchanges, burst->exchanges,
                         is_tsc ? run->begin_tick_ns[0] : 1, is_tsc ? run->begin_tick_ns[rank] : 1);

        drift_series_of(run, rank, place)->points[run->rounds] =
            (point_t){(double)(window.at_ns - begin_ns) * 1e-9, window};
    }
}

static void show_progress(const drift_run_t *run, int64_t spent_ns)
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
static void measure_rounds(drift_run_t *run, const burst_t *burst)
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
static void gather_ticks(const drift_run_t *run, const tsc_rate_t *rate, MPI_Comm kernel, double *tick_ns)
{
    double own_ns = tsc_rate_ns(rate);

    MPI_Bcast(&own_ns, 1, MPI_DOUBLE, 0, kernel);
    MPI_Gather(&own_ns, 1, MPI_DOUBLE, tick_ns, 1, MPI_DOUBLE, 0, run->world.comm);
}

/*
 * Offsets of tsc were reckoned by the rates known at the beginning. Those from all the time of the run are better: turn
 * each series by what they differ.
 */
static void correct_tsc(const drift_run_t *run, int place)
{
    double own_ratio = run->end_tick_ns[0] / run->begin_tick_ns[0];

    for (int rank = 1; rank < run->world.ranks; rank++) {
        const series_t *series = drift_series_of(run, rank, place);
        double change = run->end_tick_ns[rank] / run->begin_tick_ns[rank] - own_ratio;

        for (int i = 0; i < run->rounds; i++) {
            point_t *point = &series->points[i];
            int64_t shift_ns = llround(change * point->time_s * 1e9);

            point->window.low_ns += shift_ns;
            point->window.high_ns += shift_ns;
        }
    }
}

void drift_measure(drift_run_t *run, MPI_Comm kernel)
{
    const burst_t burst = {&run->world, run->world.comm, run->settings.clocks, run->settings.exchanges};
    tsc_rate_t rate;

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
