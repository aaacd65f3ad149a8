/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_clock_check - the error of the global clock on each rank, some time after a synchronization, and whether the
 * bound that the library states holds. After Check-Global-Clock, algorithm 6 of Hunold and Carpen-Amarie, Cluster 2018.
 *
 * Each run is made on a communicator of its own, so that nothing learnt before helps it.
 */
#include "check/check.h"
#include "common/options.h"

#include <mpix_harmonize.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef enum truth { TRUTH_AUTO, TRUTH_TSC, TRUTH_NONE, TRUTHS } truth_t;

static const char *const truth_names[] = {[TRUTH_AUTO] = "auto", [TRUTH_TSC] = "tsc", [TRUTH_NONE] = "none"};

static const char *truth_name(int index)
{
    return index < TRUTHS ? truth_names[index] : NULL;
}

#define PLACE(field) offsetof(check_settings_t, field)

static const option_spec_t options[] = {
    {0, "sync", "LABELS", OPTION_TEXT, PLACE(labels_text), 0, 0, NULL,
     "how to synchronize: labels of mpix_harmonize_sync,\nseparated by commas (default: what the library does)"},
    {0, "ages", "LIST", OPTION_TEXT, PLACE(ages_text), 0, 0, NULL,
     "seconds after the synchronization, ascending,\nseparated by commas (default 0,1,10,60)"},
    {0, "keep", "MS", OPTION_DECIMAL, PLACE(keep_ms), 0.01, 1e6, NULL,
     "call MPIX_Harmonize each MS milliseconds, which\nsynchronizes again when it wants to (default: clocks\nrun "
     "free)"},
    {0, "repeat", "N", OPTION_INTEGER, PLACE(repeat), 1, 1e4, NULL, "runs per label, each from a new start"},
    {0, "exchanges", "N", OPTION_INTEGER, PLACE(exchanges), 1, 1e6, NULL, "round trips to measure an error by"},
    {0, "pairs", "N", OPTION_INTEGER, PLACE(pairs), 1, 1e9, NULL,
     "check at most so many ranks against rank 0, taken at\nrandom (default: all)"},
    {0, "sample", "FRACTION", OPTION_DECIMAL, PLACE(sample), 1e-9, 1, NULL,
     "instead, this part of the ranks, rounded up"},
    {0, "seed", "N", OPTION_INTEGER, PLACE(seed), 0, 1e15, NULL, "of the random choice (default: from the time)"},
    {0, "truth", "CLOCK", OPTION_CHOICE, PLACE(truth), 0, 0, truth_name,
     "measure by a shared clock, too: tsc, none,\nor auto: tsc where all ranks share it"},
    {0, "ranks", NULL, OPTION_SWITCH, PLACE(ranks), 0, 0, NULL, "print a row for each rank checked"},
    PLOT_OPTION(PLACE(plot_path)),
    OUTPUT_OPTIONS(PLACE(output)),
};

static const char notes[] =
    "The error of a rank is its global time less that of rank 0, by round trips of messages. They leave it open by a\n"
    "half width that holds whatever the delays are. A bound is violated where the error is above it by more than the\n"
    "half width. Figures are over all ranks checked and all runs of a label:\n"
    "  sync       the label\n"
    "  age        the time since the synchronization ended\n"
    "  took       the synchronization as the library states it; call: MPIX_Clock_sync with what is done only once;\n"
    "             both on the slowest rank, the median of all runs\n"
    "  syncs      synchronizations so far, the most of all runs\n"
    "  checks     ranks checked x runs\n"
    "  p50, p99, max   quantiles of the error without its sign, by nearest rank\n"
    "  half       the greatest half width\n"
    "  true       the greatest error without its sign by the shared clock, as --truth says\n"
    "  bound      the greatest bound: what the library states for the rank and rank 0 together\n"
    "  viol       checks in which the bound was violated, by either measurement\n"
    "\n"
    "Exit status: 0 if all is well, 1 if a call failed or a bound was violated, 2 for a bad option.\n";

static const program_spec_t program = {
    "mpix_clock_check",
    "Measures the error of the global clock some time after a synchronization, beside its bound.",
    options,
    sizeof(options) / sizeof(options[0]),
    notes,
    NULL,
    false};

static void show_progress(const check_run_t *run, int label, int repeat, int age)
{
    if (run->world.rank == 0 && isatty(STDERR_FILENO))
        fprintf(stderr, "\r%.60s: run %d of %lld, until %g s ", run->plan.label[label], repeat + 1,
                (long long)run->settings.repeat, run->plan.age_s[age]);
}

static void clear_progress(const check_run_t *run)
{
    if (run->world.rank == 0 && isatty(STDERR_FILENO))
        fprintf(stderr, "\r%*s\r", 110, "");
}

/* ---- All of it */

static void run_trial(check_run_t *run, report_t *report, int label, int repeat)
{
    trial_t *trial = check_trial_of(run, label, repeat);
    world_t clock_world;
    int64_t begin_ns;

    world_require(&run->world, check_open_clock(run, run->plan.label[label], &clock_world), "MPIX_Harmonize_set_info");
    begin_ns = check_synchronize(run, &clock_world, trial);
    for (int age = 0; age < run->plan.ages; age++) {
        int64_t target_ns = begin_ns + (int64_t)(run->plan.age_s[age] * 1e9);
        check_t *checks = trial->checks == NULL ? NULL : &trial->checks[(size_t)age * (size_t)run->checked];

        show_progress(run, label, repeat, age);
        if (run->settings.keep_ms > 0)
            check_keep_until(run, &clock_world, target_ns);
        else
            check_sleep_for(target_ns - system_time_ns());
        check_all(run, &clock_world, begin_ns, checks);
        trial->syncs[age] = check_whole_statistic(&clock_world, "mpix_harmonize_syncs");
        clear_progress(run);
        if (run->world.rank == 0)
            check_print_age(report, label, repeat, age);
    }
    MPI_Comm_free(&clock_world.comm);
}

static int run_all(check_run_t *run, report_t *report)
{
    if (run->world.rank == 0)
        check_print_head(report);
    for (int label = 0; label < run->plan.labels; label++) {
        for (int repeat = 0; repeat < run->settings.repeat; repeat++)
            run_trial(run, report, label, repeat);
    }
    if (report->violations == 0)
        return STATUS_GOOD;
    fprintf(stderr, "%s: error: the bound was violated in %lld of %lld checks\n", program.name,
            (long long)report->violations, (long long)report->checks);
    return STATUS_FAILED;
}

/* ---- Start and end */

/* Chooses the shared clock to compare with, if any. Collective. */
static int open_truth(check_run_t *run)
{
    int64_t wanted = run->settings.truth;
    bool tsc_is_shared;

    if (wanted == TRUTH_TSC && !world_all(&run->world, MACHINE_HAS_TSC))
        return world_refuse(&run->world,
                            "option --truth: \"tsc\" is not allowed on this processor, give auto or none (see --help)");
    tsc_is_shared = exit_clock_tsc_is_shared(&run->world);
    run->has_truth = wanted == TRUTH_TSC || (wanted == TRUTH_AUTO && tsc_is_shared);
    run->truth_text = !run->has_truth ? "none, errors are known by messages only"
                      : tsc_is_shared ? "the TSC, one counter for all ranks"
                                      : "the TSC, forced by --truth: wrong unless all ranks share one counter";
    return run->has_truth ? exit_clock_open(&run->shared, &run->world, EXIT_CLOCK_TSC) : STATUS_GOOD;
}

static bool allocate(check_run_t *run, report_t *report)
{
    int64_t trials = run->plan.labels * run->settings.repeat;
    bool good = check_report_open(report, run);

    run->trials = calloc((size_t)trials, sizeof(run->trials[0]));
    good = good && run->trials != NULL;
    for (int64_t i = 0; i < trials && good && run->world.rank == 0; i++) {
        run->trials[i].checks = calloc((size_t)run->plan.ages * (size_t)run->checked, sizeof(check_t));
        good = run->trials[i].checks != NULL;
    }
    good = world_all(&run->world, good);
    if (!good)
        world_refuse(&run->world, "out of memory: give less for --repeat, --ages or --pairs");
    return good;
}

static void release(check_run_t *run, report_t *report)
{
    for (int64_t i = 0; run->trials != NULL && i < run->plan.labels * run->settings.repeat; i++)
        free(run->trials[i].checks);
    free(run->trials);
    free(report->values);
    free(run->checked_rank);
}

/* Whatever may be wrong with options is found here, before anything is measured. Collective. */
static int prepare(check_run_t *run)
{
    int status;

    if (run->settings.pairs > 0 && run->settings.sample > 0)
        return world_refuse(&run->world, "option --pairs is not allowed together with --sample (see --help)");
    status = check_make_plan(run);
    if (status == STATUS_GOOD)
        status = check_labels(run);
    if (status == STATUS_GOOD)
        status = open_truth(run);
    if (status == STATUS_GOOD)
        status = plot_open(&run->plot, &run->world, run->settings.plot_path);
    if (status == STATUS_GOOD)
        status = output_open(&run->settings.output, &run->world);
    if (status == STATUS_GOOD && run->world.ranks < 2)
        status = world_refuse(&run->world, "1 rank has nothing to compare its clock with, give 2 or more");
    return status;
}

static int run_program(check_run_t *run)
{
    report_t report = {0};
    int status = prepare(run);

    if (status == STATUS_GOOD && (!check_choose_ranks(run) || !allocate(run, &report)))
        status = STATUS_BAD_OPTION;
    if (status == STATUS_GOOD) {
        status = run_all(run, &report);
        if (run->world.rank == 0 && run->settings.plot_path != NULL && check_draw(run) != STATUS_GOOD)
            status = STATUS_FAILED;
    }
    if (output_close(&run->settings.output, &run->world) != STATUS_GOOD)
        status = STATUS_FAILED;
    plot_close(&run->plot);
    release(run, &report);
    return status;
}

int main(int argc, char **argv)
{
    check_run_t run = {.settings = {.exchanges = 20, .repeat = 1, .seed = -1, .truth = TRUTH_AUTO},
                       .plot = PLOT_NO_FILE};
    int status;

    world_begin(&run.world, program.name, &argc, &argv);
    if (world_options(&run.world, &program, argc, argv, &run.settings, sizeof(run.settings), &status))
        status = run_program(&run);
    return world_end(&run.world, status);
}
