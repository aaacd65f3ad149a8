/* SPDX-License-Identifier: BSD-3-Clause */
/* test_model.c - affine maps between clocks against the same maps in extended precision. */
#include "pure/units.h"
#include "pure/model.h"
#include "support.h"

#define TWO_TO_60 (INT64_C(1) << 60)
#define HOUR_NS (3600 * MH_NS_PER_S)
#define DAY_NS (24 * HOUR_NS)

/* One truncation to whole nanoseconds for each application of a model. */
enum { APPLY_LIMIT_NS = 1, ROUND_TRIP_LIMIT_NS = 1, COMPOSE_LIMIT_NS = 3, RESTATE_LIMIT_NS = 2 };

static const struct {
    const char *name;
    mh_model model;
} clocks[] = {
    {"identity", {0, 0, 0}},
    {"ahead by a second", {0, MH_NS_PER_S, 0}},
    {"behind by a second", {0, -MH_NS_PER_S, 0}},
    {"gains 1 ppm", {5 * MH_NS_PER_S, 1234567, 1 * MH_PPM}},
    {"loses 1 ppm", {5 * MH_NS_PER_S, 1234567, -1 * MH_PPM}},
    {"gains 500 ppm", {7777777777, -42, 500 * MH_PPM}},
    {"loses 500 ppm", {7777777777, -42, -500 * MH_PPM}},
    {"negative clock that gains", {-3 * DAY_NS, -5 * DAY_NS, 500 * MH_PPM}},
    {"negative clock that loses", {-3 * DAY_NS, 5 * DAY_NS, -500 * MH_PPM}},
    {"Unix time against zero", {1700000000 * MH_NS_PER_S, 1700000000 * MH_NS_PER_S, 37 * MH_PPM}},
    {"late that gains", {TWO_TO_60, 99, 500 * MH_PPM}},
    {"late against zero", {TWO_TO_60 + 12345, TWO_TO_60, -500 * MH_PPM}},
    {"as early as can be", {-TWO_TO_60, 99, 500 * MH_PPM}},
    {"as early, against late", {-TWO_TO_60, -2 * TWO_TO_60, -500 * MH_PPM}},
};

static const int64_t ages_ns[] = {
    0,
    1,
    2,
    999,
    1999,
    2000,
    2001,
    MH_NS_PER_US,
    MH_NS_PER_MS + 7,
    MH_NS_PER_S,
    HOUR_NS + 1,
    DAY_NS,
    10 * DAY_NS + 12345,
};

static long double true_global(const mh_model *model, int64_t local_ns)
{
    long double age_ns = (long double)local_ns - (long double)model->at_ns;
    return (long double)local_ns - (long double)model->offset_ns - (long double)model->drift * age_ns;
}

START_TEST(apply_agrees_with_the_definition_keeps_order_and_is_undone)
{
    const mh_model *model = &clocks[_i].model;
    for (int i = 0; i < 2 * COUNT_OF(ages_ns); i++) {
        int64_t age_ns = i % 2 ? -ages_ns[i / 2] : ages_ns[i / 2], local_ns = model->at_ns + age_ns;
        int64_t there_ns = mh_model_apply(model, local_ns), back_ns = mh_model_invert(model, there_ns);
        long double error_ns = (long double)there_ns - true_global(model, local_ns);
        EXPECT(fabsl(error_ns) <= APPLY_LIMIT_NS, "%s: apply is off by %.2Lf ns at age %" PRId64 " ns", clocks[_i].name,
               error_ns, age_ns);
        EXPECT(llabs(back_ns - local_ns) <= ROUND_TRIP_LIMIT_NS &&
                   llabs(mh_model_apply(model, back_ns) - there_ns) <= ROUND_TRIP_LIMIT_NS,
               "%s: there and back is off by %" PRId64 " ns at age %" PRId64 " ns", clocks[_i].name, back_ns - local_ns,
               age_ns);
        for (int64_t step_ns = 0; step_ns < 8; step_ns++)
            EXPECT(mh_model_apply(model, local_ns + step_ns) <= mh_model_apply(model, local_ns + step_ns + 1),
                   "%s: global time decreases where local time increases, at age %" PRId64 " ns", clocks[_i].name,
                   age_ns + step_ns);
    }
}
END_TEST

START_TEST(sign_convention_is_local_minus_global)
{
    mh_model ahead = {1000, 300, 0}, gains = {0, 0, 1e-3};
    EXPECT(mh_model_apply(&ahead, 1000) == 700, "a clock ahead by 300 that reads 1000 means %" PRId64 ", not 700",
           mh_model_apply(&ahead, 1000));
    EXPECT(mh_model_apply(&gains, 1000000) == 999000,
           "a clock that gains a thousandth reads 1000000 at %" PRId64 ", not 999000", mh_model_apply(&gains, 1000000));
    mh_model identity = mh_model_identity();
    EXPECT(mh_model_apply(&identity, -12345) == -12345, "the identity changes a time");
}
END_TEST

/* Composites: each clock of the table as the first map, with a second one that is valid where the first one leads. */
static const struct {
    const char *name;
    int64_t offset_ns;
    double drift;
} seconds[] = {
    {"identity", 0, 0},
    {"ahead", 123456789, 0},
    {"gains", -123456789, 500 * MH_PPM},
    {"loses", 123456789, -500 * MH_PPM},
    {"far", DAY_NS, 20 * MH_PPM},
};

START_TEST(compose_is_to_apply_twice)
{
    const mh_model *first = &clocks[_i].model;
    for (int i = 0; i < COUNT_OF(seconds); i++)
        for (int age = 0; age < COUNT_OF(ages_ns); age++) {
            int64_t middle_ns = mh_model_apply(first, first->at_ns);
            mh_model second = {middle_ns - MH_NS_PER_S, seconds[i].offset_ns, seconds[i].drift};
            mh_model both = mh_model_compose(&second, first);
            int64_t local_ns = first->at_ns + ages_ns[age];
            int64_t error_ns =
                mh_model_apply(&both, local_ns) - mh_model_apply(&second, mh_model_apply(first, local_ns));
            EXPECT(llabs(error_ns) <= COMPOSE_LIMIT_NS,
                   "%s, then %s: the composite is off by %" PRId64 " ns at age %" PRId64 " ns", clocks[_i].name,
                   seconds[i].name, error_ns, ages_ns[age]);
        }
}
END_TEST

START_TEST(exact_estimate_starts_at_zero_and_stays_exact)
{
    mh_estimate exact = mh_estimate_exact(-TWO_TO_60);
    EXPECT(mh_model_apply(&exact.model, -TWO_TO_60) == 0, "global time does not begin at zero");
    EXPECT(mh_model_apply(&exact.model, 5 - TWO_TO_60) == 5, "global time does not run with the clock");
    EXPECT(mh_estimate_bound(&exact, 0) == 0, "the bound grows to %" PRId64 " ns", mh_estimate_bound(&exact, 0));
}
END_TEST

static const struct {
    const char *name;
    int64_t bound_ns;
    double drift_bound;
    int64_t age_ns;
    int64_t expected_ns;
} bounds[] = {
    {"fresh", 100, 1 * MH_PPM, 0, 100},
    {"a second", 100, 1 * MH_PPM, MH_NS_PER_S, 1100},
    {"before it was measured", 100, 1 * MH_PPM, -MH_NS_PER_S, 1100},
    {"rounds up", 100, 1 * MH_PPM, 1, 101},
    {"10 days at 500 ppm", 0, 500 * MH_PPM, 10 * DAY_NS, 432 * MH_NS_PER_S},
    {"no drift", 7, 0, 10 * DAY_NS, 7},
    {"unknown", MH_TIME_UNKNOWN_NS, 0, 0, MH_TIME_UNKNOWN_NS},
    {"unknown, aged", MH_TIME_UNKNOWN_NS, 500 * MH_PPM, 10 * DAY_NS, MH_TIME_UNKNOWN_NS},
    {"unknown, before it was measured", MH_TIME_UNKNOWN_NS, 500 * MH_PPM, -DAY_NS, MH_TIME_UNKNOWN_NS},
    {"grown past what can be told", MH_TIME_UNKNOWN_NS - 10, 1 * MH_PPM, MH_NS_PER_S, MH_TIME_UNKNOWN_NS},
};

START_TEST(bound_grows_with_age_and_saturates)
{
    static const int64_t at_ns[] = {0, -DAY_NS, TWO_TO_60, -TWO_TO_60};
    for (int i = 0; i < COUNT_OF(at_ns); i++) {
        mh_estimate estimate = {
            .model = {at_ns[i], 5, 3 * MH_PPM}, .bound_ns = bounds[_i].bound_ns, .drift_bound = bounds[_i].drift_bound};
        int64_t bound_ns = mh_estimate_bound(&estimate, at_ns[i] + bounds[_i].age_ns);
        /* The drift's bound is a double: a product just above a whole number may round up. */
        EXPECT(bound_ns >= bounds[_i].expected_ns && bound_ns - 1 <= bounds[_i].expected_ns,
               "%s: the bound is %" PRId64 " ns instead of %" PRId64 " ns, stated at %" PRId64, bounds[_i].name,
               bound_ns, bounds[_i].expected_ns, at_ns[i]);
        int64_t moved_ns = mh_estimate_at(&estimate, at_ns[i] + bounds[_i].age_ns).bound_ns;
        EXPECT(moved_ns == bound_ns, "%s: restated, the bound is %" PRId64 " ns instead of %" PRId64 " ns",
               bounds[_i].name, moved_ns, bound_ns);
    }
}
END_TEST

START_TEST(restated_estimate_tells_the_same_time)
{
    mh_estimate estimate = {.model = clocks[_i].model, .bound_ns = 1000, .drift_bound = 2 * MH_PPM};
    for (int to = 0; to < COUNT_OF(ages_ns); to++)
        for (int age = 0; age < COUNT_OF(ages_ns); age++) {
            mh_estimate moved = mh_estimate_at(&estimate, estimate.model.at_ns + ages_ns[to]);
            int64_t local_ns = estimate.model.at_ns - ages_ns[age];
            int64_t error_ns = mh_model_apply(&moved.model, local_ns) - mh_model_apply(&estimate.model, local_ns);
            EXPECT(llabs(error_ns) <= RESTATE_LIMIT_NS,
                   "%s: restated at age %" PRId64 " ns, it is off by %" PRId64 " ns at age %" PRId64 " ns",
                   clocks[_i].name, ages_ns[to], error_ns, -ages_ns[age]);
            EXPECT(mh_estimate_bound(&moved, local_ns) + RESTATE_LIMIT_NS >= mh_estimate_bound(&estimate, local_ns),
                   "%s: restated at age %" PRId64 " ns, the bound shrinks at age %" PRId64 " ns", clocks[_i].name,
                   ages_ns[to], -ages_ns[age]);
        }
}
END_TEST

static void expect_within(const char *name, const char *what, int64_t error_ns, int64_t bound_ns)
{
    EXPECT_SEEDED(llabs(error_ns) <= bound_ns, "%s, %s: off by %" PRId64 " ns, beyond %" PRId64 " ns", name, what,
                  error_ns, bound_ns);
}

/*
 * A clock whose truth is anywhere that the estimate allows stays within the bound, restated or not. An inverse takes
 * global times to local ones, within a bound that holds the truth too.
 */
START_TEST(bound_holds_the_truth)
{
    const char *name = clocks[_i].name;
    for (int round = 0; round < rounds_of(300); round++) {
        chance dice = chance_of_round(round);
        mh_estimate estimate = {.model = clocks[_i].model,
                                .bound_ns = chance_between(&dice, 0, 5000),
                                .drift_bound = chance_unit(&dice) * 50 * MH_PPM};
        mh_model truth = estimate.model;
        truth.offset_ns += chance_between(&dice, -estimate.bound_ns, estimate.bound_ns);
        truth.drift += (2 * chance_unit(&dice) - 1) * estimate.drift_bound;
        int64_t local_ns = truth.at_ns + chance_between(&dice, -HOUR_NS, HOUR_NS);
        int64_t far_ns = truth.at_ns + chance_between(&dice, -DAY_NS, DAY_NS);
        mh_estimate moved = mh_estimate_at(&estimate, local_ns), inverse = mh_estimate_invert(&estimate);
        int64_t true_ns = mh_model_apply(&truth, local_ns), true_far_ns = mh_model_apply(&truth, far_ns);
        int64_t back_ns = mh_model_apply(&inverse.model, mh_model_apply(&estimate.model, local_ns));
        expect_within(name, "as it is", mh_model_apply(&estimate.model, far_ns) - true_far_ns,
                      mh_estimate_bound(&estimate, far_ns) + 2 * (int64_t)APPLY_LIMIT_NS);
        expect_within(name, "restated", mh_model_apply(&moved.model, far_ns) - true_far_ns,
                      mh_estimate_bound(&moved, far_ns) + RESTATE_LIMIT_NS + APPLY_LIMIT_NS);
        expect_within(name, "there and back", back_ns - local_ns, COMPOSE_LIMIT_NS);
        expect_within(name, "inverted", mh_model_apply(&inverse.model, true_ns) - local_ns,
                      mh_estimate_bound(&inverse, true_ns) + COMPOSE_LIMIT_NS);
    }
}
END_TEST

/* Behind a clock that is the middle one exactly, the bound is at least as wide as the second one's own. */
START_TEST(composite_bound_covers_the_wander_so_far)
{
    mh_estimate first = {.bound_ns = 0}, second = {.bound_ns = 100, .drift_bound = 1 * MH_PPM, .wander_bound = 3000};
    for (int old = 0; old < COUNT_OF(ages_ns); old++)
        for (int age = 0; age < COUNT_OF(ages_ns); age++) {
            mh_estimate both = mh_estimate_compose(&second, &first, ages_ns[old]);
            int64_t local_ns = ages_ns[old] + ages_ns[age];
            int64_t bound_ns = mh_estimate_bound(&both, local_ns), own_ns = mh_estimate_bound(&second, local_ns);
            EXPECT(bound_ns >= own_ns - COMPOSE_LIMIT_NS,
                   "composed at age %" PRId64 " ns, the bound %" PRId64 " ns later is %" PRId64
                   " ns less than that of its part",
                   ages_ns[old], ages_ns[age], own_ns - bound_ns);
        }
}
END_TEST

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
START_TEST(composite_bound_holds_the_truth)
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
        EXPECT_SEEDED(error_ns <= mh_estimate_bound(&both, local_ns) + COMPOSE_LIMIT_NS,
                      "drifts up to %g: off by %" PRId64 " ns, beyond the bound of %" PRId64 " ns", most_drifts[_i],
                      error_ns, mh_estimate_bound(&both, local_ns));
    }
}
END_TEST

START_TEST(composite_of_wide_bounds_is_unknown)
{
    mh_estimate wide = {.bound_ns = INT64_MAX / 2, .drift_bound = 0.1}, both = mh_estimate_compose(&wide, &wide, 0);
    EXPECT(both.bound_ns == MH_TIME_UNKNOWN_NS, "the bound is %" PRId64 " ns", both.bound_ns);
}
END_TEST

static void add(TCase *tests)
{
    tcase_add_loop_test(tests, apply_agrees_with_the_definition_keeps_order_and_is_undone, 0, COUNT_OF(clocks));
    tcase_add_loop_test(tests, compose_is_to_apply_twice, 0, COUNT_OF(clocks));
    tcase_add_test(tests, sign_convention_is_local_minus_global);
    tcase_add_test(tests, exact_estimate_starts_at_zero_and_stays_exact);
    tcase_add_loop_test(tests, bound_grows_with_age_and_saturates, 0, COUNT_OF(bounds));
    tcase_add_loop_test(tests, restated_estimate_tells_the_same_time, 0, COUNT_OF(clocks));
    tcase_add_test(tests, composite_bound_covers_the_wander_so_far);
    tcase_add_loop_test(tests, composite_bound_holds_the_truth, 0, 2);
    tcase_add_test(tests, composite_of_wide_bounds_is_unknown);
    tcase_add_loop_test(tests, bound_holds_the_truth, 0, COUNT_OF(clocks));
}

SUITE(model, add)
