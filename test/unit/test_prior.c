/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_prior.c - a tracker that starts from a prior: the relation of two clocks is composed from those of both to a
 * third one. MH_ROUNDS=100 takes thousands of seeds. MH_VERBOSE=1 prints errors.
 */
#include "pure/units.h"
#include "clock/tracker.h"
#include "support.h"
#include "wander.h"

/* ---- Clocks and measurements */

/* Of the drift, ppb; drifts are constant within a tick. */
enum { SPREAD_PPB = 20 * 1000, WALK_PPB = 10, TICK_NS = 10 * 1000 * 1000 };

/* One way: the minimum, and what the best message of a burst takes beyond it, on average. */
enum { LATENCY_NS = 2000, EXCESS_NS = 50 };

typedef struct truth {
    double offset_ns, drift_ppb; /* against true time */
    wandering_t wandering;
} truth_t;

enum { A, B, C, CLOCKS };

typedef struct world {
    chance dice;
    int64_t now_ns; /* true time */
    truth_t clocks[CLOCKS];
} world_t;

static const mh_rates raw = {MH_RAW_RATE_LIMIT, true, MH_WANDER_PPB_PER_S *MH_PPB};

static world_t new_world(int round)
{
    world_t world = {.dice = chance_of_round(round)};
    world.now_ns = chance_between(&world.dice, 0, 1000 * MH_NS_PER_S);
    for (int i = 0; i < CLOCKS; i++) {
        world.clocks[i].offset_ns = (double)chance_between(&world.dice, -MH_NS_PER_S, MH_NS_PER_S);
        world.clocks[i].drift_ppb = SPREAD_PPB * (2 * chance_unit(&world.dice) - 1);
    }
    return world;
}

static int64_t local_ns(const world_t *world, int clock)
{
    return world->now_ns + llround(world->clocks[clock].offset_ns);
}

static void pass(world_t *world, int64_t time_ns)
{
    for (int64_t end_ns = world->now_ns + time_ns, step_ns; world->now_ns < end_ns; world->now_ns += step_ns) {
        step_ns = end_ns - world->now_ns < TICK_NS ? end_ns - world->now_ns : TICK_NS;
        double step_s = (double)step_ns * MH_S_PER_NS;
        for (int i = 0; i < CLOCKS; i++) {
            truth_t *clock = &world->clocks[i];
            clock->offset_ns += clock->drift_ppb * step_s;
            double wanted_ppb = clock->drift_ppb + WALK_PPB * sqrt(step_s) * chance_normal(&world->dice);
            clock->drift_ppb = wander_to(&clock->wandering, wanted_ppb, 0.5 * MH_WANDER_PPB_PER_S, step_s);
        }
    }
}

/* A client's clock against a reference's. */
static mh_offset measure(world_t *world, int client, int reference)
{
    double there_ns = LATENCY_NS + chance_exponential(&world->dice, EXCESS_NS);
    double back_ns = LATENCY_NS + chance_exponential(&world->dice, EXCESS_NS);
    int64_t client_ns = local_ns(world, client);
    return measured_offset(client_ns, client_ns - local_ns(world, reference), there_ns, back_ns);
}

static bool feed(world_t *world, mh_tracker *tracker, int client, int reference)
{
    mh_offset measured = measure(world, client, reference);
    return mh_tracker_feed(tracker, &measured);
}

/* ---- A pair that has not measured yet */

/* As in a run: bursts 1.8 ms apart, then some a second, and at last a while without any. */
static void train(world_t *world, mh_tracker *of_a, mh_tracker *of_c)
{
    enum { FIRST = 20, LATER = 40 };
    mh_tracker_reset(of_a, raw);
    mh_tracker_reset(of_c, raw);
    for (int i = 0; i < FIRST + LATER; i++) {
        EXPECT(feed(world, of_a, A, B) && feed(world, of_c, C, B), "measurement %d contradicts others", i);
        pass(world, i < FIRST ? 1800 * MH_NS_PER_US : 300 * MH_NS_PER_MS);
    }
}

/* The relation of a to c, now. */
static void start_from_both(const world_t *world, mh_tracker *tracker, const mh_tracker *of_a, const mh_tracker *of_c)
{
    int64_t a_ns = local_ns(world, A);
    mh_estimate a_to_b = mh_tracker_estimate(of_a), c_to_b = mh_tracker_estimate(of_c);
    mh_estimate b_to_c = mh_estimate_invert(&c_to_b), a_to_c = mh_estimate_compose(&b_to_c, &a_to_b, a_ns);
    mh_tracker_reset(tracker, raw);
    mh_tracker_start_from(tracker, &a_to_c);
}

/* How far the estimate is off now. Holds it to its bound. */
static double error_ns(const world_t *world, const mh_tracker *tracker, int round)
{
    enum { ROUNDING_NS = 4 };
    mh_estimate estimate = mh_tracker_estimate(tracker);
    int64_t a_ns = local_ns(world, A);
    int64_t error_ns = mh_model_apply(&estimate.model, a_ns) - local_ns(world, C);
    int64_t bound_ns = mh_estimate_bound(&estimate, a_ns);
    EXPECT(llabs(error_ns) <= bound_ns + ROUNDING_NS,
           "round %d: off by %" PRId64 " ns, beyond the bound of %" PRId64 " ns", round, error_ns, bound_ns);
    return (double)error_ns;
}

/* Sums of squares: of a tracker's errors, and in units of its own standard error. */
typedef struct score {
    double errors, ratios;
} score_t;

static void add_prediction(const world_t *start, const mh_tracker *tracker, int round, score_t *score)
{
    world_t world = *start;
    pass(&world, MH_NS_PER_S);
    double error = error_ns(&world, tracker, round);
    double expected = mh_tracker_error_ns(tracker, local_ns(&world, A) - tracker->past.last.at_ns);
    score->errors += error * error;
    score->ratios += error * error / (expected * expected);
}

enum { ROUNDS = 200, MAX_FED = 10, FED_EVERY_MS = 20 };

/* After this many measurements of the pair itself, and a second without any. */
static const int fed_before[] = {0, 1, 3, MAX_FED};

static void play(int round, score_t *with, score_t *without)
{
    mh_tracker of_a, of_c, started, fresh;
    world_t world = new_world(round);
    train(&world, &of_a, &of_c);
    start_from_both(&world, &started, &of_a, &of_c);
    mh_tracker_reset(&fresh, raw);
    for (int fed = 0, i = 0; i < COUNT_OF(fed_before); fed++) {
        error_ns(&world, &started, round);
        if (fed == fed_before[i]) {
            add_prediction(&world, &started, round, &with[i]);
            if (fed > 0)
                add_prediction(&world, &fresh, round, &without[i]);
            i++;
        }
        pass(&world, FED_EVERY_MS * MH_NS_PER_MS);
        world_t before = world;
        EXPECT(feed(&world, &started, A, C), "round %d: measurement %d contradicts the prior", round, fed);
        feed(&before, &fresh, A, C);
    }
}

TEST(prior_predicts_as_well_as_it_says)
{
    score_t with[COUNT_OF(fed_before)] = {{0, 0}}, without[COUNT_OF(fed_before)] = {{0, 0}};
    int rounds = rounds_of(ROUNDS);
    for (int round = 0; round < rounds; round++)
        play(round, with, without);
    for (int i = 0; i < COUNT_OF(fed_before); i++) {
        double rms_ns = sqrt(with[i].errors / rounds), fresh_ns = sqrt(without[i].errors / rounds);
        double ratio = sqrt(with[i].ratios / rounds);
        if (getenv("MH_VERBOSE"))
            printf("# after %d: %.0f ns rms, %.2f of what is expected; without a prior %.0f ns\n", fed_before[i],
                   rms_ns, ratio, fresh_ns);
        EXPECT(ratio > 0.3 && ratio < 1.5,
               "after %d measurements, errors of %.0f ns rms are %.2f of what the tracker expects", fed_before[i],
               rms_ns, ratio);
        EXPECT(fed_before[i] == 0 || rms_ns < fresh_ns / (fed_before[i] < MAX_FED ? 10 : 2),
               "after %d measurements, errors are %.0f ns rms with a prior and %.0f ns without", fed_before[i], rms_ns,
               fresh_ns);
    }
}

/* ---- What a tracker has from its prior */

static const mh_estimate known = {.model = {5 * MH_NS_PER_S, 1234567, 3 * MH_PPM},
                                  .bound_ns = 900,
                                  .drift_bound = 0.1 * MH_PPM,
                                  .errors = {.p00 = 100, .p01 = 10, .p11 = 25, .walk = 100}};

TEST(prior_is_the_first_estimate)
{
    mh_tracker tracker;
    mh_tracker_reset(&tracker, raw);
    mh_tracker_start_from(&tracker, &known);
    mh_estimate estimate = mh_tracker_estimate(&tracker);
    mh_covariance errors = mh_tracker_covariance(&tracker);
    ck_assert_int_gt(tracker.measurements, 0);
    ck_assert_int_eq(estimate.model.at_ns, known.model.at_ns);
    ck_assert_int_eq(estimate.model.offset_ns, known.model.offset_ns);
    ck_assert_double_eq_tol(estimate.model.drift, known.model.drift, 1e-15);
    ck_assert_int_ge(estimate.bound_ns, known.bound_ns);
    ck_assert_int_le(estimate.bound_ns, known.bound_ns + 2);
    ck_assert_double_ge(estimate.drift_bound, known.drift_bound * (1 - 1e-12));
    ck_assert_double_lt(estimate.drift_bound, 4 * known.drift_bound);
    EXPECT(fabs(errors.p00 - 100) < 1e-9 && fabs(errors.p01 - 10) < 1e-9 && fabs(errors.p11 - 25) < 1e-9,
           "variances of %g and %g, covariance %g", errors.p00, errors.p11, errors.p01);
}

TEST(prior_without_a_bound_is_none)
{
    mh_tracker tracker;
    mh_estimate unknown = known;
    unknown.bound_ns = MH_TIME_UNKNOWN_NS;
    mh_tracker_reset(&tracker, raw);
    mh_tracker_start_from(&tracker, &unknown);
    ck_assert_int_eq(tracker.measurements, 0);
    ck_assert_int_eq(mh_tracker_estimate(&tracker).bound_ns, MH_TIME_UNKNOWN_NS);
}

/* The first measurement is off by so much beyond what the two windows and the maximum drift in 10 ms allow. */
TEST(measurement_is_checked_against_the_prior)
{
    static const int64_t beyonds_ns[] = {-1000, 1000, MH_NS_PER_S};
    for (int i = 0; i < COUNT_OF(beyonds_ns); i++) {
        mh_tracker tracker;
        int64_t at_ns = known.model.at_ns + 10 * MH_NS_PER_MS;
        int64_t drifted_ns = (int64_t)(MH_RAW_RATE_LIMIT * 10 * (double)MH_NS_PER_MS);
        mh_offset measured = {at_ns, known.model.offset_ns + drifted_ns + 900 + 500 + beyonds_ns[i], 500};
        mh_tracker_reset(&tracker, raw);
        mh_tracker_start_from(&tracker, &known);
        EXPECT(mh_tracker_feed(&tracker, &measured) == (beyonds_ns[i] < 0), "an offset that is off by %" PRId64 " ns",
               beyonds_ns[i]);
    }
}
