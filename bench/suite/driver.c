/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * driver.c - from the command line to the results.
 *
 * All jobs are checked, and their memory is really asked for, before the first one is measured.
 */
#include "bench/suite/driver.h"

#include "common/cli/text.h"
#include "common/mpi/kernel.h"
#include "common/mpi/machine_clock.h"
#include "pure/order_statistics.h"
#include "bench/suite/arena.h"
#include "bench/suite/crowd.h"
#include "bench/suite/measure.h"
#include "bench/suite/provenance.h"
#include "bench/suite/session.h"
#include "bench/suite/turns.h"

#include <mpix_harmonize.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The names of percentile columns have at most so many digits. */
#define MIN_PERCENT_STEP 1e-6
/* Processes that stand aside look so often whether the others are done: they are not to disturb them. */
enum { ASIDE_PAUSE_NS = 1000 * 1000 };

/* Gives the delays of files, which rank 0 has read, to all. */
static void share_tables(const world_t *world, arrival_tables_t *tables)
{
    world_require(world, MPI_Bcast(&tables->count, 1, MPI_INT, 0, world->comm));
    if (world->rank != 0)
        tables->items = world_allocate(world, tables->count, sizeof tables->items[0], "");
    for (arrival_table_t *table = tables->items; table < tables->items + tables->count; table++) {
        int64_t *delays_ns = table->delays_ns;
        world_require(world, MPI_Bcast(table, sizeof *table, MPI_BYTE, 0, world->comm));
        int64_t count = table->ranks * table->calls;
        table->delays_ns = world->rank == 0 ? delays_ns : world_allocate(world, count, sizeof *delays_ns, "");
        world_require(world, MPI_Bcast(table->delays_ns, (int)count, MPI_INT64_T, 0, world->comm));
    }
}

/* Likewise the pairs of files. */
static void share_lists(const world_t *world, pair_lists_t *lists)
{
    world_require(world, MPI_Bcast(&lists->count, 1, MPI_INT64_T, 0, world->comm));
    if (world->rank != 0)
        lists->items = world_allocate(world, lists->count, sizeof lists->items[0], "");
    for (pair_list_t *list = lists->items; list < lists->items + lists->count; list++) {
        world_require(world, MPI_Bcast(&list->count, 1, MPI_INT64_T, 0, world->comm));
        if (world->rank != 0)
            list->pairs = world_allocate(world, list->count, sizeof list->pairs[0], "");
        world_require(world, MPI_Bcast(list->pairs, (int)list->count, MPI_2INT, 0, world->comm));
    }
}

/* Reads the plan on rank 0, and gives it to all. Returns true to go on; else *status is the exit status. */
static bool share_plan(bench_t *bench, bool is_osu, int argc, char **argv, int *status)
{
    plan_t *plan = &bench->plan;
    int told[2] = {OPTIONS_RUN};
    if (bench->world.rank == 0)
        told[0] = plan_read(plan, bench->world.program, is_osu, argc, argv, bench->world.ranks);
    told[1] = plan->job_count;
    MPI_Bcast(told, 2, MPI_INT, 0, bench->world.comm);
    *status = told[0] == OPTIONS_BAD ? STATUS_BAD_OPTION : STATUS_GOOD;
    if (told[0] != OPTIONS_RUN)
        return false;
    plan->job_count = told[1];
    if (bench->world.rank != 0)
        plan->jobs = world_allocate(&bench->world, plan->job_count, sizeof plan->jobs[0], "");
    for (int i = 0; i < plan->job_count; i++)
        MPI_Bcast(&plan->jobs[i], sizeof plan->jobs[0], MPI_BYTE, 0, bench->world.comm);
    share_tables(&bench->world, &plan->tables);
    share_lists(&bench->world, &plan->lists);
    return true;
}

/* ---- Before anything is measured: what is wrong with a job. These return a status */

static int check_ranks(const bench_t *bench, const job_t *job)
{
    const operation_t *operation = operation_at(job->operation);
    int min = bench->communicator.min_ranks, root = (int)job->settings.root;
    if (min < operation->shape->min_ranks)
        return world_refuse(&bench->world, "%s needs at least %d ranks, and there is %d", operation->name,
                            operation->shape->min_ranks, min);
    if (operation->shape->has_neighbors && job->neighborhood.ranks > min)
        return world_refuse(&bench->world, "option %s: \"%s\" has edges of %d ranks, and there are %d",
                            bench->plan.is_osu ? "-N, --nhbr" : "--neighborhood", job->neighborhood.text,
                            job->neighborhood.ranks, min);
    if (operation->shape->has_threads && bench->world.thread_level != MPI_THREAD_MULTIPLE)
        return world_refuse(&bench->world,
                            "%s needs MPI_THREAD_MULTIPLE: name it on the command line, and take an MPI library that "
                            "has it",
                            operation->name);
    if (root >= min)
        return world_refuse(&bench->world, "option --root: %d is not allowed, give a rank from 0 to %d, or rotate",
                            root, min - 1);
    if (job->settings.pairs > min / 2)
        return world_refuse(&bench->world, "option --num-pairs: %d is not allowed, give 1 to %d, half of the ranks",
                            (int)job->settings.pairs, min / 2);
    return STATUS_GOOD;
}

static int check_arrivals(const bench_t *bench, const job_t *job)
{
    const arrival_list_t *list = &job->arrivals;
    const char *operation = operation_at(job->operation)->name;
    const arrival_table_t *tables = bench->plan.tables.items;
    int min = bench->communicator.min_ranks, max = bench->communicator.max_ranks;
    for (int i = 0; i < list->count; i++) {
        const arrival_t *arrival = &list->items[i];
        if (arrival->shape == ARRIVAL_ONE_LATE && arrival->rank >= min)
            return world_refuse(&bench->world, "option --arrival: rank %d of \"%s\" is not allowed, give 0 to %d",
                                arrival->rank, arrival->text, min - 1);
        if (arrival->shape == ARRIVAL_FILE &&
            (tables[arrival->table].ranks != min || tables[arrival->table].ranks != max))
            return world_refuse(&bench->world, "option --arrival: \"%s\" has delays of %d ranks, give one of %d",
                                arrival->text, tables[arrival->table].ranks, max);
        if (arrival->shape == ARRIVAL_FILE && !arrival_fits(&tables[arrival->table], operation) &&
            bench->world.rank == 0)
            fprintf(stderr, "%s: \"%s\" has arrivals at MPI_%s, and %s is measured with them\n", bench->world.program,
                    arrival->text, tables[arrival->table].function, operation);
    }
    return STATUS_GOOD;
}

static void remove_size(job_t *job, int64_t size_bytes)
{
    int kept = 0;
    for (int i = 0; i < job->settings.sizes.count; i++)
        if (job->settings.sizes.bytes[i] != size_bytes)
            job->settings.sizes.bytes[kept++] = job->settings.sizes.bytes[i];
    job->settings.sizes.count = kept;
}

static int refuse_sizes(const bench_t *bench, const job_t *job, const work_plan_t *plan, int64_t bytes)
{
    const char *name = plan->operation->name;
    const char *option = plan->cache == CACHE_WARM ? "--message-size" : "--cache";
    if (bytes < 0)
        return world_refuse(&bench->world,
                            "option --message-size: %s of %lld bytes takes more elements than MPI can count", name,
                            (long long)plan->max_bytes);
    return world_refuse(&bench->world,
                        "option %s: %s of %lld bytes with --cache %s needs %lld bytes of buffers on each rank, more "
                        "than --mem-limit %lld allows",
                        option, name, (long long)plan->max_bytes, cache_modes[plan->cache], (long long)bytes,
                        (long long)job_mem_limit_bytes(job));
}

/* Compares buffers, whose bytes on this rank are left, with the limit. Sizes that nobody asked for are left out. */
static int check_limit(const bench_t *bench, job_t *job, int64_t *own_bytes)
{
    for (;;) {
        work_plan_t plan = turns_plan_work(bench, job);
        int64_t bytes;
        *own_bytes = communicator_takes_part(&bench->communicator) ? work_bytes(&plan) : 0;
        /* Without a sign, -1 is the largest. */
        MPI_Allreduce(own_bytes, &bytes, 1, MPI_UINT64_T, MPI_MAX, bench->world.comm);
        if (bytes >= 0 && bytes <= job_mem_limit_bytes(job))
            return STATUS_GOOD;
        if (job->settings.sizes.has_max || job->settings.sizes.count == 1)
            return refuse_sizes(bench, job, &plan, bytes);
        remove_size(job, plan.max_bytes);
    }
}

/* Memory that is available on this node; all of its memory if the system does not say what is available. */
static double available_bytes(void)
{
    char kib[KERNEL_WORD_BYTES];
    if (kernel_value("/proc/meminfo", "MemAvailable", kib, sizeof kib))
        return strtod(kib, NULL) * 1024;
    return (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

/* The node is asked before any memory is touched, as malloc grants more than there is. */
static int take_memory(bench_t *bench, int64_t buffers_bytes, int64_t windows_bytes)
{
    const world_t *world = &bench->world;
    double node_bytes = (double)buffers_bytes + (double)windows_bytes;
    MPI_Comm node = world_node(world);
    MPI_Allreduce(MPI_IN_PLACE, &node_bytes, 1, MPI_DOUBLE, MPI_SUM, node);
    MPI_Comm_free(&node);
    /* All look before the first one takes its part. */
    if (world_all(world, node_bytes <= available_bytes()))
        bench->memory = arena_allocate(buffers_bytes);
    if (world_all(world, bench->memory != NULL))
        return STATUS_GOOD;
    return world_refuse(world,
                        "option --message-size: the buffers need %.0f MB on the node of rank 0, or as much on "
                        "another, more than there is: give less",
                        node_bytes / 1e6);
}

/* Makes the files of all jobs, and deletes them. Collective. */
static int try_files(const bench_t *bench)
{
    storage_t storage;
    for (const job_t *job = bench->plan.jobs; job < bench->plan.jobs + bench->plan.job_count; job++) {
        const operation_t *operation = operation_at(job->operation);
        if (operation->form != FORM_FILE)
            continue;
        if (!storage_open(&storage, &bench->world, job->file, &operation->shape->access))
            return STATUS_BAD_OPTION;
        storage_close(&storage);
    }
    return STATUS_GOOD;
}

/* How many jobs, from this one on, take turns: successive jobs with the same communicator. */
static int count_turns(const bench_t *bench, int first)
{
    const job_t *jobs = &bench->plan.jobs[first];
    int count = 1;
    while (count < MAX_TURNS && first + count < bench->plan.job_count &&
           strcmp(jobs[0].comm.text, jobs[count].comm.text) == 0)
        count++;
    return count;
}

/* Looks for all that may be wrong with the jobs, and takes memory for their buffers. Collective. */
static int check_jobs(bench_t *bench)
{
    int64_t buffers_bytes = 0, windows_bytes = 0; /* of this rank; windows are those of jobs that take turns */
    for (int i = 0, count; i < bench->plan.job_count; i += count) {
        int64_t open_bytes = 0;
        count = count_turns(bench, i);
        for (job_t *job = &bench->plan.jobs[i]; job < &bench->plan.jobs[i + count]; job++) {
            int64_t job_bytes;
            communicator_open(&bench->communicator, &bench->world, &job->comm);
            if (check_ranks(bench, job) != STATUS_GOOD || check_arrivals(bench, job) != STATUS_GOOD ||
                check_limit(bench, job, &job_bytes) != STATUS_GOOD)
                return STATUS_BAD_OPTION;
            buffers_bytes = greater(buffers_bytes, job_bytes);
            if (operation_at(job->operation)->shape->exposes != EXPOSES_NOTHING &&
                job->settings.window == WINDOW_ALLOCATE)
                open_bytes += job_bytes;
        }
        windows_bytes = greater(windows_bytes, open_bytes);
    }
    return take_memory(bench, buffers_bytes, windows_bytes);
}

/* ---- Jobs */

/* Without spinning. */
static void wait_for_all(const bench_t *bench)
{
    MPI_Request request;
    int done = 0;
    world_require(&bench->world, MPI_Ibarrier(bench->world.comm, &request));
    while (!done) {
        system_sleep_ns(ASIDE_PAUSE_NS);
        world_require(&bench->world, MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    }
}

static void run_jobs(bench_t *bench, const job_t *jobs, int count)
{
    communicator_open(&bench->communicator, &bench->world, &jobs->comm);
    if (communicator_takes_part(&bench->communicator))
        turns_run(bench, jobs, count);
    if (jobs->comm.kind == COMM_EVERY)
        wait_for_all(bench);
}

/* A percentile that is asked for twice is shown once: columns have different names. */
static void choose_fractions(report_t *report, const number_list_t *tail)
{
    for (int i = 0; i < (int)tail->count; i++) {
        bool is_new = true;
        for (int j = 0; j < i; j++)
            is_new = is_new && fabs(tail->values[i] - tail->values[j]) >= MIN_PERCENT_STEP;
        if (is_new)
            report->fractions[report->fraction_count++] = tail->values[i] / 100;
    }
}

/* Columns of texts are as wide as the longest of all jobs. */
static void choose_widths(report_t *report, const plan_t *plan)
{
    for (int i = 0; i < plan->job_count; i++) {
        const job_t *job = &plan->jobs[i];
        int width = snprintf(NULL, 0, "%d:%s", i + 1, job_name(plan, job));
        report->label_width = width > report->label_width ? width : report->label_width;
        for (int k = 0; k < job->arrivals.count; k++) {
            width = (int)strlen(job->arrivals.items[k].text);
            report->arrival_width = width > report->arrival_width ? width : report->arrival_width;
        }
    }
}

/* What OSU prints of an operation behind the size, in its order. */
static void choose_osu_columns(report_t *report, const plan_t *plan, const job_t *job)
{
    const operation_t *operation = operation_at(job->operation);
    const shape_t *shape = operation->shape;
    size_t *next = report->osu_places, tail = offsetof(row_t, tail);
    if (job->settings.overlap) {
        *next++ = offsetof(row_t, overlap.total_ns);
        *next++ = offsetof(row_t, overlap.compute_ns);
        *next++ = offsetof(row_t, overlap.pure_ns);
        *next++ = offsetof(row_t, overlap.percent);
    } else if (shape->turns > 0) {
        *next++ = offsetof(row_t, latency_ns);
    } else if (shape->directions > 0) {
        *next++ = offsetof(row_t, mb_per_s);
        *next++ = offsetof(row_t, messages_per_s);
    } else {
        *next++ = offsetof(row_t, analysis.avg_ns);
        tail = offsetof(row_t, analysis.quantile_ns);
    }
    if (operation->form == FORM_STARTUP || (report->full && next == report->osu_places + 1)) {
        *next++ = offsetof(row_t, analysis.min_mean_ns);
        *next++ = offsetof(row_t, analysis.max_mean_ns);
        *next++ = offsetof(row_t, analysis.valid);
    }
    if (job->settings.validation)
        *next++ = offsetof(row_t, wrong);
    if (plan->shows_tail)
        *next++ = tail;
    if (job->layout.kind != LAYOUT_PLAIN)
        *next++ = offsetof(row_t, data_bytes);
    report->parts |= plan->shows_tail && tail == offsetof(row_t, tail) ? PART_TAIL : 0;
    report->has_no_size = !operation_has_size(operation) && report->output.format == FORMAT_TABLE;
}

static void prepare_report(bench_t *bench)
{
    const plan_t *plan = &bench->plan;
    report_t *report = &bench->report;
    report->output = plan->settings.results.output;
    report->full = plan->settings.full != 0;
    choose_fractions(report, &plan->settings.tail);
    choose_widths(report, plan);
    report->parts = PART_LOAD | (plan->job_count > 1 ? PART_LABEL : 0);
    if (plan->is_osu && (plan->job_count == 1 || plan->has_types))
        choose_osu_columns(report, plan, &plan->jobs[0]);
    for (int i = 0; i < plan->job_count; i++) {
        const job_t *job = &plan->jobs[i];
        const shape_t *shape = operation_at(job->operation)->shape;
        report->parts |= (job->settings.overlap ? PART_OVERLAP : 0) | (job->arrivals.given ? PART_ARRIVAL : 0) |
                         (job->settings.validation ? PART_VALIDATION : 0) |
                         (job->layout.kind != LAYOUT_PLAIN ? PART_LAYOUT : 0) | (job->pair[1] > 0 ? PART_MATRIX : 0) |
                         (shape->turns > 0 ? PART_LATENCY : 0) | (shape->directions > 0 ? PART_BANDWIDTH : 0) |
                         (shape->has_rate && plan->shows_rate ? PART_RATE : 0);
    }
}

/* How operations follow each other. */
static void name_order(const bench_t *bench, char order[HEAD_BYTES])
{
    int turns = 0, jobs = bench->plan.job_count;
    for (int i = 0; i < jobs; i += count_turns(bench, i))
        turns++;
    if (turns == jobs)
        snprintf(order, HEAD_BYTES, "%s", jobs > 1 ? "one after the other" : "one operation");
    else
        snprintf(order, HEAD_BYTES, turns > 1 ? "interleaved in %d groups" : "interleaved", turns);
}

static void write_head(bench_t *bench, int argc, char **argv)
{
    static head_t head;
    bench->resolution_ns = measure_resolution_ns(&bench->world);
    provenance_collect(&head, &bench->world, argc, argv, bench->plan.jobs[0].settings.seed);
    if (bench->world.rank != 0)
        return;
    head_add(&head, "resolution_ns", "%lld", (long long)bench->resolution_ns);
    name_order(bench, head_item(&head, "order"));
    if (bench->world.thread_level == MPI_THREAD_MULTIPLE)
        head_add(&head, "thread_level", "multiple");
    if (bench->world.session)
        head_add(&head, "begun_by", "%s, then MPI_Init", bench->world.begun_by);
    if (bench->plan.note[0] != '\0')
        head_add(&head, "note", "%s", bench->plan.note);
    report_head(&bench->report, &head);
    if (bench->plan.settings.results.raw.file)
        report_raw_head(&bench->plan.settings.results.raw);
}

/* ---- What is ahead */

/* The samples of a job, in samples of short messages. */
static double samples_of(const job_t *job)
{
    double all = 0;
    for (int i = 0; i < job->settings.sizes.count; i++) {
        int64_t size_bytes = job->settings.sizes.bytes[i];
        all += progress_samples((double)job_wanted(job, size_bytes), size_bytes);
    }
    return all * job->arrivals.count * (job->settings.overlap ? 2 : 1);
}

/* How long the delays of a file make a call, in the mean. */
static double mean_delay_ns(const arrival_table_t *table)
{
    double sum_ns = 0;
    for (int64_t call = 0; call < table->calls; call++) {
        int64_t longest_ns = 0;
        for (int rank = 0; rank < table->ranks; rank++)
            longest_ns = greater(longest_ns, table->delays_ns[call * table->ranks + rank]);
        sum_ns += (double)longest_ns;
    }
    return sum_ns / (double)table->calls;
}

/*
 * Who gave a file of arrivals and no sizes may not know for how long its delays make all sizes last. Of a matrix, the
 * first pair tells of all.
 */
static void tell_delays(const bench_t *bench, const job_t *job)
{
    const size_list_t *sizes = &job->settings.sizes;
    const int ranks = bench->world.ranks, pairs = job->pair[1] > 0 ? ranks * (ranks - 1) / 2 : 1;
    char duration[TEXT_DURATION_BYTES];
    double calls = 0;
    if (job->pair[1] > 1)
        return;
    for (int i = 0; i < sizes->count; i++)
        calls += (double)job_wanted(job, sizes->bytes[i]) + (double)job_warmup(job, sizes->bytes[i]);
    for (const arrival_t *arrival = job->arrivals.items; arrival < job->arrivals.items + job->arrivals.count; arrival++)
        if (arrival->shape == ARRIVAL_FILE && sizes->count > 1 && !sizes->has_max)
            fprintf(stderr,
                    "%s: %s with the delays of %s at %d message sizes takes %s or more: give -m or -i for less\n",
                    bench->world.program, operation_at(job->operation)->name, arrival->text, (int)sizes->count,
                    text_duration((int64_t)(pairs * calls * mean_delay_ns(&bench->plan.tables.items[arrival->table])),
                                  duration));
}

/* On rank 0. */
static void look_ahead(bench_t *bench)
{
    const plan_t *plan = &bench->plan;
    bool has_limit = true, is_known = true;
    double all = 0, longest_ns = 0;
    for (const job_t *job = plan->jobs; job < plan->jobs + plan->job_count; job++) {
        double slice_ns = job_time_slice_s(job) * 1e9;
        all += samples_of(job);
        longest_ns +=
            slice_ns * (double)job->settings.sizes.count * job->arrivals.count * (job->settings.overlap ? 2 : 1);
        has_limit = has_limit && slice_ns > 0;
        is_known = is_known && job->settings.ci_percent <= 0;
        tell_delays(bench, job);
    }
    bench->progress =
        (progress_t){.begun_ns = system_time_ns(), .all = is_known ? all : 0, .longest_ns = has_limit ? longest_ns : 0};
}

/* Returns an exit status. */
static int run(bench_t *bench, int argc, char **argv)
{
    int flag, status;
    if (bench->world.rank == 0)
        crowd_watch(bench->world.program);
    if (!world_and(&bench->world, !bench->plan.has_session || bench->world.session))
        return world_refuse(&bench->world, "option -I, --session: give it as a word of its own, -I or --session");
    status = check_jobs(bench);
    if (status == STATUS_GOOD)
        status = try_files(bench);
    if (status != STATUS_GOOD)
        return status;
    /* The call that a bad setting of the library makes fail, on all ranks. */
    if (!world_agree(&bench->world, MPIX_Harmonize(bench->world.comm, &flag), "MPIX_Harmonize"))
        return STATUS_FAILED;
    world_tell_unbound(&bench->world);
    if (bench->world.rank == 0)
        look_ahead(bench);
    status = results_open(&bench->plan.settings.results, &bench->world);
    if (status != STATUS_GOOD)
        return status;
    prepare_report(bench);
    write_head(bench, argc, argv);
    load_open(&bench->load, &bench->world);
    for (int i = 0, count; i < bench->plan.job_count && world_and(&bench->world, !bench->is_full); i += count) {
        count = count_turns(bench, i);
        run_jobs(bench, &bench->plan.jobs[i], count);
    }
    crowd_leave();
    if (bench->world.rank == 0)
        load_warn(&bench->load, bench->world.program);
    return bench->status;
}

/* Before MPI begins, nothing else of the command line can be known, and only that of this rank. */
static bool has_word(int argc, char **argv, const char *word)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], word) == 0)
            return true;
    return false;
}

static bool has_threads(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (text_ends_in(argv[i], "_mt"))
            return true;
    return false;
}

int bench_main(const char *program, bool is_osu, int argc, char **argv)
{
    static bench_t bench;
    int status;
    bool has_session = is_osu && (has_word(argc, argv, "-I") || has_word(argc, argv, "--session"));
    world_begin_measured(&bench.world, program, has_threads(argc, argv), has_session ? suite_session : NULL, &argc,
                         &argv);
    if (share_plan(&bench, is_osu, argc, argv, &status))
        status = run(&bench, argc, argv);
    communicator_close(&bench.communicator, &bench.world);
    status = results_close(&bench.plan.settings.results, &bench.world, status);
    plan_free(&bench.plan);
    return world_end(&bench.world, status);
}
