/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_slack.c - the slack controller against brute force: how good the slack is by the controller's own aim, the
 * fraction of needs met to the eighth power over the period, and how soon it is good again after a change.
 */
#include "pure/units.h"
#include "release/slack.h"
#include "support.h"

#define FLOOR_NS 100
#define CEILING_NS (100 * MH_NS_PER_MS)
#define BIN_WIDTH (1 + 1.0 / MH_SLACK_BINS_PER_OCTAVE)

typedef double (*need_source)(chance *dice, double median_ns);

static double constant(chance *dice, double median_ns)
{
    (void)dice;
    return median_ns;
}

static double narrow(chance *dice, double median_ns)
{
    return chance_lognormal(dice, median_ns, 0.1);
}

static double lognormal(chance *dice, double median_ns)
{
    return chance_lognormal(dice, median_ns, 0.3);
}

static double wide(chance *dice, double median_ns)
{
    return chance_lognormal(dice, median_ns, 0.8);
}

/* One call in fifty is preempted. */
static double tailed(chance *dice, double median_ns)
{
    return chance_unit(dice) < 0.98 ? lognormal(dice, median_ns) : chance_pareto(dice, 20 * median_ns);
}

static double two_humps(chance *dice, double median_ns)
{
    return lognormal(dice, chance_unit(dice) < 0.8 ? median_ns : 4 * median_ns);
}

static void learn(mh_slack *slack, chance *dice, need_source needs, double median_ns, int64_t overhead_ns, int calls)
{
    for (int i = 0; i < calls; i++)
        mh_slack_learn(slack, (int64_t)needs(dice, median_ns), overhead_ns);
}

static mh_slack fresh(void)
{
    mh_slack slack;
    mh_slack_init(&slack, FLOOR_NS, CEILING_NS);
    return slack;
}

/* ---- Constant needs */

static const struct {
    const char *name;
    int64_t need_ns;
    int64_t min_ns, max_ns; /* of the slack; with max_ns 0: as much longer than the need as the width of a bin */
} constants[] = {
    {"1 us", MH_NS_PER_US, 0, 0},
    {"just below a power of two", 16383, 0, 0},
    {"a power of two", 16384, 0, 0},
    {"1 ms", MH_NS_PER_MS, 0, 0},
    {"half of the ceiling", CEILING_NS / 2, 0, 0},
    {"the floor", FLOOR_NS, 0, 0},
    {"below the floor", 3, FLOOR_NS, FLOOR_NS},
    {"nothing", 0, FLOOR_NS, FLOOR_NS},
    {"negative", -12345, FLOOR_NS, FLOOR_NS},
    {"as negative as can be", INT64_MIN, FLOOR_NS, FLOOR_NS},
    {"the ceiling", CEILING_NS, CEILING_NS, CEILING_NS},
    {"beyond the ceiling", MH_NS_PER_S, CEILING_NS, CEILING_NS},
    {"as long as can be", INT64_MAX, CEILING_NS, CEILING_NS},
};

static void expect_slack_for_constant(int row, const mh_slack *slack, int calls)
{
    int64_t min_ns = constants[row].max_ns ? constants[row].min_ns : constants[row].need_ns;
    double max_ns = constants[row].max_ns ? (double)constants[row].max_ns : (double)constants[row].need_ns * BIN_WIDTH;
    EXPECT(slack->slack_ns >= min_ns && (double)slack->slack_ns <= max_ns,
           "%s: after %d calls the slack is %" PRId64 " ns, not from %" PRId64 " to %.0f ns", constants[row].name,
           calls, slack->slack_ns, min_ns, max_ns);
}

START_TEST(constant_need_is_met_from_the_first_call)
{
    mh_slack slack = fresh();
    for (int calls = 1; calls <= 2000; calls++) {
        mh_slack_learn(&slack, constants[_i].need_ns, 20 * MH_NS_PER_US);
        expect_slack_for_constant(_i, &slack, calls);
    }
}
END_TEST

START_TEST(starts_from_the_ceiling)
{
    mh_slack slack = fresh();
    EXPECT(slack.slack_ns == CEILING_NS, "without experience the slack is %" PRId64 " ns, not the ceiling",
           slack.slack_ns);
}
END_TEST

/* ---- Distributions */

static const struct {
    const char *name;
    need_source needs;
    double median_ns;
    int64_t overhead_ns;
} loads[] = {
    {"constant", constant, 10e3, 10000},
    {"narrow", narrow, 10e3, 10000},
    {"narrow, short periods", narrow, 10e3, 100},
    {"lognormal", lognormal, 10e3, 10000},
    {"lognormal, short periods", lognormal, 10e3, 500},
    {"lognormal, long periods", lognormal, 10e3, 1000000},
    {"lognormal, seconds between calls", lognormal, 50e3, 2000000000},
    {"wide", wide, 10e3, 10000},
    {"wide, long periods", wide, 10e3, 1000000},
    {"tailed", tailed, 10e3, 10000},
    {"tailed, short periods", tailed, 10e3, 500},
    {"tailed, long periods", tailed, 10e3, 1000000},
    {"tailed, slow network", tailed, 500e3, 100000},
    {"two humps", two_humps, 10e3, 10000},
    {"two humps, long periods", two_humps, 10e3, 1000000},
};

enum { SAMPLES = 20000 };

/* Needs of the load, sorted: the fraction met by a slack is a place in it. */
static void sample_needs(int row, double *sorted_ns)
{
    chance dice = chance_of_round(1000 + row);
    for (int i = 0; i < SAMPLES; i++)
        sorted_ns[i] = loads[row].needs(&dice, loads[row].median_ns);
    sort_numbers(sorted_ns, SAMPLES);
}

static double value_of(double met, double slack_ns, int64_t overhead_ns)
{
    return pow(met, 8) / ((double)overhead_ns + slack_ns);
}

static double best_value(int row, const double *sorted_ns)
{
    double best = 0;
    for (int i = 0; i < SAMPLES; i++)
        best = fmax(best, value_of((i + 1.0) / SAMPLES, fmin(sorted_ns[i], CEILING_NS), loads[row].overhead_ns));
    return best;
}

static double fraction_met(const double *sorted_ns, double slack_ns)
{
    int least = 0, most = SAMPLES;
    while (least < most) {
        int middle = (least + most) / 2;
        if (sorted_ns[middle] <= slack_ns)
            least = middle + 1;
        else
            most = middle;
    }
    return (double)least / SAMPLES;
}

static double value_of_slack(int row, const double *sorted_ns, int64_t slack_ns)
{
    return value_of(fraction_met(sorted_ns, (double)slack_ns), (double)slack_ns, loads[row].overhead_ns);
}

START_TEST(chosen_slack_is_nearly_the_best)
{
    enum { WARM_UP = 500, CALLS = 4000 };
    static double sorted_ns[SAMPLES];
    sample_needs(_i, sorted_ns);
    chance dice = chance_of_round(_i);
    mh_slack slack = fresh();
    learn(&slack, &dice, loads[_i].needs, loads[_i].median_ns, loads[_i].overhead_ns, WARM_UP);
    double sum = 0, slack_sum_ns = 0;
    for (int i = 0; i < CALLS; i++) {
        learn(&slack, &dice, loads[_i].needs, loads[_i].median_ns, loads[_i].overhead_ns, 1);
        sum += value_of_slack(_i, sorted_ns, slack.slack_ns);
        slack_sum_ns += (double)slack.slack_ns;
    }
    double part = sum / CALLS / best_value(_i, sorted_ns);
    EXPECT_SEEDED(part >= 0.95, "%s: %.1f %% of the best possible, at a mean slack of %.0f ns", loads[_i].name,
                  100 * part, slack_sum_ns / CALLS);
}
END_TEST

/* ---- At least a fraction */

START_TEST(asked_for_fraction_of_needs_is_met)
{
    static const double fractions[] = {0.5, 0.9, 0.99, 0.999, 0.9999};
    enum { WARM_UP = 50000, CALLS = 100000 };
    static double sorted_ns[SAMPLES];
    sample_needs(_i, sorted_ns);
    for (int i = 0; i < COUNT_OF(fractions); i++) {
        chance dice = chance_of_round(_i);
        mh_slack slack = fresh();
        /* A quantile that leaves four calls to the tail is known to a factor of two or three. */
        double met = 0, least = fmin(1 - 3 * (1 - fractions[i]), fraction_met(sorted_ns, CEILING_NS) - 1e-9);
        mh_slack_aim(&slack, fractions[i]);
        learn(&slack, &dice, loads[_i].needs, loads[_i].median_ns, loads[_i].overhead_ns, WARM_UP);
        for (int call = 0; call < CALLS; call++) {
            learn(&slack, &dice, loads[_i].needs, loads[_i].median_ns, loads[_i].overhead_ns, 1);
            met += fraction_met(sorted_ns, (double)slack.slack_ns) / CALLS;
        }
        EXPECT_SEEDED(met >= least, "%s: %.5f of the needs are met, %g was asked for", loads[_i].name, met,
                      fractions[i]);
    }
}
END_TEST

START_TEST(fraction_that_is_met_anyway_changes_nothing)
{
    chance dice = chance_of_round(_i);
    mh_slack plain = fresh(), aimed = fresh();
    mh_slack_aim(&aimed, 0.5);
    for (int i = 0; i < 1000; i++) {
        int64_t need_ns = (int64_t)narrow(&dice, 10e3);
        mh_slack_learn(&plain, need_ns, 10000);
        mh_slack_learn(&aimed, need_ns, 10000);
        EXPECT(plain.slack_ns == aimed.slack_ns,
               "call %d: the slack is %" PRId64 " ns, and %" PRId64 " ns without the aim", i, aimed.slack_ns,
               plain.slack_ns);
    }
}
END_TEST

/* ---- Changes */

static const struct {
    const char *name;
    need_source needs;
    double before_ns, during_ns; /* medians; afterwards as before */
    int calls;                   /* that it lasts */
    int64_t overhead_ns;
} bursts[] = {
    {"1,000 of 1 ms", narrow, 10e3, 1e6, 1000, 10000},
    {"1,000 of 1 ms, short periods", narrow, 10e3, 1e6, 1000, 500},
    {"1,000 of 1 ms, periods of 100 us", narrow, 10e3, 1e6, 1000, 100000},
    {"1,000 of 1 ms, periods of 1 ms", narrow, 10e3, 1e6, 1000, 1000000},
    {"1,000 of 1 ms, tailed needs", tailed, 10e3, 1e6, 1000, 10000},
    {"10,000 of 1 ms", narrow, 10e3, 1e6, 10000, 10000},
    {"1,000 beyond the ceiling", constant, 10e3, 1e9, 1000, 10000},
    {"100 of 1 ms", narrow, 10e3, 1e6, 100, 10000},
    {"1,000 short ones", narrow, 1e6, 10e3, 1000, 10000},
    {"10,000 short ones", narrow, 1e6, 10e3, 10000, 10000},
};

static double mean_slack(mh_slack *slack, chance *dice, int row)
{
    enum { CALLS = 256 };
    double sum_ns = 0;
    for (int i = 0; i < CALLS; i++) {
        learn(slack, dice, bursts[row].needs, bursts[row].before_ns, bursts[row].overhead_ns, 1);
        sum_ns += (double)slack->slack_ns;
    }
    return sum_ns / CALLS;
}

/* Means over several bursts, as the slack moves a little with each call that it learns from. */
START_TEST(burst_is_forgotten)
{
    enum { ROUNDS = 20, FORGOTTEN_AFTER = 500 };
    double before_ns = 0, after_ns = 0;
    for (int round = 0; round < ROUNDS; round++) {
        chance dice = chance_of_round(round);
        mh_slack slack = fresh();
        learn(&slack, &dice, bursts[_i].needs, bursts[_i].before_ns, bursts[_i].overhead_ns, 1000 + round * 16);
        before_ns += mean_slack(&slack, &dice, _i) / ROUNDS;
        learn(&slack, &dice, bursts[_i].needs, bursts[_i].during_ns, bursts[_i].overhead_ns, bursts[_i].calls);
        learn(&slack, &dice, bursts[_i].needs, bursts[_i].before_ns, bursts[_i].overhead_ns, FORGOTTEN_AFTER);
        after_ns += mean_slack(&slack, &dice, _i) / ROUNDS;
    }
    EXPECT_SEEDED(after_ns <= 1.1 * before_ns && after_ns >= before_ns / 1.1,
                  "%s: the slack was %.0f ns, and is %.0f ns %d calls after", bursts[_i].name, before_ns, after_ns,
                  FORGOTTEN_AFTER);
}
END_TEST

START_TEST(slack_follows_needs_up_and_down)
{
    static const double medians_ns[] = {10e3, 100e3, 10e3, 1e6, 2e3, 20e3};
    enum { SETTLED_AFTER = 500 };
    mh_slack slack = fresh();
    chance dice = chance_of_round(0);
    for (int i = 0; i < COUNT_OF(medians_ns); i++) {
        learn(&slack, &dice, constant, medians_ns[i], 10000, SETTLED_AFTER);
        EXPECT((double)slack.slack_ns >= medians_ns[i] && (double)slack.slack_ns <= medians_ns[i] * BIN_WIDTH,
               "step %d: %d calls that need %.0f ns, and the slack is %" PRId64 " ns", i, SETTLED_AFTER, medians_ns[i],
               slack.slack_ns);
    }
}
END_TEST

START_TEST(needs_that_grow_are_met_soon)
{
    enum { MET_AFTER = 100 };
    mh_slack slack = fresh();
    chance dice = chance_of_round(0);
    for (int64_t need_ns = 1000; need_ns < CEILING_NS; need_ns *= 10) {
        learn(&slack, &dice, constant, (double)need_ns, 10000, 1000);
        learn(&slack, &dice, constant, (double)need_ns * 5, 10000, MET_AFTER);
        EXPECT(slack.slack_ns >= need_ns * 5,
               "%d calls that need five times as much as before leave a slack of %" PRId64 " ns", MET_AFTER,
               slack.slack_ns);
    }
}
END_TEST

/* ---- Overheads */

static const struct {
    const char *name;
    int64_t pause_ns;
    int every; /* calls; 0: once */
} pauses[] = {
    {"a pause of 1 s", MH_NS_PER_S, 0},
    {"a pause of 1 s every 10 calls", MH_NS_PER_S, 10},
    {"a pause of an hour", 3600 * MH_NS_PER_S, 0},
    {"a step back", -MH_NS_PER_S, 0},
    {"a step back every 10 calls", -MH_NS_PER_S, 10},
};

/* Single choices may fall on the other one of two slacks that are equally good; the mean may not. */
START_TEST(pause_does_not_change_the_slack_much)
{
    enum { CALLS = 2000, PAUSE_AT = 1000, OVERHEAD_NS = 10000 };
    chance dice = chance_of_round(_i);
    mh_slack with = fresh(), without = fresh();
    double with_ns = 0, without_ns = 0;
    for (int i = 0; i < CALLS; i++) {
        int64_t need_ns = (int64_t)tailed(&dice, 10e3);
        bool pauses_now = i == PAUSE_AT || (pauses[_i].every && i % pauses[_i].every == 0 && i > PAUSE_AT);
        mh_slack_learn(&with, need_ns, pauses_now ? pauses[_i].pause_ns : OVERHEAD_NS);
        mh_slack_learn(&without, need_ns, OVERHEAD_NS);
        with_ns += (double)with.slack_ns / CALLS;
        without_ns += (double)without.slack_ns / CALLS;
        EXPECT_SEEDED(with.slack_ns < 2 * without.slack_ns && without.slack_ns < 2 * with.slack_ns,
                      "%s: call %d has a slack of %" PRId64 " ns instead of %" PRId64 " ns", pauses[_i].name, i,
                      with.slack_ns, without.slack_ns);
    }
    EXPECT_SEEDED(with_ns <= 1.1 * without_ns && without_ns <= 1.1 * with_ns,
                  "%s: the mean slack is %.0f ns instead of %.0f ns", pauses[_i].name, with_ns, without_ns);
}
END_TEST

START_TEST(pause_before_the_first_calls_is_forgotten)
{
    enum { CALLS = 500, OVERHEAD_NS = 10000 };
    chance dice = chance_of_round(0);
    mh_slack with = fresh(), without = fresh();
    mh_slack_learn(&with, 10000, MH_NS_PER_S);
    mh_slack_learn(&without, 10000, OVERHEAD_NS);
    for (int i = 0; i < CALLS; i++) {
        int64_t need_ns = (int64_t)tailed(&dice, 10e3);
        mh_slack_learn(&with, need_ns, OVERHEAD_NS);
        mh_slack_learn(&without, need_ns, OVERHEAD_NS);
    }
    double ratio = (double)with.slack_ns / (double)without.slack_ns;
    EXPECT_SEEDED(ratio <= 1.5 && ratio >= 1 / 1.5,
                  "after %d calls the slack is %" PRId64 " ns instead of %" PRId64 " ns", CALLS, with.slack_ns,
                  without.slack_ns);
}
END_TEST

/* A period is all that counts: where it is long, a longer slack costs little. */
START_TEST(longer_periods_get_longer_slacks)
{
    static const int64_t overheads_ns[] = {100, 10000, 1000000, 100000000};
    int64_t last_ns = 0;
    for (int i = 0; i < COUNT_OF(overheads_ns); i++) {
        chance dice = chance_of_round(0);
        mh_slack slack = fresh();
        learn(&slack, &dice, wide, 10e3, overheads_ns[i], 1024);
        EXPECT_SEEDED(slack.slack_ns >= last_ns,
                      "with an overhead of %" PRId64 " ns the slack falls from %" PRId64 " to %" PRId64 " ns",
                      overheads_ns[i], last_ns, slack.slack_ns);
        last_ns = slack.slack_ns;
    }
}
END_TEST

/* ---- Limits */

START_TEST(limits_hold_whatever_comes)
{
    for (int round = 0; round < rounds_of(50); round++) {
        chance dice = chance_of_round(round);
        mh_slack slack = fresh();
        for (int i = 0; i < 1000; i++) {
            if (chance_unit(&dice) < 0.01) {
                int64_t floor_ns = chance_between(&dice, 1, 100000);
                mh_slack_limit(&slack, floor_ns, floor_ns + chance_between(&dice, 0, 1000000));
            }
            mh_slack_learn(&slack, (int64_t)chance_lognormal(&dice, 1e4, 3) - 5000,
                           (int64_t)chance_lognormal(&dice, 1e4, 3) - 5000);
            EXPECT_SEEDED(slack.slack_ns >= slack.floor_ns && slack.slack_ns <= slack.ceiling_ns,
                          "round %d, call %d: the slack is %" PRId64 " ns, with limits %" PRId64 " and %" PRId64 " ns",
                          round, i, slack.slack_ns, slack.floor_ns, slack.ceiling_ns);
        }
    }
}
END_TEST

START_TEST(new_limits_hold_at_once_and_keep_the_experience)
{
    mh_slack slack = fresh();
    chance dice = chance_of_round(0);
    learn(&slack, &dice, constant, 10e3, 10000, 256);
    mh_slack_limit(&slack, 50000, CEILING_NS);
    EXPECT(slack.slack_ns == 50000, "a floor of 50000 ns leaves a slack of %" PRId64 " ns", slack.slack_ns);
    mh_slack_limit(&slack, FLOOR_NS, 5000);
    EXPECT(slack.slack_ns == 5000, "a ceiling of 5000 ns leaves a slack of %" PRId64 " ns", slack.slack_ns);
    mh_slack_limit(&slack, FLOOR_NS, CEILING_NS);
    learn(&slack, &dice, constant, 10e3, 10000, 16);
    EXPECT(slack.slack_ns >= 10000 && slack.slack_ns <= 10625,
           "without these limits the slack is %" PRId64 " ns, not 10000 ns", slack.slack_ns);
}
END_TEST

/* In the bins that a search has examined, whenever they came. */
START_TEST(a_search_misses_no_call)
{
    mh_slack slack = fresh();
    chance dice = chance_of_round(0);
    for (int i = 0; i < 2000; i++) {
        mh_slack_learn(&slack, (int64_t)chance_lognormal(&dice, i % 700 < 350 ? 1e4 : 1e5, 1), 10000);
        int64_t examined = 0;
        for (int bin = slack.search.bin; bin < MH_SLACK_BINS; bin++)
            examined += slack.counts[0].bins[bin] + slack.counts[1].bins[bin];
        EXPECT_SEEDED(slack.search.misses == examined, "call %d: %" PRId64 " misses, and there are %" PRId64, i,
                      slack.search.misses, examined);
    }
}
END_TEST

START_TEST(limits_that_are_set_often_stop_no_search)
{
    enum { LARGER = 5 };
    mh_slack slack = fresh();
    chance dice = chance_of_round(0);
    learn(&slack, &dice, tailed, 10e3, 10000, 400);
    int64_t before_ns = slack.slack_ns;
    for (int i = 0; i < 200; i++) {
        learn(&slack, &dice, tailed, LARGER * 10e3, 10000, 2);
        mh_slack_limit(&slack, FLOOR_NS, CEILING_NS);
        mh_slack_aim(&slack, 0);
    }
    EXPECT_SEEDED(slack.slack_ns > before_ns * LARGER / 2,
                  "needs are %d times as long, and the slack was %" PRId64 " and is %" PRId64 " ns", LARGER, before_ns,
                  slack.slack_ns);
}
END_TEST

/* A state as the library makes it before any limit is known. */
START_TEST(no_limits_overflow_nothing)
{
    mh_slack slack;
    mh_slack_init(&slack, 1, INT64_MAX);
    for (int i = 0; i < 300; i++)
        mh_slack_learn(&slack, i % 2 ? INT64_MAX : 1, i % 3 ? INT64_MAX : INT64_MIN);
    EXPECT(slack.slack_ns >= 1, "the slack is %" PRId64 " ns", slack.slack_ns);
}
END_TEST

static void add(TCase *tests)
{
    tcase_add_test(tests, starts_from_the_ceiling);
    tcase_add_loop_test(tests, constant_need_is_met_from_the_first_call, 0, COUNT_OF(constants));
    tcase_add_loop_test(tests, chosen_slack_is_nearly_the_best, 0, COUNT_OF(loads));
    tcase_add_loop_test(tests, asked_for_fraction_of_needs_is_met, 0, COUNT_OF(loads));
    tcase_add_test(tests, fraction_that_is_met_anyway_changes_nothing);
    tcase_add_loop_test(tests, burst_is_forgotten, 0, COUNT_OF(bursts));
    tcase_add_test(tests, slack_follows_needs_up_and_down);
    tcase_add_test(tests, needs_that_grow_are_met_soon);
    tcase_add_loop_test(tests, pause_does_not_change_the_slack_much, 0, COUNT_OF(pauses));
    tcase_add_test(tests, pause_before_the_first_calls_is_forgotten);
    tcase_add_test(tests, longer_periods_get_longer_slacks);
    tcase_add_test(tests, limits_hold_whatever_comes);
    tcase_add_test(tests, new_limits_hold_at_once_and_keep_the_experience);
    tcase_add_test(tests, no_limits_overflow_nothing);
    tcase_add_test(tests, a_search_misses_no_call);
    tcase_add_test(tests, limits_that_are_set_often_stop_no_search);
}

SUITE(slack, add)
