/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite/measure.h"

#include "common/random.h"

#include <stdlib.h>
#include <string.h>

/* A batch has at most MAX_BATCH_CALLS, but takes no more memory on rank 0 than this. */
enum { MAX_BATCH_TIMES = 1 << 20 };
#define PROGRESS_INTERVAL_NS 100e6
/* Where another communicator's clock is kept by MPIX_Harmonize only, it is looked after here, each so often at most. */
#define CLOCK_CHECK_NS 20e6
/* What tells how fast this process computes. */
enum { CALIBRATION_ROUNDS = 20000, CALIBRATIONS = 5 };

/* One call on one rank. */
typedef struct call_note {
    call_times_t times;
    int64_t compute_ns;
    int64_t target_ns; /* where there are imposed arrivals */
    int64_t mark;      /* sample_mark_t */
} call_note_t;

/* What a rank has to say of a batch, in one piece so that one call gathers it. */
typedef struct batch_notes {
    release_note_t release;
    call_note_t calls[];
} batch_notes_t;

/* What rank 0 tells before each batch. */
typedef struct orders {
    int64_t calls;      /* measured ones; 0: the row has come to its end */
    int64_t first;      /* how many measured calls of the row came before */
    int64_t sync_clock; /* 1: instead of a batch, synchronize clocks, which may take longer than starts are ahead */
    release_orders_t release;
} orders_t;

static size_t batch_bytes(int64_t calls)
{
    return sizeof(batch_notes_t) + (size_t)calls * sizeof(call_note_t);
}

/* What a rank said of the batch just gathered. */
static const batch_notes_t *notes_of(const measure_t *measure, int64_t calls, int rank)
{
    return (const batch_notes_t *)(measure->room->all_notes + (size_t)rank * batch_bytes(calls));
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
static void compute(const measure_t *measure, int64_t ns)
{
    wait_until(measure->span, global_time_ns(measure->span) + ns);
}
#else
static void compute(const measure_t *measure, int64_t ns)
{
    compute_rounds((int64_t)((double)ns * measure->calls_per_ns));
}
#endif

/* The rounds of that arithmetic per nanosecond. The quickest of several runs is the least disturbed. */
static double calibrate(const measure_t *measure)
{
    int64_t min_ns = INT64_MAX;
    for (int i = 0; i < CALIBRATIONS; i++) {
        int64_t begin_ns = global_time_ns(measure->span);
        compute_rounds(CALIBRATION_ROUNDS);
        int64_t took_ns = global_time_ns(measure->span) - begin_ns;
        min_ns = took_ns < min_ns ? took_ns : min_ns;
    }
    return min_ns > 0 ? (double)CALIBRATION_ROUNDS / (double)min_ns : 1;
}

/* Starts the operation, computes, with tests in equal distances, and finishes it. Returns the time of computation. */
static int64_t call_overlapped(const measure_t *measure, int64_t compute_ns)
{
    const world_t *span = measure->span;
    int64_t tests = measure->job->settings.test_calls;
    int64_t computed_ns = 0;
    world_require(span, work_start(measure->work), measure->function);
    for (int64_t i = 0; i <= tests; i++) {
        int64_t begin_ns = global_time_ns(span);
        compute(measure, compute_ns / (tests + 1));
        computed_ns += global_time_ns(span) - begin_ns;
        if (i < tests)
            world_require(span, work_test(measure->work), "MPI_Test");
    }
    world_require(span, work_finish(measure->work), measure->function);
    return computed_ns;
}

/* ---- A batch */

/* number: of a measured call in its row, by which arrivals go; a call that is not measured has that of the next one. */
static void make_call(measure_t *measure, int64_t slot, int64_t number, call_note_t *note)
{
    const world_t *span = measure->span;
    int called = MPI_SUCCESS;
    measure->releaser.delay_ns = imposed_delay_ns(&measure->imposed, number);
    work_prepare(measure->work, measure->calls++);
    int released = release(&measure->releaser, slot);
    world_require(span, released, release_schemes[measure->releaser.kind].function);
    note->times.start_ns = global_time_ns(span);
    if (measure->compute_ns == 0)
        called = work_call(measure->work);
    else
        note->compute_ns = call_overlapped(measure, measure->compute_ns);
    note->times.end_ns = global_time_ns(span);
    world_require(span, called, measure->function);
    note->mark = release_mark(&measure->releaser);
    note->target_ns = measure->job->arrivals.given ? release_target_ns(&measure->releaser) : 0;
}

static void run_batch(measure_t *measure, const orders_t *orders)
{
    batch_notes_t *notes = measure->room->notes;
    call_note_t settling;
    memset(notes, 0, batch_bytes(orders->calls));
    release_begin(&measure->releaser, &orders->release);
    for (int64_t i = 0; i < SETTLE_CALLS; i++)
        make_call(measure, i, orders->first, &settling);
    for (int64_t i = 0; i < orders->calls; i++)
        make_call(measure, i + SETTLE_CALLS, orders->first + i, &notes->calls[i]);
    notes->release = release_end(&measure->releaser);
}

static void gather_batch(measure_t *measure, int64_t calls)
{
    int bytes = (int)batch_bytes(calls);
    world_require(measure->span,
                  MPI_Gather(measure->room->notes, bytes, MPI_BYTE, measure->room->all_notes, bytes, MPI_BYTE, 0,
                             measure->span->comm),
                  "MPI_Gather");
}

/* ---- What rank 0 makes of a batch */

/* A number from 0 to 1 that depends on the seed and the call alone. */
static double chance(int64_t seed, int64_t size_bytes, int64_t call)
{
    uint64_t state = (uint64_t)seed;
    state = random_next(&state) + (uint64_t)size_bytes;
    state = random_next(&state) + (uint64_t)call;
    return random_fraction(&state);
}

static int64_t greater(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void take_call(const measure_t *measure, samples_t *samples, int64_t batch_calls, int64_t call)
{
    int64_t place = samples->calls * samples->ranks, compute_ns = 0;
    for (int rank = 0; rank < samples->ranks; rank++) {
        const call_note_t *note = &notes_of(measure, batch_calls, rank)->calls[call];
        samples->times[place + rank] = note->times;
        samples->marks[place + rank] = (uint8_t)note->mark;
        if (samples->targets_ns != NULL)
            samples->targets_ns[place + rank] = note->target_ns;
        compute_ns = greater(compute_ns, note->compute_ns);
    }
    if (samples->compute_ns != NULL)
        samples->compute_ns[samples->calls] = compute_ns;
}

static void take_batch(const measure_t *measure, int64_t calls, samples_t *samples)
{
    const bench_settings_t *settings = &measure->job->settings;
    if (!samples_reserve(samples, calls, measure->compute_ns > 0, measure->job->arrivals.given))
        world_abort(measure->span, "out of memory: give less for --iterations or --time-slice-s");
    sample_set_t set = samples_set(samples);
    for (int64_t i = 0; i < calls; i++) {
        take_call(measure, samples, calls, i);
        if (100 * chance(settings->seed, measure->progress.size_bytes, samples->calls) < settings->invalid_percent)
            samples->marks[samples->calls * samples->ranks] = MARK_MISSED;
        sample_mark_t mark = analyse_mark(&set, samples->calls++);
        samples->valid += mark == MARK_VALID;
        samples->late += mark == MARK_LATE;
        samples->missed += mark == MARK_MISSED;
    }
}

/* Whether a call of the batch just gathered has a mark on some rank. */
static bool is_marked(const measure_t *measure, int64_t batch_calls, int64_t call)
{
    bool marked = false;
    for (int rank = 0; rank < measure->span->ranks && !marked; rank++)
        marked = notes_of(measure, batch_calls, rank)->calls[call].mark != MARK_VALID;
    return marked;
}

/* Takes in the greatest of all ranks' notes, and how many calls have a mark on some rank. */
static void learn(measure_t *measure, int64_t calls)
{
    release_note_t greatest = {0};
    int64_t invalid = 0;
    for (int rank = 0; rank < measure->span->ranks; rank++) {
        const release_note_t *note = &notes_of(measure, calls, rank)->release;
        greatest.ready_ns = greater(greatest.ready_ns, note->ready_ns);
        greatest.cycles.usual_ns = greater(greatest.cycles.usual_ns, note->cycles.usual_ns);
        greatest.cycles.max_ns = greater(greatest.cycles.max_ns, note->cycles.max_ns);
    }
    for (int64_t call = 0; call < calls; call++)
        invalid += is_marked(measure, calls, call);
    release_learn(&measure->releaser, &greatest, calls, invalid);
}

/* ---- Rank 0 before a batch and after it */

/* MPIX_Harmonize looks after the clock; with other schemes it is done here. */
static bool is_clock_due(measure_t *measure, int64_t now_ns)
{
    if (measure->releaser.kind == RELEASE_HARMONIZE || now_ns < measure->next_clock_check_ns)
        return false;
    measure->next_clock_check_ns = now_ns + (int64_t)CLOCK_CHECK_NS;
    int64_t interval_ns = statistic_of(measure->span, "mpix_harmonize_resync_used_ns");
    return interval_ns > 0 && statistic_of(measure->span, "mpix_harmonize_clock_age_ns") > interval_ns;
}

/* On a terminal, says what is being measured. */
static void show_progress(measure_t *measure, int64_t now_ns)
{
    const progress_t *progress = &measure->progress;
    if (now_ns < measure->next_shown_ns)
        return;
    measure->next_shown_ns = now_ns + (int64_t)PROGRESS_INTERVAL_NS;
    world_progress(measure->span, "%s, %lld bytes: %lld of %lld valid, %lld missed, %lld late", measure->function,
                   (long long)progress->size_bytes, (long long)progress->samples.valid, (long long)progress->wanted,
                   (long long)progress->samples.missed, (long long)progress->samples.late);
}

static void make_orders(measure_t *measure, orders_t *orders)
{
    int64_t now_ns = global_time_ns(measure->span);
    show_progress(measure, now_ns);
    orders->sync_clock = is_clock_due(measure, now_ns);
    orders->calls = orders->sync_clock ? 0 : progress_next(&measure->progress);
    orders->first = measure->progress.samples.calls;
    measure->batch_begin_ns = global_time_ns(measure->span);
    orders->release = release_order(&measure->releaser);
}

static void finish_batch(measure_t *measure, int64_t calls)
{
    int64_t took_ns = global_time_ns(measure->span) - measure->batch_begin_ns;
    learn(measure, calls);
    if (progress_take(&measure->progress, calls, took_ns))
        take_batch(measure, calls, &measure->progress.samples);
}

/* ---- Rows */

void measure_begin(measure_t *measure, int64_t size_bytes, int64_t compute_ns)
{
    const progress_plan_t plan = {.size_bytes = size_bytes,
                                  .probes = release_needs_probe(&measure->releaser),
                                  .again = compute_ns > 0,
                                  .takes_turns = measure->takes_turns,
                                  .max_batch_calls = measure->room->max_calls};
    measure->compute_ns = compute_ns;
    measure->next_shown_ns = 0;
    measure->next_clock_check_ns = 0;
    progress_begin(&measure->progress, measure->span, measure->job, &plan);
    release_forget(&measure->releaser);
}

bool measure_batch(measure_t *measure)
{
    bool root = measure->span->rank == 0;
    orders_t orders;
    for (;;) {
        if (root)
            make_orders(measure, &orders);
        world_require(measure->span, MPI_Bcast(&orders, sizeof(orders), MPI_BYTE, 0, measure->span->comm), "MPI_Bcast");
        if (!orders.sync_clock)
            break;
        world_require(measure->span, MPIX_Clock_sync(measure->span->comm), "MPIX_Clock_sync");
    }
    if (orders.calls == 0)
        return false;
    run_batch(measure, &orders);
    gather_batch(measure, orders.calls);
    if (root)
        finish_batch(measure, orders.calls);
    return true;
}

samples_t measure_take(measure_t *measure)
{
    samples_t samples = measure->progress.samples;
    measure->progress.samples = (samples_t){0};
    return samples;
}

void measure_open(measure_t *measure)
{
    const bench_settings_t *settings = &measure->job->settings;
    release_open(&measure->releaser, measure->span, (release_kind_t)settings->release,
                 barrier_at((int)settings->barrier), settings->window_us);
    measure->calls = 0;
    measure->calls_per_ns = settings->overlap ? calibrate(measure) : 0;
}

bool batch_room_open(batch_room_t *room, const world_t *span)
{
    int ranks = span->ranks;
    bool root = span->rank == 0;
    int max_calls = MAX_BATCH_TIMES / ranks < MAX_BATCH_CALLS ? MAX_BATCH_TIMES / ranks : MAX_BATCH_CALLS;
    room->max_calls = max_calls > 1 ? max_calls : 1;
    room->notes = malloc(batch_bytes(room->max_calls));
    room->all_notes = root ? malloc((size_t)ranks * batch_bytes(room->max_calls)) : NULL;
    return world_all(span, room->notes != NULL && (!root || room->all_notes != NULL));
}

void batch_room_close(batch_room_t *room)
{
    free(room->notes);
    free(room->all_notes);
}
