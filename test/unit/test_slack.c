/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_slack.c - the slack controller against brute force: how good the slack is by the controller's own aim, the
 * fraction of needs met to the eighth power over the period, and how soon it is good again after a change.
 */
#include "pure/units.h"
#include "release/slack.h"
#include "pure/order_statistics.h"
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

static double far_humps(chance *dice, double median_ns)
{
    return lognormal(dice, chance_unit(dice) < 0.8 ? median_ns : 40 * median_ns);
}

typedef struct load {
    need_source needs;
    double median_ns;
    int64_t overhead_ns;
} load;

static void learn_need(mh_slack *slack, int64_t need_ns, int64_t overhead_ns)
{
    mh_slack_learn(slack, &(mh_slack_call){need_ns, overhead_ns, slack->slack_ns, 0, 0});
}

static void learn(mh_slack *slack, chance *dice, const load *load, int calls)
{
    for (int i = 0; i < calls; i++)
        learn_need(slack, (int64_t)load->needs(dice, load->median_ns), load->overhead_ns);
}

static mh_slack fresh(void)
{
    mh_slack slack;
    mh_slack_init(&slack, FLOOR_NS, CEILING_NS);
    return slack;
}

/* ---- Constant needs */

/* Powers of two, the floor and the ceiling are where bins and limits begin. */
static const int64_t constants_ns[] = {
    INT64_MIN,    -12345,         0,          3,           FLOOR_NS, MH_NS_PER_US, 16383, 16384,
    MH_NS_PER_MS, CEILING_NS / 2, CEILING_NS, MH_NS_PER_S, INT64_MAX};

LOOP_TEST(constant_need_is_met_from_the_first_call, COUNT_OF(constants_ns))
{
    mh_slack slack = fresh();
    int64_t need_ns = constants_ns[_i], least_ns = need_ns < FLOOR_NS ? FLOOR_NS : need_ns;
    bool is_limited = need_ns < FLOOR_NS || need_ns >= CEILING_NS;
    ck_assert_int_eq(slack.slack_ns, CEILING_NS);
    for (int calls = 1; calls <= 2000; calls++) {
        learn_need(&slack, need_ns, 20 * MH_NS_PER_US);
        if (is_limited)
            ck_assert_int_eq(slack.slack_ns, need_ns < FLOOR_NS ? FLOOR_NS : CEILING_NS);
        else
            EXPECT(slack.slack_ns >= least_ns && (double)slack.slack_ns <= (double)least_ns * BIN_WIDTH,
                   "after %d calls that need %" PRId64 " ns the slack is %" PRId64 " ns", calls, need_ns,
                   slack.slack_ns);
    }
}

/* ---- Distributions */

/* With short and long periods. */
static const load loads[] = {
    {constant, 10e3, 10000}, {narrow, 10e3, 10000},      {narrow, 10e3, 100},           {lognormal, 10e3, 10000},
    {lognormal, 10e3, 500},  {lognormal, 10e3, 1000000}, {lognormal, 50e3, 2000000000}, {wide, 10e3, 10000},
    {wide, 10e3, 1000000},   {tailed, 10e3, 10000},      {tailed, 10e3, 500},           {tailed, 10e3, 1000000},
    {tailed, 500e3, 100000}, {two_humps, 10e3, 10000},   {two_humps, 10e3, 1000000},    {far_humps, 10e3, 500},
};

enum { SAMPLES = 20000 };

/* Needs of the load, sorted: the fraction met by a slack is a place in it. */
static void sample_needs(int row, double *sorted_ns)
{
    chance dice = chance_of_round(1000 + row);
    for (int i = 0; i < SAMPLES; i++)
        sorted_ns[i] = loads[row].needs(&dice, loads[row].median_ns);
    sort_reals(sorted_ns, SAMPLES);
}

static double value_of(double met, double slack_ns, int64_t overhead_ns)
{
    return pow(met, 8) / ((double)overhead_ns + slack_ns);
}

static double best_value(int row, const double *sorted_ns, int64_t ceiling_ns)
{
    double best = 0;
    for (int i = 0; i < SAMPLES && sorted_ns[i] <= (double)ceiling_ns; i++)
        best = fmax(best, value_of((i + 1.0) / SAMPLES, sorted_ns[i], loads[row].overhead_ns));
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

/* Also if the longest needs are above the limit. */
LOOP_TEST(chosen_slack_is_nearly_the_best, COUNT_OF(loads))
{
    enum { WARM_UP = 500, CALLS = 4000 };
    static double sorted_ns[SAMPLES];
    sample_needs(_i, sorted_ns);
    const int64_t ceilings_ns[] = {CEILING_NS, (int64_t)(10 * loads[_i].median_ns)};
    for (int k = 0; k < COUNT_OF(ceilings_ns); k++) {
        chance dice = chance_of_round(_i);
        mh_slack slack = fresh();
        mh_slack_limit(&slack, FLOOR_NS, ceilings_ns[k]);
        learn(&slack, &dice, &loads[_i], WARM_UP);
        double sum = 0;
        for (int i = 0; i < CALLS; i++) {
            learn(&slack, &dice, &loads[_i], 1);
            double slack_ns = (double)slack.slack_ns;
            sum += value_of(fraction_met(sorted_ns, slack_ns), slack_ns, loads[_i].overhead_ns);
        }
        const double ratio = sum / CALLS / best_value(_i, sorted_ns, ceilings_ns[k]);
        EXPECT(ratio >= 0.95, "at most %" PRId64 " ns: the value is %.3f of the best", ceilings_ns[k], ratio);
    }
}

/* ---- At least a fraction */

LOOP_TEST(asked_for_fraction_of_needs_is_met, COUNT_OF(loads))
{
    static const double fractions[] = {0.5, 0.9, 0.99, 0.999, 0.9999};
    static double sorted_ns[SAMPLES];
    sample_needs(_i, sorted_ns);
    for (int i = 0; i < COUNT_OF(fractions); i++) {
        chance dice = chance_of_round(_i);
        mh_slack slack = fresh();
        const int warm_up = fractions[i] > 0.99 ? 50000 : 5000, calls = 2 * warm_up;
        /* A quantile that leaves four calls to the tail is known to a factor of three, as is the tail of a sample. */
        double met = 0;
        double least = fmin(1 - 3 * (1 - fractions[i]), fraction_met(sorted_ns, CEILING_NS)) - 4.0 / SAMPLES;
        mh_slack_aim(&slack, fractions[i]);
        learn(&slack, &dice, &loads[_i], warm_up);
        for (int call = 0; call < calls; call++) {
            learn(&slack, &dice, &loads[_i], 1);
            met += fraction_met(sorted_ns, (double)slack.slack_ns) / calls;
        }
        EXPECT(met >= least, "%.5f of the needs are met, %g was asked for", met, fractions[i]);
    }
}

TEST(fraction_that_is_met_anyway_changes_nothing)
{
    chance dice = chance_of_round(_i);
    mh_slack plain = fresh(), aimed = fresh();
    mh_slack_aim(&aimed, 0.5);
    for (int i = 0; i < 1000; i++) {
        int64_t need_ns = (int64_t)narrow(&dice, 10e3);
        learn_need(&plain, need_ns, 10000);
        learn_need(&aimed, need_ns, 10000);
        ck_assert_int_eq(plain.slack_ns, aimed.slack_ns);
    }
}

/* ---- Interruptions */

/*
 * A process is interrupted some times in each microsecond, for a time whose mean is given. An interruption before the
 * process is ready adds to its need. One that lasts beyond the deadline makes it late. Some needs are longer by another
 * time, for other reasons. A process may leave after a delay.
 */
typedef struct interruptions {
    double need_ns, per_us, mean_ns, asked_for;
    double long_fraction, long_ns;
    int64_t delay_ns;
} interruptions;

static const interruptions interrupted[] = {
    {300, 0.02, 2e3, 0.999, 0, 0, 0},
    {300, 0.02, 2e3, 0.9999, 0, 0, 0},
    {300, 0.1, 2e3, 0.99, 0, 0, 0},
    {300, 0.001, 100e3, 0.999, 0, 0, 0},
    {300, 0.001, 1e6, 0.99, 0, 0, 0},
    {300, 1e-4, 10e6, 0.999, 0, 0, 0},
    {300, 1e-5, 2e3, 0.999, 0, 0, 0},
    {5000, 0.002, 3e3, 0.999, 0.02, 400e3, 0},
    {300, 0.0015, 3e3, 0.99, 0.015, 40e3, 1000000},
    {300, 0.02, 2e3, 0.9, 0.2, 20e3, 0},
    {300, 0.3, 2e3, 0.5, 0.1, 10e3, 0},
};

static mh_slack_call interrupted_call(chance *dice, const interruptions *by, int64_t slack_ns)
{
    double apart_ns = 1e3 / by->per_us, deadline_ns = (double)(slack_ns + by->delay_ns), late_ns = 0;
    double need_ns = lognormal(dice, by->need_ns), at_ns = chance_exponential(dice, apart_ns);
    need_ns += chance_unit(dice) < by->long_fraction ? by->long_ns : 0;
    if (at_ns < need_ns) {
        need_ns += chance_exponential(dice, by->mean_ns);
        at_ns = need_ns + chance_exponential(dice, apart_ns);
    }
    while (late_ns == 0 && at_ns < deadline_ns) {
        double until_ns = at_ns + chance_exponential(dice, by->mean_ns);
        late_ns = fmax(0, until_ns - deadline_ns);
        at_ns = until_ns + chance_exponential(dice, apart_ns);
    }
    return (mh_slack_call){(int64_t)need_ns, 500, slack_ns, by->delay_ns,
                           need_ns <= deadline_ns ? (int64_t)ceil(late_ns) : 0};
}

/* With a delay, a need beyond the slack is met, too, but not by all processes. */
static bool leaves_in_time(const mh_slack_call *call)
{
    return call->need_ns <= call->slack_ns && call->late_ns == 0;
}

/*
 * The greatest fraction of calls that leave in time, or one that is nearly as great as asked for, with shortest_ns, the
 * slack from which on so many do; it is infinite if there is none.
 */
static double best_fraction(chance *dice, const interruptions *by, double *shortest_ns)
{
    enum { CALLS = 20000 };
    double best = 0;
    *shortest_ns = INFINITY;
    for (int64_t slack_ns = 300; slack_ns < 1000000; slack_ns = slack_ns * 5 / 4) {
        double in_time = 0;
        for (int i = 0; i < CALLS; i++) {
            mh_slack_call call = interrupted_call(dice, by, slack_ns);
            in_time += leaves_in_time(&call) / (double)CALLS;
        }
        best = fmax(best, in_time);
        if (in_time >= by->asked_for + 0.1 * (1 - by->asked_for)) {
            *shortest_ns = (double)slack_ns;
            break;
        }
    }
    return best;
}

/*
 * As many calls are valid as asked for, by a slack that is not much longer than it takes; if no slack yields so many,
 * nearly as many as with the best one. The long needs come later, when the slack is short.
 */
LOOP_TEST(fraction_is_reached_or_is_nearly_the_highest, COUNT_OF(interrupted))
{
    enum { SHORT = 50000, WARM_UP = 150000, CALLS = 100000 };
    interruptions by = interrupted[_i];
    chance dice = chance_of_round(_i);
    double shortest_ns, mean_ns = 0, valid = 0;
    double possible = fmin(best_fraction(&dice, &by, &shortest_ns), by.asked_for);
    mh_slack slack = fresh();
    mh_slack_aim(&slack, by.asked_for);
    for (int i = 0; i < WARM_UP + CALLS; i++) {
        by.long_fraction = i < SHORT ? 0 : interrupted[_i].long_fraction;
        mh_slack_call call = interrupted_call(&dice, &by, slack.slack_ns);
        valid += i >= WARM_UP && leaves_in_time(&call) ? 1.0 / CALLS : 0;
        mean_ns += i >= WARM_UP ? (double)slack.slack_ns / CALLS : 0;
        mh_slack_learn(&slack, &call);
    }
    EXPECT(1 - valid <= 1.2 * (1 - possible) + 0.001, "%.5f of the calls are valid, and %.5f are possible", valid,
           possible);
    EXPECT(mean_ns <= 2 * shortest_ns, "the slack is %.0f ns, and %.0f ns are enough", mean_ns, shortest_ns);
}

TEST(calls_that_are_all_late_get_the_slack_that_needs_ask_for)
{
    mh_slack slack = fresh();
    mh_slack_aim(&slack, 0.9);
    for (int i = 0; i < 1000; i++)
        mh_slack_learn(&slack, &(mh_slack_call){10 * MH_NS_PER_US, 10000, slack.slack_ns, 0, MH_NS_PER_MS});
    EXPECT((double)slack.slack_ns <= 10 * MH_NS_PER_US * BIN_WIDTH, "the slack is %" PRId64 " ns", slack.slack_ns);
}

/* ---- Changes */

/* Needs of another median for some calls; afterwards as before. */
static const struct {
    load before;
    double during_ns;
    int calls;
} bursts[] = {
    {{narrow, 10e3, 10000}, 1e6, 1000},   {{narrow, 10e3, 500}, 1e6, 1000},   {{narrow, 10e3, 100000}, 1e6, 1000},
    {{narrow, 10e3, 1000000}, 1e6, 1000}, {{tailed, 10e3, 10000}, 1e6, 1000}, {{narrow, 10e3, 10000}, 1e6, 10000},
    {{constant, 10e3, 10000}, 1e9, 1000}, {{narrow, 10e3, 10000}, 1e6, 100},  {{narrow, 1e6, 10000}, 10e3, 1000},
    {{narrow, 1e6, 10000}, 10e3, 10000},
};

static double mean_slack(mh_slack *slack, chance *dice, const load *load)
{
    enum { CALLS = 256 };
    double sum_ns = 0;
    for (int i = 0; i < CALLS; i++) {
        learn(slack, dice, load, 1);
        sum_ns += (double)slack->slack_ns;
    }
    return sum_ns / CALLS;
}

/* Means over several bursts, as the slack moves a little with each call that it learns from. */
LOOP_TEST(burst_is_forgotten, COUNT_OF(bursts))
{
    enum { ROUNDS = 20, FORGOTTEN_AFTER = 500 };
    const load before = bursts[_i].before, during = {before.needs, bursts[_i].during_ns, before.overhead_ns};
    double before_ns = 0, after_ns = 0;
    for (int round = 0; round < ROUNDS; round++) {
        chance dice = chance_of_round(round);
        mh_slack slack = fresh();
        learn(&slack, &dice, &before, 1000 + round * 16);
        before_ns += mean_slack(&slack, &dice, &before) / ROUNDS;
        learn(&slack, &dice, &during, bursts[_i].calls);
        learn(&slack, &dice, &before, FORGOTTEN_AFTER);
        after_ns += mean_slack(&slack, &dice, &before) / ROUNDS;
    }
    EXPECT(after_ns <= 1.1 * before_ns && after_ns >= before_ns / 1.1, "the slack was %.0f ns, and is %.0f ns",
           before_ns, after_ns);
}

/* Up soon, down in time. */
TEST(slack_follows_needs)
{
    static const double medians_ns[] = {10e3, 100e3, 10e3, 1e6, 2e3, 20e3, 1e3, 5e3, 10e3, 50e3, 500e3, 1e6, 5e6, 50e6};
    enum { MET_AFTER = 100, SETTLED_AFTER = 500 };
    mh_slack slack = fresh();
    for (int i = 0; i < COUNT_OF(medians_ns); i++) {
        const load load = {constant, medians_ns[i], 10000};
        learn(&slack, NULL, &load, MET_AFTER);
        EXPECT((double)slack.slack_ns >= load.median_ns, "needs of %.0f ns are not met: %" PRId64 " ns", load.median_ns,
               slack.slack_ns);
        learn(&slack, NULL, &load, SETTLED_AFTER - MET_AFTER);
        EXPECT((double)slack.slack_ns >= load.median_ns && (double)slack.slack_ns <= load.median_ns * BIN_WIDTH,
               "for needs of %.0f ns, the slack is %" PRId64 " ns", load.median_ns, slack.slack_ns);
        learn(&slack, NULL, &load, SETTLED_AFTER);
    }
}

/* ---- Overheads */

/* Pauses, or steps of the clock: each so many calls, or once (0). */
static const struct {
    int64_t pause_ns;
    int every;
} pauses[] = {{MH_NS_PER_S, 0}, {MH_NS_PER_S, 10}, {3600 * MH_NS_PER_S, 0}, {-MH_NS_PER_S, 0}, {-MH_NS_PER_S, 10}};

/* Single choices may fall on the other one of two slacks that are equally good; the mean may not. */
LOOP_TEST(pause_does_not_change_the_slack_much, COUNT_OF(pauses))
{
    enum { CALLS = 2000, PAUSE_AT = 1000, OVERHEAD_NS = 10000 };
    chance dice = chance_of_round(_i);
    mh_slack with = fresh(), without = fresh();
    double with_ns = 0, without_ns = 0;
    for (int i = 0; i < CALLS; i++) {
        int64_t need_ns = (int64_t)tailed(&dice, 10e3);
        bool pauses_now = i == PAUSE_AT || (pauses[_i].every && i % pauses[_i].every == 0 && i > PAUSE_AT);
        learn_need(&with, need_ns, pauses_now ? pauses[_i].pause_ns : OVERHEAD_NS);
        learn_need(&without, need_ns, OVERHEAD_NS);
        with_ns += (double)with.slack_ns / CALLS;
        without_ns += (double)without.slack_ns / CALLS;
        EXPECT(with.slack_ns < 2 * without.slack_ns && without.slack_ns < 2 * with.slack_ns,
               "call %d has a slack of %" PRId64 " ns instead of %" PRId64 " ns", i, with.slack_ns, without.slack_ns);
    }
    EXPECT(with_ns <= 1.1 * without_ns && without_ns <= 1.1 * with_ns, "the mean is %.0f instead of %.0f ns", with_ns,
           without_ns);
}

TEST(pause_before_the_first_calls_is_forgotten)
{
    enum { CALLS = 500, OVERHEAD_NS = 10000 };
    chance dice = chance_of_round(0);
    mh_slack with = fresh(), without = fresh();
    learn_need(&with, 10000, MH_NS_PER_S);
    learn_need(&without, 10000, OVERHEAD_NS);
    for (int i = 0; i < CALLS; i++) {
        int64_t need_ns = (int64_t)tailed(&dice, 10e3);
        learn_need(&with, need_ns, OVERHEAD_NS);
        learn_need(&without, need_ns, OVERHEAD_NS);
    }
    double ratio = (double)with.slack_ns / (double)without.slack_ns;
    EXPECT(ratio <= 1.5 && ratio >= 1 / 1.5, "after %d calls the slack is %" PRId64 " ns instead of %" PRId64 " ns",
           CALLS, with.slack_ns, without.slack_ns);
}

/* ---- Limits */

TEST(limits_hold_whatever_comes)
{
    for (int round = 0; round < rounds_of(50); round++) {
        chance dice = chance_of_round(round);
        mh_slack slack = fresh();
        for (int i = 0; i < 1000; i++) {
            if (chance_unit(&dice) < 0.01) {
                int64_t floor_ns = chance_between(&dice, 1, 100000);
                mh_slack_limit(&slack, floor_ns, floor_ns + chance_between(&dice, 0, 1000000));
            }
            learn_need(&slack, (int64_t)chance_lognormal(&dice, 1e4, 3) - 5000,
                       (int64_t)chance_lognormal(&dice, 1e4, 3) - 5000);
            EXPECT(slack.slack_ns >= slack.floor_ns && slack.slack_ns <= slack.ceiling_ns,
                   "round %d, call %d: the slack is %" PRId64 " ns, with limits %" PRId64 " and %" PRId64 " ns", round,
                   i, slack.slack_ns, slack.floor_ns, slack.ceiling_ns);
        }
    }
}

TEST(new_limits_hold_at_once_and_keep_the_experience)
{
    const load load = {constant, 10e3, 10000};
    mh_slack slack = fresh();
    learn(&slack, NULL, &load, 256);
    mh_slack_limit(&slack, 50000, CEILING_NS);
    ck_assert_int_eq(slack.slack_ns, 50000);
    mh_slack_limit(&slack, FLOOR_NS, 5000);
    ck_assert_int_eq(slack.slack_ns, 5000);
    mh_slack_limit(&slack, FLOOR_NS, CEILING_NS);
    learn(&slack, NULL, &load, 16);
    ck_assert_int_ge(slack.slack_ns, 10000);
    ck_assert_int_le(slack.slack_ns, 10625);
}

/* In the bins that a search has examined, whenever they came. */
TEST(a_search_misses_no_call)
{
    mh_slack slack = fresh();
    chance dice = chance_of_round(0);
    for (int i = 0; i < 2000; i++) {
        learn_need(&slack, (int64_t)chance_lognormal(&dice, i % 700 < 350 ? 1e4 : 1e5, 1), 10000);
        int64_t examined = 0;
        for (int bin = slack.search.bin; bin < MH_SLACK_BINS; bin++)
            examined += slack.counts[0].bins[bin] + slack.counts[1].bins[bin];
        EXPECT(slack.search.misses == examined, "call %d: %" PRId64 " misses, and there are %" PRId64, i,
               slack.search.misses, examined);
    }
}

TEST(limits_that_are_set_often_stop_no_search)
{
    const load short_needs = {tailed, 10e3, 10000}, long_needs = {tailed, 50e3, 10000};
    mh_slack slack = fresh();
    chance dice = chance_of_round(0);
    learn(&slack, &dice, &short_needs, 400);
    int64_t before_ns = slack.slack_ns;
    for (int i = 0; i < 200; i++) {
        learn(&slack, &dice, &long_needs, 2);
        mh_slack_limit(&slack, FLOOR_NS, CEILING_NS);
        mh_slack_aim(&slack, 0);
    }
    EXPECT(slack.slack_ns > before_ns * 5 / 2, "needs are 5 times as long, the slack was %" PRId64 " and is %" PRId64,
           before_ns, slack.slack_ns);
}

/* A state as the library makes it before any limit is known. */
TEST(no_limits_overflow_nothing)
{
    mh_slack slack;
    mh_slack_init(&slack, 1, INT64_MAX);
    for (int i = 0; i < 300; i++)
        learn_need(&slack, i % 2 ? INT64_MAX : 1, i % 3 ? INT64_MAX : INT64_MIN);
    EXPECT(slack.slack_ns >= 1, "the slack is %" PRId64 " ns", slack.slack_ns);
}
