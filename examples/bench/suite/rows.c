/* SPDX-License-Identifier: BSD-3-Clause */
/* rows.c - what is said of the calls of a size, and when. */
#include "suite/bench.h"

#include "common/room.h"
#include "common/statistics.h"
#include "suite/arena.h"
#include "suite/barriers.h"
#include "suite/impose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Calls by which the results at a size are checked; where the root rotates, as many as roots, but not more. */
enum { CHECKS = 3, MAX_CHECKS = 64 };

/* ---- Rows */

void bench_name_keys(const bench_t *bench, task_t *task)
{
    const job_t *job = task->measure.job;
    const operation_t *operation = operation_at(job->operation);
    const bench_settings_t *settings = &job->settings;
    snprintf(task->root, sizeof(task->root), "%d", (int)settings->root);
    task->keys = (row_keys_t){
        .operation = operation->name,
        .release = release_schemes[settings->release].name,
        .barrier = release_schemes[settings->release].has_barrier ? barrier_name((int)settings->barrier) : "",
        .cadence = release_schemes[settings->release].cadence,
        .comm = job->comm.text,
        .ranks = bench->communicator.group_ranks,
        .datatype = operation_has_size(operation) ? datatype_name((int)settings->datatype) : "",
        .reduction = operation->shape->reduces ? reduction_name((int)settings->reduction) : "",
        .root = !operation->shape->has_root      ? ""
                : settings->root == ROOT_ROTATES ? "rotating"
                                                 : task->root,
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
static void tell_window(const bench_t *bench, const measure_t *measure, const kept_row_t *kept)
{
    if (bench->report.output.format == FORMAT_TABLE && measure->releaser.kind == RELEASE_WINDOW)
        fprintf(bench->report.output.file, "# Window at %lld bytes: %.2f us%s\n", (long long)kept->row.keys.size_bytes,
                (double)kept->window_ns / 1e3, measure->releaser.window_is_given ? "" : ", found");
}

void bench_begin_rows(bench_t *bench, const task_t *task)
{
    report_titles(&bench->report, &task->keys, task->measure.function);
    chart_begin(&bench->chart, &task->keys);
    if (bench->report.output.format == FORMAT_TABLE && operation_at(task->measure.job->operation)->shape->takes_turns)
        fprintf(bench->report.output.file,
                "# A call is a message there and one back; Latency is one message's, as OSU's\n");
}

/* Rows of a table wait for their turn. Others say what they are of, so no time limit takes those that are measured. */
static bool is_written_at_once(const bench_t *bench)
{
    return bench->report.output.format != FORMAT_TABLE;
}

void bench_write_rows(bench_t *bench, task_t *task)
{
    for (int i = 0; i < task->kept_count; i++) {
        const kept_row_t *kept = &task->kept[i];
        tell_window(bench, &task->measure, kept);
        if (!is_written_at_once(bench))
            report_row(&bench->report, &kept->row);
        if (kept->row.keys.arrival[0] == '\0' || strcmp(kept->row.keys.arrival, "together") == 0)
            chart_add(&bench->chart, &kept->row);
    }
    task->kept_count = 0;
}

/* Rank 0: what belongs to no table is written; the row is kept for its turn. */
static void keep_row(bench_t *bench, task_t *task)
{
    const measure_t *measure = &task->measure;
    const row_t *row = &task->row;
    sample_set_t set = samples_set(&task->samples);
    task->kept[task->kept_count++] = (kept_row_t){*row, measure->releaser.window_ns};
    if (is_written_at_once(bench))
        report_row(&bench->report, row);
    if (!measure->takes_turns)
        bench_write_rows(bench, task);
    tell_shortage(measure, row, &task->samples);
    if (bench->plan.settings.results.raw.file != NULL)
        report_raw(bench->plan.settings.results.raw.file, &row->keys, &set, task->samples.targets_ns);
    if (row->wrong > 0)
        fprintf(stderr, "%s: %s, %lld bytes: validation found %lld wrong elements\n", measure->world->program,
                row->keys.operation, (long long)row->keys.size_bytes, (long long)row->wrong);
    if (row->analysis.valid == 0 || row->wrong > 0)
        bench->status = STATUS_FAILED;
}

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

/* ---- A row, from its beginning to its end */

bool bench_begin_row(bench_t *bench, task_t *task, int64_t size_bytes, int pattern)
{
    measure_t *measure = &task->measure;
    const arrival_list_t *arrivals = &measure->job->arrivals;
    const shape_t *shape = operation_at(measure->job->operation)->shape;
    task->has_row = task->is_at_size && pattern < arrivals->count;
    if (task->has_row && !impose(measure, &arrivals->items[pattern], task->together.median_ns, size_bytes)) {
        bench->status = STATUS_FAILED;
        task->has_row = false;
    }
    if (!task->has_row)
        return false;
    task->row = (row_t){.keys = task->keys,
                        .trips = shape->takes_turns ? 2 : 1,
                        .moved_bytes = shape->messages * size_bytes,
                        .wrong = -1};
    task->row.keys.size_bytes = size_bytes;
    if (release_imposes(&measure->releaser))
        task->row.keys.arrival = arrivals->items[pattern].text;
    measure_begin(measure, size_bytes, 0);
    return true;
}

/* Takes the samples of the operation alone. Rank 0: returns the median of the ranks' own durations; 0: not known. */
static double take_pure(bench_t *bench, task_t *task)
{
    const measure_t *measure = &task->measure;
    const bench_settings_t *settings = &measure->job->settings;
    bool imposes = measure->job->arrivals.given;
    analysis_t local = {0};
    task->samples = measure_take(&task->measure);
    double bound_ns = imposes ? impose_bound_ns(measure) : NAN;
    if (!bench_is_root(bench))
        return 0;
    analyse_samples(bench, measure, &task->samples, (run_time_t)settings->run_time, &task->row.analysis);
    if (imposes)
        analyse_arrivals(measure, &task->samples, bound_ns, &task->row, &task->together);
    if (settings->overlap)
        analyse_samples(bench, measure, &task->samples, RUN_TIME_LOCAL, &local);
    return local.valid > 0 ? local.median_ns : 0;
}

bool bench_begin_overlap(bench_t *bench, task_t *task)
{
    measure_t *measure = &task->measure;
    double pure_ns = take_pure(bench, task);
    int64_t compute_ns = (int64_t)pure_ns;
    if (!measure->job->settings.overlap)
        return false;
    world_require(measure->span, MPI_Bcast(&compute_ns, 1, MPI_INT64_T, 0, measure->span->comm), "MPI_Bcast");
    task->row.overlap.pure_ns = pure_ns;
    if (compute_ns > 0)
        measure_begin(measure, task->row.keys.size_bytes, compute_ns);
    return compute_ns > 0;
}

/* Rank 0: the figures of the overlap, if it was measured. */
static void take_overlap(bench_t *bench, task_t *task)
{
    const measure_t *measure = &task->measure;
    overlap_t *overlap = &task->row.overlap;
    samples_t samples = measure_take(&task->measure);
    analysis_t analysis;
    if (samples.valid > 0) {
        analyse_samples(bench, measure, &samples, RUN_TIME_LOCAL, &analysis);
        *overlap = (overlap_t){true, overlap->pure_ns, median_computed(measure, &samples), analysis.median_ns, 0};
        double hidden = 100 * (1 - (overlap->total_ns - overlap->compute_ns) / overlap->pure_ns);
        overlap->percent = hidden < 0 ? 0 : hidden > 100 ? 100 : hidden;
    } else {
        fprintf(stderr, "%s: %s, %lld bytes: no valid sample to tell the overlap by\n", bench->world.program,
                task->row.keys.operation, (long long)task->row.keys.size_bytes);
    }
    samples_free(&samples);
}

void bench_finish_row(bench_t *bench, task_t *task)
{
    const bench_settings_t *settings = &task->measure.job->settings;
    bool root = bench_is_root(bench);
    if (root && settings->overlap)
        take_overlap(bench, task);
    if (settings->validation)
        task->row.wrong = validate(bench, &task->measure);
    if (root)
        keep_row(bench, task);
    samples_free(&task->samples);
    task->has_row = false;
}
