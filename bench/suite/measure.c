/* SPDX-License-Identifier: BSD-3-Clause */
/* measure.c - run batches of calls, and collect their times on rank 0. */
#include "bench/suite/measure.h"

#include "common/cli/text.h"
#include "common/mpi/clock_step.h"
#include "common/mpi/machine_clock.h"
#include "pure/order_statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first call of a batch is not measured: the work between the batches still affects it. */
enum { SETTLE_CALLS = 1 };
/* A batch has at most MAX_BATCH_CALLS, but takes no more memory on rank 0 than this. */
enum { MAX_BATCH_TIMES = 1 << 20 };
/* Calls from which starting times are found. */
enum { PROBE_CALLS = 10 };
/* Rows that take turns do so at least so often, so that what changes on the machine concerns all of them alike; but
 * with at least so many calls. */
enum { MIN_TURNS = 10, MIN_TURN_CALLS = 16 };
/* A confidence interval is computed from so many samples on, and again when their number has grown by this factor. */
enum { FIRST_INTERVAL = 30 };
#define NEXT_INTERVAL 1.1
#define PROGRESS_INTERVAL_NS 100e6
/* Where another communicator's clock is kept by MPIX_Harmonize only, it is looked after here, each so often at most. */
#define CLOCK_CHECK_NS 20e6
/* Measures how fast this process computes. */
enum { CALIBRATION_ROUNDS = 20000, CALIBRATIONS = 5 };
/* Calls by which the results at a size are checked; if the root rotates, as many as roots, but not more. */
enum { CHECKS = 3, MAX_CHECKS = 64 };

/* What a rank reports about a batch, in one piece so that one call gathers it. */
typedef struct batch_notes {
    release_note_t release;
    call_note_t calls[];
} batch_notes_t;

/* What rank 0 tells before each batch. */
typedef struct orders {
    int64_t sync_clock; /* 1: instead of a batch, synchronize clocks, which may take longer than starts are ahead */
    release_orders_t release;
} orders_t;

static size_t batch_bytes(int64_t calls)
{
    return sizeof(batch_notes_t) + (size_t)calls * sizeof(call_note_t);
}

/* What a rank reported about the last gathered batch. */
static const batch_notes_t *notes_of(const measurement_t *measurement, int64_t calls, int rank)
{
    return (const batch_notes_t *)(measurement->memory->all_notes + (size_t)rank * batch_bytes(calls));
}

/* ---- Computing beside an operation, to see how much of it passes meanwhile */

/* Arithmetic that no compiler can leave out. Returns its result. */
__attribute__((noinline)) static double compute_rounds(int64_t rounds)
{
    double value = 1;
    for (int64_t i = 0; i < rounds; i++) {
        value = value * 0.999999 + 1e-6;
        __asm__ volatile("" : "+m"(value));
    }
    return value;
}

#ifdef SMPI_H
/* A simulator takes no time for arithmetic. */
static void compute(const measurement_t *measurement, int64_t ns)
{
    wait_until(measurement->span, world_time_ns(measurement->span) + ns);
}
#else
static void compute(const measurement_t *measurement, int64_t ns)
{
    compute_rounds((int64_t)((double)ns * measurement->calls_per_ns));
}
#endif
static double calibrate(const measurement_t *measurement)
{
    int64_t min_ns = INT64_MAX;
    for (int i = 0; i < CALIBRATIONS; i++) {
        int64_t begin_ns = world_time_ns(measurement->span);
        compute_rounds(CALIBRATION_ROUNDS);
        int64_t took_ns = world_time_ns(measurement->span) - begin_ns;
        min_ns = took_ns < min_ns ? took_ns : min_ns;
    }
    return min_ns > 0 ? (double)CALIBRATION_ROUNDS / (double)min_ns : 1;
}

/* Starts the operation, computes, with tests in equal distances, and finishes it. Returns the time of computation. */
static int64_t call_overlapped(const measurement_t *measurement, int64_t compute_ns)
{
    const world_t *span = measurement->span;
    int64_t tests = measurement->job->settings.test_calls;
    int64_t computed_ns = 0;
    world_require_code(span, work_start(measurement->work), measurement->function);
    for (int64_t i = 0; i <= tests; i++) {
        int64_t begin_ns = world_time_ns(span);
        compute(measurement, compute_ns / (tests + 1));
        computed_ns += world_time_ns(span) - begin_ns;
        if (i < tests)
            world_require_code(span, work_test(measurement->work), "MPI_Test");
    }
    world_require_code(span, work_finish(measurement->work), measurement->function);
    return computed_ns;
}

/* ---- A batch */

/*
 * number: of a measured call in its row, by which arrivals and rotating roots go; a call that is not measured has that
 * of the next one.
 */
static void make_call(measurement_t *measurement, int64_t number, call_note_t *note)
{
    const world_t *span = measurement->span;
    int called = MPI_SUCCESS;
    measurement->releaser.delay_ns = imposed_delay_ns(&measurement->imposed, number);
    work_prepare(measurement->work, number);
    release(&measurement->releaser);
    note->start_ns = world_time_ns(span);
    if (measurement->compute_ns == 0)
        called = work_call(measurement->work);
    else
        note->compute_ns = call_overlapped(measurement, measurement->compute_ns);
    note->end_ns = world_time_ns(span);
    world_require_code(span, called, measurement->function);
    if (measurement->releaser.kind != RELEASE_NONE)
        world_require_code(span, work_leave(measurement->work), "MPI_Barrier");
    note->mark = release_mark(&measurement->releaser);
    note->target_ns = measurement->job->arrivals.given ? release_target_ns(&measurement->releaser) : 0;
}

static void make_calls(measurement_t *measurement, const batch_t *batch, const release_orders_t *orders)
{
    batch_notes_t *notes = measurement->memory->notes;
    call_note_t settling;
    memset(notes, 0, batch_bytes(batch->calls));
    release_begin(&measurement->releaser, orders);
    for (int64_t i = 0; i < SETTLE_CALLS; i++)
        make_call(measurement, batch->first, &settling);
    for (int64_t i = 0; i < batch->calls; i++)
        make_call(measurement, batch->first + i, &notes->calls[i]);
    notes->release = release_end(&measurement->releaser);
}

/* ---- What rank 0 makes of a batch */

/* The notes of all ranks on a call of the batch just gathered. */
static call_note_t *notes_of_call(const measurement_t *measurement, int64_t batch_calls, int64_t call)
{
    call_note_t *notes = measurement->memory->call_notes;
    for (int rank = 0; rank < measurement->span->ranks; rank++)
        notes[rank] = notes_of(measurement, batch_calls, rank)->calls[call];
    return notes;
}

/* A measured call becomes a sample. Its raw times are written at once, unless it overlaps with computation. */
static void take_call(measurement_t *measurement, call_note_t *notes)
{
    samples_t *samples = &measurement->samples;
    const output_t *raw = measurement->raw;
    if (raw->file && measurement->compute_ns == 0)
        report_raw(raw, &measurement->keys, samples, notes);
    if (!samples_take(samples, notes))
        world_abort(measurement->span, "out of memory: give less for --iterations or --time-slice-s");
}

/* Takes in the largest of all ranks' notes, and how many calls have a mark on some rank. */
static void learn(measurement_t *measurement, int64_t calls, int64_t invalid)
{
    release_note_t max = {0};
    for (int rank = 0; rank < measurement->span->ranks; rank++) {
        const release_note_t *note = &notes_of(measurement, calls, rank)->release;
        max.ready_ns = greater(max.ready_ns, note->ready_ns);
        max.cycles.usual_ns = greater(max.cycles.usual_ns, note->cycles.usual_ns);
        max.cycles.max_ns = greater(max.cycles.max_ns, note->cycles.max_ns);
    }
    release_learn(&measurement->releaser, &max, calls, invalid);
}

/* ---- Rank 0 before a batch and after it */

/* MPIX_Harmonize looks after the clock; with other schemes it is done here. */
static bool is_clock_due(measurement_t *measurement, int64_t now_ns)
{
    if (measurement->releaser.kind == RELEASE_HARMONIZE || now_ns < measurement->next_clock_check_ns)
        return false;
    measurement->next_clock_check_ns = now_ns + (int64_t)CLOCK_CHECK_NS;
    int64_t interval_ns = world_number(measurement->span, "mpix_harmonize_resync_used_ns");
    return interval_ns > 0 && world_number(measurement->span, "mpix_harmonize_clock_age_ns") > interval_ns;
}

/* On a terminal, says what is being measured, and how long all of it may take. */
static void show_progress(measurement_t *measurement, int64_t now_ns)
{
    const samples_t *samples = &measurement->samples;
    char duration[TEXT_DURATION_BYTES], left[TEXT_DURATION_BYTES + 16] = "";
    if (now_ns < measurement->next_shown_ns)
        return;
    measurement->next_shown_ns = now_ns + (int64_t)PROGRESS_INTERVAL_NS;
    int64_t left_ns = progress_left_ns(measurement->progress, system_time_ns());
    if (left_ns >= 0)
        snprintf(left, sizeof left, ", about %s left", text_duration(left_ns, duration));
    world_progress(measurement->span, "%s, %lld bytes%s: %lld of %lld valid, %lld missed, %lld late",
                   measurement->function, (long long)measurement->keys.size_bytes, left, (long long)samples->valid,
                   (long long)measurement->sampling.limits.wanted, (long long)samples->missed,
                   (long long)samples->late);
}

/* What rank 0 orders before a batch; returns when. Clocks may be synchronized before. Collective. */
static int64_t share_orders(measurement_t *measurement, release_orders_t *release)
{
    const world_t *span = measurement->span;
    orders_t orders = {0};
    int64_t now_ns = 0;
    for (;;) {
        if (span->rank == 0) {
            now_ns = world_time_ns(span);
            show_progress(measurement, now_ns);
            orders.sync_clock = is_clock_due(measurement, now_ns);
            now_ns = world_time_ns(span);
            orders.release = release_order(&measurement->releaser);
        }
        world_require(span, MPI_Bcast(&orders, sizeof orders, MPI_BYTE, 0, span->comm));
        if (!orders.sync_clock)
            break;
        world_require(span, MPIX_Clock_sync(span->comm));
    }
    *release = orders.release;
    return now_ns;
}

/* ---- What the engine calls */

/* Collective over the span. Returns whether this is rank 0, who has them. */
static bool gather_notes(const measurement_t *measurement, int64_t calls)
{
    const world_t *span = measurement->span;
    int bytes = (int)batch_bytes(calls);
    world_require(span, MPI_Gather(measurement->memory->notes, bytes, MPI_BYTE, measurement->memory->all_notes, bytes,
                                   MPI_BYTE, 0, span->comm));
    return span->rank == 0;
}

/* The start of the program as a sample. By how far the clock that was read then is from the global clock now. */
static void run_startup(void *subject, batch_t *batch)
{
    measurement_t *measurement = subject;
    const world_t *span = measurement->span;
    batch_notes_t *notes = measurement->memory->notes;
    int64_t ahead_ns = world_time_ns(span) - system_time_ns();
    int64_t end_ns = measurement->operation->shape->meets ? span->met_ns : span->initialized_ns;
    memset(notes, 0, batch_bytes(batch->calls));
    notes->calls[0].start_ns = span->begun_ns + ahead_ns;
    notes->calls[0].end_ns = end_ns + ahead_ns;
    if (!gather_notes(measurement, batch->calls))
        return;
    batch->made = batch->calls;
    batch->valid = batch->calls;
    take_call(measurement, notes_of_call(measurement, batch->calls, 0));
}

static void run_batch(void *subject, batch_t *batch)
{
    measurement_t *measurement = subject;
    const world_t *span = measurement->span;
    release_orders_t orders;
    int64_t begin_ns = share_orders(measurement, &orders);
    make_calls(measurement, batch, &orders);
    if (!gather_notes(measurement, batch->calls))
        return;
    batch->took_ns = world_time_ns(span) - begin_ns;
    batch->made = batch->calls + SETTLE_CALLS;
    int64_t valid_before = measurement->samples.valid, invalid = 0;
    for (int64_t call = 0; call < batch->calls; call++) {
        call_note_t *notes = notes_of_call(measurement, batch->calls, call);
        invalid += samples_mark(notes, span->ranks) != MARK_VALID;
        if (batch->phase == PHASE_MEASURE)
            take_call(measurement, notes);
    }
    batch->valid = measurement->samples.valid - valid_before;
    measurement->progress->done += progress_samples((double)batch->valid, measurement->keys.size_bytes);
    learn(measurement, batch->calls, invalid);
}

static int64_t read_global(const void *world)
{
    return world_time_ns(world);
}

int64_t measure_resolution_ns(const world_t *world)
{
    return world_max(world, clock_step(read_global, world));
}

/* Whether the confidence interval is narrow enough. Sorting takes time, so this is not looked at after each batch. */
static bool is_narrow(void *subject)
{
    measurement_t *measurement = subject;
    const bench_settings_t *settings = &measurement->job->settings;
    analysis_t analysis;
    if (settings->ci_percent <= 0 || measurement->samples.valid < measurement->next_interval)
        return false;
    measurement->next_interval = (int64_t)((double)measurement->samples.valid * NEXT_INTERVAL) + 1;
    analyze(&measurement->samples, (run_time_t)settings->run_time, NULL, 0, &analysis);
    return analysis_is_narrow(&analysis, settings->ci_percent);
}

static bool settle(void *subject)
{
    measurement_t *measurement = subject;
    return measurement->settle(measurement->owner);
}

void measure_begin(measurement_t *measurement, int64_t compute_ns)
{
    const job_t *job = measurement->job;
    const batch_memory_t *memory = measurement->memory;
    int64_t size_bytes = measurement->keys.size_bytes, wanted = job_wanted(job, size_bytes);
    double turn = fmax(ceil((double)wanted / MIN_TURNS), MIN_TURN_CALLS);
    const sampling_limits_t limits = {
        .probe_calls = release_schemes[measurement->releaser.kind].needs_probe ? PROBE_CALLS : 0,
        .warmup_calls = compute_ns > 0 ? 0 : job_warmup(job, size_bytes),
        .wanted = wanted,
        .max_calls = (double)wanted * (double)job->settings.max_repeat,
        .max_batch_calls = measurement->takes_turns ? fmin(turn, memory->max_calls) : memory->max_calls,
        .limit_ns = (int64_t)(job_time_slice_s(job) * 1e9)};
    samples_free(&measurement->samples);
    measurement->samples = (samples_t){
        .ranks = measurement->span->ranks, .imposes = job->arrivals.given, .resolution_ns = measurement->resolution_ns};
    measurement->compute_ns = compute_ns;
    measurement->next_interval = FIRST_INTERVAL;
    measurement->sampling = (sampling_t){.span = measurement->span,
                                         .subject = measurement,
                                         .run = measurement->operation->form == FORM_STARTUP ? run_startup : run_batch,
                                         .is_enough = is_narrow,
                                         .settle = settle};
    sampling_begin(&measurement->sampling, &limits);
    release_forget(&measurement->releaser);
}

int64_t measure_validate(const measurement_t *measurement)
{
    int roots = measurement->job->settings.root == ROOT_ROTATES ? measurement->keys.ranks : 1;
    int checks = roots < CHECKS ? CHECKS : roots > MAX_CHECKS ? MAX_CHECKS : roots;
    int64_t all_wrong = 0;
    for (int i = 0; i < checks; i++) {
        int64_t wrong = 0;
        world_require_code(measurement->span, work_check(measurement->work, i, &wrong), measurement->function);
        all_wrong += wrong;
    }
    world_require(measurement->span,
                  MPI_Allreduce(MPI_IN_PLACE, &all_wrong, 1, MPI_INT64_T, MPI_SUM, measurement->span->comm));
    return all_wrong;
}

void measure_open(measurement_t *measurement)
{
    const bench_settings_t *settings = &measurement->job->settings;
    release_open(&measurement->releaser, measurement->span, (release_kind_t)settings->release,
                 &barriers[settings->barrier], settings->window_us);
    measurement->calls_per_ns = settings->overlap ? calibrate(measurement) : 0;
}

void batch_memory_open(batch_memory_t *memory, const world_t *span)
{
    int max_calls = MAX_BATCH_TIMES / span->ranks;
    memory->max_calls = max_calls < 1 ? 1 : max_calls < MAX_BATCH_CALLS ? max_calls : MAX_BATCH_CALLS;
    int64_t ranks_told = span->rank == 0 ? span->ranks : 0;
    memory->notes = world_allocate(span, 1, batch_bytes(memory->max_calls), "");
    memory->all_notes = world_allocate(span, ranks_told, batch_bytes(memory->max_calls), "");
    memory->call_notes = world_allocate(span, ranks_told, sizeof memory->call_notes[0], "");
}

void batch_memory_close(batch_memory_t *memory)
{
    free(memory->notes);
    free(memory->all_notes);
    free(memory->call_notes);
}
