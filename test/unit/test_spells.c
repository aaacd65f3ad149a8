/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_spells.c - spells in which the messages of one direction take longer: the bounds of bursts are larger, and their
 * offsets are biased by a part of the excess. The tracker follows neither the bias nor its end, over TCP and shared
 * memory, and loses nothing if both directions take longer, or if times are negative. MH_ROUNDS=100 takes thousands of
 * seeds. MH_VERBOSE=1 prints errors.
 */
#include "pure/units.h"
#include "clock/tracker.h"
#include "support.h"

enum { BURSTS = 100, USUAL_ROUNDS = 40 };

#define INTERVAL_NS (5 * MH_NS_PER_MS)
#define AHEAD_NS (500 * MH_NS_PER_MS)
#define DRIFT 20e-6

static const mh_rates raw = {MH_RAW_RATE_LIMIT, true, MH_WANDER_PPB_PER_S *MH_PPB};

/* The errors of quiet bursts, and the mean excess of their bounds. */
typedef struct path {
    double bound_ns, error_ns, jitter_ns;
} path_t;

static const path_t tcp = {4400, 40, 100}, shared_memory = {480, 8, 15};

typedef struct scene {
    const char *name;
    const path_t *path;
    int first, last; /* bursts of spells */
    int length;      /* of a spell, in bursts; as many later, the next one begins, in the other direction */
    bool gains;      /* whether the error is certainly less than without the filters that hold the offset */
    double excess;   /* as a part of the bound */
    double bias;     /* as a part of the excess; the sign is by chance */
    double now_limit_ns, ahead_limit_ns;
} scene_t;

static const scene_t scenes[] = {
    {"no spell", &tcp, 0, -1, 1, false, 0, 0, 25, 80},
    {"in the middle", &tcp, 40, 79, 40, true, 0.18, 0.5, 35, 150},
    {"until the end", &tcp, 60, 99, 40, true, 0.18, 0.5, 120, 300},
    {"all in one direction", &tcp, 40, 79, 40, true, 0.18, 1, 35, 150},
    {"at the start", &tcp, 0, 39, 40, true, 0.18, 0.5, 35, 150},
    {"alternating", &tcp, 20, 99, 10, false, 0.18, 0.5, 35, 150},
    {"both directions", &tcp, 40, 99, 60, false, 0.18, 0, 25, 80},
    {"shared memory, no spell", &shared_memory, 0, -1, 1, false, 0, 0, 5, 25},
    {"shared memory, until the end", &shared_memory, 60, 99, 40, true, 0.5, 0.7, 40, 150},
};

static int64_t true_offset_ns(int64_t at_ns)
{
    return llround(DRIFT * (double)at_ns);
}

/* sign: of the first spell. */
static mh_offset measure(const scene_t *scene, int burst, double sign, chance *dice)
{
    const path_t *path = scene->path;
    int64_t at_ns = burst * INTERVAL_NS;
    double bound_ns = path->bound_ns + chance_exponential(dice, path->jitter_ns);
    double error_ns = path->error_ns * chance_normal(dice);
    int part = (burst - scene->first) / scene->length;
    if (burst >= scene->first && burst <= scene->last && part % 2 == 0) {
        double excess_ns = scene->excess * path->bound_ns * (1 + 0.1 * chance_unit(dice));
        bound_ns += excess_ns;
        error_ns += (part % 4 == 0 ? 1 : -1) * sign * scene->bias * excess_ns;
    }
    return (mh_offset){at_ns, true_offset_ns(at_ns) + llround(error_ns), llround(bound_ns)};
}

static double miss_ns(const mh_estimate *estimate, int64_t ahead_ns)
{
    int64_t at_ns = estimate->model.at_ns + ahead_ns;
    return (double)(at_ns - mh_model_apply(&estimate->model, at_ns) - true_offset_ns(at_ns));
}

/* Squares of errors, or their roots over rounds. */
typedef struct score {
    double now, ahead;
} score_t;

/* The filters of the first hypothesis, which hold the offset in spells, get no weight. */
static void leave_out_bias(mh_tracker *tracker)
{
    for (int i = 0; i < MH_TRACKER_WALKS; i++)
        tracker->filters[i].cost = 1e12;
}

static score_t follow(const scene_t *scene, bool has_bias, int round)
{
    chance dice = chance_of_round(round);
    double sign = chance_unit(&dice) < 0.5 ? -1 : 1;
    mh_estimate estimate = {0};
    mh_tracker tracker;
    mh_tracker_reset(&tracker, raw);
    for (int i = 0; i < BURSTS; i++) {
        mh_offset measured = measure(scene, i, sign, &dice);
        if (!has_bias)
            leave_out_bias(&tracker);
        EXPECT(mh_tracker_feed(&tracker, &measured), "%s, round %d: burst %d is taken for a step", scene->name, round,
               i);
        estimate = mh_tracker_estimate(&tracker);
        EXPECT(fabs(miss_ns(&estimate, 0)) <= (double)estimate.bound_ns + 1,
               "%s, round %d, burst %d: off by %.0f ns, the bound is %" PRId64 " ns", scene->name, round, i,
               miss_ns(&estimate, 0), estimate.bound_ns);
    }
    return (score_t){pow(miss_ns(&estimate, 0), 2), pow(miss_ns(&estimate, AHEAD_NS), 2)};
}

static score_t follow_all(const scene_t *scene, bool has_bias)
{
    score_t sum = {0};
    int rounds = rounds_of(USUAL_ROUNDS);
    for (int round = 0; round < rounds; round++) {
        score_t one = follow(scene, has_bias, round);
        sum.now += one.now;
        sum.ahead += one.ahead;
    }
    return (score_t){sqrt(sum.now / rounds), sqrt(sum.ahead / rounds)};
}

LOOP_TEST(spell_is_not_followed, COUNT_OF(scenes))
{
    const scene_t *scene = &scenes[_i];
    score_t with = follow_all(scene, true), without = follow_all(scene, false);
    if (getenv("MH_VERBOSE"))
        printf("# %s: the error is %.1f ns rms, and %.1f ns half a second later; %.1f and %.1f without the bias\n",
               scene->name, with.now, with.ahead, without.now, without.ahead);
    EXPECT(with.now <= scene->now_limit_ns, "%s: the error is %.0f ns rms", scene->name, with.now);
    EXPECT(with.ahead <= scene->ahead_limit_ns, "%s: the error is %.0f ns rms after half a second", scene->name,
           with.ahead);
    EXPECT(!scene->gains || (with.now <= without.now && with.ahead <= without.ahead),
           "%s: the error is %.1f and %.1f ns rms, and %.1f and %.1f without the bias", scene->name, with.now,
           with.ahead, without.now, without.ahead);
}

/* ---- No spells: the bounds of bursts jitter, and the drift walks, while synchronizations are seconds apart */

enum { FAR_BURSTS = 60, FAR_SETTLED = 10 };

static const double far_intervals_s[] = {1, 2.4, 3, 6};

/* The mean excess of the shortest message of each direction, from quiet links to rough ones. */
static const path_t far_paths[] = {{2030, 0, 50}, {4400, 40, 350}, {4400, 40, 1500}, {480, 8, 25}};

static mh_offset measure_far(const path_t *path, int64_t at_ns, double offset_ns, chance *dice)
{
    double there_ns = chance_exponential(dice, path->jitter_ns), back_ns = chance_exponential(dice, path->jitter_ns);
    double error_ns = (there_ns - back_ns) / 2 + path->error_ns * chance_normal(dice);
    return (mh_offset){at_ns, llround(offset_ns + error_ns), llround(path->bound_ns + (there_ns + back_ns) / 2)};
}

/* The sum of the squared errors half way to the next burst. */
static double follow_far(const path_t *path, double interval_s, double drift, bool has_bias, int round)
{
    const double walk = drift != 0 ? 10 * MH_PPB * sqrt(interval_s) : 0;
    chance dice = chance_of_round(round);
    double offset_ns = 0, squares = 0;
    mh_tracker tracker;
    mh_tracker_reset(&tracker, raw);
    for (int i = 0; i < FAR_BURSTS; i++) {
        mh_offset measured = measure_far(path, llround(i * interval_s * 1e9), offset_ns, &dice);
        if (!has_bias)
            leave_out_bias(&tracker);
        mh_tracker_feed(&tracker, &measured);
        mh_estimate estimate = mh_tracker_estimate(&tracker);
        int64_t ahead_ns = llround(interval_s * 1e9 / 2), at_ns = measured.at_ns + ahead_ns;
        double true_ns = offset_ns + drift * (double)ahead_ns;
        double error_ns = (double)(at_ns - mh_model_apply(&estimate.model, at_ns)) - true_ns;
        squares += i < FAR_SETTLED ? 0 : error_ns * error_ns;
        offset_ns += drift * interval_s * 1e9;
        drift += walk * chance_normal(&dice);
    }
    return squares;
}

/* Where there are no spells, to look for them costs next to nothing, however long synchronizations are apart. */
LOOP_TEST(bias_costs_nothing_where_bounds_jitter, COUNT_OF(far_paths))
{
    const path_t *path = &far_paths[_i];
    int rounds = rounds_of(USUAL_ROUNDS);
    for (int k = 0; k < COUNT_OF(far_intervals_s); k++) {
        double with = 0, without = 0, measurements = (double)rounds * (FAR_BURSTS - FAR_SETTLED);
        for (int round = 0; round < rounds; round++) {
            with += follow_far(path, far_intervals_s[k], DRIFT, true, round);
            without += follow_far(path, far_intervals_s[k], DRIFT, false, round);
        }
        double with_ns = sqrt(with / measurements), without_ns = sqrt(without / measurements);
        if (getenv("MH_VERBOSE"))
            printf("# %.0f ns of jitter, each %.1f s: %.1f ns rms, %.1f without the bias\n", path->jitter_ns,
                   far_intervals_s[k], with_ns, without_ns);
        EXPECT(with_ns < 1.05 * without_ns, "%.0f ns of jitter, each %.1f s: %.1f ns rms, %.1f without the bias",
               path->jitter_ns, far_intervals_s[k], with_ns, without_ns);
    }
}

static double rms_of_drift_ns(double drift, int rounds)
{
    static const path_t path = {4400, 40, 350};
    double squares = 0;
    for (int round = 0; round < rounds; round++)
        squares += follow_far(&path, 0.25, drift, true, round);
    return sqrt(squares / rounds / (FAR_BURSTS - FAR_SETTLED));
}

/* The same delays: what remains with a drift that wanders is the error of the path. */
TEST(drift_costs_next_to_nothing)
{
    static const double drifts[] = {10e-6, -50e-6, 200e-6};
    double without_ns = rms_of_drift_ns(0, rounds_of(USUAL_ROUNDS));
    for (int k = 0; k < COUNT_OF(drifts); k++) {
        double with_ns = rms_of_drift_ns(drifts[k], rounds_of(USUAL_ROUNDS));
        if (getenv("MH_VERBOSE"))
            printf("# %.0f ppm: %.1f ns rms, %.1f without a drift\n", drifts[k] * 1e6, with_ns, without_ns);
        EXPECT(with_ns < 1.2 * without_ns, "%.0f ppm: %.1f ns rms, %.1f without a drift", drifts[k] * 1e6, with_ns,
               without_ns);
    }
}

/* ---- Whatever a clock counts from */

TEST(what_a_clock_counts_from_makes_no_difference)
{
    const int64_t from_ns = 1000000000 * MH_NS_PER_S;
    chance dice = chance_of_round(1);
    mh_tracker late, early;
    mh_tracker_reset(&late, raw);
    early = late;
    for (int i = 1; i <= BURSTS; i++) {
        int64_t excess_ns = chance_between(&dice, 0, 3000), error_ns = chance_between(&dice, -excess_ns, excess_ns);
        mh_offset measured = {i * MH_NS_PER_S + from_ns, error_ns / 2, 1000 + excess_ns / 2};
        mh_tracker_feed(&late, &measured);
        measured.at_ns -= 2 * from_ns;
        mh_tracker_feed(&early, &measured);
        double late_ns = mh_tracker_error_ns(&late, 0), early_ns = mh_tracker_error_ns(&early, 0);
        EXPECT(fabs(early_ns - late_ns) < 0.001, "burst %d: the error is %.3f ns, with negative times %.3f ns", i,
               late_ns, early_ns);
    }
}
