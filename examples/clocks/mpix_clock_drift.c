/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_clock_drift - how the clocks of all ranks drift against those of rank 0, and for how long a straight line says
 * so.
 *
 * Rank 0 makes bursts of exchanges with each other rank in turn and keeps what they tell. All else follows when
 * measuring is over. The library has no part in this: what it is built on is what is measured.
 */
#include "common/kernel.h"
#include "common/options.h"
#include "drift/drift.h"

#include <math.h>
#include <stdlib.h>

#define PLACE(field) offsetof(drift_settings_t, field)

static const option_spec_t options[] = {
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
    "Offsets are those of a rank's clock minus rank 0's, estimated from bursts: the middle of the window that the "
    "least\n"
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

static const program_spec_t program = {"mpix_clock_drift",
                                       "Measures how the clocks of all ranks drift against those of rank 0.",
                                       options,
                                       sizeof(options) / sizeof(options[0]),
                                       notes,
                                       NULL,
                                       false};

/* ---- Getting ready */

/* Leaves out clocks that a rank lacks, or refuses where these were asked for. Collective. */
static int choose_clocks(drift_run_t *run)
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
            return world_refuse(&run->world,
                                "option --clocks: \"%s\" is not allowed here, a rank has no invariant "
                                "time stamp counter (see --help)",
                                machine_clocks[clock].name);
        run->settings.clocks &= ~(INT64_C(1) << clock);
    }
    return STATUS_GOOD;
}

static bool allocate_on_root(drift_run_t *run)
{
    int count = (run->world.ranks - 1) * run->clock_count;
    bool good;

    run->exchanges = malloc((size_t)(run->clock_count * run->settings.exchanges) * sizeof(run->exchanges[0]));
    run->series = calloc((size_t)count, sizeof(run->series[0]));
    run->begin_tick_ns = malloc((size_t)run->world.ranks * sizeof(double));
    run->end_tick_ns = malloc((size_t)run->world.ranks * sizeof(double));
    good = run->exchanges != NULL && run->series != NULL && run->begin_tick_ns != NULL && run->end_tick_ns != NULL;
    for (int i = 0; i < count && good; i++) {
        run->series[i].points = malloc((size_t)run->most_rounds * sizeof(point_t));
        good = run->series[i].points != NULL;
    }
    return good;
}

static int allocate(drift_run_t *run)
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

static void release_memory(drift_run_t *run)
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

static int get_ready(drift_run_t *run)
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

static int run_program(drift_run_t *run)
{
    MPI_Comm kernel;
    int status = get_ready(run);

    if (status == STATUS_GOOD && !kernel_split(&run->world, &kernel))
        status = STATUS_FAILED;
    else if (status == STATUS_GOOD) {
        drift_measure(run, kernel);
        MPI_Comm_free(&kernel);
        if (run->world.rank == 0)
            status = drift_report(run);
    }
    if (output_close(&run->settings.output, &run->world) != STATUS_GOOD)
        status = STATUS_FAILED;
    plot_close(&run->plot);
    release_memory(run);
    return status;
}

int main(int argc, char **argv)
{
    drift_run_t run = {
        .settings = {.seconds = 10, .interval_s = 0.1, .exchanges = 10, .clocks = (1 << MACHINE_CLOCKS) - 1},
        .plot = {.descriptor = -1}};
    int status;

    world_begin(&run.world, program.name, &argc, &argv);
    if (world_options(&run.world, &program, argc, argv, &run.settings, sizeof(run.settings), &status))
        status = run_program(&run);
    return world_end(&run.world, status);
}
