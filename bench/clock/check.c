/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_clock check - the error of the global clock on each rank, some time after a synchronization, and whether the
 * bound that the library states holds. After Check-Global-Clock, algorithm 6 of Hunold and Carpen-Amarie, Cluster 2018.
 *
 * Each run is on a communicator of its own, so that it starts without earlier measurements.
 */
#include "bench/clock/check.h"
#include "bench/clock/clock.h"
#include "common/mpi/clock_step.h"
#include "pure/random.h"
#include "pure/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Those of the exit clock, but for the global one, which is what is checked. */
static const char *const truths[] = {[EXIT_CLOCK_TSC] = "tsc",
                                     [EXIT_CLOCK_CNTVCT] = "cntvct",
                                     [EXIT_CLOCK_GLOBAL] = "none",
                                     [EXIT_CLOCK_AUTO] = "auto",
                                     NULL};

#define FIELD(field) offsetof(check_settings_t, field)

static const option_spec_t options[] = {
    {0, "sync", "LABELS", OPTION_TEXT, FIELD(labels), .default_doc = "the environment of the library, or its default",
     .doc = "how to synchronize: 1 to 32 values of the setting mpix_harmonize_sync, separated by commas",
     .more = "See LABELS in mpix_harmonize(7)."},
    {0, "ages-s", "LIST", OPTION_NUMBERS, FIELD(ages_s), .max = 86400, .default_text = "0,1,10,60",
     .doc = "the times of the measurements after the synchronization, ascending"},
    {0, "keep-ms", "MS", OPTION_DECIMAL, FIELD(keep_ms), .min = 0.01, .max = 1e6, .default_doc = "clocks run free",
     .doc = "how often to call MPIX_Harmonize, which synchronizes again when this is due",
     .more = "So the library is used as it usually is. If clocks run free after one synchronization, the error shows "
             "their drift."},
    {'r', "repeats", "N", OPTION_INTEGER, FIELD(repeats), .min = 1, .max = 1e4, .default_text = "1",
     .doc = "runs for each label, each from a new start"},
    EXCHANGES_OPTION(FIELD(exchanges)),
    {0, "pairs", "N", OPTION_INTEGER, FIELD(pairs), .min = 1, .max = 1e9, .default_doc = "all",
     .doc = "how many ranks are checked at most against rank 0, chosen at random"},
    {0, "sample", "FRACTION", OPTION_DECIMAL, FIELD(sample), .min = 1e-9, .max = 1,
     .doc = "the fraction of the ranks that is checked, rounded up to whole ranks",
     .more = "Not together with --pairs."},
    SEED_OPTION(FIELD(seed), .doc = "the seed of the random choice of ranks",
                .more = "The same seed gives the same ranks. The seed is printed if not all ranks are checked; with "
                        "`--format csv` or `json`, to standard error."),
    {0, "truth", "CLOCK", OPTION_CHOICE, FIELD(truth), .names = NAMES(truths), .default_text = "auto",
     .doc = "the shared clock that measures the error, too",
     .more = "`tsc` (on x86) and `cntvct` (on 64-bit ARM) are the counter of the processor. "
             "`auto` is the counter if all ranks are on one node and it is invariant, otherwise `none`. "
             "On several nodes, the counter is wrong unless they share one, as hosts in namespaces of one machine do."},
    RESULTS_OPTIONS(FIELD(results), RAW_DOC),
};

static const char notes[] =
    "The error of a rank is its global time minus that of rank 0, by round trips of messages. For any delays of\n"
    "these, the error is right to within its half width, which includes a step of the clock. A bound is violated if\n"
    "the absolute error exceeds it by more than the half width. Figures are over all checked ranks and all runs of a\n"
    "label.\n"
    "--help-columns says what the columns are.\n"
    "\n"
    "Exit status: 0 if all is well, 1 if a call failed or a bound was violated, 2 for a bad option.\n";

static const program_spec_t program = PROGRAM_SPEC(
    "mpix_clock check",
    "Measures the error of the global clock some time after a synchronization, and compares it with its bound.",
    .schemas = SCHEMAS(&check_schema, &check_raw_schema));

/* ---- What is checked */

/* Cuts the list at commas. Blanks before a label do not count. */
static bool parse_labels(check_run_t *run, const char *list)
{
    for (run->labels = 0; list; run->labels++) {
        list += strspn(list, " ");
        size_t length = strcspn(list, ",");
        if (run->labels == MAX_LABELS || length == 0 || length >= LABEL_BYTES)
            return false;
        memcpy(run->label[run->labels], list, length);
        list = list[length] == ',' ? list + length + 1 : NULL;
    }
    return true;
}

/* Makes a communicator like the world's, to be synchronized as a label says. Returns the code of setting that. */
static int open_clock(const check_run_t *run, const char *label, world_t *clock_world)
{
    *clock_world = world_duplicate(&run->world);
    return world_set(clock_world, "mpix_harmonize_sync", label);
}

/* Refuses a label that the library does; puts its own spelling in the place of others. Collective. */
static int check_label(const check_run_t *run, char *label)
{
    char text[MPI_MAX_INFO_VAL + 1];
    world_t clock_world;
    int code = open_clock(run, label, &clock_world), class = MPI_SUCCESS, status = STATUS_GOOD;
    MPI_Error_class(code, &class);
    if (class == MPI_ERR_INFO_VALUE) {
        world_statistic(&clock_world, "mpix_harmonize_last_error", text, sizeof text);
        status = world_refuse(&run->world, "option --sync: %s", text);
    } else if (!world_agree(&clock_world, code, "MPIX_Harmonize_set_info")) {
        status = STATUS_FAILED;
    } else if (world_statistic(&clock_world, "mpix_harmonize_sync", text, sizeof text)) {
        snprintf(label, LABEL_BYTES, "%.*s", LABEL_BYTES - 1, text);
    }
    MPI_Comm_free(&clock_world.comm);
    return status;
}

/* Reads the labels on rank 0 and gives them to all, as the library spells them. Collective. Returns a status. */
static int read_labels(check_run_t *run)
{
    const char *list = run->settings.labels;
    int status = STATUS_GOOD;
    run->labels = 1;
    if (!world_all(&run->world, run->world.rank > 0 || !list || parse_labels(run, list)))
        return world_refuse(&run->world,
                            "option --sync: \"%.200s\" is not allowed, give 1 to %d labels of at most %d characters, "
                            "separated by commas",
                            list, MAX_LABELS, LABEL_BYTES - 1);
    MPI_Bcast(&run->labels, 1, MPI_INT, 0, run->world.comm);
    MPI_Bcast(run->label, sizeof run->label, MPI_BYTE, 0, run->world.comm);
    for (int i = 0; i < run->labels && status == STATUS_GOOD; i++)
        status = check_label(run, run->label[i]);
    return status;
}

/* Chooses the ranks to check by selection sampling, the same on all ranks. */
static void choose_ranks(check_run_t *run)
{
    check_settings_t *settings = &run->settings;
    int others = run->world.ranks - 1, taken = 0;
    run->checked = settings->pairs > 0 && settings->pairs < others ? (int)settings->pairs : others;
    if (settings->sample > 0)
        run->checked = (int)ceil(settings->sample * others);
    run->checked_rank = world_allocate(&run->world, run->checked, sizeof run->checked_rank[0], "");
    uint64_t state = (uint64_t)settings->seed;
    for (int i = 0; i < others; i++) {
        if (random_next(&state) % (uint64_t)(others - i) < (uint64_t)(run->checked - taken)) {
            run->checked_rank[taken++] = 1 + i;
            run->is_checked |= run->world.rank == 1 + i;
        }
    }
}

/* ---- The error of one rank */

enum { TAG_RESULT = 2 };

/* What a rank tells rank 0 in the end. */
typedef struct result {
    int64_t bound_ns;
    clock_pair_t pair; /* of the shared clock and the global one */
} result_t;
enum { RESULT_NUMBERS = sizeof(result_t) / sizeof(int64_t) };

static int64_t read_global(const void *clock_world)
{
    return world_time_ns(clock_world);
}

/* The exchanges with a rank, of which each makes one. */
static burst_t burst_of(const check_run_t *run, const world_t *clock_world)
{
    return (burst_t){&run->world, run->world.comm, 1, run->settings.exchanges, clock_world};
}

/* The other side of ask. */
static void answer(const check_run_t *run, const world_t *clock_world)
{
    const burst_t burst = burst_of(run, clock_world);
    burst_serve(&burst, 0);
    result_t result = {.bound_ns = world_bound_ns(clock_world)};
    if (run->has_truth)
        result.pair = clock_pair_read(read_global, clock_world);
    world_require(&run->world, MPI_Send(&result, RESULT_NUMBERS, MPI_INT64_T, 0, TAG_RESULT, run->world.comm));
}

/* What two clocks may drift apart in this time. */
static double max_drift(double time)
{
    return MH_RAW_RATE_LIMIT * fabs(time);
}

/* Measures the error of a rank on rank 0, by messages and by the shared clock, while that rank is in answer. */
static void ask(const check_run_t *run, const world_t *clock_world, int rank, check_t *check)
{
    const burst_t burst = burst_of(run, clock_world);
    burst_measure(&burst, rank, run->exchanges);
    int64_t bound_ns = world_bound_ns(clock_world);
    burst_window_t window = burst_window(run->exchanges, burst.exchanges, 1, 1);
    clock_pair_t own = {0};
    if (run->has_truth)
        own = clock_pair_read(read_global, clock_world);
    result_t result;
    world_require(&run->world,
                  MPI_Recv(&result, RESULT_NUMBERS, MPI_INT64_T, rank, TAG_RESULT, run->world.comm, MPI_STATUS_IGNORE));
    check->error_ns = burst_offset_ns(&window);
    check->half_width_ns =
        burst_half_width_ns(&window) + (int64_t)ceil(max_drift((double)(window.max_at_ns - window.min_at_ns)));
    check->bound_ns = bound_ns < INT64_MAX - result.bound_ns ? bound_ns + result.bound_ns : INT64_MAX;
    if (run->has_truth) {
        double apart_ns = (double)(result.pair.ticks - own.ticks) * run->tick_ns;
        check->true_ns = (double)(result.pair.time_ns - own.time_ns) - apart_ns;
        check->true_half_width_ns =
            (double)(result.pair.width_ticks + own.width_ticks) * run->tick_ns / 2 + max_drift(apart_ns);
    }
}

/* A reading of a clock that rises in steps is of up to a step before. */
static void judge(const check_run_t *run, check_t *check)
{
    check->half_width_ns += run->step_ns;
    check->true_half_width_ns += (double)run->step_ns;
    check->is_violation =
        check->bound_ns != INT64_MAX && (llabs(check->error_ns) - check->half_width_ns > check->bound_ns ||
                                         fabs(check->true_ns) - check->true_half_width_ns > (double)check->bound_ns);
}

/* ---- One communicator */

/* Returns when, by this rank's clock. */
static int64_t synchronize(const check_run_t *run, const world_t *clock_world, trial_t *trial)
{
    MPI_Barrier(run->world.comm);
    int64_t begin_ns = system_time_ns();
    world_require(clock_world, MPIX_Clock_sync(clock_world->comm));
    int64_t end_ns = system_time_ns();
    trial->call_ns = world_max(&run->world, end_ns - begin_ns);
    trial->sync_ns = world_max(&run->world, world_number(clock_world, "mpix_harmonize_sync_duration_ns"));
    return end_ns;
}

/* Calls MPIX_Harmonize until a time by rank 0's clock. */
static void keep_until(const check_run_t *run, const world_t *clock_world, int64_t end_ns)
{
    for (;;) {
        int64_t left_ns = end_ns - system_time_ns();
        int valid;
        world_require(&run->world, MPI_Bcast(&left_ns, 1, MPI_INT64_T, 0, run->world.comm));
        if (left_ns <= 0)
            return;
        system_sleep_ns((int64_t)fmin((double)left_ns, run->settings.keep_ms * 1e6));
        world_require(clock_world, MPIX_Harmonize(clock_world->comm, &valid));
    }
}

/* Leaves the checks on rank 0; NULL on others. */
static void check_all(const check_run_t *run, const world_t *clock_world, int64_t begin_ns, check_t *checks)
{
    if (run->is_checked)
        answer(run, clock_world);
    for (int i = 0; i < run->checked && checks; i++) {
        checks[i].age_s = (double)(system_time_ns() - begin_ns) * 1e-9;
        ask(run, clock_world, run->checked_rank[i], &checks[i]);
    }
}

/* After the first checks, which it is not to delay, as clocks drift. Collective. */
static void begin_report(check_run_t *run, const world_t *clock_world)
{
    run->step_ns = world_max(&run->world, clock_step(read_global, clock_world));
    if (run->world.rank == 0)
        check_begin_report(run);
}

/* Synchronizes a new communicator by a label, and checks it at all ages. */
static void run_trial(check_run_t *run, int label, int repeat)
{
    trial_t *trial = check_trial_of(run, label, repeat);
    world_t clock_world;
    world_require_code(&run->world, open_clock(run, run->label[label], &clock_world), "MPIX_Harmonize_set_info");
    int64_t begin_ns = synchronize(run, &clock_world, trial);
    for (int age = 0; age < run->ages; age++) {
        double age_s = run->settings.ages_s.values[age];
        int64_t target_ns = begin_ns + (int64_t)(age_s * 1e9);
        world_progress(&run->world, "%.40s: run %d of %lld, until %g s", run->label[label], repeat + 1,
                       (long long)run->settings.repeats, age_s);
        if (run->settings.keep_ms > 0)
            keep_until(run, &clock_world, target_ns);
        else
            system_sleep_ns(target_ns - system_time_ns());
        check_all(run, &clock_world, begin_ns, run->world.rank == 0 ? check_checks_of(run, label, repeat, age) : NULL);
        trial->syncs[age] = world_number(&clock_world, "mpix_harmonize_syncs");
        world_progress(&run->world, "%s", "");
        if (label == 0 && repeat == 0 && age == 0)
            begin_report(run, &clock_world);
        for (int i = 0; i < run->checked && run->world.rank == 0; i++)
            judge(run, &check_checks_of(run, label, repeat, age)[i]);
        if (run->world.rank == 0)
            check_print_age(run, label, repeat, age);
    }
    MPI_Comm_free(&clock_world.comm);
}

/* ---- The program */

/* Chooses the shared clock to compare with, if any: a counter. Collective. */
static int open_truth(check_run_t *run)
{
    int status = exit_clock_choose(&run->truth, &run->world, (exit_clock_kind_t)run->settings.truth, "auto or none");
    run->has_truth = run->truth.kind != EXIT_CLOCK_GLOBAL;
    run->tick_ns = exit_clock_tick_ns(&run->truth);
    return status;
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
    int status = read_labels(run);
    if (status == STATUS_GOOD)
        status = open_truth(run);
    if (status == STATUS_GOOD)
        status = world_require_ranks(&run->world, 2);
    if (status != STATUS_GOOD)
        return status;
    world_tell_unbound(&run->world);
    return results_open(&run->settings.results, &run->world);
}

static int run_program(void *state, char **argv)
{
    (void)argv;
    check_run_t *run = state;
    int status = prepare(run);
    if (status == STATUS_GOOD) {
        choose_ranks(run);
        int64_t trials = run->labels * run->settings.repeats;
        run->trials = check_allocate(run, trials, sizeof run->trials[0]);
        if (run->world.rank == 0) {
            run->checks = check_allocate(run, trials * run->ages * run->checked, sizeof run->checks[0]);
            run->exchanges = world_allocate(&run->world, run->settings.exchanges, sizeof run->exchanges[0],
                                            ": give less for --exchanges");
        }
        for (int label = 0; label < run->labels; label++)
            for (int repeat = 0; repeat < run->settings.repeats; repeat++)
                run_trial(run, label, repeat);
        if (run->violations > 0) {
            fprintf(stderr, "%s: error: the bound was violated in %lld of %lld checks\n", program.name,
                    (long long)run->violations, (long long)run->check_count);
            status = STATUS_FAILED;
        }
    }
    return results_close(&run->settings.results, &run->world, status);
}

static check_run_t the_run; /* its memory is of use until the end */

const clock_command_t clock_check = CLOCK_COMMAND("check", check_run_t, the_run, run_program);
