/* SPDX-License-Identifier: BSD-3-Clause */
/* mpix_skew - exit skew of MPI_Barrier and MPIX_Harmonize, by any of its barriers, side by side in one run. */
#include "common/options.h"
#include "skew/skew.h"

#define PLACE(field) offsetof(skew_settings_t, field)

static const option_spec_t options[] = {
    {'i', "iterations", "N", OPTION_INTEGER, PLACE(calls), 1, 1e8, NULL, "200000",
     "timed calls per scheme and repetition, at most"},
    {0, "time-slice-s", "S", OPTION_DECIMAL, PLACE(limit_s), 0.001, 1e6, NULL, "2",
     "time per scheme and repetition, at most; where there\nare more ranks than cores, this limit comes first"},
    {'r', "repeats", "N", OPTION_INTEGER, PLACE(repeats), 1, MAX_REPEATS, NULL, "1",
     "repetitions; figures are medians over them"},
    {0, "block", "N", OPTION_INTEGER, PLACE(block), 1, 1e6, NULL, "1000",
     "calls of a scheme before it is another's turn;\nless where they take more than 25 ms or 5 % of S"},
    {'x', "warmup", "N", OPTION_INTEGER, PLACE(warmup), 1, 1e8, NULL, "1000",
     "calls of a scheme before those timed,\nbut not above a quarter of its time"},
    {0, "release", "LIST", OPTION_CHOICES, PLACE(schemes), 0, 0, NAMES(skew_schemes), "barrier,harmonize",
     "which to measure: barrier (MPI_Barrier), harmonize\n(MPIX_Harmonize), or MPIX_Harmonize by one of its\n"
     "barriers: shm, dissemination, tree, collective"},
    {0, "other", "FILE", OPTION_TEXT, PLACE(other_path), 0, 0, NULL, NULL,
     "measure the MPIX_Harmonize of another shared library,\ntoo"},
    {0, "clock", "CLOCK", OPTION_CHOICE, PLACE(clock), 0, 0, NAMES(exit_clock_names), "auto",
     "what exits are compared by: tsc or cntvct, global\n(the library's own), or auto: a counter that all\nranks "
     "share, else global"},
    {0, "watch-s", "S", OPTION_DECIMAL, PLACE(watch_s), 0.001, 1e6, NULL, NULL,
     "instead, call MPIX_Harmonize for so long, and print\na row each 0.25 s"},
    RESULTS_OPTIONS(PLACE(results), "write scheme,call,skew_ns,valid of each call to FILE"),
};

static const char notes[] =
    "The exit skew of a call is the time between the first and the last rank to leave it, by the first instruction\n"
    "after the call. Skews are of valid calls: those where MPIX_Harmonize set the flag on all ranks; with\n"
    "MPI_Barrier, all calls.\n"
    "  p50 to p99.9   quantiles of the skew by nearest rank: the least value that 50, 90, 99, 99.9 % do not exceed\n"
    "  max            the greatest skew\n"
    "  call           time in the loop of calls / number of calls, the clock reading after each included\n"
    "  calls, valid   all calls, and the valid ones\n"
    "  valid/s        valid calls / time in the loop of calls\n"
    "With --watch-s, slack is what rank 0 states: the time it allows between deciding on an exit and the exit.\n"
    "\n"
    "Exit status: 0 if all is well, 1 if a call failed or a scheme has no valid call, 2 for a bad option.\n";

static const program_spec_t program =
    PROGRAM_SPEC("mpix_skew", "Measures the exit skew of MPI_Barrier and MPIX_Harmonize, side by side.");

/* All repetitions. What they come to is on rank 0. */
static void measure_all(skew_run_t *run)
{
    for (int64_t repeat = 0; repeat < run->settings.repeats; repeat++) {
        world_progress(&run->world, "measuring, up to %g s a scheme, %lld of %lld", run->settings.limit_s,
                       (long long)repeat + 1, (long long)run->settings.repeats);
        skew_measure(run);
        if (run->world.rank == 0)
            skew_take_in(run, exit_clock_tick_ns(&run->clock));
    }
    world_progress(&run->world, "%s", "");
}

static int compare_schemes(skew_run_t *run)
{
    char clock_text[160];
    if (run->settings.results.raw.file != NULL)
        fputs("scheme,call,skew_ns,valid\n", run->settings.results.raw.file);
    measure_all(run);
    exit_clock_describe(&run->clock, &run->world, clock_text, sizeof(clock_text));
    return run->world.rank == 0 ? skew_print(run, exit_clock_tick_ns(&run->clock), clock_text) : STATUS_GOOD;
}

/* Whatever may be wrong with options is found here, before anything is measured. */
static int prepare(skew_run_t *run)
{
    const results_t *results = &run->settings.results;
    if (run->settings.watch_s > 0 && (results->raw.path != NULL || results->plot_path != NULL))
        return world_refuse(&run->world, "option --%s is not allowed together with --watch-s",
                            results->raw.path != NULL ? "raw" : "plot");
    if (run->settings.watch_s > 0)
        run->settings.schemes = 1 << SCHEME_HARMONIZE;
    int status = exit_clock_open(&run->clock, &run->world, (exit_clock_kind_t)run->settings.clock);
    if (status == STATUS_GOOD)
        status = results_open(&run->settings.results, &run->world, &skew_chart);
    if (status == STATUS_GOOD)
        status = skew_open_schemes(run);
    if (status == STATUS_GOOD)
        skew_allocate(run);
    return status;
}

static int run_program(skew_run_t *run)
{
    int status = prepare(run);
    if (status == STATUS_GOOD && run->settings.watch_s > 0)
        skew_watch(run);
    else if (status == STATUS_GOOD)
        status = compare_schemes(run);
    skew_close_schemes(run);
    skew_free(run);
    return results_close(&run->settings.results, &run->world, status);
}

int main(int argc, char **argv)
{
    static skew_run_t run;
    int status;
    world_begin(&run.world, program.name, &argc, &argv);
    if (world_options(&run.world, &program, argc, argv, &run.settings, sizeof(run.settings), &status))
        status = run_program(&run);
    return world_end(&run.world, status);
}
