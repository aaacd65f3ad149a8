/* SPDX-License-Identifier: BSD-3-Clause */
#include "osu_main.h"

#include "buffers.h"
#include "options.h"
#include "samples.h"
#include "schemes.h"
#include "table.h"
#include "world.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Messages above this are slow and their latencies steady, so fewer calls do. */
enum { LARGE_BYTES = 8192 };
enum { SMALL_ITERATIONS = 1000, LARGE_ITERATIONS = 100, SMALL_WARMUP = 200, LARGE_WARMUP = 10 };
enum { FROM_SIZE = -1 }; /* iterations or warm-up as above */

struct osu_settings {
    struct size_range sizes;
    int64_t iterations;
    int64_t warmup;
    int64_t scheme;
    int64_t max_repeat;
    int64_t full;
    int64_t csv;
};

struct benchmark {
    struct world world;
    struct osu_settings settings;
    const struct osu_operation *operation;
    const struct scheme *scheme;
    struct buffers buffers;
    struct table table;
};

#define PLACE(field) offsetof(struct osu_settings, field)

static const struct option_spec option_table[] = {
    {'m', "message-size", "[MIN:]MAX", OPTION_SIZES, PLACE(sizes), 1, INT_MAX, NULL,
     "message sizes in bytes, doubling from MIN to at most MAX"},
    {'i', "iterations", "N", OPTION_INTEGER, PLACE(iterations), 1, 1e9, NULL,
     "valid samples wanted per size\n(default 1000 up to 8192 bytes, 100 above)"},
    {'x', "warmup", "N", OPTION_INTEGER, PLACE(warmup), 0, 1e9, NULL,
     "calls per size before those measured\n(default 200 up to 8192 bytes, 10 above)"},
    {'f', "full", NULL, OPTION_SWITCH, PLACE(full), 0, 0, NULL, "list the counts of samples, too"},
    {0, "sync", "SCHEME", OPTION_CHOICE, PLACE(scheme), 0, 0, scheme_name,
     "what precedes each call: barrier (MPI_Barrier),\nharmonize (MPIX_Harmonize) or none"},
    {0, "max-repeat", "N", OPTION_INTEGER, PLACE(max_repeat), 1, 1e6, NULL,
     "measured calls per size, invalid ones included:\nat most N times the valid samples wanted"},
    {0, "csv", NULL, OPTION_SWITCH, PLACE(csv), 0, 0, NULL,
     "print comma-separated values: one line of titles,\nthen one of data per size"},
};

enum { OPTION_COUNT = sizeof(option_table) / sizeof(option_table[0]) };

static const char notes[] =
    "Each rank times each of its calls. A sample, the times of one call on all ranks, is valid if the\n"
    "synchronisation before it succeeded on all ranks; invalid ones are discarded and repeated. Of the valid ones:\n"
    "  Avg       the mean over ranks of each rank's mean\n"
    "  Min       the least single time on any rank\n"
    "  Max       the greatest single time on any rank\n"
    "  MaxMean   the greatest of the ranks' means\n"
    "  Valid     how many samples these figures rest on\n"
    "  Discarded how many samples were invalid\n"
    "Times are in microseconds. For reductions, sizes are multiples of the element, an MPI_FLOAT.\n"
    "\n"
    "Exit status: 0 if all is well, 1 if a call failed or a size has no valid sample, 2 for a bad option.\n";

static const struct column people_columns[] = {
    {"Size", NULL, 12, 0},        {"Avg(us)", NULL, 14, 2}, {"Min(us)", NULL, 14, 2},   {"Max(us)", NULL, 14, 2},
    {"MaxMean(us)", NULL, 14, 2}, {"Valid", NULL, 12, 0},   {"Discarded", NULL, 12, 0},
};
enum { PEOPLE_COLUMNS = 7, PEOPLE_COLUMNS_BRIEF = 5 };

static const struct column csv_columns[] = {
    {NULL, "operation", 0, 0}, {NULL, "sync", 0, 0},      {NULL, "ranks", 0, 0},  {NULL, "size_bytes", 0, 0},
    {NULL, "avg_us", 0, 3},    {NULL, "min_us", 0, 3},    {NULL, "max_us", 0, 3}, {NULL, "max_mean_us", 0, 3},
    {NULL, "valid", 0, 0},     {NULL, "discarded", 0, 0},
};
enum { CSV_KEYS = 3, CSV_COLUMNS = 10 };

static int64_t wanted_samples(const struct benchmark *benchmark, int64_t size_bytes)
{
    if (benchmark->settings.iterations != FROM_SIZE)
        return benchmark->settings.iterations;
    return size_bytes > LARGE_BYTES ? LARGE_ITERATIONS : SMALL_ITERATIONS;
}

static int64_t warmup_calls(const struct benchmark *benchmark, int64_t size_bytes)
{
    if (benchmark->settings.warmup != FROM_SIZE)
        return benchmark->settings.warmup;
    return size_bytes > LARGE_BYTES ? LARGE_WARMUP : SMALL_WARMUP;
}

/* On a terminal, says which size is being measured, until show_progress(benchmark, 0) wipes it out. */
static void show_progress(const struct benchmark *benchmark, int64_t size_bytes)
{
    if (benchmark->world.rank != 0 || !isatty(STDERR_FILENO))
        return;
    if (size_bytes > 0)
        fprintf(stderr, "\rmeasuring %lld bytes ", (long long)size_bytes);
    else
        fprintf(stderr, "\r%*s\r", 40, "");
}

static void run_batch(const struct benchmark *benchmark, const struct osu_call *call, struct batch *batch,
                      int64_t calls)
{
    const struct scheme *scheme = benchmark->scheme;

    batch->calls = (int)(calls < BATCH_CALLS ? calls : BATCH_CALLS);
    for (int i = 0; i < batch->calls; i++) {
        int released = scheme->release(call->comm, &batch->valid[i]);
        double begin_s = MPI_Wtime();
        int called = benchmark->operation->call(call);

        batch->latency_us[i] = (MPI_Wtime() - begin_s) * 1e6;
        world_require(&benchmark->world, released, scheme->call);
        world_require(&benchmark->world, called, benchmark->operation->name);
    }
}

static void measure_size(const struct benchmark *benchmark, int64_t size_bytes, struct samples *samples)
{
    const struct osu_call call = {benchmark->buffers.send, benchmark->buffers.receive,
                                  (int)(size_bytes / benchmark->operation->element_bytes), benchmark->world.comm};
    int64_t wanted = wanted_samples(benchmark, size_bytes);
    int64_t left = wanted * benchmark->settings.max_repeat;
    struct batch batch;

    for (int64_t warmup = warmup_calls(benchmark, size_bytes); warmup > 0; warmup -= batch.calls)
        run_batch(benchmark, &call, &batch, warmup);
    samples_clear(samples);
    while (samples->valid < wanted && left > 0) {
        int64_t missing = wanted - samples->valid;

        run_batch(benchmark, &call, &batch, missing < left ? missing : left);
        left -= batch.calls;
        world_require(&benchmark->world, samples_add(samples, &batch, &benchmark->world), "MPI_Allreduce");
    }
}

/* The figures of one size as cells; without valid samples there are no latencies to show. */
static void fill_cells(struct cell *cells, int64_t size_bytes, const struct samples *samples,
                       const struct summary *summary)
{
    const double latencies_us[] = {summary->mean_us, summary->least_us, summary->most_us, summary->most_mean_us};

    cells[0] = (struct cell){NULL, (double)size_bytes};
    for (int i = 0; i < 4; i++)
        cells[1 + i] = (struct cell){samples->valid == 0 ? "" : NULL, latencies_us[i]};
    cells[5] = (struct cell){NULL, (double)samples->valid};
    cells[6] = (struct cell){NULL, (double)samples->discarded};
}

static void print_row(const struct benchmark *benchmark, int64_t size_bytes, const struct samples *samples,
                      const struct summary *summary)
{
    struct cell cells[CSV_COLUMNS] = {
        {benchmark->operation->short_name, 0}, {benchmark->scheme->name, 0}, {NULL, benchmark->world.ranks}};
    int64_t calls = samples->valid + samples->discarded;

    fill_cells(cells + CSV_KEYS, size_bytes, samples, summary);
    if (samples->valid == 0 && !benchmark->table.csv)
        printf("%*lld  error: no valid sample in %lld calls\n", people_columns[0].width, (long long)size_bytes,
               (long long)calls);
    else
        table_row(&benchmark->table, benchmark->table.csv ? cells : cells + CSV_KEYS);
    fflush(stdout);
    if (samples->valid < wanted_samples(benchmark, size_bytes))
        fprintf(stderr, "%s: %lld bytes: only %lld valid samples in %lld calls, the limit (--max-repeat)\n",
                benchmark->world.program, (long long)size_bytes, (long long)samples->valid, (long long)calls);
}

/* Measures and prints one size. Returns true if it has a valid sample. */
static bool report_size(const struct benchmark *benchmark, int64_t size_bytes)
{
    struct samples samples;
    struct summary summary = {0};

    show_progress(benchmark, size_bytes);
    measure_size(benchmark, size_bytes, &samples);
    if (samples.valid > 0)
        world_require(&benchmark->world, samples_summarise(&samples, &benchmark->world, &summary), "MPI_Reduce");
    show_progress(benchmark, 0);
    if (benchmark->world.rank == 0)
        print_row(benchmark, size_bytes, &samples, &summary);
    return samples.valid > 0;
}

static void print_head(const struct benchmark *benchmark)
{
    const struct scheme *scheme = benchmark->scheme;
    char title[80];

    if (benchmark->world.rank != 0)
        return;
    if (!benchmark->table.csv) {
        snprintf(title, sizeof(title), "latency of %s", benchmark->operation->name);
        world_describe(&benchmark->world, title);
        printf("# Synchronisation: %s (%s)\n# Cadence: %s\n", scheme->name, scheme->call, scheme->cadence);
        printf("# Size in bytes, latencies in us of valid samples\n");
    }
    table_head(&benchmark->table);
}

static struct table choose_table(const struct osu_settings *settings)
{
    if (settings->csv)
        return (struct table){csv_columns, CSV_COLUMNS, true};
    return (struct table){people_columns, settings->full ? PEOPLE_COLUMNS : PEOPLE_COLUMNS_BRIEF, false};
}

static int run_sizes(const struct benchmark *benchmark)
{
    const struct size_range *sizes = &benchmark->settings.sizes;
    int status = STATUS_GOOD;
    int valid;

    /* The first call is the one that a bad setting of the library makes fail, on all ranks. */
    if (!world_agree(&benchmark->world, benchmark->scheme->release(benchmark->world.comm, &valid),
                     benchmark->scheme->call))
        return STATUS_FAILED;
    print_head(benchmark);
    for (int64_t size_bytes = sizes->least_bytes; size_bytes <= sizes->most_bytes; size_bytes *= 2) {
        if (!report_size(benchmark, size_bytes))
            status = STATUS_FAILED;
    }
    return status;
}

static int run(struct benchmark *benchmark)
{
    const struct osu_operation *operation = benchmark->operation;
    const struct size_range *sizes = &benchmark->settings.sizes;
    int status;

    if (sizes->least_bytes % operation->element_bytes != 0)
        return world_refuse(&benchmark->world,
                            "option --message-size: MIN %lld is not allowed, give a multiple of %d, the bytes of an "
                            "element (see --help)",
                            (long long)sizes->least_bytes, operation->element_bytes);
    if (!buffers_allocate(&benchmark->buffers, &benchmark->world, sizes->most_bytes * operation->send_blocks,
                          sizes->most_bytes * operation->receive_blocks))
        return STATUS_BAD_OPTION;
    benchmark->scheme = &schemes[benchmark->settings.scheme];
    benchmark->table = choose_table(&benchmark->settings);
    status = run_sizes(benchmark);
    buffers_free(&benchmark->buffers);
    return status;
}

int osu_main(int argc, char **argv, const struct osu_operation *operation)
{
    struct benchmark benchmark = {
        .operation = operation,
        .settings = {{operation->element_bytes, 1 << 20}, FROM_SIZE, FROM_SIZE, SCHEME_HARMONIZE, 10, 0, 0}};
    struct option_spec options[OPTION_COUNT];
    const struct program_spec program = {operation->program, operation->purpose, options, OPTION_COUNT, notes};
    int status;

    memcpy(options, option_table, sizeof(options));
    options[0].least = operation->element_bytes;
    world_begin(&benchmark.world, operation->program, &argc, &argv);
    if (world_options(&benchmark.world, &program, argc, argv, &benchmark.settings, sizeof(benchmark.settings), &status))
        status = run(&benchmark);
    return world_end(&benchmark.world, status);
}
