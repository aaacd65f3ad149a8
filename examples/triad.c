/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_triad - memory bandwidth of all ranks together, timed with and without synchronized clocks.
 *
 * The work is the triad of the STREAM benchmark, a = b + scalar * c over arrays of each rank's own. How long it takes
 * all ranks is asked of mpix_bracket.h, whose use this program shows.
 */
#include "common/options.h"
#include "common/result_files.h"
#include "common/statistics.h"
#include "common/world.h"

#include <mpix_bracket.h>

#include <stdio.h>

#define SCALAR 3.0
enum { ARRAYS = 3 };

typedef enum release { RELEASE_BARRIER, RELEASE_HARMONIZE } release_t;

typedef struct triad_settings {
    size_list_t sizes;
    int64_t iterations;
    int64_t warmup;
    int64_t release;
    results_t results; /* no raw times */
} triad_settings_t;

typedef struct triad_run {
    world_t world;
    triad_settings_t settings;
    double *a, *b, *c; /* until the end of the program */
} triad_run_t;

static const char *const releases[] = {"barrier", "harmonize", NULL};

#define FIELD(field) offsetof(triad_settings_t, field)

static const option_spec_t options[] = {
    {'m', "array-size", "SIZES", OPTION_SIZES, FIELD(sizes), sizeof(double), 1e12, NULL, "4096:16777216",
     "bytes of each of a rank's three arrays: [MIN:]MAX,\ndoubling, or A,B,C; a suffix K, M, G is allowed"},
    {'i', "iterations", "N", OPTION_INTEGER, FIELD(iterations), 1, 1e9, NULL, "20", "timed triads for each size"},
    {'x', "warmup", "N", OPTION_INTEGER, FIELD(warmup), 0, 1e9, NULL, "2", "how often it is done before that"},
    {0, "release", "SCHEME", OPTION_CHOICE, FIELD(release), 0, 0, NAMES(releases), "barrier",
     "what precedes the triad: barrier (MPI_Barrier) or\nharmonize (MPIX_Harmonize)"},
    OUTPUT_OPTIONS(FIELD(results.output)),
    PLOT_OPTION(FIELD(results.plot)),
};

static const char notes[] =
    "The triad is a = b + 3 c, in double precision. It is between two barriers; t0, t1 are readings before and after\n"
    "the first, t2, t3 before and after the second. Times are in microseconds, each the minimum of all iterations:\n"
    "  longest   the maximum t2 - t1 of a rank: a lower bound, because other ranks may start earlier or end later\n"
    "  global    the maximum t2 - the minimum t1, by the global clock\n"
    "  low, high the limits of global, by the bounds of the clock\n"
    "  barrier   the minimum t3 - t0 of a rank: an upper bound that needs no synchronized clocks\n"
    "Rates are the bytes of all three arrays of all ranks / global and / barrier; 1 MB is 10^6 bytes.\n"
    "\n"
    "Exit status: 0 if all is well, 1 if a call failed or the triad is wrong, 2 for a bad option.\n";

static const program_spec_t program = PROGRAM_SPEC(
    "mpix_triad", "Measures the memory bandwidth of all ranks, timed with and without synchronized clocks.");

static const column_t columns[] = {
    {"Size", "size_bytes", 12, 0, 0},
    {"Longest(us)", "longest_ns", 14, 2, 1e3},
    {"Low(us)", "global_low_ns", 14, 2, 1e3},
    {"Global(us)", "global_ns", 14, 2, 1e3},
    {"High(us)", "global_high_ns", 14, 2, 1e3},
    {"Barrier(us)", "barrier_ns", 14, 2, 1e3},
    {"Global(MB/s)", "global_mb_per_s", 15, 1, 0},
    {"Barrier(MB/s)", "barrier_mb_per_s", 16, 1, 0},
};

static const plot_chart_t chart = {.title = "Triad: what the timing makes of it",
                                   .commands = "set xlabel 'size of each array (bytes)'\n"
                                               "set ylabel 'bandwidth of all ranks (GB/s)'\n"
                                               "set offsets 0, 0, graph 0.02, graph 0.02\n"
                                               "eval named_curves('', '" PLOT_POINTS "')\n"};

static void triad(const triad_run_t *run, int64_t elements)
{
    double *restrict a = run->a;
    const double *restrict b = run->b;
    const double *restrict c = run->c;
    for (int64_t i = 0; i < elements; i++)
        a[i] = b[i] + SCALAR * c[i];
    /* Keep the compiler from seeing that a is overwritten before it is read. */
    __asm__ volatile("" : : "r"(a) : "memory");
}

static void keep_best(struct mpix_bracket_times *best, const struct mpix_bracket_times *times)
{
    best->longest_ns = lesser(best->longest_ns, times->longest_ns);
    best->barrier_ns = lesser(best->barrier_ns, times->barrier_ns);
    if (times->global_ns < best->global_ns) {
        best->global_ns = times->global_ns;
        best->low_ns = times->low_ns;
        best->high_ns = times->high_ns;
    }
}

/* Times the triad once. Collective. */
static void time_triad(const triad_run_t *run, int64_t elements, struct mpix_bracket_times *times)
{
    const world_t *world = &run->world;
    struct mpix_bracket bracket;
    int flag;
    if (run->settings.release == RELEASE_HARMONIZE)
        world_require_code(world, mpix_bracket_begin_harmonized(world->comm, &bracket, &flag), "MPIX_Harmonize");
    else
        world_require_code(world, mpix_bracket_begin(world->comm, &bracket), "MPI_Barrier");
    triad(run, elements);
    world_require_code(world, mpix_bracket_end(world->comm, &bracket), "MPI_Barrier");
    world_require_code(world, mpix_bracket_combine(world->comm, &bracket, times), "MPI_Allreduce");
}

/* Leaves the best of all iterations, each figure by itself; low and high belong to global. */
static void measure_size(const triad_run_t *run, int64_t size_bytes, struct mpix_bracket_times *best)
{
    int64_t elements = size_bytes / (int64_t)sizeof(double);
    struct mpix_bracket_times times;
    *best = (struct mpix_bracket_times){INT64_MAX, INT64_MAX, 0, INT64_MAX, INT64_MAX};
    world_require(&run->world, MPIX_Clock_sync(run->world.comm));
    for (int64_t i = 0; i < run->settings.warmup; i++)
        time_triad(run, elements, &times);
    for (int64_t i = 0; i < run->settings.iterations; i++) {
        time_triad(run, elements, &times);
        keep_best(best, &times);
    }
}

/* MB/s; 0 in no time, if the clock's steps are longer. */
static double rate(const triad_run_t *run, int64_t size_bytes, int64_t time_ns)
{
    return time_ns > 0 ? (double)size_bytes * ARRAYS * run->world.ranks / (double)time_ns * 1e3 : 0;
}

static cell_t time_cell(int64_t time_ns)
{
    return (cell_t){time_ns == INT64_MAX ? "" : NULL, (double)time_ns};
}

static void print_row(triad_run_t *run, const table_t *table, int64_t size_bytes, const struct mpix_bracket_times *best)
{
    plot_file_t *plot = &run->settings.results.plot;
    double global = rate(run, size_bytes, best->global_ns), barrier = rate(run, size_bytes, best->barrier_ns);
    table_row(table, (cell_t[]){{NULL, (double)size_bytes},
                                time_cell(best->longest_ns),
                                time_cell(best->low_ns),
                                time_cell(best->global_ns),
                                time_cell(best->high_ns),
                                time_cell(best->barrier_ns),
                                {NULL, global},
                                {NULL, barrier}});
    plot_row(plot, "\"global clock: max t2 - min t1\" %lld %.9g\n", (long long)size_bytes, global / 1e3);
    plot_row(plot, "\"no shared clock: min (t3 - t0)\" %lld %.9g\n", (long long)size_bytes, barrier / 1e3);
}

static void print_head(const triad_run_t *run, const table_t *table)
{
    FILE *file = table->output->file;
    if (table->output->format == FORMAT_TABLE) {
        world_describe(&run->world, file, "triad a = b + 3 c, from the first rank to start to the last to finish");
        fprintf(file, "# Release: %s\n", releases[run->settings.release]);
        fprintf(file, "# Size in bytes of each array, times in us, rates in MB/s: the best of %lld iterations each\n",
                (long long)run->settings.iterations);
    }
    table_head(table);
}

/* True on all ranks if the largest triad came out right on all. Collective. */
static bool is_right(const triad_run_t *run)
{
    const size_list_t *sizes = &run->settings.sizes;
    int64_t elements = sizes->bytes[sizes->count - 1] / (int64_t)sizeof(double);
    bool right = true;
    for (int64_t i = 0; i < elements; i++)
        right = right && run->a[i] == run->b[i] + SCALAR * run->c[i];
    return world_all(&run->world, right);
}

static int measure(triad_run_t *run)
{
    const table_t table = TABLE(columns, &run->settings.results.output, "mpix-triad");
    const size_list_t *sizes = &run->settings.sizes;
    /* The first call is the one that a bad setting of the library makes fail, on all ranks. */
    if (!world_agree(&run->world, MPIX_Clock_sync(run->world.comm), "MPIX_Clock_sync"))
        return STATUS_FAILED;
    if (run->world.rank == 0)
        print_head(run, &table);
    for (int64_t i = 0; i < sizes->count; i++) {
        struct mpix_bracket_times best;
        measure_size(run, sizes->bytes[i], &best);
        if (run->world.rank == 0)
            print_row(run, &table, sizes->bytes[i], &best);
    }
    if (is_right(run))
        return STATUS_GOOD;
    if (run->world.rank == 0)
        fprintf(stderr, "%s: error: the triad came out wrong\n", program.name);
    return STATUS_FAILED;
}

/* ---- Start and end */

static void allocate(triad_run_t *run)
{
    static const char advice[] = ": give less for --array-size";
    const size_list_t *sizes = &run->settings.sizes;
    int64_t elements = 1;
    for (int64_t i = 0; i < sizes->count; i++)
        elements = greater(elements, sizes->bytes[i] / (int64_t)sizeof(double));
    run->a = world_room(&run->world, elements, sizeof(double), advice);
    run->b = world_room(&run->world, elements, sizeof(double), advice);
    run->c = world_room(&run->world, elements, sizeof(double), advice);
    for (int64_t i = 0; i < elements; i++) {
        run->a[i] = 0;
        run->b[i] = (double)(i % 1000);
        run->c[i] = (double)(i % 77);
    }
}

static int run_program(triad_run_t *run)
{
    int64_t wrong_bytes = options_list_sizes(&run->settings.sizes, 2, sizeof(double));
    if (wrong_bytes >= 0)
        return world_refuse(&run->world,
                            "option --array-size: %lld is not allowed, give multiples of %zu, the bytes of an element",
                            (long long)wrong_bytes, sizeof(double));
    allocate(run);
    int status = results_open(&run->settings.results, &run->world, &chart);
    if (status == STATUS_GOOD)
        status = measure(run);
    return results_close(&run->settings.results, &run->world, status);
}

int main(int argc, char **argv)
{
    static triad_run_t run;
    int status;
    if (world_start(&run.world, &program, argc, argv, &run.settings, sizeof run.settings, &status))
        status = run_program(&run);
    return world_end(&run.world, status);
}
