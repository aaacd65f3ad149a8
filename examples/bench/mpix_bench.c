/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_bench - how long MPI operations take, under a choice of how processes start together.
 *
 * All jobs are checked, and their memory is really asked for, before the first one is measured.
 */
#include "common/output.h"
#include "common/world.h"
#include "suite/analysis.h"
#include "suite/arena.h"
#include "suite/barriers.h"
#include "suite/communicator.h"
#include "suite/measure.h"
#include "suite/operation.h"
#include "suite/plan.h"
#include "suite/provenance.h"
#include "suite/report.h"
#include "suite/schemes.h"

#include <mpix_harmonize.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Calls by which the results at a size are checked; where the root rotates, as many as roots, but not more. */
enum { CHECKS = 3, MOST_CHECKS = 64 };
/* Columns of percentiles have names with so many digits. */
#define LEAST_FRACTION_STEP 1e-8
/* Processes that stand aside look so often whether the others are done: they are not to disturb them. */
enum { ASIDE_PAUSE_NS = 1000 * 1000 };

struct bench {
    struct world world;
    struct plan plan; /* the jobs are the same on all ranks */
    struct report report;
    FILE *raw;
    double fractions[MOST_NUMBERS];
    struct communicator communicator; /* of the last job */
    const struct communicator_choice *choice; /* NULL: none is open */
    int status;
};

static bool is_root(const struct bench *bench)
{
    return bench->world.rank == 0;
}

/* ---- Communicators, one for as many jobs as name the same */

static void close_communicator(struct bench *bench)
{
    if (bench->choice != NULL)
        communicator_close(&bench->communicator, &bench->world);
    bench->choice = NULL;
}

/* Returns false where a call failed; one rank has told so. */
static bool open_communicator(struct bench *bench, const struct communicator_choice *choice)
{
    if (bench->choice != NULL && strcmp(bench->choice->text, choice->text) == 0)
        return true;
    close_communicator(bench);
    bench->choice = choice;
    return world_agree(&bench->world, communicator_open(&bench->communicator, &bench->world, choice),
                       "making the communicator");
}

/* ---- Before anything is measured */

static struct work_plan plan_work(const struct bench *bench, const struct job *job)
{
    struct work_plan plan = {.operation = operation_at(job->operation),
                             .comm = bench->communicator.group,
                             .datatype = (int)job->settings.datatype,
                             .reduction = (int)job->settings.reduction,
                             .root = (int)job->settings.root,
                             .in_place = job->settings.in_place != 0,
                             .cache = (enum cache_mode)job->settings.cache,
                             .cache_bytes = job_cache_bytes(job, arena_cache_bytes())};

    for (int i = 0; i < job->size_count; i++) {
        if (job->settings.sizes.bytes[i] > plan.most_bytes)
            plan.most_bytes = job->settings.sizes.bytes[i];
    }
    return plan;
}

/* The same on all ranks of the world; those that stand aside have nothing against it. */
static bool all_agree(const struct bench *bench, bool good)
{
    return world_all(&bench->world, good);
}

static void remove_size(struct job *job, int64_t size_bytes)
{
    int kept = 0;

    for (int i = 0; i < job->size_count; i++) {
        if (job->settings.sizes.bytes[i] != size_bytes)
            job->settings.sizes.bytes[kept++] = job->settings.sizes.bytes[i];
    }
    job->size_count = kept;
    job->settings.sizes.count = kept;
}

static void refuse_sizes(const struct bench *bench, const struct job *job, const struct work_plan *plan, int64_t bytes)
{
    const char *name = operation_short_name(plan->operation);
    const char *option = plan->cache == CACHE_WARM ? "--message-size" : "--cache";

    if (bytes < 0)
        world_refuse(&bench->world,
                     "option --message-size: %s of %lld bytes takes more elements than MPI can count (see --help)", name,
                     (long long)plan->most_bytes);
    else
        world_refuse(&bench->world,
                     "option %s: %s of %lld bytes with --cache %s needs %lld bytes of buffers on each rank, more than "
                     "--mem-limit %lld allows (see --help)",
                     option, name, (long long)plan->most_bytes, cache_mode_name((int)plan->cache), (long long)bytes,
                     (long long)job_mem_limit_bytes(job));
}

/* Compares buffers with the limit. Sizes that nobody asked for are left out instead. */
static bool check_limit(struct bench *bench, struct job *job)
{
    for (;;) {
        struct work_plan plan = plan_work(bench, job);
        int64_t bytes = communicator_takes_part(&bench->communicator) ? work_bytes(&plan) : 0;

        /* Groups may differ. Without a sign, -1 is the greatest. */
        MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_UINT64_T, MPI_MAX, bench->world.comm);
        if (bytes >= 0 && bytes <= job_mem_limit_bytes(job))
            return true;
        if (!job->settings.sizes.given && job->size_count > 1) {
            remove_size(job, plan.most_bytes);
            continue;
        }
        refuse_sizes(bench, job, &plan, bytes);
        return false;
    }
}

/* Allocates, to see whether it can be done. */
static bool check_memory(struct bench *bench, const struct job *job)
{
    struct work_plan plan = plan_work(bench, job);
    char why[WORK_WHY_BYTES] = "";
    struct work *work = NULL;
    bool takes_part = communicator_takes_part(&bench->communicator);
    bool good;

    if (takes_part)
        work = work_open(&plan, why);
    good = all_agree(bench, !takes_part || work != NULL);
    if (work != NULL)
        work_close(work);
    if (!good)
        world_refuse(&bench->world, "%s of %lld bytes: %s", operation_short_name(plan.operation),
                     (long long)plan.most_bytes, why[0] != '\0' ? why : "another group of ranks cannot be made ready");
    return good;
}

static bool check_root(struct bench *bench, const struct job *job)
{
    int root = (int)job->settings.root;
    int least_ranks = bench->world.ranks;

    if (communicator_takes_part(&bench->communicator))
        MPI_Comm_size(bench->communicator.group, &least_ranks);
    MPI_Allreduce(MPI_IN_PLACE, &least_ranks, 1, MPI_INT, MPI_MIN, bench->world.comm);
    if (root < least_ranks)
        return true;
    world_refuse(&bench->world, "option --root: %d is not allowed, give a rank from 0 to %d, or rotate (see --help)", root,
                 least_ranks - 1);
    return false;
}

/* Returns an exit status. */
static int check_job(struct bench *bench, struct job *job)
{
    if (!open_communicator(bench, &job->comm))
        return STATUS_FAILED;
    return check_root(bench, job) && check_limit(bench, job) && check_memory(bench, job) ? STATUS_GOOD
                                                                                         : STATUS_BAD_OPTION;
}

static bool open_files(struct bench *bench)
{
    bench->report.file = stdout;
    return output_create(&bench->world, "--output", bench->plan.settings.output, &bench->report.file) == STATUS_GOOD &&
           output_create(&bench->world, "--raw", bench->plan.settings.raw, &bench->raw) == STATUS_GOOD;
}

/* Closes files. Returns false where something could not be written. Standard output is looked at last of all. */
static bool close_files(struct bench *bench)
{
    const struct bench_settings *settings = &bench->plan.settings;
    bool good = true;

    if (bench->report.file != NULL && bench->report.file != stdout)
        good = output_finish(bench->report.file, settings->output, bench->world.program);
    if (bench->raw != NULL)
        good = output_finish(bench->raw, settings->raw, bench->world.program) && good;
    return good;
}

/* Gives rank 0's plan to all ranks. Returns true to go on; else status is the exit status. */
static bool share_plan(struct bench *bench, int argc, char **argv)
{
    struct plan *plan = &bench->plan;
    int outcome = OPTIONS_RUN;
    int told[2];

    if (is_root(bench))
        outcome = plan_read(plan, bench->world.program, argc, argv, bench->world.ranks);
    told[0] = outcome;
    told[1] = plan->job_count;
    MPI_Bcast(told, 2, MPI_INT, 0, bench->world.comm);
    bench->status = told[0] == OPTIONS_BAD ? STATUS_BAD_OPTION : STATUS_GOOD;
    if (told[0] != OPTIONS_RUN)
        return false;
    plan->job_count = told[1];
    if (!is_root(bench))
        plan->jobs = malloc((size_t)plan->job_count * sizeof(plan->jobs[0]));
    if (!all_agree(bench, plan->jobs != NULL)) {
        bench->status = world_refuse(&bench->world, "out of memory");
        return false;
    }
    for (int i = 0; i < plan->job_count; i++)
        MPI_Bcast(&plan->jobs[i], sizeof(plan->jobs[0]), MPI_BYTE, 0, bench->world.comm);
    return true;
}

/* ---- Rows */

static struct row_keys name_keys(const struct bench *bench, const struct job *job)
{
    const struct operation *operation = operation_at(job->operation);
    const struct bench_settings *settings = &job->settings;
    static char root[16]; /* the caller is done with it before the next job */

    snprintf(root, sizeof(root), "%d", (int)settings->root);
    return (struct row_keys){
        .operation = operation_short_name(operation),
        .release = release_name((int)settings->release),
        .barrier = release_has_barrier((enum release_kind)settings->release) ? barrier_name((int)settings->barrier) : "",
        .cadence = release_cadence((enum release_kind)settings->release),
        .comm = job->comm.text,
        .ranks = bench->communicator.group_ranks,
        .datatype = operation_has_size(operation) ? datatype_name((int)settings->datatype) : "",
        .reduction = operation_reduces(operation) ? reduction_name((int)settings->reduction) : "",
        .root = !operation_has_root(operation) ? "" : settings->root == ROOT_ROTATES ? "rotating" : root,
        .buffers = settings->in_place ? "in place" : "separate",
        .cache = cache_mode_name((int)settings->cache),
        .run_time = run_time_name((int)settings->run_time)};
}

/* Elements found wrong on all ranks, in a few calls. Collective over the span. */
static int64_t validate(const struct bench *bench, const struct measure *measure)
{
    int roots = measure->job->settings.root == ROOT_ROTATES ? bench->communicator.group_ranks : 1;
    int checks = roots < CHECKS ? CHECKS : roots > MOST_CHECKS ? MOST_CHECKS : roots;
    int64_t all_wrong = 0;

    for (int i = 0; i < checks; i++) {
        int64_t wrong = 0;

        world_require(measure->span, work_check(measure->work, i, &wrong), measure->function);
        all_wrong += wrong;
    }
    world_require(measure->span,
                  MPI_Allreduce(MPI_IN_PLACE, &all_wrong, 1, MPI_INT64_T, MPI_SUM, measure->span->comm),
                  "MPI_Allreduce");
    return all_wrong;
}

static void analyse_samples(const struct bench *bench, const struct measure *measure, const struct samples *samples,
                            enum run_time run_time, struct analysis *analysis)
{
    struct sample_set set = samples_set(samples);

    if (!analyse(&set, run_time, bench->fractions, bench->report.fraction_count, analysis))
        world_abort(measure->span, "out of memory");
}

/* The median of what was computed in valid samples. */
static double median_computed(const struct measure *measure, const struct samples *samples)
{
    /* As a set of one rank whose calls begin at 0. */
    struct call_times *times = malloc((size_t)samples->calls * sizeof(times[0]));
    uint8_t *marks = malloc((size_t)samples->calls);
    struct sample_set set = {1, samples->calls, times, marks};
    struct analysis analysis;

    if (times == NULL || marks == NULL)
        world_abort(measure->span, "out of memory");
    for (int64_t i = 0; i < samples->calls; i++) {
        times[i] = (struct call_times){0, samples->compute_ns[i]};
        marks[i] = MARK_VALID;
        for (int rank = 0; rank < samples->ranks; rank++)
            marks[i] |= samples->marks[i * samples->ranks + rank];
    }
    if (!analyse(&set, RUN_TIME_LOCAL, NULL, 0, &analysis))
        world_abort(measure->span, "out of memory");
    free(times);
    free(marks);
    return analysis.median_ns;
}

/* Measures again, computing for as long as the pure operation took. Returns false where there is nothing to tell. */
static bool measure_overlap(struct bench *bench, struct measure *measure, int64_t size_bytes, double pure_ns,
                            struct overlap *overlap)
{
    struct samples samples = {0};
    struct analysis analysis;
    int64_t compute_ns = (int64_t)pure_ns;
    double hidden;

    world_require(measure->span, MPI_Bcast(&compute_ns, 1, MPI_INT64_T, 0, measure->span->comm), "MPI_Bcast");
    if (compute_ns <= 0)
        return false;
    measure_size(measure, size_bytes, compute_ns, &samples);
    if (samples.valid > 0) {
        analyse_samples(bench, measure, &samples, RUN_TIME_LOCAL, &analysis);
        *overlap = (struct overlap){true, pure_ns, median_computed(measure, &samples), analysis.median_ns, 0};
        hidden = 100 * (1 - (overlap->total_ns - overlap->compute_ns) / pure_ns);
        overlap->percent = hidden < 0 ? 0 : hidden > 100 ? 100 : hidden;
    }
    samples_free(&samples);
    return overlap->measured;
}

/* Rank 0: tells on standard error where buffers may stay in the cache, whole or in part, against what was asked for. */
static void tell_cache(const struct bench *bench, const struct job *job)
{
    int64_t cache_bytes = arena_cache_bytes(), used_bytes = job_cache_bytes(job, cache_bytes);

    if (is_root(bench) && job->settings.cache != CACHE_WARM && used_bytes < cache_bytes)
        fprintf(stderr,
                "%s: %s: --cache %s takes %lld MiB of memory, for %lld MiB of cache: give --mem-limit for more\n",
                bench->world.program, operation_short_name(operation_at(job->operation)),
                cache_mode_name((int)job->settings.cache), (long long)(used_bytes + used_bytes / 2) >> 20,
                (long long)cache_bytes >> 20);
}

/* What brought a size to its end. */
static const char *limit_of(const struct samples *samples)
{
    return samples->end == END_REPEATED ? "--max-repeat" : samples->end == END_SLICE ? "--time-slice" : "--iterations";
}

/* Whether a size ended as it was to, valid samples or not. */
static bool is_as_wanted(const struct bench_settings *settings, const struct row *row, const struct samples *samples)
{
    bool time_is_aim = settings->release == RELEASE_ROUND_TIME && settings->iterations == NOT_GIVEN;

    if (settings->ci_percent > 0)
        return analysis_is_narrow(&row->analysis, settings->ci_percent);
    return samples->end == END_ENOUGH || (samples->end == END_SLICE && time_is_aim);
}

/* Tells on standard error why a row rests on fewer samples than wanted, or on too few for the interval wanted. */
static void tell_shortage(const struct measure *measure, const struct row *row, const struct samples *samples)
{
    const struct bench_settings *settings = &measure->job->settings;

    if (samples->valid > 0 && is_as_wanted(settings, row, samples))
        return;
    if (samples->valid > 0 && settings->ci_percent > 0) {
        fprintf(stderr, "%s: %s, %lld bytes: the confidence interval is not within %g %% after %lld valid samples, "
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
static void tell_window(const struct bench *bench, const struct measure *measure, int64_t size_bytes)
{
    if (bench->report.format == FORMAT_TABLE && measure->releaser.kind == RELEASE_WINDOW)
        fprintf(bench->report.file, "# Window at %lld bytes: %.2f us%s\n", (long long)size_bytes,
                (double)measure->releaser.window_ns / 1e3, measure->releaser.window_is_given ? "" : ", found");
}

/* Rank 0: writes the row of a size. */
static void write_row(struct bench *bench, const struct measure *measure, const struct row *row,
                      const struct samples *samples)
{
    struct sample_set set = samples_set(samples);

    tell_window(bench, measure, row->keys.size_bytes);
    report_row(&bench->report, row);
    fflush(bench->report.file);
    tell_shortage(measure, row, samples);
    if (bench->raw != NULL)
        report_raw(bench->raw, &row->keys, &set);
    if (row->wrong > 0)
        fprintf(stderr, "%s: %s, %lld bytes: validation found %lld wrong elements\n", measure->world->program,
                row->keys.operation, (long long)row->keys.size_bytes, (long long)row->wrong);
    if (row->analysis.valid == 0 || row->wrong > 0)
        bench->status = STATUS_FAILED;
}

static void run_size(struct bench *bench, struct measure *measure, const struct row_keys *keys, int64_t size_bytes)
{
    const struct bench_settings *settings = &measure->job->settings;
    struct row row = {
        .keys = *keys, .trips = operation_trips(operation_at(measure->job->operation)), .wrong = -1};
    struct samples samples = {0};
    struct analysis local = {0};
    bool root = is_root(bench);

    row.keys.size_bytes = size_bytes;
    world_require(measure->span, work_set_size(measure->work, size_bytes), measure->function);
    measure_size(measure, size_bytes, 0, &samples);
    if (root)
        analyse_samples(bench, measure, &samples, (enum run_time)settings->run_time, &row.analysis);
    if (root && settings->overlap)
        analyse_samples(bench, measure, &samples, RUN_TIME_LOCAL, &local);
    if (settings->overlap &&
        !measure_overlap(bench, measure, size_bytes, local.valid > 0 ? local.median_ns : 0, &row.overlap) && root)
        fprintf(stderr, "%s: %s, %lld bytes: no valid sample to tell the overlap by\n", bench->world.program,
                keys->operation, (long long)size_bytes);
    if (settings->validation)
        row.wrong = validate(bench, measure);
    if (root)
        write_row(bench, measure, &row, &samples);
    samples_free(&samples);
}

/* ---- Jobs */

/* Processes that stand aside wait without spinning. */
static void wait_for_all(const struct bench *bench)
{
    const struct timespec pause = {.tv_nsec = ASIDE_PAUSE_NS};
    MPI_Request request;
    int done = 0;

    world_require(&bench->world, MPI_Ibarrier(bench->world.comm, &request), "MPI_Ibarrier");
    if (communicator_takes_part(&bench->communicator)) {
        world_require(&bench->world, MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Ibarrier");
        return;
    }
    for (;;) {
        world_require(&bench->world, MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done)
            return;
        nanosleep(&pause, NULL);
    }
}

/* The part of a job that only its own processes take. */
static void run_sizes(struct bench *bench, struct measure *measure)
{
    const struct job *job = measure->job;
    const struct row_keys keys = name_keys(bench, job);

    tell_cache(bench, job);
    if (is_root(bench))
        report_titles(&bench->report, &keys, measure->function);
    if (is_root(bench) && bench->report.format == FORMAT_TABLE && operation_trips(operation_at(job->operation)) > 1)
        fprintf(bench->report.file, "# A call is a message there and one back; Latency is one message's, as OSU's\n");
    for (int i = 0; i < job->size_count; i++)
        run_size(bench, measure, &keys, job->settings.sizes.bytes[i]);
}

static void run_measured(struct bench *bench, const struct job *job)
{
    const struct world *span = &bench->communicator.span;
    struct work_plan plan = plan_work(bench, job);
    char why[WORK_WHY_BYTES] = "";
    int flag;
    struct measure measure = {.world = &bench->world,
                              .job = job,
                              .span = span,
                              .function = operation_function(plan.operation)};

    measure.work = work_open(&plan, why);
    if (!world_all(span, measure.work != NULL))
        world_abort(span, why[0] != '\0' ? why : "another group of ranks cannot be made ready");
    /* Whatever the scheme, the library gets ready for the span here: its clock, its tolerance. */
    world_require(span, MPIX_Harmonize(span->comm, &flag), "MPIX_Harmonize");
    world_require(span, MPIX_Clock_sync(span->comm), "MPIX_Clock_sync");
    if (!measure_open(&measure))
        world_abort(span, "out of memory");
    run_sizes(bench, &measure);
    measure_close(&measure);
    work_close(measure.work);
}

/* Returns false where a call failed. */
static bool run_job(struct bench *bench, const struct job *job)
{
    if (!open_communicator(bench, &job->comm))
        return false;
    if (communicator_takes_part(&bench->communicator))
        run_measured(bench, job);
    if (!communicator_is_whole(&job->comm))
        wait_for_all(bench);
    return true;
}

/* A percentile that is asked for twice is told once: columns have different names. */
static bool has_fraction(const struct bench *bench, double fraction)
{
    for (int i = 0; i < bench->report.fraction_count; i++) {
        if (fabs(bench->fractions[i] - fraction) < LEAST_FRACTION_STEP)
            return true;
    }
    return false;
}

static void choose_fractions(struct bench *bench, const struct number_list *tail)
{
    for (int i = 0; i < (int)tail->count; i++) {
        if (!has_fraction(bench, tail->values[i] / 100))
            bench->fractions[bench->report.fraction_count++] = tail->values[i] / 100;
    }
}

static void prepare_report(struct bench *bench)
{
    const struct bench_settings *settings = &bench->plan.settings;
    struct report *report = &bench->report;

    report->format = (enum output_format)settings->format;
    report->full = settings->full != 0;
    report->fractions = bench->fractions;
    choose_fractions(bench, &settings->tail);
    for (int i = 0; i < bench->plan.job_count; i++) {
        report->overlap = report->overlap || bench->plan.jobs[i].settings.overlap;
        report->validated = report->validated || bench->plan.jobs[i].settings.validation;
        report->latency = report->latency || operation_trips(operation_at(bench->plan.jobs[i].operation)) > 1;
    }
}

static void write_head(struct bench *bench, int argc, char **argv)
{
    static struct provenance provenance;

    provenance_collect(&provenance, &bench->world, argc, argv, bench->plan.jobs[0].settings.seed);
    if (is_root(bench)) {
        report_head(&bench->report, provenance.items, provenance.count);
        if (bench->raw != NULL)
            report_raw_head(bench->raw);
    }
}

static void run(struct bench *bench, int argc, char **argv)
{
    int flag;

    for (int i = 0; i < bench->plan.job_count; i++) {
        bench->status = check_job(bench, &bench->plan.jobs[i]);
        if (bench->status != STATUS_GOOD)
            return;
    }
    if (!open_files(bench)) {
        bench->status = STATUS_BAD_OPTION;
        return;
    }
    bench->status = STATUS_FAILED;
    /* The call that a bad setting of the library makes fail, on all ranks. */
    if (!world_agree(&bench->world, MPIX_Harmonize(bench->world.comm, &flag), "MPIX_Harmonize"))
        return;
    bench->status = STATUS_GOOD;
    prepare_report(bench);
    write_head(bench, argc, argv);
    for (int i = 0; i < bench->plan.job_count; i++) {
        if (!run_job(bench, &bench->plan.jobs[i])) {
            bench->status = STATUS_FAILED;
            return;
        }
    }
}

int main(int argc, char **argv)
{
    static struct bench bench;

    world_begin(&bench.world, plan_program(argc > 0 ? argv[0] : ""), &argc, &argv);
    if (share_plan(&bench, argc, argv))
        run(&bench, argc, argv);
    close_communicator(&bench);
    if (is_root(&bench) && !close_files(&bench) && bench.status == STATUS_GOOD)
        bench.status = STATUS_FAILED;
    plan_free(&bench.plan);
    return world_end(&bench.world, bench.status);
}
