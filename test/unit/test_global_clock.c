/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_global_clock.c - the global clock of a process: it never goes back, whatever is published, in one thread on a
 * base clock that only moves when told, and with several threads on a real one.
 */
#include "pure/units.h"
#include "clock/base_clock_private.h"
#include "clock/global_clock.h"
#include "coroutine.h"
#include "support.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>

/* ---- A base clock that moves when told, and when somebody waits for it */

static int64_t hand_ns;

static int64_t hand_now_ns(const mh_base_clock *clock)
{
    (void)clock;
    return hand_ns;
}

static int64_t hand_wait_until(const mh_base_clock *clock, int64_t from_ns, int64_t deadline_ns)
{
    (void)from_ns;
    (void)clock;
    if (hand_ns < deadline_ns)
        hand_ns = deadline_ns;
    return hand_ns;
}

static const mh_clock_kind hand = {
    .name = "hand", .doc = "moved by hand", .now_ns = hand_now_ns, .wait_until = hand_wait_until};

static const mh_estimate exact = {.bound_ns = 0};

/* A reading and mh_model_apply may round the drift to different sides. */
enum { ROUNDING_NS = 1 };

static void open_on(mh_global_clock *clock, const mh_clock_kind *kind)
{
    mh_global_clock_init(clock);
    clock->base.kind = kind;
    clock->base.now_ns = kind->now_ns;
    if (kind->calibrate)
        clock->base.scale = kind->calibrate();
}

static void open_by_hand(mh_global_clock *clock, int64_t start_ns)
{
    hand_ns = start_ns;
    open_on(clock, &hand);
}

/* An estimate by which it is global_ns now. */
static mh_estimate estimate_of(int64_t global_ns, double drift, int64_t bound_ns, double drift_bound)
{
    return (mh_estimate){
        .model = {hand_ns, hand_ns - global_ns, drift}, .bound_ns = bound_ns, .drift_bound = drift_bound};
}

TEST(published_estimate_is_in_force)
{
    mh_global_clock clock;
    open_by_hand(&clock, -5000);
    ck_assert(!mh_global_clock_is_set(&clock));
    for (int i = 0; i < 1000; i++) {
        if (i == 501) /* nearly the last number */
            atomic_store(&clock.sequence, UINT_MAX - 5);
        mh_estimate wanted = {
            .model = {i, INT64_C(10) * i, i * MH_PPM}, .bound_ns = INT64_C(100) * i, .drift_bound = 2 * i * MH_PPM};
        mh_global_clock_publish(&clock, &wanted);
        mh_estimate got = mh_global_clock_estimate(&clock);
        ck_assert(mh_global_clock_is_set(&clock));
        EXPECT(got.model.at_ns == wanted.model.at_ns && got.model.offset_ns == wanted.model.offset_ns &&
                   got.model.drift == wanted.model.drift && got.bound_ns == wanted.bound_ns &&
                   got.drift_bound == wanted.drift_bound,
               "after estimate %d another one is in force", i);
    }
}

static const struct {
    int64_t start_ns, global_ns;
    double drift;
} starts[] = {
    {0, 0, 0},
    {MH_NS_PER_S, 5000, 10 * MH_PPM},
    {-86400 * MH_NS_PER_S, 0, 500 * MH_PPM},
    {MH_NS_PER_S, -86400 * MH_NS_PER_S, -500 * MH_PPM},
    {INT64_C(1) << 60, 0, 20 * MH_PPM},
};

LOOP_TEST(readings_follow_the_model, COUNT_OF(starts))
{
    mh_global_clock clock;
    open_by_hand(&clock, starts[_i].start_ns);
    mh_estimate estimate = estimate_of(starts[_i].global_ns, starts[_i].drift, 100, 1 * MH_PPM);
    mh_global_clock_publish(&clock, &estimate);
    /* Small steps first, six days in all. */
    for (int64_t i = 0; i < 1000; i++, hand_ns += 1 + i * i * i * 2000) {
        int64_t now_ns = mh_global_clock_now_ns(&clock), model_ns = mh_model_apply(&estimate.model, hand_ns);
        mh_reading reading = mh_global_clock_read(&clock);
        EXPECT(llabs(now_ns - model_ns) <= ROUNDING_NS, "it reads %" PRId64 " instead of %" PRId64, now_ns, model_ns);
        ck_assert_int_eq(reading.time_ns, now_ns);
        ck_assert_int_eq(reading.bound_ns, mh_estimate_bound(&estimate, hand_ns));
    }
}

/* ---- Steps */

/* Most steps are small, as after a synchronization; some are not. */
static int64_t random_step_ns(chance *dice)
{
    int64_t size_ns = chance_unit(dice) < 0.9 ? 1000 : 10 * MH_NS_PER_MS;
    return chance_between(dice, -size_ns, size_ns);
}

static void publish_random_step(mh_global_clock *clock, chance *dice)
{
    mh_estimate now = mh_global_clock_estimate(clock);
    int64_t global_ns = mh_model_apply(&now.model, hand_ns) + random_step_ns(dice);
    double drift = (2 * chance_unit(dice) - 1) * 500 * MH_PPM;
    mh_estimate next = estimate_of(global_ns, drift, chance_between(dice, 0, 5000), chance_unit(dice) * MH_PPM);
    mh_global_clock_publish(clock, &next);
}

/* Each estimate holds a truth of its own: readings stay within their bound of that of the last one. */
TEST(readings_hold_the_truth_and_never_decrease)
{
    enum { PUBLISHES = 200, READINGS = 20 };
    for (int round = 0; round < rounds_of(100); round++) {
        chance dice = chance_of_round(round);
        mh_global_clock clock;
        open_by_hand(&clock, chance_between(&dice, -MH_NS_PER_S, MH_NS_PER_S));
        mh_estimate first = estimate_of(0, 0, 0, 0);
        mh_model truth = first.model;
        mh_global_clock_publish(&clock, &first);
        int64_t last_ns = mh_global_clock_now_ns(&clock);
        for (int i = 0; i < PUBLISHES * READINGS; i++) {
            if (i % READINGS == 0) {
                publish_random_step(&clock, &dice);
                mh_estimate estimate = mh_global_clock_estimate(&clock);
                truth = estimate.model;
                truth.offset_ns += chance_between(&dice, -estimate.bound_ns, estimate.bound_ns);
            }
            mh_reading reading = mh_global_clock_read(&clock);
            int64_t now_ns = i % 2 ? mh_global_clock_now_ns(&clock) : reading.time_ns;
            int64_t error_ns = reading.time_ns - mh_model_apply(&truth, hand_ns);
            EXPECT(now_ns >= last_ns, "round %d, reading %d: %" PRId64 " after %" PRId64, round, i, now_ns, last_ns);
            EXPECT(llabs(error_ns) <= reading.bound_ns + ROUNDING_NS,
                   "round %d: off by %" PRId64 " ns, beyond the bound of %" PRId64 " ns", round, error_ns,
                   reading.bound_ns);
            last_ns = now_ns;
            hand_ns += chance_between(&dice, 0, i % READINGS ? 1000 : 100000);
        }
    }
}

static const int64_t steps_ns[] = {-1, -10 * MH_NS_PER_US, -MH_NS_PER_S, 0, 10 * MH_NS_PER_US, MH_NS_PER_S};

LOOP_TEST(time_stands_still_until_the_estimate_has_caught_up, COUNT_OF(steps_ns))
{
    mh_global_clock clock;
    open_by_hand(&clock, 12345);
    mh_estimate first = estimate_of(0, 0, 0, 0), second;
    mh_global_clock_publish(&clock, &first);
    hand_ns += MH_NS_PER_MS;
    second = estimate_of(mh_global_clock_now_ns(&clock) + steps_ns[_i], 0, 0, 0);
    mh_global_clock_publish(&clock, &second);
    int64_t floor_ns = mh_model_apply(&first.model, hand_ns);
    for (int i = -3; i <= 3; i++) {
        hand_ns = mh_model_invert(&second.model, floor_ns) + i;
        int64_t now_ns = mh_global_clock_now_ns(&clock), wanted_ns = i < 0 ? floor_ns : floor_ns + i;
        EXPECT(now_ns == wanted_ns, "%d ns from where time goes on, it reads %" PRId64 " instead of %" PRId64, i,
               now_ns, wanted_ns);
    }
}

/* A pair is what the estimate says: readings that stand still would show a wrong rate. */
LOOP_TEST(a_pair_does_not_stand_still, COUNT_OF(steps_ns))
{
    mh_global_clock clock;
    open_by_hand(&clock, 12345);
    mh_estimate first = estimate_of(0, 0, 0, 0), second;
    mh_global_clock_publish(&clock, &first);
    hand_ns += MH_NS_PER_MS;
    second = estimate_of(mh_global_clock_now_ns(&clock) + steps_ns[_i], 20 * MH_PPM, 700, 0);
    mh_global_clock_publish(&clock, &second);
    for (int i = 0; i < 3; i++) {
        hand_ns += MH_NS_PER_S / 2;
        const int64_t before_ns = mh_kernel_clock_ns(CLOCK_MONOTONIC);
        const mh_clock_pair pair = mh_global_clock_pair(&clock, CLOCK_MONOTONIC);
        const int64_t after_ns = mh_kernel_clock_ns(CLOCK_MONOTONIC);
        const int64_t wanted_ns = mh_model_apply(&second.model, hand_ns);
        EXPECT(pair.reading.time_ns == wanted_ns, "the time is %" PRId64 " instead of %" PRId64, pair.reading.time_ns,
               wanted_ns);
        EXPECT(before_ns <= pair.beside_ns && pair.beside_ns <= after_ns,
               "%" PRId64 " is not within %" PRId64 " and %" PRId64, pair.beside_ns, before_ns, after_ns);
        const int64_t width_ns = after_ns - before_ns, beside_ns = pair.reading.bound_ns - 700;
        EXPECT(beside_ns > 0 && beside_ns <= width_ns, "the bound has %" PRId64 " ns of a bracket of %" PRId64,
               beside_ns, width_ns);
    }
    mh_global_clock_follow_step(&clock, 0);
    ck_assert_int_eq(mh_global_clock_pair(&clock, CLOCK_MONOTONIC).reading.bound_ns, MH_TIME_UNKNOWN_NS);
}

/* ---- The bound */

/* The clock by hand only moves for the last of a wait, so instants are near. */
TEST(wait_ends_at_the_instant)
{
    static const double drifts[] = {0, 1 * MH_PPM, -500 * MH_PPM, 0.3, -0.2};
    mh_global_clock clock;
    int64_t late_ns;
    for (int i = 0; i < COUNT_OF(drifts); i++)
        for (int64_t ahead_ns = 0; ahead_ns < 30000; ahead_ns += 7) {
            open_by_hand(&clock, -12345);
            mh_estimate estimate = estimate_of(1000, drifts[i], 0, 0);
            mh_global_clock_publish(&clock, &estimate);
            EXPECT(mh_global_clock_wait_until(&clock, 1000 + ahead_ns, false, &late_ns),
                   "a step is found, and there was none");
            int64_t after_ns = mh_global_clock_now_ns(&clock) - 1000 - ahead_ns;
            EXPECT(late_ns == 0 && after_ns >= 0 && after_ns <= 2,
                   "drift %g, %" PRId64 " ns ahead: it ends %" PRId64 " ns after the instant, and says %" PRId64,
                   drifts[i], ahead_ns, after_ns, late_ns);
        }
}

TEST(instants_that_have_passed_are_not_waited_for)
{
    static const int64_t ages_ns[] = {1, 1000, MH_NS_PER_S, INT64_MAX};
    mh_global_clock clock;
    int64_t late_ns;
    for (int i = 0; i < COUNT_OF(ages_ns); i++) {
        open_by_hand(&clock, 777);
        mh_global_clock_publish(&clock, &exact);
        EXPECT(mh_global_clock_wait_until(&clock, 777 - ages_ns[i], false, &late_ns),
               "a step is found, and there was none");
        EXPECT(hand_ns == 777, "it waits for an instant %" PRId64 " ns ago", ages_ns[i]);
        EXPECT(late_ns == ages_ns[i] || late_ns > MH_NS_PER_S, "%" PRId64 " ns late, and it says %" PRId64, ages_ns[i],
               late_ns);
    }
}

TEST(waits_by_a_clock_known_to_be_wrong_are_not_valid)
{
    mh_global_clock clock;
    int64_t late_ns;
    open_by_hand(&clock, 777);
    mh_global_clock_publish(&clock, &exact);
    atomic_store(&clock.is_wrong, true);
    ck_assert(!mh_global_clock_wait_until(&clock, 1000, false, &late_ns));
    ck_assert_int_eq(hand_ns, 777);
    atomic_store(&clock.is_wrong, false);
    ck_assert(mh_global_clock_wait_until(&clock, 1000, false, &late_ns));
}

LOOP_TEST(bound_covers_what_the_floor_lifts, COUNT_OF(steps_ns))
{
    enum { BOUND_NS = 777, READ_COST_NS = 25 };
    mh_global_clock clock;
    open_by_hand(&clock, 0);
    clock.base.read_cost_ns = READ_COST_NS;
    mh_estimate first = estimate_of(0, 0, 0, 0);
    mh_global_clock_publish(&clock, &first);
    hand_ns += MH_NS_PER_S;
    mh_estimate second = estimate_of(mh_global_clock_now_ns(&clock) + steps_ns[_i], 0, BOUND_NS, 1 * MH_PPM);
    mh_global_clock_publish(&clock, &second);
    for (int i = 0; i < 200; i++, hand_ns += 10 * MH_NS_PER_MS) {
        mh_reading reading = mh_global_clock_read(&clock);
        int64_t model_ns = mh_model_apply(&second.model, hand_ns);
        int64_t wanted_ns = mh_estimate_bound(&second, hand_ns) + reading.time_ns - model_ns + READ_COST_NS;
        ck_assert_int_eq(reading.bound_ns, wanted_ns);
    }
}

LOOP_TEST(unknown_bound_stays_unknown, COUNT_OF(steps_ns))
{
    mh_global_clock clock;
    open_by_hand(&clock, 0);
    clock.base.read_cost_ns = 25;
    mh_global_clock_publish(&clock, &exact);
    hand_ns += MH_NS_PER_S;
    mh_estimate unknown = estimate_of(steps_ns[_i], 0, MH_TIME_UNKNOWN_NS, 500 * MH_PPM);
    mh_global_clock_publish(&clock, &unknown);
    for (int i = 0; i < 10; i++, hand_ns += 400 * MH_NS_PER_MS)
        ck_assert_int_eq(mh_global_clock_read(&clock).bound_ns, MH_TIME_UNKNOWN_NS);
    mh_global_clock_publish(&clock, &exact);
    ck_assert_int_ne(mh_global_clock_read(&clock).bound_ns, MH_TIME_UNKNOWN_NS);
}

/* ---- A reading that is overtaken by two estimates: it may not count with the first one's model */

/*
 * Two coroutines. The one that publishes waits while an estimate is about to be replaced: the reader starts in the
 * first of these waits, and is descheduled as it reads the base clock. It goes on in the second.
 */
static struct {
    coroutine publisher, reader;
    mh_global_clock clock;
    mh_reading reading;
    int switches;
} overtaken;

static int64_t overtaken_now_ns(const mh_base_clock *clock)
{
    if (overtaken.switches == 1) {
        overtaken.switches = 2;
        coroutine_switch(&overtaken.reader, &overtaken.publisher);
    }
    return hand_now_ns(clock);
}

static void read_overtaken(void *unused)
{
    (void)unused;
    overtaken.reading = mh_global_clock_read(&overtaken.clock);
    overtaken.reader.next = &overtaken.publisher;
}

static int64_t overtaken_wait_until(const mh_base_clock *clock, int64_t from_ns, int64_t deadline_ns)
{
    if (overtaken.switches % 2 == 0 && overtaken.switches < 3) {
        overtaken.switches++;
        coroutine_switch(&overtaken.publisher, &overtaken.reader);
    }
    return hand_wait_until(clock, from_ns, deadline_ns);
}

static const mh_clock_kind overtaken_kind = {
    .name = "overtaken", .doc = "lets others overtake", .now_ns = overtaken_now_ns, .wait_until = overtaken_wait_until};

TEST(overtaken_reading_leaves_no_trace)
{
    enum { STACK_BYTES = 256 * 1024 };
    hand_ns = 0;
    memset(&overtaken, 0, sizeof overtaken);
    open_on(&overtaken.clock, &overtaken_kind);
    void *stack = coroutine_stacks(1, STACK_BYTES);
    coroutine_prepare(&overtaken.publisher, NULL, NULL, NULL, 0);
    coroutine_prepare(&overtaken.reader, read_overtaken, NULL, stack, STACK_BYTES);
    mh_estimate ahead = estimate_of(MH_NS_PER_S, 0, 0, 0), behind = estimate_of(0, 0, 0, 0);
    mh_global_clock_publish(&overtaken.clock, &ahead);
    mh_global_clock_publish(&overtaken.clock, &behind);
    ck_assert_int_eq(overtaken.switches, 2);
    /* Long enough for the second estimate to catch up with what the first one may have shown. */
    hand_ns += 10 * MH_NS_PER_S;
    mh_global_clock_publish(&overtaken.clock, &behind);
    ck_assert_int_eq(overtaken.switches, 3);
    coroutine_forget(&overtaken.reader);
    coroutine_free_stacks(stack, 1, STACK_BYTES);
    int64_t wanted_ns = 10 * MH_NS_PER_S + MH_NS_PER_US; /* a wait is a microsecond */
    ck_assert_int_eq(overtaken.reading.time_ns, wanted_ns);
    hand_ns += MH_NS_PER_US;
    ck_assert_int_eq(mh_global_clock_now_ns(&overtaken.clock), hand_ns);
}

/* ---- Threads */

enum { READERS = 4, STEP_NS = 50 * 1000 };

typedef struct stage {
    mh_global_clock clock;
    _Atomic int64_t seen_ns;   /* the latest reading of all threads that is over */
    _Atomic int64_t decreased; /* by how much a reading was below one that was over before it began */
    _Atomic int ready;
    _Atomic bool over;
} stage;

static void raise_to(_Atomic int64_t *most, int64_t value)
{
    int64_t known = atomic_load(most);
    while (known < value && !atomic_compare_exchange_weak(most, &known, value))
        ;
}

static void read_once(stage *stage, int64_t *last_ns, bool with_bound)
{
    int64_t seen_ns = atomic_load(&stage->seen_ns);
    int64_t now_ns = with_bound ? mh_global_clock_read(&stage->clock).time_ns : mh_global_clock_now_ns(&stage->clock);
    if (now_ns < *last_ns)
        raise_to(&stage->decreased, *last_ns - now_ns);
    if (now_ns < seen_ns)
        raise_to(&stage->decreased, seen_ns - now_ns);
    raise_to(&stage->seen_ns, now_ns);
    *last_ns = now_ns;
}

static void *read_until_over(void *argument)
{
    stage *stage = argument;
    int64_t last_ns = INT64_MIN;
    atomic_fetch_add(&stage->ready, 1);
    for (unsigned i = 0; !atomic_load(&stage->over); i++)
        read_once(stage, &last_ns, i % 2);
    return NULL;
}

/* Random steps back and forth, and readings of the publishing thread in between. */
static void publish_steps(stage *stage, chance *dice, int publishes)
{
    int64_t last_ns = INT64_MIN;
    for (int i = 0; i < publishes; i++) {
        int64_t local_ns = mh_base_clock_now_ns(&stage->clock.base);
        int64_t offset_ns = chance_between(dice, -STEP_NS, STEP_NS);
        mh_estimate estimate = {.model = {local_ns, offset_ns, (2 * chance_unit(dice) - 1) * 500 * MH_PPM},
                                .bound_ns = 100,
                                .drift_bound = 1 * MH_PPM};
        mh_global_clock_publish(&stage->clock, &estimate);
        read_once(stage, &last_ns, i % 2);
    }
}

static const mh_clock_kind *const real_clocks[] = {&mh_clock_monotonic, &mh_clock_monotonic_raw, &mh_clock_tsc,
                                                   &mh_clock_cntvct};

LOOP_TEST(readings_of_threads_never_decrease, COUNT_OF(real_clocks))
{
    enum { PUBLISHES = 1000 };
    char why[80];
    if (real_clocks[_i]->probe(why, sizeof why) != 0)
        return;
    chance dice = chance_of_round(_i);
    static stage stage;
    pthread_t readers[READERS];
    memset(&stage, 0, sizeof stage);
    atomic_init(&stage.seen_ns, INT64_MIN);
    open_on(&stage.clock, real_clocks[_i]);
    mh_global_clock_publish(&stage.clock, &exact);
    for (int i = 0; i < READERS; i++)
        ck_assert_int_eq(pthread_create(&readers[i], NULL, read_until_over, &stage), 0);
    while (atomic_load(&stage.ready) < READERS)
        sched_yield();
    publish_steps(&stage, &dice, rounds_of(PUBLISHES));
    atomic_store(&stage.over, true);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    EXPECT(stage.decreased == 0, "%s: a reading was %" PRId64 " ns below an earlier one", real_clocks[_i]->name,
           (int64_t)stage.decreased);
}
