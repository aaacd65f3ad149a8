/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_skew - exit skew of MPI_Barrier and MPIX_Harmonize, by any of its barriers, side by side in one run.
 *
 * Blocks of calls of each scheme take turns, so whatever else the machine does disturbs all alike. All this may be
 * repeated; figures are then medians over the repetitions.
 */
#define _GNU_SOURCE
#include "bench/suite/skew.h"

#include "pure/setting_names.h"

#include <mpix_harmonize.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define FORCED(barrier) "harmonize-" #barrier,
static const char *const scheme_names[] = {"barrier", "harmonize", MH_EACH_BARRIER(FORCED) NULL};
enum { SCHEME_OTHER = sizeof scheme_names / sizeof scheme_names[0] - 1, SCHEMES };
_Static_assert((int)SCHEMES <= (int)MAX_SCHEMES, "there is a place for each scheme");

#define FIELD(field) offsetof(skew_settings_t, field)

static const option_spec_t options[] = {
    {'i', "iterations", "N", OPTION_INTEGER, FIELD(calls), .min = 1, .max = 1e8, .default_text = "200000",
     .doc = "the maximum number of timed calls of a scheme in a repetition"},
    {0, "time-slice-s", "S", OPTION_DECIMAL, FIELD(limit_s), .min = 0.001, .max = 1e6, .default_text = "2",
     .doc = "the maximum time of a scheme in a repetition",
     .more = "Measuring ends at the limit that is reached first. With more ranks than cores, this is usually the "
             "time."},
    {'r', "repeats", "N", OPTION_INTEGER, FIELD(repeats), .min = 1, .max = MAX_REPEATS, .default_text = "1",
     .doc = "repetitions of the measurement",
     .more = "Figures are medians over the repetitions; calls are the sum of all."},
    {0, "block", "N", OPTION_INTEGER, FIELD(block), .min = 1, .max = 1e6, .default_text = "1000",
     .doc = "calls of a scheme before the next scheme",
     .more = "Fewer if they would take more than 50 ms or 10 % of --time-slice-s."},
    {'x', "warmup", "N", OPTION_INTEGER, FIELD(warmup), .min = 1, .max = 1e8, .default_text = "1000",
     .doc = "calls of a scheme before the timed ones", .more = "They end early after a quarter of --time-slice-s."},
    {0, "release", "LIST", OPTION_CHOICES, FIELD(schemes), .names = NAMES(scheme_names),
     .default_text = "barrier,harmonize", .doc = "the schemes to measure",
     .more = "`barrier` is MPI_Barrier, `harmonize` is MPIX_Harmonize, and the others are MPIX_Harmonize with one of "
             "its barrier algorithms. Schemes that the library cannot use here are left out, with a line on standard "
             "error."},
    {0, "other", "FILE", OPTION_TEXT, FIELD(other_path),
     .doc = "also measure MPIX_Harmonize of another shared library, as the scheme other"},
    {0, "truth", "CLOCK", OPTION_CHOICE, FIELD(clock), .names = NAMES(exit_clock_names), .default_text = "auto",
     .doc = "the clock that measures exits",
     .more = "`tsc` (on x86) and `cntvct` (on 64-bit ARM) are the counter of the processor, which is independent of "
             "the library. `global` is the global clock of the library. `auto` is the counter if all ranks are on "
             "one node and it is invariant, otherwise `global`. On several nodes, the counter is wrong unless they "
             "share one."},
    RESULTS_OPTIONS(FIELD(results), .doc = "write each timed call to FILE",
                    .more = "With `--format json` as JSON, otherwise as comma-separated values; see OUTPUT. "
                            "From JSON, mpix_report(1) draws the distribution of the skews."),
};

static const char notes[] =
    "The exit skew of a call is the time between the first and the last rank to leave it, by a reading of the clock\n"
    "right after the call. Skews are of valid calls: those in which MPIX_Harmonize set the flag on all ranks, and all\n"
    "calls of MPI_Barrier.\n"
    "--help-columns says what the columns are.\n"
    "\n"
    "Exit status: 0 if all is well, 1 if a call failed or a scheme has no valid call, 2 for a bad option.\n";

static const program_spec_t program =
    PROGRAM_SPEC("mpix_skew", "Measures the exit skew of MPI_Barrier and MPIX_Harmonize, side by side.",
                 .schemas = SCHEMAS(&skew_schema, &skew_raw_schema));

/* ---- What releases processes: MPI_Barrier, MPIX_Harmonize by each of its barriers, another library's */

static int release_by_barrier(MPI_Comm comm, int *valid)
{
    *valid = 1;
    return MPI_Barrier(comm);
}

/* A communicator whose processes use one barrier of the library. Leaves the scheme out if that is impossible here.
 */
static void force_barrier(skew_run_t *run, int index)
{
    skew_scheme_t *scheme = &run->schemes[index];
    const char *barrier = scheme->name + strlen("harmonize-");
    world_t own = world_duplicate(&run->world);
    int valid;
    char used[64];
    scheme->comm = own.comm;
    world_require_code(&own, world_set(&own, "mpix_harmonize_barrier", barrier), "MPIX_Harmonize_set_info");
    world_require_code(&own, scheme->release(scheme->comm, &valid), scheme->call);
    if (!world_statistic(&own, "mpix_harmonize_barrier_used", used, sizeof used) || strcmp(used, barrier) == 0)
        return;
    run->settings.schemes &= ~(INT64_C(1) << index);
    if (run->world.rank == 0)
        fprintf(stderr, "%s: %s is left out: the library takes %s in its place here\n", run->world.program,
                scheme->name, used);
}

/* Returns STATUS_BAD_OPTION, after a line, if a process finds no such function. */
static int open_other(skew_run_t *run)
{
    skew_scheme_t *scheme = &run->schemes[SCHEME_OTHER];
    char path[512] = "";
    if (run->world.rank == 0 && run->settings.other_path)
        snprintf(path, sizeof path, "%s", run->settings.other_path);
    MPI_Bcast(path, sizeof path, MPI_CHAR, 0, run->world.comm);
    if (path[0] == '\0')
        return STATUS_GOOD;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    void *function = library ? dlsym(library, "MPIX_Harmonize") : NULL;
    const char *reason = function ? "another rank cannot load it" : library ? "it has none" : dlerror();
    if (!world_all(&run->world, function != NULL))
        /* cppcheck-suppress resourceLeak */
        return world_refuse(&run->world,
                            "option --other: \"%.200s\" is not allowed, give a library with MPIX_Harmonize: %s", path,
                            reason);
    *(void **)&scheme->release = function;
    scheme->comm = world_duplicate(&run->world).comm;
    run->settings.schemes |= INT64_C(1) << SCHEME_OTHER;
    /* cppcheck-suppress resourceLeak ; the library stays until the end */
    return STATUS_GOOD;
}

/* The first call of a scheme: a bad setting of the library makes it fail on all ranks. */
static bool call_first(const skew_run_t *run, const skew_scheme_t *scheme)
{
    int valid;
    return world_agree(&run->world, scheme->release(scheme->comm, &valid), scheme->call);
}

/* Gets each chosen scheme ready, and calls it once. Collective. Returns an exit status. */
static int open_schemes(skew_run_t *run)
{
    for (int i = 0; i < SCHEMES; i++)
        run->schemes[i] = (skew_scheme_t){.name = scheme_names[i],
                                          .call = "MPIX_Harmonize",
                                          .release = MPIX_Harmonize,
                                          .comm = MPI_COMM_NULL,
                                          .run = run};
    run->schemes[SCHEME_OTHER].name = "other";
    run->schemes[SCHEME_BARRIER].call = "MPI_Barrier";
    run->schemes[SCHEME_BARRIER].release = release_by_barrier;
    run->schemes[SCHEME_BARRIER].comm = run->schemes[SCHEME_HARMONIZE].comm = run->world.comm;
    int status = open_other(run);
    if (status != STATUS_GOOD)
        return status;
    for (int i = 0; i <= SCHEME_HARMONIZE; i++)
        if (skew_is_chosen(run, i) && !call_first(run, &run->schemes[i]))
            return STATUS_FAILED;
    for (int i = SCHEME_FIRST_FORCED; i < SCHEME_OTHER; i++)
        if (skew_is_chosen(run, i))
            force_barrier(run, i);
    if (run->settings.schemes == 0)
        return world_refuse(&run->world, "option --release: none of these schemes is possible here");
    return !skew_is_chosen(run, SCHEME_OTHER) || call_first(run, &run->schemes[SCHEME_OTHER]) ? STATUS_GOOD
                                                                                              : STATUS_FAILED;
}

static void close_schemes(skew_run_t *run)
{
    for (int i = SCHEME_FIRST_FORCED; i < SCHEMES; i++)
        if (run->schemes[i].name && run->schemes[i].comm != MPI_COMM_NULL)
            MPI_Comm_free(&run->schemes[i].comm);
}

/* ---- Blocks of calls */

/* One untimed call in so many settles a block at its begin and at its end: its first calls are still affected by the
 * end of the block before. During its last calls, ranks that have finished spin in MPI already, which takes processors
 * from the others if there are more ranks than processors. */
enum { SETTLE_PART = 50 };

static int64_t settle(const skew_run_t *run, const skew_scheme_t *scheme, int64_t calls)
{
    int64_t made = 1 + calls / SETTLE_PART;
    int valid;
    for (int64_t i = 0; i < made; i++)
        world_require_code(&run->world, scheme->release(scheme->comm, &valid), scheme->call);
    return made;
}

/* Calls a scheme back to back: only the call, the reading of a clock and a store are repeated. Returns the time. */
static int64_t time_calls(const skew_run_t *run, const skew_scheme_t *scheme, int64_t calls)
{
    int64_t *exit_ticks = run->exit_ticks;
    int *valid = run->valid;
    int64_t begin_ns = system_time_ns();
    for (int64_t i = 0; i < calls; i++) {
        int code = scheme->release(scheme->comm, &valid[i]);
        exit_ticks[i] = exit_clock_ticks(&run->clock);
        world_require_code(&run->world, code, scheme->call);
    }
    return system_time_ns() - begin_ns;
}

/* Leaves the largest of all ranks' exits, negated exits, invalid flags and loop times on rank 0. */
static void combine(const skew_run_t *run, int64_t calls, int64_t loop_ns)
{
    int64_t *maxima = run->maxima;
    bool root = run->world.rank == 0;
    for (int64_t i = 0; i < calls; i++) {
        maxima[i] = run->exit_ticks[i];
        maxima[calls + i] = -run->exit_ticks[i];
        maxima[2 * calls + i] = !run->valid[i];
    }
    maxima[3 * calls] = loop_ns;
    world_require(&run->world, MPI_Reduce(root ? MPI_IN_PLACE : maxima, root ? maxima : NULL, (int)(3 * calls + 1),
                                          MPI_INT64_T, MPI_MAX, 0, run->world.comm));
}

static void count_block(const int64_t *maxima, int64_t calls, tally_t *tally)
{
    for (int64_t i = 0; i < calls; i++) {
        int64_t valid = !maxima[2 * calls + i], skew_ticks = maxima[i] + maxima[calls + i];
        if (tally->skew_ticks)
            tally->skew_ticks[tally->calls + i] = valid ? skew_ticks : -1 - skew_ticks;
        tally->valid += valid;
    }
    tally->calls += calls;
    tally->loop_ns += maxima[3 * calls];
}

/* Measures a block of calls; unless it warms up, adds it to the tally. */
static void run_block(void *subject, batch_t *batch)
{
    skew_scheme_t *scheme = subject;
    skew_run_t *run = scheme->run;
    int64_t calls = batch->calls, begin_ns = system_time_ns();
    tally_t block = {0}, *tally = batch->phase == PHASE_MEASURE ? &scheme->tally : &block;
    MPI_Barrier(run->world.comm);
    batch->made = calls + settle(run, scheme, calls);
    int64_t loop_ns = time_calls(run, scheme, calls);
    batch->made += settle(run, scheme, calls);
    exit_clock_note_bound(&run->clock, &run->world);
    combine(run, calls, loop_ns);
    int64_t valid_before = tally->valid;
    if (run->world.rank == 0)
        count_block(run->maxima, calls, tally);
    batch->valid = tally->valid - valid_before;
    batch->took_ns = system_time_ns() - begin_ns;
}

/* One repetition: all calls of all schemes, in turn. Collective. */
static void measure_schemes(skew_run_t *run)
{
    const sampling_limits_t limits = {.warmup_calls = run->settings.warmup,
                                      .wanted = INT64_MAX,
                                      .max_calls = (double)run->settings.calls,
                                      .max_batch_calls = (double)run->settings.block,
                                      .limit_ns = (int64_t)(run->settings.limit_s * 1e9)};
    sampling_t *samplings[SCHEMES];
    int count = 0;
    if (run->clock.kind == EXIT_CLOCK_GLOBAL) /* which only harmonize keeps */
        world_require(&run->world, MPIX_Clock_sync(run->world.comm));
    for (int i = 0; i < SCHEMES; i++) {
        skew_scheme_t *scheme = &run->schemes[i];
        scheme->tally = (tally_t){.skew_ticks = scheme->tally.skew_ticks};
        scheme->sampling = (sampling_t){.span = &run->world, .subject = scheme, .run = run_block};
        sampling_begin(&scheme->sampling, &limits);
        if (skew_is_chosen(run, i))
            samplings[count++] = &scheme->sampling;
    }
    engine_run(samplings, count, &run->dice);
}

static const char advice[] = ": give less for --iterations or --block";

/* Written to here, or a measured store would be the first to touch its page. */
static void *allocate_touched(const skew_run_t *run, int64_t count, size_t item_bytes)
{
    return memset(world_allocate(&run->world, count, item_bytes, advice), 0, (size_t)count * item_bytes);
}

static void allocate(skew_run_t *run)
{
    int64_t capacity = run->settings.block, calls = run->settings.calls;
    run->exit_ticks = allocate_touched(run, capacity, sizeof run->exit_ticks[0]);
    run->valid = allocate_touched(run, capacity, sizeof run->valid[0]);
    run->maxima = allocate_touched(run, 3 * capacity + 1, sizeof run->maxima[0]);
    for (int i = 0; i < SCHEMES && run->world.rank == 0; i++)
        if (skew_is_chosen(run, i))
            run->schemes[i].tally.skew_ticks = world_allocate(&run->world, calls, sizeof(int64_t), advice);
}

/* ---- The program */

/* All repetitions. The results are on rank 0. */
static void measure_all(skew_run_t *run)
{
    for (int64_t repeat = 0; repeat < run->settings.repeats; repeat++) {
        world_progress(&run->world, "measuring, up to %g s a scheme, %lld of %lld", run->settings.limit_s,
                       (long long)repeat + 1, (long long)run->settings.repeats);
        measure_schemes(run);
        if (run->world.rank == 0)
            skew_take_in(run, exit_clock_tick_ns(&run->clock));
    }
    world_progress(&run->world, "%s", "");
}

static int compare_schemes(skew_run_t *run)
{
    char clock_text[160];
    const table_t raw = TABLE(skew_raw_schema, &run->settings.results.raw);
    if (raw.output->file)
        table_head(&raw, NULL, 0);
    measure_all(run);
    exit_clock_describe(&run->clock, &run->world, clock_text, sizeof clock_text);
    return run->world.rank == 0 ? skew_print(run, exit_clock_tick_ns(&run->clock), clock_text) : STATUS_GOOD;
}

/* Whatever may be wrong with options is found here, before anything is measured. */
static int prepare(skew_run_t *run)
{
    int status = exit_clock_open(&run->clock, &run->world, (exit_clock_kind_t)run->settings.clock);
    if (status == STATUS_GOOD)
        status = world_require_ranks(&run->world, 2);
    if (status == STATUS_GOOD)
        status = open_schemes(run);
    if (status != STATUS_GOOD)
        return status;
    allocate(run);
    world_tell_unbound(&run->world);
    return results_open(&run->settings.results, &run->world);
}

static int run_program(skew_run_t *run)
{
    int status = prepare(run);
    if (status == STATUS_GOOD)
        status = compare_schemes(run);
    close_schemes(run);
    return results_close(&run->settings.results, &run->world, status);
}

int main(int argc, char **argv)
{
    static skew_run_t run; /* with memory that is of use until the end */
    int status;
    if (world_start(&run.world, &program, argc, argv, &run.settings, sizeof run.settings, &status))
        status = run_program(&run);
    return world_end(&run.world, status);
}
