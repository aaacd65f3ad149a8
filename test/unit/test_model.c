/* SPDX-License-Identifier: BSD-3-Clause */
/* test_model.c - affine maps between clocks, against the same maps in extended precision. */
#include "pure/units.h"
#include "pure/model.h"
#include "support.h"

#define TWO_TO_60 (INT64_C(1) << 60)
#define HOUR_NS (3600 * MH_NS_PER_S)
#define DAY_NS (24 * HOUR_NS)

/* One truncation to whole nanoseconds for each application of a model. */
enum { APPLY_LIMIT_NS = 1, ROUND_TRIP_LIMIT_NS = 1, COMPOSE_LIMIT_NS = 3, RESTATE_LIMIT_NS = 2 };

/* Anywhere that times of clocks may be, drifting by up to 500 ppm. */
static mh_model any_model(chance *dice)
{
    int64_t most_ns = chance_unit(dice) < 0.5 ? TWO_TO_60 : 10 * DAY_NS;
    int64_t at_ns = chance_between(dice, -most_ns, most_ns), global_ns = chance_between(dice, -most_ns, most_ns);
    double drift = chance_unit(dice) < 0.1 ? 0 : (2 * chance_unit(dice) - 1) * 500 * MH_PPM;
    return (mh_model){at_ns, at_ns - global_ns, drift};
}

/* From nothing to ten days, each order of magnitude as often. */
static int64_t any_age_ns(chance *dice)
{
    return (int64_t)exp(chance_unit(dice) * log(10.0 * DAY_NS)) - 1;
}

enum { ROUNDS = 5000 };

static long double true_global(const mh_model *model, int64_t local_ns)
{
    long double age_ns = (long double)local_ns - (long double)model->at_ns;
    return (long double)local_ns - (long double)model->offset_ns - (long double)model->drift * age_ns;
}

TEST(apply_agrees_with_the_definition_keeps_order_and_is_undone)
{
    for (int round = 0; round < rounds_of(ROUNDS); round++) {
        chance dice = chance_of_round(round);
        mh_model model = any_model(&dice);
        int64_t age_ns = any_age_ns(&dice), local_ns = model.at_ns + (round % 2 ? -age_ns : age_ns);
        int64_t there_ns = mh_model_apply(&model, local_ns), back_ns = mh_model_invert(&model, there_ns);
        long double error_ns = (long double)there_ns - true_global(&model, local_ns);
        EXPECT(fabsl(error_ns) <= APPLY_LIMIT_NS, "round %d: apply is off by %.2Lf ns", round, error_ns);
        EXPECT(llabs(back_ns - local_ns) <= ROUND_TRIP_LIMIT_NS &&
                   llabs(mh_model_apply(&model, back_ns) - there_ns) <= ROUND_TRIP_LIMIT_NS,
               "round %d: there and back is off by %" PRId64 " ns", round, back_ns - local_ns);
        for (int64_t step_ns = 0; step_ns < 8; step_ns++)
            EXPECT(mh_model_apply(&model, local_ns + step_ns) <= mh_model_apply(&model, local_ns + step_ns + 1),
                   "round %d: global time decreases where local time increases", round);
    }
}

TEST(sign_convention_is_local_minus_global)
{
    mh_model ahead = {1000, 300, 0}, gains = {0, 0, 1e-3}, identity = mh_model_identity();
    ck_assert_int_eq(mh_model_apply(&ahead, 1000), 700);
    ck_assert_int_eq(mh_model_apply(&gains, 1000000), 999000);
    ck_assert_int_eq(mh_model_apply(&identity, -12345), -12345);
}

/* The second one is valid where the first one leads. */
TEST(compose_is_to_apply_twice)
{
    for (int round = 0; round < rounds_of(ROUNDS); round++) {
        chance dice = chance_of_round(round);
        mh_model first = any_model(&dice), second = any_model(&dice);
        second.at_ns = mh_model_apply(&first, first.at_ns) - MH_NS_PER_S;
        second.offset_ns = chance_between(&dice, -DAY_NS, DAY_NS);
        mh_model both = mh_model_compose(&second, &first);
        int64_t local_ns = first.at_ns + any_age_ns(&dice);
        int64_t error_ns = mh_model_apply(&both, local_ns) - mh_model_apply(&second, mh_model_apply(&first, local_ns));
        EXPECT(llabs(error_ns) <= COMPOSE_LIMIT_NS, "round %d: the composite is off by %" PRId64 " ns", round,
               error_ns);
    }
}

TEST(exact_estimate_starts_at_zero_and_stays_exact)
{
    mh_estimate exact = mh_estimate_exact(-TWO_TO_60);
    ck_assert_int_eq(mh_model_apply(&exact.model, -TWO_TO_60), 0);
    ck_assert_int_eq(mh_model_apply(&exact.model, 5 - TWO_TO_60), 5);
    ck_assert_int_eq(mh_estimate_bound(&exact, 0), 0);
}

static mh_estimate any_estimate(chance *dice)
{
    static const double most_drifts[] = {0, 50 * MH_PPM, 500 * MH_PPM};
    return (mh_estimate){.model = any_model(dice),
                         .bound_ns = chance_between(dice, 0, 5000),
                         .drift_bound = chance_unit(dice) * most_drifts[chance_between(dice, 0, 2)]};
}

TEST(bound_grows_with_age_and_saturates)
{
    for (int round = 0; round < rounds_of(ROUNDS); round++) {
        chance dice = chance_of_round(round);
        mh_estimate estimate = any_estimate(&dice);
        int64_t age_ns = any_age_ns(&dice), local_ns = estimate.model.at_ns + (round % 2 ? -age_ns : age_ns);
        estimate.wander_bound = chance_unit(&dice) * 1000 * MH_PPB;
        if (round % 5 == 0)
            estimate.bound_ns = MH_TIME_UNKNOWN_NS - (round % 2 ? 10 : 0);
        long double drift = estimate.drift_bound + (long double)estimate.wander_bound * age_ns * 1e-9L / 2;
        long double grown_ns = (long double)estimate.bound_ns + drift * (long double)age_ns;
        bool is_known = grown_ns < (long double)MH_TIME_UNKNOWN_NS;
        int64_t bound_ns = mh_estimate_bound(&estimate, local_ns);
        /* A product just above a whole number may round up, and doubles have 53 bits. */
        EXPECT(is_known ? fabsl((long double)bound_ns - ceill(grown_ns)) <= 1 + grown_ns * 0x1p-50L
                        : bound_ns == MH_TIME_UNKNOWN_NS,
               "round %d: a bound of %" PRId64 " instead of %.1Lf ns", round, bound_ns, grown_ns);
        ck_assert_int_eq(mh_estimate_at(&estimate, local_ns).bound_ns, bound_ns);
    }
}

TEST(restated_estimate_tells_the_same_time)
{
    for (int round = 0; round < rounds_of(ROUNDS); round++) {
        chance dice = chance_of_round(round);
        mh_estimate estimate = any_estimate(&dice);
        mh_estimate moved = mh_estimate_at(&estimate, estimate.model.at_ns + any_age_ns(&dice));
        int64_t local_ns = estimate.model.at_ns - any_age_ns(&dice);
        int64_t error_ns = mh_model_apply(&moved.model, local_ns) - mh_model_apply(&estimate.model, local_ns);
        EXPECT(llabs(error_ns) <= RESTATE_LIMIT_NS, "round %d: restated, it is off by %" PRId64 " ns", round, error_ns);
        EXPECT(mh_estimate_bound(&moved, local_ns) + RESTATE_LIMIT_NS >= mh_estimate_bound(&estimate, local_ns),
               "round %d: restated, the bound shrinks", round);
    }
}

static void expect_within(int round, const char *what, int64_t error_ns, int64_t bound_ns)
{
    EXPECT(llabs(error_ns) <= bound_ns, "round %d, %s: off by %" PRId64 " ns, beyond %" PRId64 " ns", round, what,
           error_ns, bound_ns);
}

/*
 * A clock whose truth is anywhere that the estimate allows stays within the bound, restated or not. An inverse takes
 * global times to local ones, within a bound that holds the truth too.
 */
TEST(bound_holds_the_truth)
{
    for (int round = 0; round < rounds_of(ROUNDS); round++) {
        chance dice = chance_of_round(round);
        mh_estimate estimate = any_estimate(&dice);
        mh_model truth = estimate.model;
        truth.offset_ns += chance_between(&dice, -estimate.bound_ns, estimate.bound_ns);
        truth.drift += (2 * chance_unit(&dice) - 1) * estimate.drift_bound;
        int64_t local_ns = truth.at_ns + chance_between(&dice, -HOUR_NS, HOUR_NS);
        int64_t far_ns = truth.at_ns + chance_between(&dice, -DAY_NS, DAY_NS);
        mh_estimate moved = mh_estimate_at(&estimate, local_ns), inverse = mh_estimate_invert(&estimate);
        int64_t true_ns = mh_model_apply(&truth, local_ns), true_far_ns = mh_model_apply(&truth, far_ns);
        int64_t back_ns = mh_model_apply(&inverse.model, mh_model_apply(&estimate.model, local_ns));
        expect_within(round, "as it is", mh_model_apply(&estimate.model, far_ns) - true_far_ns,
                      mh_estimate_bound(&estimate, far_ns) + 2 * (int64_t)APPLY_LIMIT_NS);
        expect_within(round, "restated", mh_model_apply(&moved.model, far_ns) - true_far_ns,
                      mh_estimate_bound(&moved, far_ns) + RESTATE_LIMIT_NS + APPLY_LIMIT_NS);
        expect_within(round, "there and back", back_ns - local_ns, COMPOSE_LIMIT_NS);
        expect_within(round, "inverted", mh_model_apply(&inverse.model, true_ns) - local_ns,
                      mh_estimate_bound(&inverse, true_ns) + COMPOSE_LIMIT_NS);
    }
}

/* Behind a clock that is the middle one exactly, the bound is at least as wide as the second one's own. */
TEST(composite_bound_covers_the_wander_so_far)
{
    mh_estimate first = {.bound_ns = 0},
                second = {.bound_ns = 100, .drift_bound = 1 * MH_PPM, .wander_bound = 3000 * MH_PPB};
    for (int round = 0; round < rounds_of(ROUNDS); round++) {
        chance dice = chance_of_round(round);
        int64_t at_ns = any_age_ns(&dice), local_ns = at_ns + any_age_ns(&dice);
        mh_estimate both = mh_estimate_compose(&second, &first, at_ns);
        int64_t bound_ns = mh_estimate_bound(&both, local_ns), own_ns = mh_estimate_bound(&second, local_ns);
        EXPECT(bound_ns >= own_ns - COMPOSE_LIMIT_NS, "round %d: %" PRId64 " ns less than that of its part", round,
               own_ns - bound_ns);
    }
}

/* A truth at the edge of what an estimate allows. */
static mh_model truth_at_edge(const mh_estimate *estimate, chance *dice)
{
    mh_model truth = estimate->model;
    truth.offset_ns += chance_unit(dice) < 0.5 ? -estimate->bound_ns : estimate->bound_ns;
    truth.drift += chance_unit(dice) < 0.5 ? -estimate->drift_bound : estimate->drift_bound;
    return truth;
}

static mh_estimate random_estimate(int64_t at_ns, double most_drift, chance *dice)
{
    return (mh_estimate){
        .model = {at_ns, chance_between(dice, -HOUR_NS, HOUR_NS), (2 * chance_unit(dice) - 1) * most_drift},
        .bound_ns = chance_between(dice, 0, 50000),
        .drift_bound = chance_unit(dice) * most_drift};
}

/* The kernel may slew a clock by a tenth. */
LOOP_TEST(composite_bound_holds_the_truth, 2)
{
    static const double most_drifts[] = {500 * MH_PPM, 0.1};
    for (int round = 0; round < rounds_of(1000); round++) {
        chance dice = chance_of_round(round);
        mh_estimate first = random_estimate(MH_NS_PER_S, most_drifts[_i], &dice);
        mh_estimate second = random_estimate(first.model.at_ns - first.model.offset_ns, most_drifts[_i], &dice);
        mh_model truth1 = truth_at_edge(&first, &dice), truth2 = truth_at_edge(&second, &dice);
        int64_t at_ns = first.model.at_ns + chance_between(&dice, 0, MH_NS_PER_MS);
        int64_t local_ns = at_ns + chance_between(&dice, 0, MH_NS_PER_MS);
        mh_estimate both = mh_estimate_compose(&second, &first, at_ns);
        int64_t true_ns = mh_model_apply(&truth2, mh_model_apply(&truth1, local_ns));
        int64_t error_ns = llabs(mh_model_apply(&both.model, local_ns) - true_ns);
        EXPECT(error_ns <= mh_estimate_bound(&both, local_ns) + COMPOSE_LIMIT_NS,
               "drifts up to %g: off by %" PRId64 " ns, beyond the bound of %" PRId64 " ns", most_drifts[_i], error_ns,
               mh_estimate_bound(&both, local_ns));
    }
}

TEST(composite_of_wide_bounds_is_unknown)
{
    mh_estimate wide = {.bound_ns = INT64_MAX / 2, .drift_bound = 0.1}, both = mh_estimate_compose(&wide, &wide, 0);
    EXPECT(both.bound_ns == MH_TIME_UNKNOWN_NS, "the bound is %" PRId64 " ns", both.bound_ns);
}
