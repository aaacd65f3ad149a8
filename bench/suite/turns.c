/* SPDX-License-Identifier: BSD-3-Clause */
/* turns.c - from the jobs that take turns to their rows. */
#include "bench/suite/turns.h"

#include "pure/order_statistics.h"
#include "bench/suite/arena.h"
#include "bench/suite/measure.h"
#include "bench/suite/rows.h"

#include <mpix_harmonize.h>

#include <math.h>
#include <stdlib.h>

/* A job while it is measured. */
typedef struct task {
    bench_t *bench;
    measurement_t measurement;
    job_row_t row;
    char root[16], label[48], messages[16], pairs[16], threads[16], forks[16], partitions[16]; /* texts of keys */
    char function[80];                                                                         /* of the start */
    row_keys_t keys;                                                                           /* of all rows */
    bool is_done[MAX_SIZES]; /* which sizes were measured */
} task_t;

/* Jobs while they are measured. */
typedef struct turns {
    task_t *tasks;
    int count;
    sampling_t *rows[MAX_TURNS]; /* those that take turns */
    bool has_size[MAX_TURNS];    /* of each task: whether it has the present size */
    batch_memory_t memory;
    uint64_t dice; /* the same on all ranks */
} turns_t;

/* ---- Imposed arrivals */

/* What rank 0 sends instead of a magnitude. */
enum { UNKNOWN_NS = -1 };

static int64_t longest_delay_ns(const arrival_table_t *table)
{
    int64_t longest_ns = 0;
    for (int64_t i = 0; i < table->calls * table->ranks; i++)
        longest_ns = greater(longest_ns, table->delays_ns[i]);
    return longest_ns;
}

/* Rank 0: how long the longest delays of a pattern are, or UNKNOWN_NS. */
static int64_t find_span_ns(const task_t *task, const arrival_t *arrival)
{
    double span_ns = arrival->magnitude * (arrival->is_multiple ? task->row.together_ns : 1e3);
    if (arrival->shape == ARRIVAL_TOGETHER)
        return 0;
    if (arrival->shape == ARRIVAL_FILE)
        return longest_delay_ns(&task->bench->plan.tables.items[arrival->table]);
    if (span_ns > 0 && span_ns <= (double)MAX_DELAY_NS)
        return llround(span_ns);
    row_begin_line(&task->measurement);
    fprintf(stderr, "--arrival %s: %s\n", arrival->text,
            span_ns > 0 ? "delays above 10 s are not allowed" : "there is no median without delays to multiply");
    return UNKNOWN_NS;
}

/*
 * Calls from now on have the arrivals of a pattern. Collective over the span. Returns false if the magnitude is not
 * known, or too long; rank 0 has said so.
 */
static bool impose(task_t *task, const arrival_t *arrival)
{
    const world_t *span = task->measurement.span;
    int64_t span_ns = 0;
    if (span->rank == 0)
        span_ns = find_span_ns(task, arrival);
    world_require(span, MPI_Bcast(&span_ns, 1, MPI_INT64_T, 0, span->comm));
    task->measurement.imposed.arrival = *arrival;
    task->measurement.imposed.span_ns = span_ns;
    return span_ns != UNKNOWN_NS;
}

/* The largest bound of the global clock now; NaN: not known. Collective over the span. */
static double max_bound_ns(const world_t *span)
{
    int64_t bound_ns = world_max(span, world_bound_ns(span));
    return bound_ns == INT64_MAX ? NAN : (double)bound_ns;
}

/* ---- A row, from its beginning to its end */

/*
 * Takes the figures of the calls that were measured. Begins the calls beside computation, if these are to be measured;
 * else the row is written. Collective. Returns whether calls follow.
 */
static bool settle(void *owner)
{
    task_t *task = owner;
    bench_t *bench = task->bench;
    measurement_t *measurement = &task->measurement;
    const world_t *span = measurement->span;
    const job_t *job = measurement->job;
    double bound_ns = job->arrivals.given ? max_bound_ns(span) : NAN;
    /* What ended before it had all samples is done, too. */
    bench->progress.done += progress_samples((double)(measurement->sampling.limits.wanted - measurement->samples.valid),
                                             measurement->keys.size_bytes);
    world_progress(span, "%s", "");
    if (load_tell(&bench->load, span, &task->row.figures.others_percent, &task->row.figures.steal_percent))
        task->row.figures.parts |= PART_LOAD;
    if (span->rank == 0)
        row_take(&task->row, measurement, &bench->communicator, &bench->report, bound_ns);
    if (job->settings.overlap && measurement->compute_ns == 0) {
        int64_t compute_ns = (int64_t)task->row.figures.overlap.pure_ns;
        world_require(span, MPI_Bcast(&compute_ns, 1, MPI_INT64_T, 0, span->comm));
        if (compute_ns > 0) {
            measure_begin(measurement, compute_ns);
            return true;
        }
    }
    if (job->settings.validation) {
        task->row.figures.wrong = measure_validate(measurement);
        task->row.figures.parts |= PART_VALIDATION;
    }
    if (span->rank == 0 && !row_write(&task->row, measurement, &bench->report))
        bench->status = STATUS_FAILED;
    samples_free(&measurement->samples);
    return false;
}

/* Begins the row of a size with a pattern. Returns false if there is none. Collective over the span. */
static bool begin_row(task_t *task, int64_t size_bytes, int pattern)
{
    measurement_t *measurement = &task->measurement;
    const arrival_list_t *arrivals = &measurement->job->arrivals;
    if (pattern >= arrivals->count)
        return false;
    measurement->keys = task->keys;
    measurement->keys.size_bytes = size_bytes;
    if (arrivals->given && !impose(task, &arrivals->items[pattern])) {
        task->bench->status = STATUS_FAILED;
        return false;
    }
    if (release_schemes[measurement->releaser.kind].imposes)
        measurement->keys.arrival = arrivals->items[pattern].text;
    task->row.figures =
        (row_t){.keys = measurement->keys, .parts = task->measurement.job->pair[1] > 0 ? PART_MATRIX : 0};
    measure_begin(measurement, 0);
    return true;
}

/* ---- Sizes */

/* The first size of a job that was not measured. Returns false if there is none. */
static bool find_size(const task_t *task, int64_t *size_bytes)
{
    const size_list_t *sizes = &task->measurement.job->settings.sizes;
    for (int i = 0; i < sizes->count; i++)
        if (!task->is_done[i]) {
            *size_bytes = sizes->bytes[i];
            return true;
        }
    return false;
}

/* Gets ready for a size. Returns false if the job has it not, or it was measured. */
static bool begin_size(task_t *task, int64_t size_bytes)
{
    const size_list_t *sizes = &task->measurement.job->settings.sizes;
    int place = 0;
    while (place < sizes->count && (task->is_done[place] || sizes->bytes[place] != size_bytes))
        place++;
    if (place == sizes->count)
        return false;
    task->is_done[place] = true;
    task->row.together_ns = 0;
    task->row.from_last_ns = NAN;
    work_set_size(task->measurement.work, size_bytes);
    return true;
}

/* Whether rows still get to their files: there is no use in measuring what is lost. Collective over the span. */
static bool can_write(bench_t *bench)
{
    const world_t *span = &bench->communicator.span;
    const results_t *results = &bench->plan.settings.results;
    int is_full =
        bench->world.rank == 0 && (ferror(results->output.file) || (results->raw.file && ferror(results->raw.file)));
    world_require(span, MPI_Bcast(&is_full, 1, MPI_INT, 0, span->comm));
    bench->is_full = is_full != 0;
    return !bench->is_full;
}

/* The rows of all jobs that have this size, pattern by pattern. */
static void run_size(turns_t *turns, int64_t size_bytes)
{
    for (int i = 0; i < turns->count; i++)
        turns->has_size[i] = begin_size(&turns->tasks[i], size_bytes);
    for (int pattern = 0; pattern < MAX_ARRIVALS; pattern++) {
        int count = 0;
        for (int i = 0; i < turns->count; i++)
            if (turns->has_size[i] && begin_row(&turns->tasks[i], size_bytes, pattern))
                turns->rows[count++] = &turns->tasks[i].measurement.sampling;
        engine_run(turns->rows, count, &turns->dice);
    }
}

/* ---- Jobs */

work_plan_t turns_plan_work(const bench_t *bench, const job_t *job)
{
    const communicator_t *communicator = &bench->communicator;
    bool has_graph = job->neighborhood.kind == NEIGHBORHOOD_GRAPH, has_blocks = job->layout.kind == LAYOUT_INDEXED;
    const pair_list_t *lists = bench->plan.lists.items;
    bool finds_hubs = operation_at(job->operation)->shape->fans && job->settings.pairs == 0;
    work_plan_t plan = {.span = &communicator->span,
                        .operation = operation_at(job->operation),
                        .comm = communicator->group,
                        .element = &datatypes[job->settings.datatype],
                        .reduction = &reductions[job->settings.reduction],
                        .root = (int)job->settings.root,
                        .in_place = job->settings.in_place != 0,
                        .messages = (int)job->settings.messages,
                        .pairs = finds_hubs ? communicator->hubs : (int)job->settings.pairs,
                        .pair = {job->pair[0], job->pair[1]},
                        .neighborhood = &job->neighborhood,
                        .graph = has_graph ? &lists[job->neighborhood.graph] : NULL,
                        .layout = &job->layout,
                        .blocks = has_blocks ? &lists[job->layout.list] : NULL,
                        .senders = (int)job->settings.senders,
                        .receivers = (int)job->settings.receivers,
                        .partitions = (int)job->settings.partitions,
                        .path = job->file,
                        .sync = (storage_sync_t)job->settings.file_sync,
                        .window = (window_kind_t)job->settings.window,
                        .synchronization = (synchronization_t)job->settings.synchronization,
                        .cache = (cache_mode_t)job->settings.cache,
                        .cache_bytes = job_cache_bytes(job, communicator->cache_bytes)};
    for (int i = 0; i < job->settings.sizes.count; i++)
        plan.max_bytes = greater(plan.max_bytes, job->settings.sizes.bytes[i]);
    return plan;
}

/* The keys of a task's rows. */
static void name_keys(const bench_t *bench, task_t *task)
{
    const job_t *job = task->measurement.job;
    const operation_t *operation = task->measurement.operation;
    const shape_t *shape = operation->shape;
    const bench_settings_t *settings = &job->settings;
    const scheme_t *scheme = &release_schemes[settings->release];
    bool rotates = settings->root == ROOT_ROTATES, is_one_sided = operation->form == FORM_ONE_SIDED;
    snprintf(task->root, sizeof task->root, "%d", (int)settings->root);
    snprintf(task->label, sizeof task->label, "%d:%s", 1 + (int)(job - bench->plan.jobs), job_name(&bench->plan, job));
    if (shape->directions > 0 && operation->form != FORM_FILE)
        snprintf(task->messages, sizeof task->messages, "%d", (int)settings->messages);
    if (shape->member)
        snprintf(task->threads, sizeof task->threads, "%d", (int)settings->receivers);
    else if (shape->has_threads)
        snprintf(task->threads, sizeof task->threads, "%d:%d", (int)settings->senders, (int)settings->receivers);
    if (shape->forks)
        snprintf(task->forks, sizeof task->forks, "%d:%d", (int)settings->senders, (int)settings->receivers);
    if (shape->is_partitioned)
        snprintf(task->partitions, sizeof task->partitions, "%d", (int)settings->partitions);
    if (shape->pairs_all)
        snprintf(task->pairs, sizeof task->pairs, "%d", row_pairs(&bench->communicator, job));
    task->keys = (row_keys_t){.label = task->label,
                              .operation = operation->name,
                              .release = scheme->name,
                              .barrier = scheme->has_barrier ? barriers[settings->barrier].name : "",
                              .cadence = operation->form == FORM_STARTUP ? "once" : scheme->cadence,
                              .comm = job->comm.text,
                              .ranks = bench->communicator.max_ranks,
                              .datatype = operation_has_size(operation) ? datatypes[settings->datatype].name : "",
                              .reduction = shape->reduces ? reductions[settings->reduction].name : "",
                              .root = !shape->has_root ? ""
                                      : rotates        ? "rotating"
                                                       : task->root,
                              .buffers = settings->in_place ? "in place" : "separate",
                              .cache = cache_modes[settings->cache],
                              .run_time = run_times[settings->run_time],
                              .messages = task->messages,
                              .pairs = task->pairs,
                              .rank = job->pair[0],
                              .partner = job->pair[1],
                              .layout = job->layout.text,
                              .neighborhood = shape->has_neighbors ? job->neighborhood.text : "",
                              .threads = task->threads,
                              .forks = task->forks,
                              .partitions = task->partitions,
                              .window = is_one_sided ? window_kinds[settings->window] : "",
                              .synchronization = is_one_sided    ? synchronizations[settings->synchronization]
                                                 : shape->writes ? storage_syncs[settings->file_sync]
                                                                 : "",
                              .arrival = ""};
}

/* Rank 0: says what a job is, and on standard error if its buffers may stay in the cache though they are not to. */
static void tell_job(const bench_t *bench, const task_t *task)
{
    const job_t *job = task->measurement.job;
    const operation_t *operation = task->measurement.operation;
    int64_t cache_bytes = bench->communicator.cache_bytes, used_bytes = job_cache_bytes(job, cache_bytes);
    /* Of a matrix, only the first pair is told. */
    if (job->pair[1] <= 1)
        report_job(&bench->report, &task->keys, task->measurement.function);
    int turns = job_turns(job);
    bool is_told = bench->report.output.format == FORMAT_TABLE && job->pair[1] <= 1;
    if (is_told && turns == 2)
        fprintf(bench->report.output.file,
                "# A call is a message there and one back; Latency is one message's, as OSU's\n");
    if (is_told && turns > 2)
        fprintf(bench->report.output.file,
                "# A call is %d messages there and back of each thread that sends, one after the other; Latency is one "
                "message's, as OSU's\n",
                turns / 2);
    if (is_told && operation->form == FORM_FILE && operation_has_size(operation))
        fprintf(bench->report.output.file, "# %s: %s\n", job->file,
                !operation->shape->writes ? "written just before, so memory of the system may answer reads"
                : job->settings.file_sync == NOT_SYNCED
                    ? "not synced, so what was written may be in memory of the system only"
                    : "MPI_File_sync is part of each call");
    if (job->settings.cache != CACHE_WARM && used_bytes < cache_bytes)
        fprintf(stderr,
                "%s: %s: --cache %s takes %lld MiB of memory, for %lld MiB of cache: give --mem-limit for more\n",
                bench->world.program, operation->name, task->keys.cache, (long long)(used_bytes + used_bytes / 2) >> 20,
                (long long)cache_bytes >> 20);
}

/* MPI's, as a job has it called. */
static const char *name_function(const bench_t *bench, const job_t *job, task_t *task)
{
    const operation_t *operation = operation_at(job->operation);
    if (operation->form != FORM_STARTUP)
        return job->settings.in_place && operation->shape->in_place_function ? operation->shape->in_place_function
                                                                             : operation->function;
    snprintf(task->function, sizeof task->function, "%s%s", bench->world.begun_by,
             operation->shape->meets ? ", MPI_Barrier" : "");
    return task->function;
}

static void open_task(bench_t *bench, turns_t *turns, const job_t *job, task_t *task)
{
    work_plan_t plan = turns_plan_work(bench, job);
    *task = (task_t){.bench = bench,
                     .measurement = {.span = &bench->communicator.span,
                                     .job = job,
                                     .operation = plan.operation,
                                     .work = work_open(&plan, bench->memory),
                                     .memory = &turns->memory,
                                     .resolution_ns = bench->resolution_ns,
                                     .raw = &bench->plan.settings.results.raw,
                                     .takes_turns = turns->count > 1,
                                     .progress = &bench->progress,
                                     .settle = settle,
                                     .owner = task,
                                     .imposed = {.seed = job->settings.seed, .tables = &bench->plan.tables}}};
    task->measurement.function = name_function(bench, job, task);
    MPI_Comm_rank(plan.comm, &task->measurement.imposed.rank);
    MPI_Comm_size(plan.comm, &task->measurement.imposed.ranks);
    measure_open(&task->measurement);
    name_keys(bench, task);
    task->measurement.keys = task->keys;
    if (bench->world.rank == 0)
        tell_job(bench, task);
}

void turns_run(bench_t *bench, const job_t *jobs, int count)
{
    const world_t *span = &bench->communicator.span;
    turns_t turns = {.count = count, .dice = (uint64_t)jobs[0].settings.seed};
    int64_t size_bytes;
    int flag;
    turns.tasks = world_allocate(span, count, sizeof turns.tasks[0], "");
    batch_memory_open(&turns.memory, span);
    /* Whatever the scheme, the library gets ready for the span here: its clock, its tolerance. */
    world_require(span, MPIX_Harmonize(span->comm, &flag));
    world_require(span, MPIX_Clock_sync(span->comm));
    for (int i = 0; i < count; i++)
        open_task(bench, &turns, &jobs[i], &turns.tasks[i]);
    if (bench->world.rank == 0)
        report_titles(&bench->report);
    load_begin(&bench->load);
    /* The sizes of the first job, then what others have besides. */
    for (int i = 0; i < count; i++)
        while (can_write(bench) && find_size(&turns.tasks[i], &size_bytes))
            run_size(&turns, size_bytes);
    if (bench->world.rank == 0)
        report_end(&bench->report);
    for (int i = 0; i < count; i++)
        work_close(turns.tasks[i].measurement.work);
    batch_memory_close(&turns.memory);
    free(turns.tasks);
}
