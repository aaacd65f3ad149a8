/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compare_barriers - MPIX_Harmonize by each rendezvous, MPI_Barrier, and any other library's MPIX_Harmonize, in one
 * run.
 *
 * Subjects take turns in blocks, and all is repeated several times; figures are medians over the repetitions. An exit
 * is the first instruction after the call, by the time stamp counter where all share it. Rank 0 prints.
 */
#include "common/exit_clock.h"
#include "common/options.h"
#include "common/output.h"
#include "common/statistics.h"
#include "common/table.h"
#include "common/world.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SUBJECTS = 8, MOST_REPEATS = 99 };

typedef int harmonize_function(MPI_Comm comm, int *flag);

/* What is compared. A subject without a function is MPI_Barrier. */
struct subject {
    char name[40];
    harmonize_function *harmonize;
    MPI_Comm comm;
};

struct figures {
    double per_call_ns, p50_ns, p99_ns, p999_ns, most_ns, valid_fraction, valid_per_s;
};

enum { FIGURES = sizeof(struct figures) / sizeof(double) };

struct settings {
    int64_t calls;
    int64_t warmup;
    int64_t repeats;
    int64_t clock;
    const char *other;
    const char *json;
    const char *title;
};

struct bench {
    struct world world;
    struct settings settings;
    struct exit_clock clock;
    struct subject subjects[MOST_SUBJECTS];
    int subject_count;
    int64_t *exit_ticks; /* of this rank */
    int *valid;
    int64_t *extremes; /* per call: last exit, first exit negated, invalid */
    int64_t *skews;    /* of valid calls, on rank 0 */
};

#define PLACE(field) offsetof(struct settings, field)

static const struct option_spec options[] = {
    {'n', "calls", "N", OPTION_INTEGER, PLACE(calls), 1, 1e7, NULL, "calls of each subject in a repetition"},
    {'x', "warmup", "N", OPTION_INTEGER, PLACE(warmup), 0, 1e7, NULL, "calls before those, at its every turn"},
    {'r', "repeats", "N", OPTION_INTEGER, PLACE(repeats), 1, MOST_REPEATS, NULL, "repetitions; figures are medians over them"},
    {0, "clock", "CLOCK", OPTION_CHOICE, PLACE(clock), 0, 0, exit_clock_name,
     "what exits are compared by: tsc, global (the\nlibrary's own), or auto: tsc where all ranks share it"},
    {0, "other", "FILE", OPTION_TEXT, PLACE(other), 0, 0, NULL, "a shared library with another MPIX_Harmonize"},
    {0, "json", "FILE", OPTION_TEXT, PLACE(json), 0, 0, NULL, "append a line of JSON for each subject to FILE"},
    {0, "title", "TEXT", OPTION_TEXT, PLACE(title), 0, 0, NULL, "the name of the case, for the table and for JSON"},
};

static const struct program_spec program = {
    .name = "compare_barriers",
    .purpose = "Compares the exits from MPIX_Harmonize by each rendezvous with those from MPI_Barrier.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .notes = "The last column is the time of a call of MPI_Barrier over that of this one, in the same run.\n"};

static const struct column columns[] = {
    {"subject", "subject", 14, 0},     {"call(ns)", "call_ns", 12, 1},  {"p50(ns)", "p50_ns", 10, 1},
    {"p99(ns)", "p99_ns", 12, 1},      {"p99.9(ns)", "p999_ns", 12, 1}, {"max(ns)", "max_ns", 14, 1},
    {"valid", "valid", 9, 4},          {"valid/s", "valid_per_s", 12, 0},
    {"barrier/this", "barrier_over_this", 14, 2},
};

static int call_once(const struct subject *subject, int *valid)
{
    *valid = 1;
    return subject->harmonize != NULL ? subject->harmonize(subject->comm, valid) : MPI_Barrier(subject->comm);
}

static void add_subject(struct bench *bench, const char *name, harmonize_function *harmonize)
{
    struct subject *subject = &bench->subjects[bench->subject_count++];

    snprintf(subject->name, sizeof(subject->name), "%s", name);
    subject->harmonize = harmonize;
    MPI_Comm_dup(bench->world.comm, &subject->comm);
}

/* A communicator whose processes meet in one way; none where that is impossible here. */
static void add_rendezvous(struct bench *bench, const char *name)
{
    struct subject *subject = &bench->subjects[bench->subject_count];
    char used[64];
    struct world own = bench->world;
    MPI_Info info;
    int flag;

    add_subject(bench, name, MPIX_Harmonize);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpix_harmonize_rendezvous", name);
    world_require(&bench->world, MPIX_Harmonize_set_info(subject->comm, info), "MPIX_Harmonize_set_info");
    world_require(&bench->world, MPIX_Harmonize(subject->comm, &flag), "MPIX_Harmonize");
    MPI_Info_free(&info);
    own.comm = subject->comm;
    if (world_statistic(&own, "mpix_harmonize_rendezvous_used", used, sizeof(used)) && strcmp(used, name) != 0) {
        MPI_Comm_free(&subject->comm);
        bench->subject_count--;
    }
}

static bool add_other(struct bench *bench, const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    harmonize_function *function = NULL;

    if (library != NULL)
        *(void **)&function = dlsym(library, "MPIX_Harmonize");
    if (!world_all(&bench->world, function != NULL)) {
        world_refuse(&bench->world, "option --other: \"%.200s\" is no library with an MPIX_Harmonize", path);
        return false;
    }
    add_subject(bench, "other", function);
    return true;
}

static bool choose_subjects(struct bench *bench, char *other)
{
    static const char *const rendezvous[] = {"shm", "dissemination", "tree", "collective"};

    add_subject(bench, "MPI_Barrier", NULL);
    for (size_t i = 0; i < sizeof(rendezvous) / sizeof(rendezvous[0]); i++)
        add_rendezvous(bench, rendezvous[i]);
    return other[0] == '\0' || add_other(bench, other);
}

/* ---- One block of calls */

static int64_t collect_skews(struct bench *bench)
{
    int64_t valid = 0, calls = bench->settings.calls, *extremes = bench->extremes;

    for (int64_t i = 0; i < calls; i++) {
        extremes[3 * i] = bench->exit_ticks[i];
        extremes[3 * i + 1] = -bench->exit_ticks[i];
        extremes[3 * i + 2] = !bench->valid[i];
    }
    MPI_Allreduce(MPI_IN_PLACE, extremes, (int)(3 * calls), MPI_INT64_T, MPI_MAX, bench->world.comm);
    for (int64_t i = 0; i < calls; i++)
        if (!extremes[3 * i + 2])
            bench->skews[valid++] = extremes[3 * i] + extremes[3 * i + 1];
    sort_ascending(bench->skews, valid);
    return valid;
}

static struct figures figures_of(struct bench *bench, double loop_ns)
{
    double tick_ns = exit_clock_tick_ns(&bench->clock), calls = (double)bench->settings.calls;
    int64_t valid = collect_skews(bench);
    struct figures figures = {.per_call_ns = loop_ns / calls,
                              .valid_fraction = (double)valid / calls,
                              .valid_per_s = (double)valid / loop_ns * 1e9};

    if (valid == 0)
        return figures;
    figures.p50_ns = tick_ns * (double)quantile(bench->skews, valid, 0.5);
    figures.p99_ns = tick_ns * (double)quantile(bench->skews, valid, 0.99);
    figures.p999_ns = tick_ns * (double)quantile(bench->skews, valid, 0.999);
    figures.most_ns = tick_ns * (double)bench->skews[valid - 1];
    return figures;
}

static struct figures measure(struct bench *bench, const struct subject *subject)
{
    int64_t begin_ns, loop_ns;
    int valid;

    if (bench->clock.kind == EXIT_CLOCK_GLOBAL) /* that of a communicator which no subject keeps */
        world_require(&bench->world, MPIX_Clock_sync(bench->world.comm), "MPIX_Clock_sync");
    for (int64_t i = 0; i < bench->settings.warmup; i++)
        world_require(&bench->world, call_once(subject, &valid), subject->name);
    begin_ns = system_time_ns();
    for (int64_t i = 0; i < bench->settings.calls; i++) {
        int code = call_once(subject, &bench->valid[i]);

        bench->exit_ticks[i] = exit_clock_ticks(&bench->clock);
        world_require(&bench->world, code, subject->name);
    }
    loop_ns = system_time_ns() - begin_ns;
    MPI_Allreduce(MPI_IN_PLACE, &loop_ns, 1, MPI_INT64_T, MPI_MAX, bench->world.comm);
    return figures_of(bench, (double)loop_ns);
}

/* ---- All repetitions */

static struct figures median_of(const struct figures *all, int64_t count)
{
    struct figures median;
    int64_t values[MOST_REPEATS];

    /* Thousandths, as order statistics are of integers. */
    for (int f = 0; f < FIGURES; f++) {
        for (int64_t i = 0; i < count; i++)
            values[i] = (int64_t)(((const double *)&all[i])[f] * 1e3 + 0.5);
        sort_ascending(values, count);
        ((double *)&median)[f] = (double)quantile(values, count, 0.5) / 1e3;
    }
    return median;
}

static void print_json(FILE *file, const struct bench *bench, const struct subject *subject, const struct figures *figures,
                       double ratio)
{
    fprintf(file,
            "{\"case\": \"%s\", \"ranks\": %d, \"nodes\": %d, \"subject\": \"%s\", \"call_ns\": %.1f, \"p50_ns\": %.1f, "
            "\"p99_ns\": %.1f, \"p999_ns\": %.1f, \"max_ns\": %.1f, \"valid\": %.4f, \"valid_per_s\": %.0f, "
            "\"barrier_over_this\": %.3f}\n",
            bench->settings.title, bench->world.ranks, bench->world.nodes, subject->name, figures->per_call_ns, figures->p50_ns,
            figures->p99_ns, figures->p999_ns, figures->most_ns, figures->valid_fraction, figures->valid_per_s, ratio);
}

static void print_all(const struct bench *bench, struct figures (*all)[MOST_REPEATS], FILE *json)
{
    const struct table table = {columns, sizeof(columns) / sizeof(columns[0]), false};
    double barrier_ns = median_of(all[0], bench->settings.repeats).per_call_ns;

    world_describe(&bench->world, bench->settings.title);
    printf("# Calls: %ld of each, median of %ld repetitions\n", (long)bench->settings.calls, (long)bench->settings.repeats);
    table_head(&table);
    for (int i = 0; i < bench->subject_count; i++) {
        struct figures of = median_of(all[i], bench->settings.repeats);
        const char *none = of.valid_fraction > 0 ? NULL : "-";
        double ratio = barrier_ns / of.per_call_ns;

        table_row(&table, (struct cell[]){{bench->subjects[i].name, 0}, {NULL, of.per_call_ns}, {none, of.p50_ns},
                                          {none, of.p99_ns}, {none, of.p999_ns}, {none, of.most_ns},
                                          {NULL, of.valid_fraction}, {NULL, of.valid_per_s}, {NULL, ratio}});
        if (json != NULL)
            print_json(json, bench, &bench->subjects[i], &of, ratio);
    }
}

static int compare(struct bench *bench, FILE *json)
{
    static struct figures all[MOST_SUBJECTS][MOST_REPEATS];

    for (int64_t repeat = 0; repeat < bench->settings.repeats; repeat++)
        for (int i = 0; i < bench->subject_count; i++)
            all[i][repeat] = measure(bench, &bench->subjects[i]);
    if (bench->world.rank == 0)
        print_all(bench, all, json);
    return STATUS_GOOD;
}

static bool allocate(struct bench *bench)
{
    size_t calls = (size_t)bench->settings.calls;

    bench->exit_ticks = calloc(calls, sizeof(bench->exit_ticks[0]));
    bench->valid = calloc(calls, sizeof(bench->valid[0]));
    bench->extremes = calloc(3 * calls, sizeof(bench->extremes[0]));
    bench->skews = calloc(calls, sizeof(bench->skews[0]));
    return world_all(&bench->world, bench->exit_ticks && bench->valid && bench->extremes && bench->skews);
}

static int run_program(struct bench *bench)
{
    FILE *json = NULL;
    char other[512] = "";
    bool root = bench->world.rank == 0;
    int status = exit_clock_open(&bench->clock, &bench->world, (enum exit_clock_kind)bench->settings.clock);

    if (status != STATUS_GOOD)
        return status;
    if (root && bench->settings.json != NULL)
        json = fopen(bench->settings.json, "a");
    if (!world_all(&bench->world, !root || bench->settings.json == NULL || json != NULL))
        return world_refuse(&bench->world, "option --json: the file cannot be written");
    if (root && bench->settings.other != NULL)
        snprintf(other, sizeof(other), "%s", bench->settings.other);
    MPI_Bcast(other, sizeof(other), MPI_CHAR, 0, bench->world.comm);
    if (!allocate(bench))
        status = world_refuse(&bench->world, "out of memory: give less for --calls");
    else
        status = choose_subjects(bench, other) ? compare(bench, json) : STATUS_BAD_OPTION;
    if (json != NULL && !output_finish(json, bench->settings.json, bench->world.program) && status == STATUS_GOOD)
        status = STATUS_FAILED;
    return status;
}

int main(int argc, char **argv)
{
    struct bench bench = {.settings = {.calls = 100000, .warmup = 1000, .repeats = 5, .clock = EXIT_CLOCK_AUTO, .title = "exits from barriers"}};
    int status;

    world_begin(&bench.world, program.name, &argc, &argv);
    if (world_options(&bench.world, &program, argc, argv, &bench.settings, sizeof(bench.settings), &status))
        status = run_program(&bench);
    for (int i = 0; i < bench.subject_count; i++)
        MPI_Comm_free(&bench.subjects[i].comm);
    free(bench.exit_ticks);
    free(bench.valid);
    free(bench.extremes);
    free(bench.skews);
    return world_end(&bench.world, status);
}
