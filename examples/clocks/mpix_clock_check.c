/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_clock_check - the error of the global clock on each rank, some time after a synchronization, and whether the
 * bound that the library states holds. After Check-Global-Clock, algorithm 6 of Hunold and Carpen-Amarie, Cluster 2018.
 *
 * Each run is made on a communicator of its own, so that nothing learnt before helps it.
 */
#include "check/check.h"
#include "common/options.h"

#include <stdio.h>
#include <stdlib.h>

/* The counters, as the exit clock names them, and one more. */
enum { TRUTH_NONE = EXIT_CLOCK_GLOBAL, TRUTH_AUTO = EXIT_CLOCK_AUTO };

static const char *truth_name(int index)
{
    return index == TRUTH_NONE ? "none" : exit_clock_name(index);
}

#define PLACE(field) offsetof(check_settings_t, field)

static const option_spec_t options[] = {
    {0, "sync", "LABELS", OPTION_TEXT, PLACE(labels), 0, 0, NULL,
     "how to synchronize: labels of mpix_harmonize_sync,\nseparated by commas (default: what the library does)"},
    {0, "ages-s", "LIST", OPTION_NUMBERS, PLACE(ages_s), 0, 86400, NULL,
     "seconds after the synchronization, ascending,\nseparated by commas"},
    {0, "keep-ms", "MS", OPTION_DECIMAL, PLACE(keep_ms), 0.01, 1e6, NULL,
     "call MPIX_Harmonize each MS milliseconds, which\nsynchronizes again when it wants to (default: clocks\nrun "
     "free)"},
    {0, "repeats", "N", OPTION_INTEGER, PLACE(repeats), 1, 1e4, NULL, "runs per label, each from a new start"},
    {0, "exchanges", "N", OPTION_INTEGER, PLACE(exchanges), 1, 1e6, NULL, "round trips to measure an error by"},
    {0, "pairs", "N", OPTION_INTEGER, PLACE(pairs), 1, 1e9, NULL,
     "check at most so many ranks against rank 0, taken at\nrandom (default: all)"},
    {0, "sample", "FRACTION", OPTION_DECIMAL, PLACE(sample), 1e-9, 1, NULL,
     "instead, this part of the ranks, rounded up"},
    {0, "seed", "N", OPTION_INTEGER, PLACE(seed), 0, 1e15, NULL, "of the random choice (default: from the time)"},
    {0, "truth", "CLOCK", OPTION_CHOICE, PLACE(truth), 0, 0, truth_name,
     "measure by a shared clock, too: tsc or cntvct,\nnone, or auto: a counter that all ranks share"},
    RESULTS_OPTIONS(PLACE(results), "write each check of a rank to FILE"),
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
    "--raw writes sync,run,rank,age_ns,error_ns,half_width_ns,true_ns,true_half_width_ns,bound_ns,violations.\n"
    "\n"
    "Exit status: 0 if all is well, 1 if a call failed or a bound was violated, 2 for a bad option.\n";

static const program_spec_t program = PROGRAM_SPEC(
    "mpix_clock_check", "Measures the error of the global clock some time after a synchronization, beside its bound.");

/* Chooses the shared clock to compare with, if any. Collective. */
static int open_truth(check_run_t *run)
{
    exit_clock_kind_t wanted = (exit_clock_kind_t)run->settings.truth;
    int status = exit_clock_refuse(&run->world, wanted, "--truth", "auto or none");
    if (status != STATUS_GOOD)
        return status;
    bool is_shared = exit_clock_counter_is_shared(&run->world);
    run->has_truth = wanted == EXIT_CLOCK_AUTO ? is_shared : (int)wanted != TRUTH_NONE;
    run->truth_text = !run->has_truth ? "none, errors are known by messages only"
                      : is_shared     ? "the processor's counter, one for all ranks"
                                      : "the processor's counter, forced by --truth: wrong unless all ranks share one";
    return run->has_truth ? exit_clock_open(&run->shared, &run->world, (exit_clock_kind_t)MACHINE_COUNTER)
                          : STATUS_GOOD;
}

static void allocate(check_run_t *run)
{
    int64_t trials = run->labels * run->settings.repeats;
    run->trials = check_room(run, trials, sizeof(run->trials[0]));
    for (int64_t i = 0; i < trials && run->world.rank == 0; i++)
        run->trials[i].checks = check_room(run, (int64_t)run->ages * run->checked, sizeof(check_t));
}

static void release(check_run_t *run)
{
    for (int64_t i = 0; i < run->labels * run->settings.repeats; i++)
        free(run->trials[i].checks);
    free(run->trials);
    free(run->values);
    free(run->checked_rank);
}

/* Whatever may be wrong with options is found here, before anything is measured. Collective. */
static int prepare(check_run_t *run)
{
    const number_list_t *ages_s = &run->settings.ages_s;
    run->ages = (int)ages_s->count;
    if (run->settings.pairs > 0 && run->settings.sample > 0)
        return world_refuse(&run->world, "option --pairs is not allowed together with --sample");
    for (int i = 1; i < run->ages; i++) {
        if (ages_s->values[i] <= ages_s->values[i - 1])
            return world_refuse(&run->world, "option --ages-s: %g after %g is not allowed, give ascending numbers",
                                ages_s->values[i], ages_s->values[i - 1]);
    }
    int status = check_read_labels(run);
    if (status == STATUS_GOOD)
        status = open_truth(run);
    if (status == STATUS_GOOD)
        status = results_open(&run->settings.results, &run->world);
    if (status == STATUS_GOOD && run->world.ranks < 2)
        status = world_refuse(&run->world, "1 rank has nothing to compare its clock with, give 2 or more");
    return status;
}

static int run_program(check_run_t *run)
{
    int status = prepare(run);
    if (status == STATUS_GOOD) {
        check_choose_ranks(run);
        check_open_report(run);
        allocate(run);
        if (run->world.rank == 0)
            check_print_head(run);
        for (int label = 0; label < run->labels; label++)
            for (int repeat = 0; repeat < run->settings.repeats; repeat++)
                check_run_trial(run, label, repeat);
        if (run->world.rank == 0 && run->settings.results.plot_path != NULL)
            status = check_draw(run);
        if (run->violations > 0) {
            fprintf(stderr, "%s: error: the bound was violated in %lld of %lld checks\n", program.name,
                    (long long)run->violations, (long long)run->checks);
            status = STATUS_FAILED;
        }
        release(run);
    }
    return results_close(&run->settings.results, &run->world, status);
}

int main(int argc, char **argv)
{
    check_run_t run = {
        .settings = {.exchanges = 20, .repeats = 1, .seed = -1, .truth = TRUTH_AUTO, .ages_s = {4, {0, 1, 10, 60}}}};
    int status;
    world_begin(&run.world, program.name, &argc, &argv);
    if (world_options(&run.world, &program, argc, argv, &run.settings, sizeof(run.settings), &status))
        status = run_program(&run);
    return world_end(&run.world, status);
}
