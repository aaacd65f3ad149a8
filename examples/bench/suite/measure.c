/* SPDX-License-Identifier: BSD-3-Clause */
#include "suite/measure.h"

#include "common/random.h"
#include "common/room.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first call of a batch is not measured: it still feels what was done between the batches. */
enum { SETTLE_CALLS = 1 };
/* Calls from which starting times are found. */
enum { PROBE_CALLS = 10 };
/* Batches grow from so many calls to MAX_BATCH_CALLS, but take no more time or memory on rank 0 than this. */
enum { FIRST_BATCH_CALLS = 16, MAX_BATCH_TIMES = 1 << 20 };
#define MAX_BATCH_NS 50e6
#define MAX_SLICE_PART 0.1
/* Warming up takes at most this share of a time slice. */
#define WARMUP_SLICE_PART 0.25
/* A confidence interval is looked at from so many samples on, and again when they have become more by this factor. */
enum { FIRST_INTERVAL = 30 };
#define NEXT_INTERVAL 1.1
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
    int64_t calls;      /* measured ones; 0: this size has come to its end */
    int64_t sync_clock; /* 1: instead of a batch, synchronize clocks, which may take longer than starts are ahead */
    release_orders_t release;
} orders_t;

/* Where rank 0 stands with a size. */
typedef struct progress {
    int64_t size_bytes;
    int64_t probe_left;
    int64_t warmup_left;
    int64_t wanted;
    double max_calls;
    int64_t limit_ns; /* time slice; 0: none */
    int64_t begin_ns;
    int64_t measured_ns; /* when the first measured call began; 0: not yet */
    int64_t batch_begin_ns;
    int64_t batch_calls;   /* of the last batch */
    double call_ns;        /* in the last batch */
    int64_t next_interval; /* samples at which to look at the confidence interval */
    int64_t next_shown_ns;
    int64_t next_clock_check_ns;
} progress_t;

static size_t batch_bytes(int64_t calls)
{
    return sizeof(batch_notes_t) + (size_t)calls * sizeof(call_note_t);
}

/* What a rank said of the batch just gathered. */
static const batch_notes_t *notes_of(const measure_t *measure, int64_t calls, int rank)
{
    return (const batch_notes_t *)(measure->all_notes + (size_t)rank * batch_bytes(calls));
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

static void make_call(measure_t *measure, int64_t slot, int64_t compute_ns, call_note_t *note)
{
    const world_t *span = measure->span;
    int called = MPI_SUCCESS;
    measure->releaser.delay_ns = imposed_delay_ns(&measure->imposed, measure->calls);
    work_prepare(measure->work, measure->calls++);
    int released = release(&measure->releaser, slot);
    world_require(span, released, release_schemes[measure->releaser.kind].function);
    note->times.start_ns = global_time_ns(span);
    if (compute_ns == 0)
        called = work_call(measure->work);
    else
        note->compute_ns = call_overlapped(measure, compute_ns);
    note->times.end_ns = global_time_ns(span);
    world_require(span, called, measure->function);
    note->mark = release_mark(&measure->releaser);
    note->target_ns = measure->job->arrivals.given ? release_target_ns(&measure->releaser) : 0;
}

static void run_batch(measure_t *measure, const orders_t *orders, int64_t compute_ns)
{
    batch_notes_t *notes = measure->notes;
    call_note_t settling;
    memset(notes, 0, batch_bytes(orders->calls));
    release_begin(&measure->releaser, &orders->release);
    for (int64_t i = 0; i < SETTLE_CALLS; i++)
        make_call(measure, i, compute_ns, &settling);
    for (int64_t i = 0; i < orders->calls; i++)
        make_call(measure, i + SETTLE_CALLS, compute_ns, &notes->calls[i]);
    notes->release = release_end(&measure->releaser);
}

static void gather_batch(measure_t *measure, int64_t calls)
{
    int bytes = (int)batch_bytes(calls);
    world_require(
        measure->span,
        MPI_Gather(measure->notes, bytes, MPI_BYTE, measure->all_notes, bytes, MPI_BYTE, 0, measure->span->comm),
        "MPI_Gather");
}

/* ---- What rank 0 makes of a batch */

/* Makes an array longer. One that is not needed stays NULL. */
static bool lengthen(int64_t **array, int64_t elements, bool is_needed)
{
    if (!is_needed)
        return true;
    int64_t *longer = realloc(*array, room_bytes(elements, sizeof(longer[0])));
    *array = longer != NULL ? longer : *array;
    return longer != NULL;
}

static bool reserve(const measure_t *measure, samples_t *samples, int64_t calls, bool computes)
{
    int64_t capacity = samples->capacity > 0 ? samples->capacity : MAX_BATCH_CALLS;
    while (capacity < calls)
        capacity *= 2;
    if (capacity == samples->capacity)
        return true;
    int64_t elements = capacity * samples->ranks;
    void *times = realloc(samples->times, room_bytes(elements, sizeof(samples->times[0])));
    samples->times = times != NULL ? times : samples->times;
    void *marks = realloc(samples->marks, room_bytes(elements, sizeof(samples->marks[0])));
    samples->marks = marks != NULL ? marks : samples->marks;
    samples->capacity = capacity;
    return times != NULL && marks != NULL && lengthen(&samples->compute_ns, capacity, computes) &&
           lengthen(&samples->targets_ns, elements, measure->job->arrivals.given);
}

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

static void take_batch(const measure_t *measure, const progress_t *progress, int64_t calls, bool computes,
                       samples_t *samples)
{
    const bench_settings_t *settings = &measure->job->settings;
    if (!reserve(measure, samples, samples->calls + calls, computes))
        world_abort(measure->span, "out of memory: give less for --iterations or --time-slice-s");
    sample_set_t set = samples_set(samples);
    for (int64_t i = 0; i < calls; i++) {
        take_call(measure, samples, calls, i);
        if (100 * chance(settings->seed, progress->size_bytes, samples->calls) < settings->invalid_percent)
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

/* ---- Decisions of rank 0 */

/* Whether the median's confidence interval is narrow enough. Sorting takes time, so it is not looked at after each
 * batch. */
static bool is_narrow(const measure_t *measure, progress_t *progress, const samples_t *samples)
{
    double percent = measure->job->settings.ci_percent;
    sample_set_t set = samples_set(samples);
    analysis_t analysis;
    if (percent <= 0 || samples->valid < progress->next_interval)
        return false;
    progress->next_interval = (int64_t)((double)samples->valid * NEXT_INTERVAL) + 1;
    if (!analyse(&set, (run_time_t)measure->job->settings.run_time, NULL, 0, &analysis))
        world_abort(measure->span, "out of memory");
    return analysis_is_narrow(&analysis, percent);
}

/* Whether the size has come to its end, and why. */
static bool is_done(const measure_t *measure, progress_t *progress, samples_t *samples, int64_t now_ns)
{
    if (samples->valid >= progress->wanted)
        samples->end = END_ENOUGH;
    else if ((double)samples->calls >= progress->max_calls)
        samples->end = END_REPEATED;
    else if (progress->limit_ns > 0 && now_ns - progress->measured_ns >= progress->limit_ns)
        samples->end = END_SLICE;
    else if (is_narrow(measure, progress, samples))
        samples->end = END_NARROW;
    else
        return false;
    return true;
}

/* The calls of the next batch, of which no more than left are wanted. */
static int64_t fitting_calls(const measure_t *measure, const progress_t *progress, double left)
{
    double limit_ns =
        progress->limit_ns > 0 ? fmin(MAX_BATCH_NS, (double)progress->limit_ns * MAX_SLICE_PART) : MAX_BATCH_NS;
    double calls = progress->batch_calls > 0 ? 2 * (double)progress->batch_calls : FIRST_BATCH_CALLS;
    calls = fmin(fmin(calls, measure->max_calls), left);
    if (progress->call_ns > 0)
        calls = fmin(calls, limit_ns / progress->call_ns);
    return calls < 1 ? 1 : (int64_t)calls;
}

/* Warming up ends early where it takes too much of a time slice. */
static bool warms_up(const progress_t *progress, int64_t now_ns)
{
    return progress->warmup_left > 0 && (progress->limit_ns == 0 || (double)(now_ns - progress->begin_ns) <
                                                                        WARMUP_SLICE_PART * (double)progress->limit_ns);
}

static int64_t next_calls(const measure_t *measure, progress_t *progress, samples_t *samples, int64_t now_ns)
{
    if (progress->probe_left > 0)
        return (int64_t)fmin((double)progress->probe_left, measure->max_calls);
    if (warms_up(progress, now_ns))
        return fitting_calls(measure, progress, (double)progress->warmup_left);
    if (progress->measured_ns == 0)
        progress->measured_ns = now_ns;
    else if (is_done(measure, progress, samples, now_ns))
        return 0;
    double missing = (double)(progress->wanted - samples->valid);
    return fitting_calls(measure, progress, fmin(missing, progress->max_calls - (double)samples->calls));
}

/* MPIX_Harmonize looks after the clock; with other schemes it is done here. */
static bool is_clock_due(const measure_t *measure, progress_t *progress, int64_t now_ns)
{
    if (measure->releaser.kind == RELEASE_HARMONIZE || now_ns < progress->next_clock_check_ns)
        return false;
    progress->next_clock_check_ns = now_ns + (int64_t)CLOCK_CHECK_NS;
    int64_t interval_ns = statistic_of(measure->span, "mpix_harmonize_resync_used_ns");
    return interval_ns > 0 && statistic_of(measure->span, "mpix_harmonize_clock_age_ns") > interval_ns;
}

/* On a terminal, says what is being measured. */
static void show_progress(const measure_t *measure, progress_t *progress, const samples_t *samples, int64_t now_ns)
{
    if (now_ns < progress->next_shown_ns)
        return;
    progress->next_shown_ns = now_ns + (int64_t)PROGRESS_INTERVAL_NS;
    world_progress(measure->span, "%s, %lld bytes: %lld of %lld valid, %lld missed, %lld late", measure->function,
                   (long long)progress->size_bytes, (long long)samples->valid, (long long)progress->wanted,
                   (long long)samples->missed, (long long)samples->late);
}

/* Rank 0: takes in a batch just gathered. */
static void finish_batch(measure_t *measure, progress_t *progress, const orders_t *orders, int64_t compute_ns,
                         samples_t *samples)
{
    int64_t took_ns = global_time_ns(measure->span) - progress->batch_begin_ns;
    learn(measure, orders->calls);
    progress->call_ns = (double)took_ns / (double)(orders->calls + SETTLE_CALLS);
    progress->batch_calls = orders->calls;
    if (progress->probe_left > 0)
        progress->probe_left -= orders->calls;
    else if (progress->measured_ns == 0)
        progress->warmup_left -= orders->calls;
    else
        take_batch(measure, progress, orders->calls, compute_ns > 0, samples);
}

static void begin_size(measure_t *measure, int64_t size_bytes, bool again, progress_t *progress)
{
    const job_t *job = measure->job;
    int64_t wanted = job_wanted(job, size_bytes);
    *progress = (progress_t){.size_bytes = size_bytes,
                             .probe_left = release_needs_probe(&measure->releaser) ? PROBE_CALLS : 0,
                             .warmup_left = again ? 0 : job_warmup(job, size_bytes),
                             .wanted = wanted,
                             .max_calls = (double)wanted * (double)job->settings.max_repeat,
                             .limit_ns = (int64_t)(job_time_slice_s(job) * 1e9),
                             .begin_ns = global_time_ns(measure->span),
                             .next_interval = FIRST_INTERVAL};
    release_forget(&measure->releaser);
}

static void make_orders(measure_t *measure, progress_t *progress, samples_t *samples, orders_t *orders)
{
    int64_t now_ns = global_time_ns(measure->span);
    show_progress(measure, progress, samples, now_ns);
    orders->sync_clock = is_clock_due(measure, progress, now_ns);
    orders->calls = orders->sync_clock ? 0 : next_calls(measure, progress, samples, now_ns);
    progress->batch_begin_ns = global_time_ns(measure->span);
    orders->release = release_order(&measure->releaser);
}

void measure_size(measure_t *measure, int64_t size_bytes, int64_t compute_ns, samples_t *samples)
{
    bool root = measure->span->rank == 0;
    progress_t progress;
    orders_t orders;
    samples->ranks = measure->span->ranks;
    begin_size(measure, size_bytes, compute_ns > 0, &progress);
    for (;;) {
        if (root)
            make_orders(measure, &progress, samples, &orders);
        world_require(measure->span, MPI_Bcast(&orders, sizeof(orders), MPI_BYTE, 0, measure->span->comm), "MPI_Bcast");
        if (orders.sync_clock) {
            world_require(measure->span, MPIX_Clock_sync(measure->span->comm), "MPIX_Clock_sync");
            continue;
        }
        if (orders.calls == 0)
            break;
        run_batch(measure, &orders, compute_ns);
        gather_batch(measure, orders.calls);
        if (root)
            finish_batch(measure, &progress, &orders, compute_ns, samples);
    }
    world_progress(measure->span, "%s", "");
}

bool measure_open(measure_t *measure)
{
    const bench_settings_t *settings = &measure->job->settings;
    int ranks = measure->span->ranks;
    bool root = measure->span->rank == 0;
    int max_calls = MAX_BATCH_TIMES / ranks < MAX_BATCH_CALLS ? MAX_BATCH_TIMES / ranks : MAX_BATCH_CALLS;
    measure->max_calls = max_calls > 1 ? max_calls : 1;
    release_open(&measure->releaser, measure->span, (release_kind_t)settings->release,
                 barrier_at((int)settings->barrier), settings->window_us);
    measure->calls = 0;
    measure->calls_per_ns = settings->overlap ? calibrate(measure) : 0;
    measure->notes = malloc(batch_bytes(measure->max_calls));
    measure->all_notes = root ? malloc((size_t)ranks * batch_bytes(measure->max_calls)) : NULL;
    return world_all(measure->span, measure->notes != NULL && (!root || measure->all_notes != NULL));
}

void measure_close(measure_t *measure)
{
    free(measure->notes);
    free(measure->all_notes);
}

sample_set_t samples_set(const samples_t *samples)
{
    return (sample_set_t){samples->ranks, samples->calls, samples->times, samples->marks};
}

void samples_free(samples_t *samples)
{
    free(samples->times);
    free(samples->marks);
    free(samples->compute_ns);
    free(samples->targets_ns);
    *samples = (samples_t){0};
}
