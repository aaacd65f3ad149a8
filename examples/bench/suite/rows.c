/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.c - measuring one size, and what is said of it. */
#include "suite/bench.h"

#include "common/room.h"
#include "common/statistics.h"
#include "suite/arena.h"
#include "suite/barriers.h"
#include "suite/impose.h"

#include <math.h>
#include <stdlib.h>

/* Calls by which the results at a size are checked; where the root rotates, as many as roots, but not more. */
enum { CHECKS = 3, MAX_CHECKS = 64 };

/* ---- Rows */

row_keys_t bench_name_keys(const bench_t *bench, const job_t *job)
{
    const operation_t *operation = operation_at(job->operation);
    const bench_settings_t *settings = &job->settings;
    static char root[16]; /* the caller is done with it before the next job */
    snprintf(root, sizeof(root), "%d", (int)settings->root);
    return (row_keys_t){.operation = operation->name,
                        .release = release_schemes[settings->release].name,
                        .barrier =
                            release_schemes[settings->release].has_barrier ? barrier_name((int)settings->barrier) : "",
                        .cadence = release_schemes[settings->release].cadence,
                        .comm = job->comm.text,
                        .ranks = bench->communicator.group_ranks,
                        .datatype = operation_has_size(operation) ? datatype_name((int)settings->datatype) : "",
                        .reduction = operation->shape->reduces ? reduction_name((int)settings->reduction) : "",
                        .root = !operation->shape->has_root      ? ""
                                : settings->root == ROOT_ROTATES ? "rotating"
                                                                 : root,
                        .buffers = settings->in_place ? "in place" : "separate",
                        .cache = cache_mode_name((int)settings->cache),
                        .run_time = run_time_name((int)settings->run_time),
                        .arrival = ""};
}

/* Elements found wrong on all ranks, in a few calls. Collective over the span. */
static int64_t validate(const bench_t *bench, const measure_t *measure)
{
    int roots = measure->job->settings.root == ROOT_ROTATES ? bench->communicator.group_ranks : 1;
    int checks = roots < CHECKS ? CHECKS : roots > MAX_CHECKS ? MAX_CHECKS : roots;
    int64_t all_wrong = 0;
    for (int i = 0; i < checks; i++) {
        int64_t wrong = 0;
        world_require(measure->span, work_check(measure->work, i, &wrong), measure->function);
        all_wrong += wrong;
    }
    world_require(measure->span, MPI_Allreduce(MPI_IN_PLACE, &all_wrong, 1, MPI_INT64_T, MPI_SUM, measure->span->comm),
                  "MPI_Allreduce");
    return all_wrong;
}

static void analyse_samples(const bench_t *bench, const measure_t *measure, const samples_t *samples,
                            run_time_t run_time, analysis_t *analysis)
{
    sample_set_t set = samples_set(samples);
    if (!analyse(&set, run_time, bench->fractions, bench->report.fraction_count, analysis))
        world_abort(measure->span, "out of memory");
}

/* The median of what was computed in valid samples, of which there are some. */
static double median_computed(const measure_t *measure, const samples_t *samples)
{
    sample_set_t set = samples_set(samples);
    int64_t *computed_ns = malloc(room_bytes(samples->calls, sizeof(computed_ns[0]))), count = 0;
    if (computed_ns == NULL)
        world_abort(measure->span, "out of memory");
    for (int64_t call = 0; call < samples->calls; call++)
        if (analyse_mark(&set, call) == MARK_VALID)
            computed_ns[count++] = samples->compute_ns[call];
    sort_ascending(computed_ns, count);
    int64_t low_ns = computed_ns[(count - 1) / 2], high_ns = computed_ns[count / 2];
    free(computed_ns);
    return ((double)low_ns + (double)high_ns) / 2;
}

/* Measures again, computing for as long as the pure operation took. Returns false where there is nothing to tell. */
static bool measure_overlap(bench_t *bench, measure_t *measure, int64_t size_bytes, double pure_ns, overlap_t *overlap)
{
    samples_t samples = {0};
    analysis_t analysis;
    int64_t compute_ns = (int64_t)pure_ns;
    double hidden;
    world_require(measure->span, MPI_Bcast(&compute_ns, 1, MPI_INT64_T, 0, measure->span->comm), "MPI_Bcast");
    if (compute_ns <= 0)
        return false;
    measure_size(measure, size_bytes, compute_ns, &samples);
    if (samples.valid > 0) {
        analyse_samples(bench, measure, &samples, RUN_TIME_LOCAL, &analysis);
        *overlap = (overlap_t){true, pure_ns, median_computed(measure, &samples), analysis.median_ns, 0};
        hidden = 100 * (1 - (overlap->total_ns - overlap->compute_ns) / pure_ns);
        overlap->percent = hidden < 0 ? 0 : hidden > 100 ? 100 : hidden;
    }
    samples_free(&samples);
    return overlap->measured;
}

void bench_tell_cache(const bench_t *bench, const job_t *job)
{
    int64_t cache_bytes = arena_cache_bytes(), used_bytes = job_cache_bytes(job, cache_bytes);
    if (bench_is_root(bench) && job->settings.cache != CACHE_WARM && used_bytes < cache_bytes)
        fprintf(stderr,
                "%s: %s: --cache %s takes %lld MiB of memory, for %lld MiB of cache: give --mem-limit for more\n",
                bench->world.program, operation_at(job->operation)->name, cache_mode_name((int)job->settings.cache),
                (long long)(used_bytes + used_bytes / 2) >> 20, (long long)cache_bytes >> 20);
}

/* What brought a size to its end. */
static const char *limit_of(const samples_t *samples)
{
    return samples->end == END_REPEATED ? "--max-repeat"
           : samples->end == END_SLICE  ? "--time-slice-s"
                                        : "--iterations";
}

/* Whether a size ended as it was to, valid samples or not. */
static bool is_as_wanted(const bench_settings_t *settings, const row_t *row, const samples_t *samples)
{
    bool time_is_aim = settings->release == RELEASE_ROUND_TIME && settings->iterations == NOT_GIVEN;
    if (settings->ci_percent > 0)
        return analysis_is_narrow(&row->analysis, settings->ci_percent);
    return samples->end == END_ENOUGH || (samples->end == END_SLICE && time_is_aim);
}

/* Tells on standard error why a row rests on fewer samples than wanted, or on too few for the interval wanted. */
static void tell_shortage(const measure_t *measure, const row_t *row, const samples_t *samples)
{
    const bench_settings_t *settings = &measure->job->settings;
    if (samples->valid > 0 && is_as_wanted(settings, row, samples))
        return;
    if (samples->valid > 0 && settings->ci_percent > 0) {
        fprintf(stderr,
                "%s: %s, %lld bytes: the confidence interval is not within %g %% after %lld valid samples, "
                "the limit (%s)\n",
                measure->world->program, row->keys.operation, (long long)row->keys.size_bytes, settings->ci_percent,
                (long long)samples->valid, limit_of(samples));
        return;
    }
    fprintf(stderr, "%s: %s, %lld bytes: only %lld valid samples in %lld calls, the limit (%s)\n",
            measure->world->program, row->keys.operation, (long long)row->keys.size_bytes, (long long)samples->valid,
            (long long)samples->calls, limit_of(samples));
}

/* What would not be known otherwise about starting times, as a comment in the table. */
static void tell_window(const bench_t *bench, const measure_t *measure, int64_t size_bytes)
{
    if (bench->report.output.format == FORMAT_TABLE && measure->releaser.kind == RELEASE_WINDOW)
        fprintf(bench->report.output.file, "# Window at %lld bytes: %.2f us%s\n", (long long)size_bytes,
                (double)measure->releaser.window_ns / 1e3, measure->releaser.window_is_given ? "" : ", found");
}

/* Rank 0: writes the row of a size. */
static void write_row(bench_t *bench, const measure_t *measure, const row_t *row, const samples_t *samples)
{
    sample_set_t set = samples_set(samples);
    tell_window(bench, measure, row->keys.size_bytes);
    report_row(&bench->report, row);
    if (measure->imposed.arrival.shape == ARRIVAL_TOGETHER)
        chart_add(&bench->chart, row);
    tell_shortage(measure, row, samples);
    if (bench->plan.settings.results.raw.file != NULL)
        report_raw(bench->plan.settings.results.raw.file, &row->keys, &set, samples->targets_ns);
    if (row->wrong > 0)
        fprintf(stderr, "%s: %s, %lld bytes: validation found %lld wrong elements\n", measure->world->program,
                row->keys.operation, (long long)row->keys.size_bytes, (long long)row->wrong);
    if (row->analysis.valid == 0 || row->wrong > 0)
        bench->status = STATUS_FAILED;
}

/* What rows without delays tell those with them. */
typedef struct together {
    double median_ns;    /* of the run times; 0: no valid sample */
    double from_last_ns; /* NaN: likewise */
} together_t;

/* Rank 0: the figures of imposed arrivals, and those that others are compared with. */
static void analyse_arrivals(const measure_t *measure, const samples_t *samples, double bound_ns, row_t *row,
                             together_t *together)
{
    sample_set_t set = samples_set(samples);
    arrival_figures_t *figures = &row->arrival;
    if (!arrival_analyse(&set, samples->targets_ns, figures))
        world_abort(measure->span, "out of memory");
    if (measure->imposed.arrival.shape == ARRIVAL_TOGETHER) {
        together->median_ns = row->analysis.valid > 0 ? row->analysis.median_ns : 0;
        together->from_last_ns = figures->measured ? figures->from_last_ns : NAN;
    }
    figures->span_ns = measure->imposed.span_ns;
    figures->bound_ns = bound_ns;
    figures->robustness = figures->from_last_ns / together->from_last_ns;
}

/* Measures a size with one pattern, and writes its row. */
static void run_pattern(bench_t *bench, measure_t *measure, row_t *row, together_t *together)
{
    const bench_settings_t *settings = &measure->job->settings;
    int64_t size_bytes = row->keys.size_bytes;
    samples_t samples = {0};
    analysis_t local = {0};
    bool root = bench_is_root(bench);
    measure_size(measure, size_bytes, 0, &samples);
    double bound_ns = measure->job->arrivals.given ? impose_bound_ns(measure) : NAN;
    if (root)
        analyse_samples(bench, measure, &samples, (run_time_t)settings->run_time, &row->analysis);
    if (root && measure->job->arrivals.given)
        analyse_arrivals(measure, &samples, bound_ns, row, together);
    if (root && settings->overlap)
        analyse_samples(bench, measure, &samples, RUN_TIME_LOCAL, &local);
    if (settings->overlap &&
        !measure_overlap(bench, measure, size_bytes, local.valid > 0 ? local.median_ns : 0, &row->overlap) && root)
        fprintf(stderr, "%s: %s, %lld bytes: no valid sample to tell the overlap by\n", bench->world.program,
                row->keys.operation, (long long)size_bytes);
    if (settings->validation)
        row->wrong = validate(bench, measure);
    if (root)
        write_row(bench, measure, row, &samples);
    samples_free(&samples);
}

void bench_run_size(bench_t *bench, measure_t *measure, const row_keys_t *keys, int64_t size_bytes)
{
    const arrival_list_t *arrivals = &measure->job->arrivals;
    const shape_t *shape = operation_at(measure->job->operation)->shape;
    together_t together = {0, NAN};
    world_require(measure->span, work_set_size(measure->work, size_bytes), measure->function);
    for (int i = 0; i < arrivals->count; i++) {
        row_t row = {.keys = *keys,
                     .trips = shape->takes_turns ? 2 : 1,
                     .moved_bytes = shape->messages * size_bytes,
                     .wrong = -1};
        row.keys.size_bytes = size_bytes;
        if (release_imposes(&measure->releaser))
            row.keys.arrival = arrivals->items[i].text;
        if (impose(measure, &arrivals->items[i], together.median_ns, size_bytes))
            run_pattern(bench, measure, &row, &together);
        else
            bench->status = STATUS_FAILED;
    }
}
