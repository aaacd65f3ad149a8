/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_offset.c - offset estimators on simulated exchanges whose true offset is known: whatever the network does, the
 * bound holds the truth, as long as the clocks drift no faster than the limit.
 */
#include "pure/units.h"
#include "support.h"
#include "sync/offset.h"

enum { MAX_EXCHANGES = 200, SEEDS = 400 };

#define DRIFT_LIMIT (500 * MH_PPM)

/* The time of one message beside the least delay. */
typedef double (*jitter)(chance *dice, double scale_ns);

static double steady(chance *dice, double scale_ns)
{
    (void)dice;
    (void)scale_ns;
    return 0;
}

static double uniform(chance *dice, double scale_ns)
{
    return chance_unit(dice) * scale_ns;
}

static double exponential(chance *dice, double scale_ns)
{
    return chance_exponential(dice, scale_ns);
}

/* Most messages are fast, some are preempted for a millisecond and more. */
static double heavy(chance *dice, double scale_ns)
{
    return chance_unit(dice) < 0.9 ? chance_exponential(dice, scale_ns) : chance_pareto(dice, 1e6);
}

typedef struct path {
    int64_t min_ns;
    jitter jitter;
    double scale_ns;
} path;

typedef struct scene {
    const char *name;
    int count;
    path there, back;
    int64_t gap_ns; /* between exchanges */
    double drift;
    int64_t local_ns, offset_ns; /* at the first exchange */
} scene;

#define DAY_NS (86400 * MH_NS_PER_S)
#define LATE (INT64_C(1) << 60)

static const scene scenes[] = {
    {"steady", 10, {1000, steady, 0}, {1000, steady, 0}, 100, 0, 0, 0},
    {"steady and lopsided", 10, {1000, steady, 0}, {10000, steady, 0}, 100, 0, 0, 12345},
    {"one exchange", 1, {1000, exponential, 500}, {1000, exponential, 500}, 100, 0, MH_NS_PER_S, -777},
    {"two exchanges", 2, {1000, exponential, 500}, {3000, exponential, 500}, 100, 0, MH_NS_PER_S, -777},
    {"jitter", 10, {500, exponential, 300}, {500, exponential, 300}, 100, 0, MH_NS_PER_S, 1 * MH_NS_PER_S},
    {"jitter one way", 10, {500, steady, 0}, {500, exponential, 20000}, 100, 0, MH_NS_PER_S, -1 * MH_NS_PER_S},
    {"jitter the other way", 10, {500, exponential, 20000}, {500, steady, 0}, 100, 0, MH_NS_PER_S, -1 * MH_NS_PER_S},
    {"heavy tails", 20, {2000, heavy, 1000}, {9000, heavy, 3000}, 1000, 0, DAY_NS, 5 * DAY_NS},
    {"gains 500 ppm", 100, {5000, exponential, 3000}, {5000, exponential, 3000}, 1000, DRIFT_LIMIT, 0, 0},
    {"loses 500 ppm", 100, {5000, exponential, 3000}, {5000, exponential, 3000}, 1000, -DRIFT_LIMIT, 0, 0},
    {"gains, heavy tails", 100, {2000, heavy, 1000}, {9000, heavy, 3000}, 1000, DRIFT_LIMIT, DAY_NS, -DAY_NS},
    {"loses, heavy tails", 100, {9000, heavy, 1000}, {2000, heavy, 3000}, 1000, -DRIFT_LIMIT, DAY_NS, -DAY_NS},
    {"drifts by more than a round trip", 200, {50, uniform, 20}, {50, uniform, 20}, 10000, DRIFT_LIMIT, 0, 0},
    {"drifts back by more than a round trip", 200, {50, uniform, 20}, {50, uniform, 20}, 10000, -DRIFT_LIMIT, 0, 0},
    {"negative clock", 10, {700, exponential, 300}, {700, exponential, 300}, 100, 20 * MH_PPM, -DAY_NS, -2 * DAY_NS},
    {"late against zero", 10, {700, exponential, 300}, {700, exponential, 300}, 100, 20 * MH_PPM, LATE, LATE},
    {"early against late", 10, {700, heavy, 300}, {700, heavy, 300}, 100, -20 * MH_PPM, -LATE, -2 * LATE},
};

/* What really was, beside what the estimator sees. */
typedef struct truth {
    int64_t min_there_ns, min_back_ns;
    int64_t span_ns;
} truth;

static int64_t delay_ns(const path *path, chance *dice)
{
    return path->min_ns + (int64_t)path->jitter(dice, path->scale_ns);
}

static long double true_offset(const scene *scene, int64_t local_ns)
{
    return (long double)scene->offset_ns + (long double)scene->drift * (long double)(local_ns - scene->local_ns);
}

static int64_t remote_clock(const scene *scene, int64_t local_ns)
{
    return (int64_t)floorl((long double)local_ns - true_offset(scene, local_ns));
}

static truth simulate(const scene *scene, chance *dice, mh_exchange *exchanges)
{
    truth truth = {INT64_MAX, INT64_MAX, 0};
    int64_t now_ns = scene->local_ns;
    for (int i = 0; i < scene->count; i++) {
        int64_t there_ns = delay_ns(&scene->there, dice), back_ns = delay_ns(&scene->back, dice);
        truth.min_there_ns = there_ns < truth.min_there_ns ? there_ns : truth.min_there_ns;
        truth.min_back_ns = back_ns < truth.min_back_ns ? back_ns : truth.min_back_ns;
        exchanges[i] = (mh_exchange){now_ns, remote_clock(scene, now_ns + there_ns), now_ns + there_ns + back_ns};
        truth.span_ns = exchanges[i].received_ns - scene->local_ns;
        now_ns = exchanges[i].received_ns + scene->gap_ns;
    }
    return truth;
}

static mh_offset estimate(const char *name, const scene *scene, const mh_exchange *exchanges)
{
    int64_t workspace[MAX_EXCHANGES];
    return mh_offset_estimate(mh_offset_find(name), exchanges, scene->count, DRIFT_LIMIT, workspace);
}

static double error_of(const scene *scene, const mh_offset *offset)
{
    return (double)((long double)offset->offset_ns - true_offset(scene, offset->at_ns));
}

static void expect_bound_to_hold(const char *name, const scene *scene, int round, const mh_exchange *exchanges)
{
    mh_offset offset = estimate(name, scene, exchanges);
    double error_ns = error_of(scene, &offset);
    EXPECT(fabs(error_ns) <= (double)offset.bound_ns,
           "%s, %s, round %d: off by %.2f ns, beyond the bound of %" PRId64 " ns", name, scene->name, round, error_ns,
           offset.bound_ns);
    EXPECT(offset.at_ns >= exchanges[0].sent_ns && offset.at_ns <= exchanges[scene->count - 1].received_ns,
           "%s, %s, round %d: the estimate is meant for a time outside of the burst", name, scene->name, round);
}

/*
 * skampi is off by half the difference of the least delays; drift moves both limits by at most half of what it makes in
 * the burst. Its bound is half the best round trip that the burst allows, and not more.
 */
static void expect_skampi_to_be_tight(const scene *scene, int round, const mh_exchange *exchanges, const truth *truth)
{
    mh_offset offset = estimate("skampi", scene, exchanges);
    double difference_ns = fabs((double)(truth->min_there_ns - truth->min_back_ns)), span_ns = (double)truth->span_ns;
    double error_limit_ns = difference_ns / 2 + fabs(scene->drift) * span_ns / 2 + 1;
    double bound_limit_ns = (double)(truth->min_there_ns + truth->min_back_ns) / 2 + DRIFT_LIMIT * span_ns + 2;
    double error_ns = error_of(scene, &offset);
    EXPECT(fabs(error_ns) <= error_limit_ns, "%s, round %d: off by %.2f ns, more than %.2f ns", scene->name, round,
           error_ns, error_limit_ns);
    EXPECT((double)offset.bound_ns <= bound_limit_ns, "%s, round %d: a bound of %" PRId64 " ns is more than %.2f ns",
           scene->name, round, offset.bound_ns, bound_limit_ns);
}

LOOP_TEST(bound_holds_the_truth_and_is_tight, COUNT_OF(scenes))
{
    for (int round = 0; round < rounds_of(SEEDS); round++) {
        chance dice = chance_of_round(round);
        mh_exchange exchanges[MAX_EXCHANGES];
        truth truth = simulate(&scenes[_i], &dice, exchanges);
        for (int place = 0; mh_offset_name(place); place++)
            expect_bound_to_hold(mh_offset_name(place), &scenes[_i], round, exchanges);
        expect_skampi_to_be_tight(&scenes[_i], round, exchanges, &truth);
    }
}

/*
 * Both directions alike: no bias, and each estimate within the width of the jitter. The lower median of an even count n
 * lies below the middle by half of one part in n + 1.
 */
#define EVEN {1000, uniform, 1000}, {1000, uniform, 1000}, 100, 0

static const struct {
    scene scene;
    double bias_limit_ns, error_limit_ns;
} even[] = {
    {{"steady", 10, {1000, steady, 0}, {1000, steady, 0}, 100, 0, 0, 4242}, 1, 1},
    {{"10 exchanges", 10, EVEN, 0, -1000}, 45 + 30, 600},
    {{"11 exchanges", 11, EVEN, 0, -1000}, 30, 600},
    {{"100 exchanges", 100, EVEN, 0, 1000}, 10, 250},
    {{"negative clock", 100, EVEN, -DAY_NS, DAY_NS}, 10, 250},
};

LOOP_TEST(mean_rtt_is_near_the_truth_for_symmetric_jitter, COUNT_OF(even))
{
    const scene *scene = &even[_i].scene;
    double mean_ns = 0;
    for (int round = 0; round < rounds_of(SEEDS); round++) {
        chance dice = chance_of_round(round);
        mh_exchange exchanges[MAX_EXCHANGES];
        simulate(scene, &dice, exchanges);
        mh_offset offset = estimate("meanrtt", scene, exchanges);
        double error_ns = error_of(scene, &offset);
        EXPECT(fabs(error_ns) <= even[_i].error_limit_ns, "%s, round %d: off by %.1f ns", scene->name, round, error_ns);
        mean_ns += error_ns / rounds_of(SEEDS);
    }
    EXPECT(fabs(mean_ns) <= even[_i].bias_limit_ns, "%s: a bias of %.1f ns", scene->name, mean_ns);
}

TEST(estimators_have_names_that_find_them)
{
    int place = 0;
    for (; mh_offset_name(place); place++)
        ck_assert_int_eq(mh_offset_find(mh_offset_name(place)), place);
    ck_assert_int_eq(mh_offset_find(""), -1);
    ck_assert_int_eq(mh_offset_find("skampi2"), -1); /* it only begins like one */
}
