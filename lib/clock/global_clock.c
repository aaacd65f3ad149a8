/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The estimate has two copies (a sequence latch). A writer fills the one that is not in force, so a reader always finds
 * a complete one and never waits for a writer.
 *
 * This order ensures that readings never decrease. The writer makes the sequence odd. A reader that finds an even
 * sequence unchanged after it has read the base clock has read this clock before the change, so no reader has returned
 * a time above the old estimate's time at the change. This time becomes the floor. While the sequence is odd, readers
 * raise the floor to the value that they return. With the new estimate no reader returns less than the floor. If the
 * base clock may be set, every reading raises the floor, which is then the latest reading.
 */
#include "clock/global_clock.h"

#include "pure/units.h"
#include "pure/wide.h"
#include "clock/wait.h"
#include "clock/watch.h"

#include <string.h>

/* Below all readings, with room for differences. */
#define NEVER_READ_NS (INT64_MIN / 2)

void mh_global_clock_init(mh_global_clock *clock)
{
    memset(&clock->base, 0, sizeof clock->base);
    atomic_init(&clock->sequence, 0);
    atomic_init(&clock->floor_ns, NEVER_READ_NS);
    atomic_init(&clock->is_wrong, false);
}

bool mh_global_clock_is_set(const mh_global_clock *clock)
{
    return atomic_load_explicit(&clock->sequence, memory_order_acquire) != 0;
}

static inline const mh_published *copy_in_force(const mh_global_clock *clock, unsigned sequence)
{
    return &clock->copies[(sequence / 2) % 2];
}

static inline mh_estimate load_estimate(const mh_published *copy)
{
    mh_model model = {atomic_load_explicit(&copy->at_ns, memory_order_relaxed),
                      atomic_load_explicit(&copy->offset_ns, memory_order_relaxed),
                      atomic_load_explicit(&copy->drift, memory_order_relaxed)};
    return (mh_estimate){.model = model,
                         .bound_ns = atomic_load_explicit(&copy->bound_ns, memory_order_relaxed),
                         .drift_bound = atomic_load_explicit(&copy->drift_bound, memory_order_relaxed),
                         .wander_bound = atomic_load_explicit(&copy->wander_bound, memory_order_relaxed)};
}

enum { DRIFT_BITS = 62 };

/* mh_model_apply, without a floating-point number. */
static inline int64_t apply_fixed(const mh_published *copy, int64_t local_ns)
{
    int64_t age_ns = local_ns - atomic_load_explicit(&copy->at_ns, memory_order_relaxed);
    int64_t drift_fixed = atomic_load_explicit(&copy->drift_fixed, memory_order_relaxed);
    int64_t drifted_ns = mh_multiply_shift_signed(age_ns, drift_fixed, DRIFT_BITS);
    return local_ns - atomic_load_explicit(&copy->offset_ns, memory_order_relaxed) - drifted_ns;
}

static void store_estimate(mh_published *copy, const mh_estimate *estimate)
{
    atomic_store_explicit(&copy->at_ns, estimate->model.at_ns, memory_order_relaxed);
    atomic_store_explicit(&copy->offset_ns, estimate->model.offset_ns, memory_order_relaxed);
    atomic_store_explicit(&copy->drift, estimate->model.drift, memory_order_relaxed);
    int64_t drift_fixed = (int64_t)(estimate->model.drift * (double)(INT64_C(1) << DRIFT_BITS));
    atomic_store_explicit(&copy->drift_fixed, drift_fixed, memory_order_relaxed);
    atomic_store_explicit(&copy->bound_ns, estimate->bound_ns, memory_order_relaxed);
    atomic_store_explicit(&copy->drift_bound, estimate->drift_bound, memory_order_relaxed);
    atomic_store_explicit(&copy->wander_bound, estimate->wander_bound, memory_order_relaxed);
}

mh_estimate mh_global_clock_estimate(const mh_global_clock *clock)
{
    return load_estimate(copy_in_force(clock, atomic_load(&clock->sequence)));
}

static int64_t raise_floor(mh_global_clock *clock, int64_t time_ns)
{
    int64_t floor_ns = atomic_load(&clock->floor_ns);
    while (floor_ns < time_ns)
        if (atomic_compare_exchange_weak(&clock->floor_ns, &floor_ns, time_ns))
            return time_ns;
    return floor_ns;
}

/* A processor may read the counter after a load that comes later in the program. This wait is longer than that. */
static void outlast_reordering(const mh_base_clock *base)
{
    int64_t now_ns = mh_base_clock_now_ns(base);
    mh_wait_until(base, now_ns, now_ns + MH_NS_PER_US, false);
}

void mh_global_clock_publish(mh_global_clock *clock, const mh_estimate *estimate)
{
    unsigned sequence = atomic_load(&clock->sequence);
    if (sequence > 0) {
        atomic_store(&clock->sequence, sequence + 1);
        outlast_reordering(&clock->base);
        if (!clock->base.may_be_set)
            raise_floor(clock, apply_fixed(copy_in_force(clock, sequence), mh_base_clock_now_ns(&clock->base)));
    }
    /*
     * Two changes ago, this copy was in force. A reader that still reads it and finds one of these values must find
     * that the sequence has changed. On x86, this fence is no instruction.
     */
    atomic_thread_fence(memory_order_release);
    store_estimate(&clock->copies[(sequence / 2 + 1) % 2], estimate);
    /* When the numbers start over, 0 is left out: it means that nothing was published. */
    atomic_store(&clock->sequence, sequence + 2 > 0 ? sequence + 2 : 4);
    if (clock->base.may_be_set)
        atomic_fetch_add(&clock->floor_ns, 1);
}

void mh_global_clock_follow_step(mh_global_clock *clock, int64_t step_ns)
{
    mh_estimate estimate = mh_global_clock_estimate(clock);
    estimate.model.at_ns += step_ns;
    estimate.model.offset_ns += step_ns;
    estimate.bound_ns = MH_TIME_UNKNOWN_NS;
    mh_global_clock_publish(clock, &estimate);
}

static inline bool still(const mh_global_clock *clock, unsigned sequence)
{
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&clock->sequence, memory_order_relaxed) == sequence;
}

/*
 * Only a reading by the estimate in force may raise the floor; one that was overtaken by a writer used an old estimate.
 * If a writer overtakes it after the last look at the sequence, the writer has changed the floor, so the exchange
 * fails.
 */
static inline int64_t not_below_floor(mh_global_clock *clock, unsigned sequence, int64_t time_ns)
{
    bool raises = sequence % 2 || clock->base.may_be_set;
    int64_t floor_ns = atomic_load_explicit(&clock->floor_ns, memory_order_acquire);
    while (raises && floor_ns < time_ns && still(clock, sequence))
        if (atomic_compare_exchange_weak(&clock->floor_ns, &floor_ns, time_ns))
            return time_ns;
    return time_ns < floor_ns ? floor_ns : time_ns;
}

int64_t mh_global_clock_now_ns(mh_global_clock *clock)
{
    for (;;) {
        unsigned sequence = atomic_load_explicit(&clock->sequence, memory_order_acquire);
        int64_t time_ns = apply_fixed(copy_in_force(clock, sequence), mh_base_clock_now_ns(&clock->base));
        time_ns = not_below_floor(clock, sequence, time_ns);
        if (still(clock, sequence))
            return time_ns;
    }
}

int64_t mh_global_clock_lead_ns(mh_global_clock *clock, const mh_estimate *estimate)
{
    int64_t latest_ns = clock->base.may_be_set ? atomic_load(&clock->floor_ns) : mh_global_clock_now_ns(clock);
    int64_t now_ns = mh_model_apply(&estimate->model, mh_base_clock_now_ns(&clock->base));
    return latest_ns - now_ns;
}

mh_reading mh_global_clock_read(mh_global_clock *clock)
{
    for (;;) {
        unsigned sequence = atomic_load_explicit(&clock->sequence, memory_order_acquire);
        const mh_published *copy = copy_in_force(clock, sequence);
        int64_t local_ns = mh_base_clock_now_ns(&clock->base);
        int64_t model_ns = apply_fixed(copy, local_ns);
        mh_estimate estimate = load_estimate(copy);
        mh_reading reading = {not_below_floor(clock, sequence, model_ns), mh_estimate_bound(&estimate, local_ns)};
        /* If the floor raised the reading, its error is larger by the same amount. */
        if (atomic_load_explicit(&clock->is_wrong, memory_order_relaxed))
            reading.bound_ns = MH_TIME_UNKNOWN_NS;
        if (reading.bound_ns != MH_TIME_UNKNOWN_NS)
            reading.bound_ns += reading.time_ns - model_ns + clock->base.read_cost_ns;
        if (still(clock, sequence))
            return reading;
    }
}

/*
 * The reading of this clock is between two readings of the other one. The other one counts its nanoseconds a tenth
 * faster or slower at most. A bracket of a clock that was set back meanwhile says nothing.
 */
mh_clock_pair mh_global_clock_pair(mh_global_clock *clock, clockid_t beside)
{
    enum { TRIES = 5 };
    mh_clock_pair best = {.reading.bound_ns = 0};
    int64_t best_half_ns = INT64_MAX;
    for (int i = 0; i < TRIES || best_half_ns == INT64_MAX; i++) {
        unsigned sequence = atomic_load_explicit(&clock->sequence, memory_order_acquire);
        mh_estimate estimate = load_estimate(copy_in_force(clock, sequence));
        int64_t before_ns = mh_kernel_clock_ns(beside), local_ns = mh_base_clock_now_ns(&clock->base);
        int64_t width_ns = mh_kernel_clock_ns(beside) - before_ns, half_ns = (width_ns + 1) / 2;
        const bool is_wrong = atomic_load_explicit(&clock->is_wrong, memory_order_relaxed); /* of this estimate */
        if (width_ns < 0 || half_ns >= best_half_ns || !still(clock, sequence))
            continue;
        best_half_ns = half_ns;
        best.beside_ns = before_ns + width_ns / 2;
        best.reading = (mh_reading){mh_model_apply(&estimate.model, local_ns),
                                    is_wrong ? MH_TIME_UNKNOWN_NS : mh_estimate_bound(&estimate, local_ns)};
    }
    if (best.reading.bound_ns != MH_TIME_UNKNOWN_NS)
        best.reading.bound_ns += best_half_ns + best_half_ns / 8 + 1;
    return best;
}

/* Estimates differ by less, or the clocks would have been found wrong. */
enum { MAX_BEHIND_NS = 1000 * 1000 };

/* Times further away than this, some seventy years, are taken as this far away, so that differences fit. */
#define FARTHEST_NS (INT64_C(1) << 61)

/* A synchronization during a sleep may bring the instant nearer, so after this time the wait looks again. */
enum { LONGEST_SLEEP_NS = 20 * 1000 * 1000 };

/* The first base time at which global time, by this copy, is not before an instant. */
static int64_t base_time_of(const mh_published *copy, int64_t instant_ns)
{
    mh_model model = load_estimate(copy).model;
    int64_t local_ns = mh_model_invert(&model, instant_ns), short_ns;
    /* A writer may change the copy meanwhile, so the way may be long. */
    while ((short_ns = instant_ns - apply_fixed(copy, local_ns)) > 0)
        local_ns += short_ns;
    return local_ns;
}

/* Whether readings stand still because the base clock was set: the estimate is behind what was read before. */
static bool stands_still(mh_global_clock *clock, const mh_published *copy)
{
    return apply_fixed(copy, mh_base_clock_now_ns(&clock->base)) < atomic_load(&clock->floor_ns) - MAX_BEHIND_NS;
}

/* sequence: of the estimate that the wait ended by. */
static bool wait_until(mh_global_clock *clock, int64_t instant_ns, bool yields, int64_t *late_ns, unsigned *sequence)
{
    int64_t far_ns = instant_ns < -FARTHEST_NS ? -FARTHEST_NS : instant_ns > FARTHEST_NS ? FARTHEST_NS : instant_ns;
    const mh_base_clock *base = &clock->base;
    mh_clock_watch watch;
    mh_clock_watch_start(&watch, base);
    for (;;) {
        *sequence = atomic_load_explicit(&clock->sequence, memory_order_acquire);
        const mh_published *copy = copy_in_force(clock, *sequence);
        int64_t deadline_ns = base_time_of(copy, far_ns);
        bool is_wrong = atomic_load(&clock->is_wrong) || stands_still(clock, copy);
        if (!still(clock, *sequence))
            continue;
        int64_t now_ns = mh_base_clock_now_ns(base);
        bool is_far = deadline_ns - now_ns > LONGEST_SLEEP_NS;
        if (is_wrong || mh_sleep_towards(base, is_far ? now_ns + LONGEST_SLEEP_NS : deadline_ns) != 0)
            return false;
        if (is_far && mh_clock_watch_look(&watch, base) != 0)
            return false;
        if (is_far)
            continue;
        int64_t left_ns = mh_wait_until(base, mh_base_clock_now_ns(base), deadline_ns, yields);
        if (left_ns < deadline_ns) {
            mh_clock_watch_look(&watch, base);
            return false;
        }
        *late_ns = left_ns - deadline_ns;
        if (still(clock, *sequence))
            return !atomic_load(&clock->is_wrong) && (!base->may_be_set || mh_clock_watch_look(&watch, base) == 0);
    }
}

bool mh_global_clock_wait_until(mh_global_clock *clock, int64_t instant_ns, bool yields, int64_t *late_ns)
{
    unsigned sequence;
    bool is_right = wait_until(clock, instant_ns, yields, late_ns, &sequence);
    if (!is_right && still(clock, sequence))
        atomic_store(&clock->is_wrong, true);
    return is_right;
}
