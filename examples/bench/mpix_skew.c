/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_skew - exit skew of MPI_Barrier and MPIX_Harmonize, side by side in one run.
 *
 * Blocks of calls of each scheme take turns, so whatever else the machine does meets both alike. Within a block nothing
 * but the call, the reading of a clock and one store is repeated.
 */
#include "common/exit_clock.h"
#include "common/options.h"
#include "common/output.h"
#include "common/statistics.h"
#include "common/table.h"
#include "common/world.h"

#include <mpix_harmonize.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A block takes at most this, and this share of a scheme's time, so that slow schemes take turns, too. */
#define MOST_BLOCK_NS 25e6
#define MOST_BLOCK_SHARE 0.05
/* Warming up takes at most this share of a scheme's time. */
#define MOST_WARMUP_SHARE 0.25
#define WATCH_INTERVAL_NS INT64_C(250000000)
/* Short, so that rows come in time although calls may become much slower within a block. */
#define MOST_WATCH_BLOCK_NS 5e6

/* One untimed call in so many settles a block: its first calls still feel the end of the block before. */
enum { SETTLE_PART = 50 };

/* The two kinds of calls. */
enum scheme_index { SCHEME_BARRIER, SCHEME_HARMONIZE, SCHEME_COUNT };
struct scheme {
    const char *name;
    const char *call;                          /* the function behind it, for messages */
    int (*release)(MPI_Comm comm, int *valid); /* valid: whether this process left when it should */
};

static int release_by_barrier(MPI_Comm comm, int *valid)
{
    *valid = 1;
    return MPI_Barrier(comm);
}

static const struct scheme schemes[SCHEME_COUNT] = {
    [SCHEME_BARRIER] = {"barrier", "MPI_Barrier", release_by_barrier},
    [SCHEME_HARMONIZE] = {"harmonize", "MPIX_Harmonize", MPIX_Harmonize},
};

static const char *scheme_name(int index)
{
    return index < SCHEME_COUNT ? schemes[index].name : NULL;
}

struct skew_settings {
    int64_t calls;
    int64_t block;
    int64_t warmup;
    int64_t schemes; /* bit i for scheme i */
    int64_t clock;
    struct output output;
    double limit_s;
    double watch_s;
    const char *raw_path; /* rank 0 only */
};

/* One timed call, on rank 0. */
struct record {
    int64_t skew_ticks;
    int64_t valid; /* on all ranks */
};

/* What was measured of one scheme. Rank 0 knows all of it, the others only calls. */
struct tally {
    struct record *records; /* NULL where single calls are not kept */
    int64_t calls;
    int64_t valid;
    int64_t loop_ns;  /* in the measured loop, on the slowest rank */
    int64_t spent_ns; /* in all */
};

/* Room for one block on this rank. */
struct block {
    int64_t *exit_ticks;
    int *valid;
    int64_t *greatest; /* per call: last exit, first exit negated, invalid; then the loop's time */
};

struct skew_run {
    struct world world;
    struct skew_settings settings;
    struct exit_clock clock;
    struct block block;
    int64_t block_calls;
    FILE *raw;
    struct tally tallies[SCHEME_COUNT];
};

struct figures {
    double p50_ns, p90_ns, p99_ns, most_ns;
    double per_call_ns, valid_per_s;
};

#define PLACE(field) offsetof(struct skew_settings, field)

static const struct option_spec options[] = {
    {'n', "calls", "N", OPTION_INTEGER, PLACE(calls), 1, 1e8, NULL, "timed calls per scheme, at most"},
    {0, "seconds", "S", OPTION_DECIMAL, PLACE(limit_s), 0.001, 1e6, NULL,
     "time per scheme, at most; where there are more ranks\nthan cores, this limit comes first"},
    {0, "block", "N", OPTION_INTEGER, PLACE(block), 1, 1e6, NULL,
     "calls of a scheme before it is the other's turn;\nless where they take more than 25 ms or 5 % of S"},
    {'x', "warmup", "N", OPTION_INTEGER, PLACE(warmup), 1, 1e8, NULL,
     "calls of a scheme before those timed,\nbut not above a quarter of its time"},
    {0, "release", "LIST", OPTION_CHOICES, PLACE(schemes), 0, 0, scheme_name, "which to measure"},
    {0, "clock", "CLOCK", OPTION_CHOICE, PLACE(clock), 0, 0, exit_clock_name,
     "what exits are compared by: tsc, global (the\nlibrary's own), or auto: tsc where all ranks share it"},
    {0, "raw", "FILE", OPTION_TEXT, PLACE(raw_path), 0, 0, NULL,
     "write scheme,call,skew_ns,valid of each call to FILE"},
    {0, "watch", "SECONDS", OPTION_DECIMAL, PLACE(watch_s), 0.001, 1e6, NULL,
     "instead, call MPIX_Harmonize for so long, and print\na row each 0.25 s"},
    OUTPUT_OPTIONS(PLACE(output)),
};

static const char notes[] =
    "The exit skew of a call is the time between the first and the last rank to leave it, by the first instruction\n"
    "after the call. Skews are of valid calls: those where MPIX_Harmonize set the flag on all ranks; with\n"
    "MPI_Barrier, all calls.\n"
    "  p50, p90, p99  quantiles of the skew by nearest rank: the least value that 50, 90, 99 % do not exceed\n"
    "  max            the greatest skew\n"
    "  call           time in the loop of calls / number of calls, the clock reading after each included\n"
    "  calls, valid   all calls, and the valid ones\n"
    "  valid/s        valid calls / time in the loop of calls\n"
    "With --watch, slack is what rank 0 states: the time it allows between deciding on an exit and the exit.\n"
    "\n"
    "Exit status: 0 if all is well, 1 if a call failed or a scheme has no valid call, 2 for a bad option.\n";

static const struct program_spec program = {"mpix_skew",
                                            "Measures the exit skew of MPI_Barrier and MPIX_Harmonize, side by side.",
                                            options, sizeof(options) / sizeof(options[0]), notes, NULL, false};

static const struct column skew_columns[] = {
    {"scheme", "scheme", 12, 0, 0},       {"p50(ns)", "p50_ns", 12, 1, 0},      {"p90(ns)", "p90_ns", 12, 1, 0},
    {"p99(ns)", "p99_ns", 12, 1, 0},      {"max(ns)", "max_ns", 14, 1, 0},      {"call(ns)", "call_ns", 14, 1, 0},
    {"calls", "calls", 10, 0, 0},         {"valid", "valid", 10, 0, 0},         {"valid/s", "valid_per_s", 12, 0, 0},
};
enum { SKEW_COLUMNS = sizeof(skew_columns) / sizeof(skew_columns[0]) };

static const struct column watch_columns[] = {
    {"time(s)", "time_ns", 12, 2, 1e9},
    {"slack(ns)", "slack_ns", 14, 0, 0},
    {"calls", "calls", 10, 0, 0},
    {"valid", "valid", 10, 0, 0},
    {"call(ns)", "call_ns", 14, 1, 0},
};
enum { WATCH_COLUMNS = sizeof(watch_columns) / sizeof(watch_columns[0]) };

/* Calls a scheme back to back, keeping the ticks of each exit. Returns the time of the loop. */
static int64_t time_calls(const struct skew_run *run, const struct scheme *scheme, int64_t calls)
{
    int64_t *exit_ticks = run->block.exit_ticks;
    int *valid = run->block.valid;
    int64_t begin_ns = system_time_ns();

    for (int64_t i = 0; i < calls; i++) {
        int code = scheme->release(run->world.comm, &valid[i]);

        exit_ticks[i] = exit_clock_ticks(&run->clock);
        world_require(&run->world, code, scheme->call);
    }
    return system_time_ns() - begin_ns;
}

/* Leaves the greatest of all ranks' exits, negated exits, invalid flags and loop times on rank 0. */
static void combine(const struct skew_run *run, int64_t calls, int64_t loop_ns)
{
    const struct block *block = &run->block;
    int root = run->world.rank == 0;
    int code;

    for (int64_t i = 0; i < calls; i++) {
        block->greatest[i] = block->exit_ticks[i];
        block->greatest[calls + i] = -block->exit_ticks[i];
        block->greatest[2 * calls + i] = !block->valid[i];
    }
    block->greatest[3 * calls] = loop_ns;
    code = MPI_Reduce(root ? MPI_IN_PLACE : block->greatest, root ? block->greatest : NULL, (int)(3 * calls + 1),
                      MPI_INT64_T, MPI_MAX, 0, run->world.comm);
    world_require(&run->world, code, "MPI_Reduce");
}

static void count_block(const struct block *block, int64_t calls, struct tally *tally)
{
    for (int64_t i = 0; i < calls; i++) {
        int64_t valid = !block->greatest[2 * calls + i];

        if (tally->records != NULL)
            tally->records[tally->calls + i] = (struct record){block->greatest[i] + block->greatest[calls + i], valid};
        tally->valid += valid;
    }
    tally->loop_ns += block->greatest[3 * calls];
}

/* Measures a block of calls and adds it to the tally. Collective. */
static void run_block(struct skew_run *run, const struct scheme *scheme, int64_t calls, struct tally *tally)
{
    int64_t begin_ns = system_time_ns();
    int64_t loop_ns;

    MPI_Barrier(run->world.comm);
    time_calls(run, scheme, 1 + calls / SETTLE_PART);
    loop_ns = time_calls(run, scheme, calls);
    exit_clock_note_bound(&run->clock, &run->world);
    combine(run, calls, loop_ns);
    if (run->world.rank == 0)
        count_block(&run->block, calls, tally);
    tally->calls += calls;
    tally->spent_ns += system_time_ns() - begin_ns;
}

/* All ranks go by what rank 0 has decided, as only its clock and counts matter. */
static int64_t follow_rank_0(const struct skew_run *run, int64_t decision)
{
    world_require(&run->world, MPI_Bcast(&decision, 1, MPI_INT64_T, 0, run->world.comm), "MPI_Bcast");
    return decision;
}

static double per_call_ns(const struct tally *tally)
{
    return (double)tally->loop_ns / (double)tally->calls;
}

/* The calls of a block that takes no more than most_ns. */
static int64_t fitting_calls(const struct skew_run *run, const struct tally *tally, double most_ns)
{
    double calls = most_ns / (per_call_ns(tally) + 1);

    return calls < 1 ? 1 : calls < (double)run->settings.block ? (int64_t)calls : run->settings.block;
}

/* Calls a scheme in blocks that double, since it is not known yet how long a call takes. From then on it is, and blocks
 * are no longer than suits it. */
static void warm_up(struct skew_run *run, const struct scheme *scheme)
{
    double limit_ns = run->settings.limit_s * 1e9;
    double most_block_ns = limit_ns * MOST_BLOCK_SHARE < MOST_BLOCK_NS ? limit_ns * MOST_BLOCK_SHARE : MOST_BLOCK_NS;
    int64_t left = run->settings.warmup;
    int64_t spent_ns = 0;
    int64_t calls = 1;
    int64_t fitting = 1;

    while (left > 0 && calls > 0) {
        struct tally tally = {0};

        calls = calls < left ? calls : left;
        run_block(run, scheme, calls, &tally);
        left -= calls;
        spent_ns += tally.spent_ns;
        fitting = fitting_calls(run, &tally, most_block_ns);
        calls = 2 * calls < fitting ? 2 * calls : fitting;
        calls = follow_rank_0(run, (double)spent_ns < limit_ns * MOST_WARMUP_SHARE ? calls : 0);
    }
    if (fitting < run->block_calls)
        run->block_calls = fitting;
    run->block_calls = follow_rank_0(run, run->block_calls);
}

static bool is_chosen(const struct skew_run *run, int index)
{
    return (run->settings.schemes >> index & 1) != 0;
}

/* Returns the set of schemes that have neither their calls nor spent their time. */
static int64_t unfinished(const struct skew_run *run)
{
    int64_t mask = 0;

    for (int i = 0; i < SCHEME_COUNT; i++) {
        const struct tally *tally = &run->tallies[i];

        if (is_chosen(run, i) && tally->calls < run->settings.calls &&
            (double)tally->spent_ns < run->settings.limit_s * 1e9)
            mask |= INT64_C(1) << i;
    }
    return follow_rank_0(run, mask);
}

static void measure(struct skew_run *run)
{
    for (int i = 0; i < SCHEME_COUNT; i++) {
        if (is_chosen(run, i))
            warm_up(run, &schemes[i]);
    }
    for (int64_t mask; (mask = unfinished(run)) != 0;) {
        for (int i = 0; i < SCHEME_COUNT; i++) {
            int64_t left = run->settings.calls - run->tallies[i].calls;

            if ((mask >> i & 1) != 0)
                run_block(run, &schemes[i], left < run->block_calls ? left : run->block_calls, &run->tallies[i]);
        }
    }
}

/* Fills in the quantiles from the valid calls of a scheme. Returns false if out of memory. */
static bool find_quantiles(const struct tally *tally, double tick_ns, struct figures *figures)
{
    int64_t *skew_ticks = malloc((size_t)tally->valid * sizeof(skew_ticks[0]));
    int64_t count = 0;

    if (skew_ticks == NULL)
        return false;
    for (int64_t i = 0; i < tally->calls; i++) {
        if (tally->records[i].valid)
            skew_ticks[count++] = tally->records[i].skew_ticks;
    }
    sort_ascending(skew_ticks, count);
    figures->p50_ns = (double)quantile(skew_ticks, count, 0.50) * tick_ns;
    figures->p90_ns = (double)quantile(skew_ticks, count, 0.90) * tick_ns;
    figures->p99_ns = (double)quantile(skew_ticks, count, 0.99) * tick_ns;
    figures->most_ns = (double)skew_ticks[count - 1] * tick_ns;
    free(skew_ticks);
    return true;
}

/* Prints the row of a scheme, on rank 0. Returns STATUS_FAILED where it has no valid call. */
static int print_scheme(const struct skew_run *run, int index, double tick_ns, struct figures *figures)
{
    const struct table table = {skew_columns, SKEW_COLUMNS, &run->settings.output};
    const struct tally *tally = &run->tallies[index];
    const char *skew_text = tally->valid > 0 ? NULL : "";

    if (tally->valid > 0 && !find_quantiles(tally, tick_ns, figures)) {
        fprintf(stderr, "%s: out of memory\n", program.name);
        return STATUS_FAILED;
    }
    figures->per_call_ns = per_call_ns(tally);
    figures->valid_per_s = (double)tally->valid / (double)tally->loop_ns * 1e9;
    table_row(&table, (struct cell[]){{schemes[index].name, 0},
                                      {skew_text, figures->p50_ns},
                                      {skew_text, figures->p90_ns},
                                      {skew_text, figures->p99_ns},
                                      {skew_text, figures->most_ns},
                                      {NULL, figures->per_call_ns},
                                      {NULL, (double)tally->calls},
                                      {NULL, (double)tally->valid},
                                      {NULL, figures->valid_per_s}});
    if (tally->valid > 0)
        return STATUS_GOOD;
    fprintf(stderr, "%s: error: no valid call of %s in %lld\n", program.name, schemes[index].call,
            (long long)tally->calls);
    return STATUS_FAILED;
}

/* A skew of zero is one below the step of the clock, so the ratio is a lower bound there. */
static void print_ratio(FILE *file, const char *name, double dividend, double divisor, double step_ns)
{
    if (divisor > 0)
        fprintf(file, " %s %.2f", name, dividend / divisor);
    else if (dividend > 0 && step_ns > 0)
        fprintf(file, " %s >%.2f", name, dividend / step_ns);
    else
        fprintf(file, " %s -", name);
}

static void print_ratios(const struct skew_run *run, const struct figures *figures, double tick_ns)
{
    FILE *file = run->settings.output.file;
    const struct figures *barrier = &figures[SCHEME_BARRIER];
    const struct figures *harmonize = &figures[SCHEME_HARMONIZE];
    double step_ns = (double)run->clock.step_ticks * tick_ns;

    fprintf(file, "# Ratio barrier / harmonize:");
    print_ratio(file, "p50", barrier->p50_ns, harmonize->p50_ns, step_ns);
    print_ratio(file, "p99", barrier->p99_ns, harmonize->p99_ns, step_ns);
    print_ratio(file, "call", barrier->per_call_ns, harmonize->per_call_ns, 0);
    fprintf(file, "\n");
}

static void print_head(const struct skew_run *run, const char *clock_text)
{
    FILE *file = run->settings.output.file;
    const struct table table = {skew_columns, SKEW_COLUMNS, &run->settings.output};

    if (run->settings.output.format == FORMAT_TABLE) {
        world_describe(&run->world, file, "exit skew, from the first to the last rank to leave a call");
        fprintf(file, "# Clock: %s\n", clock_text);
        fprintf(file, "# Cadence: streaming, calls follow each other at once; schemes take turns after %lld\n",
               (long long)run->block_calls);
        fprintf(file, "# Calls:");
        for (int i = 0; i < SCHEME_COUNT; i++) {
            if (is_chosen(run, i))
                fprintf(file, " %s %lld", schemes[i].name, (long long)run->tallies[i].calls);
        }
        fprintf(file, "\n");
    } else if (run->clock.kind == EXIT_CLOCK_GLOBAL) {
        fprintf(stderr, "%s: clock: %s\n", program.name, clock_text);
    }
    table_head(&table);
}

static int print_results(const struct skew_run *run, double tick_ns, const char *clock_text)
{
    struct figures figures[SCHEME_COUNT] = {{0}};
    int status = STATUS_GOOD;

    print_head(run, clock_text);
    for (int i = 0; i < SCHEME_COUNT; i++) {
        if (is_chosen(run, i) && print_scheme(run, i, tick_ns, &figures[i]) != STATUS_GOOD)
            status = STATUS_FAILED;
    }
    if (status == STATUS_GOOD && run->settings.output.format == FORMAT_TABLE && is_chosen(run, SCHEME_BARRIER) &&
        is_chosen(run, SCHEME_HARMONIZE))
        print_ratios(run, figures, tick_ns);
    return status;
}

/* Writes each call to the raw file and closes it. */
static int write_raw(const struct skew_run *run, double tick_ns)
{

    if (run->raw == NULL)
        return STATUS_GOOD;
    fprintf(run->raw, "scheme,call,skew_ns,valid\n");
    for (int i = 0; i < SCHEME_COUNT; i++) {
        const struct tally *tally = &run->tallies[i];

        for (int64_t call = 0; call < tally->calls; call++)
            fprintf(run->raw, "%s,%lld,%.1f,%d\n", schemes[i].name, (long long)call,
                    (double)tally->records[call].skew_ticks * tick_ns, (int)tally->records[call].valid);
    }
    return output_finish(run->raw, run->settings.raw_path, program.name) ? STATUS_GOOD : STATUS_FAILED;
}

static int compare_schemes(struct skew_run *run)
{
    char clock_text[160];
    int status = STATUS_GOOD;
    double tick_ns;

    if (run->world.rank == 0 && isatty(STDERR_FILENO))
        fprintf(stderr, "\rmeasuring, up to %g s a scheme ", run->settings.limit_s);
    measure(run);
    if (run->world.rank == 0 && isatty(STDERR_FILENO))
        fprintf(stderr, "\r%*s\r", 50, "");
    exit_clock_describe(&run->clock, &run->world, clock_text, sizeof(clock_text));
    if (run->world.rank == 0) {
        tick_ns = exit_clock_tick_ns(&run->clock);
        status = print_results(run, tick_ns, clock_text);
        if (write_raw(run, tick_ns) != STATUS_GOOD)
            status = STATUS_FAILED;
    }
    return status;
}

static void print_watch_row(const struct skew_run *run, const struct table *table, double time_ns,
                            const struct tally *tally)
{
    char slack[64];

    world_statistic(&run->world, "mpix_harmonize_slack_ns", slack, sizeof(slack));
    table_row(table, (struct cell[]){{NULL, time_ns},
                                     {slack[0] != '\0' ? NULL : "", strtod(slack, NULL)},
                                     {NULL, (double)tally->calls},
                                     {NULL, (double)tally->valid},
                                     {NULL, per_call_ns(tally)}});
}

static void add_tally(struct tally *sum, const struct tally *part)
{
    sum->calls += part->calls;
    sum->valid += part->valid;
    sum->loop_ns += part->loop_ns;
}

/* Calls MPIX_Harmonize for some time, with a row on rank 0 each interval and at the end. */
static int watch(struct skew_run *run)
{
    const struct table table = {watch_columns, WATCH_COLUMNS, &run->settings.output};
    const struct scheme *scheme = &schemes[SCHEME_HARMONIZE];
    bool root = run->world.rank == 0;
    struct tally tally = {0};
    int64_t calls = 1; /* the first row shows the start, too: no warming up */
    int64_t begin_ns = system_time_ns();
    int64_t next_row_ns = WATCH_INTERVAL_NS;

    if (root && run->settings.output.format == FORMAT_TABLE)
        world_describe(&run->world, run->settings.output.file, "MPIX_Harmonize, as it goes");
    if (root)
        table_head(&table);
    while (calls > 0) {
        struct tally block_tally = {0};
        int64_t now_ns;
        bool last;

        run_block(run, scheme, calls, &block_tally);
        add_tally(&tally, &block_tally);
        now_ns = system_time_ns() - begin_ns;
        last = (double)now_ns >= run->settings.watch_s * 1e9;
        if (root && (last || now_ns >= next_row_ns)) {
            print_watch_row(run, &table, (double)now_ns, &tally);
            tally = (struct tally){0};
            next_row_ns += WATCH_INTERVAL_NS * (1 + (now_ns - next_row_ns) / WATCH_INTERVAL_NS);
        }
        calls = follow_rank_0(run, last ? 0 : fitting_calls(run, &block_tally, MOST_WATCH_BLOCK_NS));
    }
    return STATUS_GOOD;
}

/* Takes zeroed memory that has been written to, or a measured store would be the first to touch its page. */
static void *allocate_touched(int64_t count, size_t bytes)
{
    void *memory = malloc((size_t)count * bytes);

    if (memory != NULL)
        memset(memory, 0, (size_t)count * bytes);
    return memory;
}

static bool allocate(struct skew_run *run)
{
    int64_t capacity = run->settings.block + 1; /* of settling calls there may be one more */
    bool good;

    run->block.exit_ticks = allocate_touched(capacity, sizeof(run->block.exit_ticks[0]));
    run->block.valid = allocate_touched(capacity, sizeof(run->block.valid[0]));
    run->block.greatest = allocate_touched(3 * capacity + 1, sizeof(run->block.greatest[0]));
    good = run->block.exit_ticks != NULL && run->block.valid != NULL && run->block.greatest != NULL;
    for (int i = 0; i < SCHEME_COUNT && run->world.rank == 0 && run->settings.watch_s <= 0; i++) {
        run->tallies[i].records = calloc((size_t)run->settings.calls, sizeof(struct record));
        good = good && run->tallies[i].records != NULL;
    }
    good = world_all(&run->world, good);
    if (!good)
        world_refuse(&run->world, "out of memory: give less for --calls or --block");
    return good;
}

static void release_memory(struct skew_run *run)
{
    free(run->block.exit_ticks);
    free(run->block.valid);
    free(run->block.greatest);
    for (int i = 0; i < SCHEME_COUNT; i++)
        free(run->tallies[i].records);
}

/* Makes the first call of each scheme: a bad setting of the library makes it fail on all ranks. */
static bool call_first(const struct skew_run *run)
{
    int valid;

    for (int i = 0; i < SCHEME_COUNT; i++) {
        if (is_chosen(run, i) &&
            !world_agree(&run->world, schemes[i].release(run->world.comm, &valid), schemes[i].call))
            return false;
    }
    return true;
}

static int run_program(struct skew_run *run)
{
    int status;

    if (run->settings.watch_s > 0 && run->settings.raw_path != NULL)
        return world_refuse(&run->world, "option --raw is not allowed together with --watch (see --help)");
    if (run->settings.watch_s > 0)
        run->settings.schemes = 1 << SCHEME_HARMONIZE;
    status = exit_clock_open(&run->clock, &run->world, (enum exit_clock_kind)run->settings.clock);
    if (status != STATUS_GOOD)
        return status;
    status = output_open(&run->settings.output, &run->world);
    if (status == STATUS_GOOD)
        status = output_create(&run->world, "--raw", run->settings.raw_path, &run->raw);
    if (status != STATUS_GOOD)
        return status;
    if (!allocate(run))
        status = STATUS_BAD_OPTION;
    else if (!call_first(run))
        status = STATUS_FAILED;
    else
        status = run->settings.watch_s > 0 ? watch(run) : compare_schemes(run);
    release_memory(run);
    return output_close(&run->settings.output, &run->world) == STATUS_GOOD ? status : STATUS_FAILED;
}

int main(int argc, char **argv)
{
    struct skew_run run = {.settings = {.calls = 200000,
                                        .block = 1000,
                                        .warmup = 1000,
                                        .schemes = (1 << SCHEME_COUNT) - 1,
                                        .clock = EXIT_CLOCK_AUTO,
                                        .limit_s = 2}};
    int status;

    world_begin(&run.world, program.name, &argc, &argv);
    if (world_options(&run.world, &program, argc, argv, &run.settings, sizeof(run.settings), &status)) {
        run.block_calls = run.settings.block;
        status = run_program(&run);
    }
    return world_end(&run.world, status);
}
