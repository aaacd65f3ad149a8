/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_clock_check - the error of the global clock on each rank, some time after a synchronisation, and whether the
 * bound that the library states holds. After Check-Global-Clock, algorithm 6 of Hunold and Carpen-Amarie, Cluster 2018.
 *
 * Each run is made on a communicator of its own, so that nothing learnt before helps it.
 */
#include "common/clock_error.h"
#include "common/exit_clock.h"
#include "common/options.h"
#include "common/plot.h"
#include "common/random.h"
#include "common/statistics.h"
#include "common/table.h"
#include "common/world.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LABELS_MOST = 32, AGES_MOST = 64, LABEL_BYTES = 128 };
#define AGE_MOST_S 86400.0

enum truth { TRUTH_AUTO, TRUTH_TSC, TRUTH_NONE, TRUTHS };

struct check_settings {
    int64_t exchanges;
    int64_t pairs;
    int64_t seed;
    int64_t repeat;
    int64_t truth;
    int64_t ranks;
    struct output output;
    double sample;
    double keep_ms;
    const char *labels_text; /* the texts: rank 0 only */
    const char *ages_text;
    const char *plot_path;
};

/* What is to be done, the same on all ranks. */
struct plan {
    int labels;
    int ages;
    char label[LABELS_MOST][LABEL_BYTES]; /* empty: what the library does by itself */
    double age_s[AGES_MOST];
};

/* The error of one rank at one time. */
struct check {
    double age_s; /* as it was when this rank's turn came */
    struct clock_error error;
};

/* The clock of one communicator, from its synchronisation on. */
struct trial {
    int64_t call_ns;             /* in MPIX_Clock_sync, on the slowest rank */
    int64_t sync_ns;             /* what the library says of it, likewise */
    int64_t syncs[AGES_MOST];    /* so far, at each age */
    struct check *checks;        /* ages x checked ranks */
};

struct check_run {
    struct world world;
    struct check_settings settings;
    struct plan plan;
    int *checked_rank; /* in ascending order */
    int checked;
    bool has_truth;
    const char *truth_text;
    struct exit_clock shared; /* where there is truth */
    struct plot_file plot;
    struct trial *trials; /* labels x repeat; those of other ranks than 0 are without checks */
};

static const char *const truth_names[] = {[TRUTH_AUTO] = "auto", [TRUTH_TSC] = "tsc", [TRUTH_NONE] = "none"};

static const char *truth_name(int index)
{
    return index < TRUTHS ? truth_names[index] : NULL;
}

#define PLACE(field) offsetof(struct check_settings, field)

static const struct option_spec options[] = {
    {0, "sync", "LABELS", OPTION_TEXT, PLACE(labels_text), 0, 0, NULL,
     "how to synchronise: labels of mpix_harmonize_sync,\nseparated by commas (default: what the library does)"},
    {0, "ages", "LIST", OPTION_TEXT, PLACE(ages_text), 0, 0, NULL,
     "seconds after the synchronisation, ascending,\nseparated by commas (default 0,1,10,60)"},
    {0, "keep", "MS", OPTION_DECIMAL, PLACE(keep_ms), 0.01, 1e6, NULL,
     "call MPIX_Harmonize each MS milliseconds, which\nsynchronises again when it wants to (default: clocks\nrun "
     "free)"},
    {0, "repeat", "N", OPTION_INTEGER, PLACE(repeat), 1, 1e4, NULL,
     "runs per label, each from a new start"},
    {0, "exchanges", "N", OPTION_INTEGER, PLACE(exchanges), 1, 1e6, NULL, "round trips to measure an error by"},
    {0, "pairs", "N", OPTION_INTEGER, PLACE(pairs), 1, 1e9, NULL,
     "check at most so many ranks against rank 0, taken at\nrandom (default: all)"},
    {0, "sample", "FRACTION", OPTION_DECIMAL, PLACE(sample), 1e-9, 1, NULL,
     "instead, this part of the ranks, rounded up"},
    {0, "seed", "N", OPTION_INTEGER, PLACE(seed), 0, 1e15, NULL,
     "of the random choice (default: from the time)"},
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
    "  age        the time since the synchronisation ended\n"
    "  took       the synchronisation as the library states it; call: MPIX_Clock_sync with what is done only once;\n"
    "             both on the slowest rank, the median of all runs\n"
    "  syncs      synchronisations so far, the most of all runs\n"
    "  checks     ranks checked x runs\n"
    "  p50, p99, max   quantiles of the error without its sign, by nearest rank\n"
    "  half       the greatest half width\n"
    "  true       the greatest error without its sign by the shared clock, as --truth says\n"
    "  bound      the greatest bound: what the library states for the rank and rank 0 together\n"
    "  viol       checks in which the bound was violated, by either measurement\n"
    "\n"
    "Exit status: 0 if all is well, 1 if a call failed or a bound was violated, 2 for a bad option.\n";

static const struct program_spec program = {
    "mpix_clock_check", "Measures the error of the global clock some time after a synchronisation, beside its bound.",
    options, sizeof(options) / sizeof(options[0]), notes, NULL, false};

/* The first column of both is as wide as the longest label. */
static const struct column summary_columns[] = {
    {"sync", "sync", 0, 0, 0},
    {"age(s)", "age_ns", 9, 2, 1e9},
    {"took(ms)", "took_ns", 11, 3, 1e6},
    {"call(ms)", "call_ns", 11, 3, 1e6},
    {"syncs", "syncs", 7, 0, 0},
    {"checks", "checks", 8, 0, 0},
    {"p50(ns)", "p50_ns", 11, 0, 0},
    {"p99(ns)", "p99_ns", 11, 0, 0},
    {"max(ns)", "max_ns", 11, 0, 0},
    {"half(ns)", "half_width_ns", 11, 0, 0},
    {"true(ns)", "true_ns", 13, 1, 0},
    {"bound(ns)", "bound_ns", 12, 0, 0},
    {"viol", "violations", 6, 0, 0},
};
enum { SUMMARY_COLUMNS = sizeof(summary_columns) / sizeof(summary_columns[0]) };

static const struct column rank_columns[] = {
    {"sync", "sync", 0, 0, 0},
    {"run", "run", 6, 0, 0},
    {"rank", "rank", 8, 0, 0},
    {"age(s)", "age_ns", 11, 4, 1e9},
    {"error(ns)", "error_ns", 12, 0, 0},
    {"half(ns)", "half_width_ns", 11, 0, 0},
    {"true(ns)", "true_ns", 13, 1, 0},
    {"half(ns)", "true_half_width_ns", 11, 1, 0},
    {"bound(ns)", "bound_ns", 12, 0, 0},
    {"viol", "violation", 6, 0, 0},
};
enum { RANK_COLUMNS = sizeof(rank_columns) / sizeof(rank_columns[0]) };

/* ---- Options */

/* Copies the next of a list separated by commas, without blanks before it. Returns what follows, NULL where it is empty
 * or too long. */
static const char *next_word(const char *list, char *word, size_t word_bytes)
{
    size_t length;

    list += strspn(list, " ");
    length = strcspn(list, ",");
    if (length == 0 || length >= word_bytes)
        return NULL;
    memcpy(word, list, length);
    word[length] = '\0';
    return list[length] == ',' ? list + length + 1 : list + length;
}

static bool parse_labels(struct plan *plan, const char *text)
{
    plan->labels = 0;
    for (const char *rest = text; plan->labels == 0 || rest[-1] == ',';) {
        if (plan->labels == LABELS_MOST)
            return false;
        rest = next_word(rest, plan->label[plan->labels++], LABEL_BYTES);
        if (rest == NULL)
            return false;
    }
    return true;
}

static bool parse_ages(struct plan *plan, const char *text)
{
    double before_s = -1;

    plan->ages = 0;
    for (const char *rest = text; plan->ages == 0 || rest[-1] == ',';) {
        char word[32], *end;
        double age_s;

        rest = plan->ages < AGES_MOST ? next_word(rest, word, sizeof(word)) : NULL;
        if (rest == NULL)
            return false;
        age_s = strtod(word, &end);
        if (end == word || *end != '\0' || !(age_s > before_s && age_s >= 0 && age_s <= AGE_MOST_S))
            return false;
        plan->age_s[plan->ages++] = before_s = age_s;
    }
    return true;
}

/* Reads the lists on rank 0 and gives them to all. Returns STATUS_BAD_OPTION after a line about it. Collective. */
static int make_plan(struct check_run *run)
{
    const struct check_settings *settings = &run->settings;
    struct plan *plan = &run->plan;
    bool labels_good = true, ages_good = true;

    plan->labels = 1;
    if (run->world.rank == 0) {
        labels_good = settings->labels_text == NULL || parse_labels(plan, settings->labels_text);
        ages_good = parse_ages(plan, settings->ages_text != NULL ? settings->ages_text : "0,1,10,60");
    }
    if (!world_all(&run->world, labels_good))
        return world_refuse(&run->world,
                            "option --sync: \"%.200s\" is not allowed, give 1 to %d labels of at most %d characters, "
                            "separated by commas (see --help)",
                            settings->labels_text, LABELS_MOST, LABEL_BYTES - 1);
    if (!world_all(&run->world, ages_good))
        return world_refuse(&run->world,
                            "option --ages: \"%.200s\" is not allowed, give 1 to %d ascending numbers from 0 to %.0f, "
                            "separated by commas (see --help)",
                            settings->ages_text, AGES_MOST, AGE_MOST_S);
    world_require(&run->world, MPI_Bcast(plan, sizeof(*plan), MPI_BYTE, 0, run->world.comm), "MPI_Bcast");
    return STATUS_GOOD;
}

/* Makes a communicator like the world's, to be synchronised as a label says. Returns the code of setting that. */
static int open_clock(const struct check_run *run, const char *label, struct world *clock_world)
{
    MPI_Info info;
    int code;

    *clock_world = run->world;
    world_require(&run->world, MPI_Comm_dup(run->world.comm, &clock_world->comm), "MPI_Comm_dup");
    MPI_Info_create(&info);
    if (label[0] != '\0')
        MPI_Info_set(info, "mpix_harmonize_sync", label);
    code = MPIX_Harmonize_set_info(clock_world->comm, info);
    MPI_Info_free(&info);
    return code;
}

/* Refuses a label that the library does; puts its own spelling in the place of others. Collective. */
static int check_label(const struct check_run *run, char *label)
{
    char text[MPI_MAX_INFO_VAL + 1];
    struct world clock_world;
    int code = open_clock(run, label, &clock_world);
    int class = MPI_SUCCESS;
    int status = STATUS_GOOD;

    MPI_Error_class(code, &class);
    if (class == MPI_ERR_INFO_VALUE) {
        world_statistic(&clock_world, "mpix_harmonize_last_error", text, sizeof(text));
        status = world_refuse(&run->world, "option --sync: %s (see --help)", text);
    } else if (!world_agree(&clock_world, code, "MPIX_Harmonize_set_info")) {
        status = STATUS_FAILED;
    } else if (world_statistic(&clock_world, "mpix_harmonize_sync", text, sizeof(text))) {
        snprintf(label, LABEL_BYTES, "%.*s", LABEL_BYTES - 1, text);
    }
    MPI_Comm_free(&clock_world.comm);
    return status;
}

static int check_labels(struct check_run *run)
{
    int status = STATUS_GOOD;

    for (int i = 0; i < run->plan.labels && status == STATUS_GOOD; i++)
        status = check_label(run, run->plan.label[i]);
    return status;
}

static bool is_sampled(const struct check_run *run)
{
    return run->checked < run->world.ranks - 1;
}

/* Takes the ranks to check: each of those left with the chance that makes the number come out. All ranks take the same.
 */
static bool choose_ranks(struct check_run *run)
{
    struct check_settings *settings = &run->settings;
    int others = run->world.ranks - 1;
    uint64_t state;
    int taken = 0;

    run->checked = others;
    if (settings->pairs > 0 && settings->pairs < others)
        run->checked = (int)settings->pairs;
    if (settings->sample > 0)
        run->checked = (int)ceil(settings->sample * others);
    run->checked_rank = malloc((size_t)run->checked * sizeof(run->checked_rank[0]));
    if (!world_all(&run->world, run->checked_rank != NULL))
        return false;
    if (settings->seed < 0)
        settings->seed = (int64_t)time(NULL);
    world_require(&run->world, MPI_Bcast(&settings->seed, 1, MPI_INT64_T, 0, run->world.comm), "MPI_Bcast");
    state = (uint64_t)settings->seed;
    for (int i = 0; i < others; i++) {
        if (random_next(&state) % (uint64_t)(others - i) < (uint64_t)(run->checked - taken))
            run->checked_rank[taken++] = 1 + i;
    }
    return true;
}

static bool is_checked(const struct check_run *run, int rank)
{
    for (int i = 0; i < run->checked; i++) {
        if (run->checked_rank[i] == rank)
            return true;
    }
    return false;
}

/* ---- Measurement */

static int64_t greatest_of_ranks(const struct check_run *run, int64_t value)
{
    int64_t greatest = value;
    int code = MPI_Reduce(&value, &greatest, 1, MPI_INT64_T, MPI_MAX, 0, run->world.comm);

    world_require(&run->world, code, "MPI_Reduce");
    return greatest;
}

static int64_t whole_statistic(const struct world *clock_world, const char *key)
{
    char text[MPI_MAX_INFO_VAL + 1];

    return world_statistic(clock_world, key, text, sizeof(text)) ? strtoll(text, NULL, 10) : 0;
}

/* Returns when, by this rank's clock. */
static int64_t synchronise(const struct check_run *run, const struct world *clock_world, struct trial *trial)
{
    int64_t begin_ns, end_ns;

    MPI_Barrier(run->world.comm);
    begin_ns = system_time_ns();
    world_require(clock_world, MPIX_Clock_sync(clock_world->comm), "MPIX_Clock_sync");
    end_ns = system_time_ns();
    trial->call_ns = greatest_of_ranks(run, end_ns - begin_ns);
    trial->sync_ns = greatest_of_ranks(run, whole_statistic(clock_world, "mpix_harmonize_sync_duration_ns"));
    return end_ns;
}

static void sleep_for(int64_t time_ns)
{
    struct timespec left = {(time_t)(time_ns / 1000000000), (long)(time_ns % 1000000000)};

    if (time_ns > 0)
        nanosleep(&left, NULL);
}

/* Calls MPIX_Harmonize until a time by rank 0's clock. */
static void keep_clock_until(const struct check_run *run, const struct world *clock_world, int64_t end_ns)
{
    for (;;) {
        int64_t left_ns = end_ns - system_time_ns();
        int valid;

        world_require(&run->world, MPI_Bcast(&left_ns, 1, MPI_INT64_T, 0, run->world.comm), "MPI_Bcast");
        if (left_ns <= 0)
            return;
        sleep_for((int64_t)fmin((double)left_ns, run->settings.keep_ms * 1e6));
        world_require(clock_world, MPIX_Harmonize(clock_world->comm, &valid), "MPIX_Harmonize");
    }
}

/* Leaves the checks on rank 0. */
static void check_all(const struct check_run *run, const struct world *clock_world, int64_t begin_ns,
                      struct check *checks)
{
    const struct clock_meter meter = {clock_world, run->world.comm, run->has_truth ? &run->shared : NULL,
                                      run->settings.exchanges};

    if (run->world.rank != 0) {
        if (is_checked(run, run->world.rank))
            clock_error_answer(&meter);
        return;
    }
    for (int i = 0; i < run->checked; i++) {
        checks[i].age_s = (double)(system_time_ns() - begin_ns) * 1e-9;
        clock_error_ask(&meter, run->checked_rank[i], &checks[i].error);
    }
}

static struct trial *trial_of(const struct check_run *run, int label, int repeat)
{
    return &run->trials[label * run->settings.repeat + repeat];
}

static const struct check *checks_of(const struct check_run *run, int label, int repeat, int age)
{
    return &trial_of(run, label, repeat)->checks[(size_t)age * (size_t)run->checked];
}

static void show_progress(const struct check_run *run, int label, int repeat, int age)
{
    if (run->world.rank == 0 && isatty(STDERR_FILENO))
        fprintf(stderr, "\r%.60s: run %d of %lld, until %g s ", run->plan.label[label], repeat + 1,
                (long long)run->settings.repeat, run->plan.age_s[age]);
}

static void clear_progress(const struct check_run *run)
{
    if (run->world.rank == 0 && isatty(STDERR_FILENO))
        fprintf(stderr, "\r%*s\r", 110, "");
}

/* ---- Output */

struct report {
    const struct check_run *run;
    struct table table;
    struct column columns[(int)SUMMARY_COLUMNS > (int)RANK_COLUMNS ? SUMMARY_COLUMNS : RANK_COLUMNS];
    int64_t *values; /* room for one of each check at one age, or each run */
    int64_t checks;
    int64_t violations;
};

static bool report_open(struct report *report, const struct check_run *run)
{
    bool ranks = run->settings.ranks != 0;
    int64_t repeat = run->settings.repeat;
    int width = 6;

    *report = (struct report){.run = run};
    memcpy(report->columns, ranks ? rank_columns : summary_columns,
           ranks ? sizeof(rank_columns) : sizeof(summary_columns));
    for (int i = 0; i < run->plan.labels; i++) {
        int length = (int)strlen(run->plan.label[i]) + 2;

        width = length > width ? length : width;
    }
    report->columns[0].width = width;
    report->table =
        (struct table){report->columns, ranks ? RANK_COLUMNS : SUMMARY_COLUMNS, &run->settings.output};
    report->values = malloc((size_t)repeat * (size_t)run->checked * sizeof(report->values[0]));
    return report->values != NULL;
}

static void print_head(const struct report *report)
{
    const struct check_run *run = report->run;
    FILE *file = run->settings.output.file;

    if (run->settings.output.format != FORMAT_TABLE && is_sampled(run))
        fprintf(stderr, "%s: seed: %lld\n", program.name, (long long)run->settings.seed);
    if (run->settings.output.format == FORMAT_TABLE) {
        world_describe(&run->world, file, "error of the global clock against that of rank 0");
        fprintf(file, "# Checked: %d of %d ranks, by %lld exchanges each", run->checked, run->world.ranks - 1,
               (long long)run->settings.exchanges);
        fprintf(file, is_sampled(run) ? "; seed %lld\n" : "\n", (long long)run->settings.seed);
        fprintf(file, "# Truth: %s\n", run->truth_text);
        if (run->settings.keep_ms > 0)
            fprintf(file, "# Clocks: kept by MPIX_Harmonize, called each %g ms\n", run->settings.keep_ms);
        else
            fprintf(file, "# Clocks: free-running after one synchronisation\n");
    }
    table_head(&report->table);
}

static const char *no_truth(const struct check_run *run)
{
    return run->has_truth ? NULL : "";
}

static const char *no_bound(int64_t bound_ns)
{
    return bound_ns == INT64_MAX ? "" : NULL;
}

static void print_ranks(struct report *report, int label, int repeat, int age, double tick_ns)
{
    const struct check_run *run = report->run;
    const struct check *checks = checks_of(run, label, repeat, age);

    for (int i = 0; i < run->checked; i++) {
        const struct clock_error *error = &checks[i].error;

        table_row(&report->table, (struct cell[]){{run->plan.label[label], 0},
                                                  {NULL, repeat + 1},
                                                  {NULL, run->checked_rank[i]},
                                                  {NULL, checks[i].age_s * 1e9},
                                                  {NULL, (double)error->error_ns},
                                                  {NULL, (double)error->half_width_ns},
                                                  {no_truth(run), clock_error_true_ns(error, tick_ns)},
                                                  {no_truth(run), clock_error_true_half_width_ns(error, tick_ns)},
                                                  {no_bound(error->bound_ns), (double)error->bound_ns},
                                                  {NULL, clock_error_violates_bound(error, tick_ns)}});
    }
}

/* What all checks of a label at one age come to, but for quantiles. */
struct extremes {
    int64_t half_width_ns;
    int64_t bound_ns;
    double true_ns;
    int64_t violations;
};

static void take_in(struct extremes *most, const struct clock_error *error, double tick_ns)
{
    most->half_width_ns = error->half_width_ns > most->half_width_ns ? error->half_width_ns : most->half_width_ns;
    most->bound_ns = error->bound_ns > most->bound_ns ? error->bound_ns : most->bound_ns;
    most->true_ns = fmax(most->true_ns, fabs(clock_error_true_ns(error, tick_ns)));
    most->violations += clock_error_violates_bound(error, tick_ns);
}

/* Fills report->values with the errors without their signs, in ascending order. Returns how many. */
static int64_t gather(struct report *report, int label, int age, double tick_ns, struct extremes *most)
{
    const struct check_run *run = report->run;
    int64_t count = 0;

    *most = (struct extremes){0};
    for (int repeat = 0; repeat < run->settings.repeat; repeat++) {
        const struct check *checks = checks_of(run, label, repeat, age);

        for (int i = 0; i < run->checked; i++) {
            report->values[count++] = llabs(checks[i].error.error_ns);
            take_in(most, &checks[i].error, tick_ns);
        }
    }
    sort_ascending(report->values, count);
    return count;
}

static double median_of_runs_ns(struct report *report, int label, bool call)
{
    const struct check_run *run = report->run;

    for (int repeat = 0; repeat < run->settings.repeat; repeat++) {
        const struct trial *trial = trial_of(run, label, repeat);

        report->values[repeat] = call ? trial->call_ns : trial->sync_ns;
    }
    sort_ascending(report->values, run->settings.repeat);
    return (double)quantile(report->values, run->settings.repeat, 0.5);
}

static int64_t most_syncs(const struct check_run *run, int label, int age)
{
    int64_t most = 0;

    for (int repeat = 0; repeat < run->settings.repeat; repeat++) {
        int64_t syncs = trial_of(run, label, repeat)->syncs[age];

        most = syncs > most ? syncs : most;
    }
    return most;
}

static void print_summary(struct report *report, int label, int age, double tick_ns)
{
    const struct check_run *run = report->run;
    double took_ns = median_of_runs_ns(report, label, false);
    double call_ns = median_of_runs_ns(report, label, true);
    struct extremes most;
    int64_t count = gather(report, label, age, tick_ns, &most);

    report->checks += count;
    report->violations += most.violations;
    if (run->settings.ranks)
        return;
    table_row(&report->table, (struct cell[]){{run->plan.label[label], 0},
                                              {NULL, run->plan.age_s[age] * 1e9},
                                              {NULL, took_ns},
                                              {NULL, call_ns},
                                              {NULL, (double)most_syncs(run, label, age)},
                                              {NULL, (double)count},
                                              {NULL, (double)quantile(report->values, count, 0.5)},
                                              {NULL, (double)quantile(report->values, count, 0.99)},
                                              {NULL, (double)report->values[count - 1]},
                                              {NULL, (double)most.half_width_ns},
                                              {no_truth(run), most.true_ns},
                                              {no_bound(most.bound_ns), (double)most.bound_ns},
                                              {NULL, (double)most.violations}});
}

/* Prints what is known after a run has reached an age: a row comes as soon as it may. */
static void print_age(struct report *report, int label, int repeat, int age)
{
    const struct check_run *run = report->run;
    double tick_ns = run->has_truth ? exit_clock_tick_ns(&run->shared) : 0;

    if (run->settings.ranks)
        print_ranks(report, label, repeat, age, tick_ns);
    if (repeat == run->settings.repeat - 1)
        print_summary(report, label, age, tick_ns);
}

/* ---- All of it */

static void run_trial(struct check_run *run, struct report *report, int label, int repeat)
{
    struct trial *trial = trial_of(run, label, repeat);
    struct world clock_world;
    int64_t begin_ns;

    world_require(&run->world, open_clock(run, run->plan.label[label], &clock_world), "MPIX_Harmonize_set_info");
    begin_ns = synchronise(run, &clock_world, trial);
    for (int age = 0; age < run->plan.ages; age++) {
        int64_t target_ns = begin_ns + (int64_t)(run->plan.age_s[age] * 1e9);
        struct check *checks = trial->checks == NULL ? NULL : &trial->checks[(size_t)age * (size_t)run->checked];

        show_progress(run, label, repeat, age);
        if (run->settings.keep_ms > 0)
            keep_clock_until(run, &clock_world, target_ns);
        else
            sleep_for(target_ns - system_time_ns());
        check_all(run, &clock_world, begin_ns, checks);
        trial->syncs[age] = whole_statistic(&clock_world, "mpix_harmonize_syncs");
        clear_progress(run);
        if (run->world.rank == 0)
            print_age(report, label, repeat, age);
    }
    MPI_Comm_free(&clock_world.comm);
}

static int run_all(struct check_run *run, struct report *report)
{
    if (run->world.rank == 0)
        print_head(report);
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

/* ---- Chart */

enum chart_line { LINE_BOUND, LINE_HALF_WIDTH, LINE_ERROR, LINE_TRUE, LINES };

/* Of one label. Bounds and errors are orders of magnitude apart, so it is logarithmic. */
struct chart_panel {
    struct plot_series series[LINES];
    double *numbers; /* all that series point to */
};

/* On a logarithmic axis there is no zero. */
static double at_least_1(double value)
{
    return value > 1 ? value : 1;
}

/* The greatest bound and half width at each age. */
static void fill_lines(const struct check_run *run, int label, double *x, double *bound_ns, double *half_width_ns)
{
    for (int age = 0; age < run->plan.ages; age++) {
        struct extremes most = {0};

        for (int repeat = 0; repeat < run->settings.repeat; repeat++) {
            for (int i = 0; i < run->checked; i++)
                take_in(&most, &checks_of(run, label, repeat, age)[i].error, 0);
        }
        x[age] = age;
        bound_ns[age] = most.bound_ns == INT64_MAX ? NAN : (double)most.bound_ns;
        half_width_ns[age] = (double)most.half_width_ns;
    }
}

/* Points of an age share a category: they stand side by side there. */
static double place(int age, int64_t index, int64_t count)
{
    return age + (count > 1 ? 0.5 * ((double)index / (double)(count - 1) - 0.5) : 0);
}

static void fill_points(const struct check_run *run, int label, double tick_ns, double *x, double *error_ns,
                        double *true_ns)
{
    int64_t per_age = run->settings.repeat * run->checked;
    int64_t at = 0;

    for (int age = 0; age < run->plan.ages; age++) {
        for (int64_t i = 0; i < per_age; i++, at++) {
            const struct check *check = &checks_of(run, label, (int)(i / run->checked), age)[i % run->checked];

            x[at] = place(age, i, per_age);
            error_ns[at] = at_least_1((double)llabs(check->error.error_ns));
            true_ns[at] = at_least_1(fabs(clock_error_true_ns(&check->error, tick_ns)));
        }
    }
}

static bool fill_panel(const struct check_run *run, int label, double tick_ns, struct chart_panel *panel)
{
    ptrdiff_t ages = run->plan.ages;
    ptrdiff_t points = ages * run->settings.repeat * run->checked;
    double *lines = malloc(3 * (size_t)(ages + points) * sizeof(lines[0]));
    double *marks;

    panel->numbers = lines;
    if (lines == NULL)
        return false;
    marks = lines + 3 * ages;
    fill_lines(run, label, lines, lines + ages, lines + 2 * ages);
    fill_points(run, label, tick_ns, marks, marks + points, marks + 2 * points);
    panel->series[LINE_BOUND] = (struct plot_series){
        .title = "stated bound", .style = PLOT_LINES_POINTS, .count = (int)ages, .x = lines, .y = lines + ages};
    panel->series[LINE_HALF_WIDTH] = (struct plot_series){
        .title = "half width of exchanges", .style = PLOT_LINES, .count = (int)ages, .x = lines, .y = lines + 2 * ages};
    panel->series[LINE_ERROR] = (struct plot_series){
        .title = "error by exchanges", .style = PLOT_POINTS, .count = (int)points, .x = marks, .y = marks + points};
    panel->series[LINE_TRUE] = (struct plot_series){
        .title = "error by the TSC", .style = PLOT_POINTS, .count = (int)points, .x = marks, .y = marks + 2 * points};
    return true;
}

static int draw(struct check_run *run)
{
    double tick_ns = run->has_truth ? exit_clock_tick_ns(&run->shared) : 0;
    struct chart_panel charts[LABELS_MOST] = {0};
    struct plot_panel panels[LABELS_MOST] = {0};
    char age_text[AGES_MOST][24];
    const char *age_names[AGES_MOST];
    int status = STATUS_GOOD;

    for (int age = 0; age < run->plan.ages; age++) {
        snprintf(age_text[age], sizeof(age_text[age]), "%g", run->plan.age_s[age]);
        age_names[age] = age_text[age];
    }
    for (int i = 0; i < run->plan.labels; i++) {
        if (!fill_panel(run, i, tick_ns, &charts[i]))
            status = STATUS_FAILED;
        panels[i] = (struct plot_panel){.title = run->plan.label[i],
                                        .x = {.label = "time since the synchronisation (s)",
                                              .category = age_names,
                                              .categories = run->plan.ages},
                                        .y = {.label = "without sign, at least 1 (ns)", .logarithmic = true},
                                        .series = charts[i].series,
                                        .series_count = run->has_truth ? LINES : LINE_TRUE};
    }
    const struct plot plot = {"Error of the global clock against rank 0", panels, run->plan.labels, 0};
    if (status == STATUS_GOOD)
        status = plot_draw(&run->plot, &run->world, &plot);
    else
        fprintf(stderr, "%s: out of memory for the chart\n", program.name);
    for (int i = 0; i < run->plan.labels; i++)
        free(charts[i].numbers);
    return status;
}

/* ---- Start and end */

/* Chooses the shared clock to compare with, if any. Collective. */
static int open_truth(struct check_run *run)
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

static bool allocate(struct check_run *run, struct report *report)
{
    int64_t trials = run->plan.labels * run->settings.repeat;
    bool good = report_open(report, run);

    run->trials = calloc((size_t)trials, sizeof(run->trials[0]));
    good = good && run->trials != NULL;
    for (int64_t i = 0; i < trials && good && run->world.rank == 0; i++) {
        run->trials[i].checks = calloc((size_t)run->plan.ages * (size_t)run->checked, sizeof(struct check));
        good = run->trials[i].checks != NULL;
    }
    good = world_all(&run->world, good);
    if (!good)
        world_refuse(&run->world, "out of memory: give less for --repeat, --ages or --pairs");
    return good;
}

static void release(struct check_run *run, struct report *report)
{
    for (int64_t i = 0; run->trials != NULL && i < run->plan.labels * run->settings.repeat; i++)
        free(run->trials[i].checks);
    free(run->trials);
    free(report->values);
    free(run->checked_rank);
}

/* Whatever may be wrong with options is found here, before anything is measured. Collective. */
static int prepare(struct check_run *run)
{
    int status;

    if (run->settings.pairs > 0 && run->settings.sample > 0)
        return world_refuse(&run->world, "option --pairs is not allowed together with --sample (see --help)");
    status = make_plan(run);
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

static int run_program(struct check_run *run)
{
    struct report report = {0};
    int status = prepare(run);

    if (status == STATUS_GOOD && (!choose_ranks(run) || !allocate(run, &report)))
        status = STATUS_BAD_OPTION;
    if (status == STATUS_GOOD) {
        status = run_all(run, &report);
        if (run->world.rank == 0 && run->settings.plot_path != NULL && draw(run) != STATUS_GOOD)
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
    struct check_run run = {.settings = {.exchanges = 20, .repeat = 1, .seed = -1, .truth = TRUTH_AUTO},
                            .plot = PLOT_NO_FILE};
    int status;

    world_begin(&run.world, program.name, &argc, &argv);
    if (world_options(&run.world, &program, argc, argv, &run.settings, sizeof(run.settings), &status))
        status = run_program(&run);
    return world_end(&run.world, status);
}
