/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_past.c - what windows of the past prove, against an adversary. He chooses each delay of each message above the
 * minimum, and the wander of the drift up to its limit, to lead the estimate as far as possible from the truth. No
 * bound may be violated.
 *
 * MH_ROUNDS=100 takes thousands of seeds. MH_VERBOSE=1 prints how near he comes.
 */
#include "pure/units.h"
#include "clock/past.h"
#include "clock/tracker.h"
#include "support.h"
#include "wander.h"

enum { LATENCY_NS = 1000, EXCESS_NS = 2000, LIMIT_PPB_PER_S = 100 };

static const mh_rates raw = {MH_RAW_RATE_LIMIT, true, LIMIT_PPB_PER_S *MH_PPB};

/* ---- What he does with the drift */

/* Each keeps to the limit: within s seconds, the drift changes by at most LIMIT_PPB_PER_S (1 + s). */
typedef enum wander { STEADY, RAMP, SAW, JUMPS, WALK, WANDERS } wander_t;
static const char *const wander_names[WANDERS] = {"steady", "ramp", "saw", "jumps", "walk"};

/* ---- What he does with delays beyond the minimum: of the two directions, 0 to EXCESS_NS each */

typedef enum delays { NONE, ONE_WAY, RANDOM, ALTERNATING, SWITCH, SLOW_RAMP, GREEDY, DELAYS } delays_t;
static const char *const delays_names[DELAYS] = {"none",   "one way",   "random", "alternating",
                                                 "switch", "slow ramp", "greedy"};

typedef struct game {
    wander_t wander;
    delays_t delays;
    chance dice;
    int64_t began_ns, now_ns; /* true time, which is the global one */
    double first_ppb, drift_ppb, offset_ns;
    wandering_t wandering;
    double period_s; /* of what repeats */
    int side;        /* where he wants the estimate to be */
    int latency_ns;
    int measurements;
} game_t;

enum { TICK_NS = 5 * 1000 * 1000 };

static double age_s(const game_t *game)
{
    return (double)(game->now_ns - game->began_ns) * MH_S_PER_NS;
}

static double wanted_ppb(game_t *game)
{
    double phase = age_s(game) / game->period_s, part = phase - floor(phase);
    switch (game->wander) {
    case STEADY:
        return game->first_ppb;
    case RAMP:
        return game->first_ppb + game->side * LIMIT_PPB_PER_S * age_s(game);
    case SAW:
        return game->first_ppb + LIMIT_PPB_PER_S * game->period_s * fabs(2 * part - 1);
    case JUMPS:
        return game->first_ppb + LIMIT_PPB_PER_S * (part < 0.5 ? 0.5 : -0.5);
    default:
        return game->drift_ppb + 30 * sqrt(TICK_NS * MH_S_PER_NS) * chance_normal(&game->dice);
    }
}

/* At most a tick. */
static void pass(game_t *game, int64_t time_ns)
{
    double seconds = (double)time_ns * MH_S_PER_NS;
    game->offset_ns += game->drift_ppb * seconds;
    game->now_ns += time_ns;
    game->drift_ppb = wander_to(&game->wandering, wanted_ppb(game), LIMIT_PPB_PER_S, seconds);
}

static int64_t local_ns(const game_t *game)
{
    return game->now_ns + llround(game->offset_ns);
}

typedef struct excess {
    double there_ns, back_ns;
} excess_t;

/* All of it on the way that moves the offset to a side. */
static excess_t towards(int side, double excess_ns)
{
    return side > 0 ? (excess_t){0, excess_ns} : (excess_t){excess_ns, 0};
}

static excess_t choose(game_t *game, const mh_tracker *tracker)
{
    double phase = age_s(game) / game->period_s;
    switch (game->delays) {
    case NONE:
        return (excess_t){0, 0};
    case ONE_WAY:
        return towards(game->side, EXCESS_NS);
    case RANDOM:
        return (excess_t){EXCESS_NS * chance_unit(&game->dice), EXCESS_NS * chance_unit(&game->dice)};
    case ALTERNATING:
        return towards(game->measurements % 2 ? 1 : -1, EXCESS_NS);
    case SWITCH:
        return towards(phase - floor(phase) < 0.5 ? game->side : -game->side, EXCESS_NS);
    case SLOW_RAMP:
        return towards(game->side, EXCESS_NS * (phase - floor(phase)));
    default: {
        /* Away from where the estimate already errs to, as far as the windows of the past let it. */
        mh_estimate estimate = mh_tracker_estimate(tracker);
        bool is_known = estimate.bound_ns != MH_TIME_UNKNOWN_NS;
        int64_t error_ns = is_known ? mh_model_apply(&estimate.model, local_ns(game)) - game->now_ns : 0;
        return towards(error_ns > 0 ? -1 : 1, EXCESS_NS * sqrt(chance_unit(&game->dice)));
    }
    }
}

static mh_offset measure(game_t *game, const mh_tracker *tracker)
{
    excess_t excess = choose(game, tracker);
    game->measurements++;
    return measured_offset(local_ns(game), local_ns(game) - game->now_ns, game->latency_ns + excess.there_ns,
                           game->latency_ns + excess.back_ns);
}

static game_t new_game(wander_t wander, delays_t delays, int round)
{
    game_t game = {.wander = wander, .delays = delays, .dice = chance_of_round(round)};
    game.began_ns = game.now_ns = chance_between(&game.dice, 0, 1000 * MH_NS_PER_S);
    game.offset_ns = (double)chance_between(&game.dice, -MH_NS_PER_S, MH_NS_PER_S);
    game.first_ppb = game.drift_ppb = 40000 * (2 * chance_unit(&game.dice) - 1);
    wander_to(&game.wandering, game.drift_ppb, LIMIT_PPB_PER_S, 0);
    game.period_s = exp(log(0.01) + chance_unit(&game.dice) * log(20 / 0.01));
    game.latency_ns = round % 2 ? 0 : LATENCY_NS;
    game.side = chance_unit(&game.dice) < 0.5 ? -1 : 1;
    return game;
}

/* The largest part of a bound that an error takes, over all readings until a time. */
static double read_until(game_t *game, const mh_estimate *estimate, int64_t until_ns, double worst, int round)
{
    enum { ROUNDING_NS = 2 };
    while (game->now_ns < until_ns) {
        pass(game, until_ns - game->now_ns < TICK_NS ? until_ns - game->now_ns : TICK_NS);
        int64_t error_ns = mh_model_apply(&estimate->model, local_ns(game)) - game->now_ns;
        int64_t bound_ns = mh_estimate_bound(estimate, local_ns(game));
        EXPECT(llabs(error_ns) <= bound_ns + ROUNDING_NS,
               "%s, %s, round %d: off by %" PRId64 " ns, beyond the bound of %" PRId64
               " ns, %.3f s after measurement %d at %.3f s",
               wander_names[game->wander], delays_names[game->delays], round, error_ns, bound_ns,
               (double)(local_ns(game) - estimate->model.at_ns) * MH_S_PER_NS, game->measurements, age_s(game));
        worst = fmax(worst, (double)llabs(error_ns) / (double)(bound_ns + ROUNDING_NS));
    }
    return worst;
}

/* As in a run: bursts hardly apart at first, then for some seconds. */
static int64_t chance_interval_ns(game_t *game)
{
    if (game->measurements < 20)
        return 1800 * MH_NS_PER_US;
    return (int64_t)exp(log(20e6) + chance_unit(&game->dice) * log(100));
}

/* The estimates of the tracker, and those confined by their own past as if they were global ones. */
static double play(wander_t wander, delays_t delays, int round)
{
    enum { MEASUREMENTS = 80 };
    game_t game = new_game(wander, delays, round);
    mh_tracker tracker;
    mh_past past = {.has_last = false};
    double worst = 0;
    mh_tracker_reset(&tracker, raw);
    for (int i = 0; i < MEASUREMENTS; i++) {
        mh_offset measured = measure(&game, &tracker);
        EXPECT(mh_tracker_feed(&tracker, &measured), "%s, %s, round %d: measurement %d is taken for a step",
               wander_names[wander], delays_names[delays], round, i);
        mh_estimate estimate = mh_tracker_estimate(&tracker), confined = estimate;
        mh_past_confine(&past, raw, &confined);
        EXPECT(confined.bound_ns <= estimate.bound_ns && confined.drift_bound <= estimate.drift_bound,
               "%s, %s, round %d: the past widens a bound", wander_names[wander], delays_names[delays], round);
        game_t same = game;
        int64_t until_ns = game.now_ns + chance_interval_ns(&same);
        game.dice = same.dice;
        game_t copy = game;
        worst = read_until(&copy, &confined, until_ns, worst, round);
        worst = read_until(&game, &estimate, until_ns, worst, round);
    }
    return worst;
}

enum { ROUNDS = 4 };

LOOP_TEST(adversary_cannot_break_the_bound, WANDERS *DELAYS)
{
    wander_t wander = (wander_t)(_i / DELAYS);
    delays_t delays = (delays_t)(_i % DELAYS);
    double worst = 0;
    for (int round = 0; round < rounds_of(ROUNDS); round++)
        worst = fmax(worst, play(wander, delays, round));
    if (getenv("MH_VERBOSE"))
        printf("# %s, %s: up to %.3f of the bound\n", wander_names[wander], delays_names[delays], worst);
}

/* ---- Windows that are known */

static mh_past_window window_at(int64_t at_ns, int64_t offset_ns, int64_t half_ns)
{
    return (mh_past_window){at_ns, offset_ns - half_ns, offset_ns + half_ns};
}

/* Two windows of 1 us, ten seconds apart: the mean drift is within 200 ppb, and it may have wandered since. */
TEST(two_windows_confine_the_drift)
{
    mh_past past = {.has_last = false};
    mh_past_window first = window_at(0, 5000, 1000), second = window_at(10 * MH_NS_PER_S, 15000, 1000);
    EXPECT(mh_past_add(&past, &first, raw) && mh_past_add(&past, &second, raw), "they contradict each other");
    mh_estimate estimate = mh_past_estimate(&past, raw, (mh_model){0, 15000, 1 * MH_PPM});
    double expected = 200e-9 + LIMIT_PPB_PER_S * 1e-9 * (1 + 5);
    ck_assert_int_eq(estimate.model.at_ns, 10 * MH_NS_PER_S);
    ck_assert_int_eq(estimate.model.offset_ns, 15000);
    ck_assert_double_eq_tol(estimate.model.drift, 1 * MH_PPM, 1e-12);
    ck_assert_int_eq(estimate.bound_ns, 1000);
    ck_assert_double_eq_tol(estimate.drift_bound, expected, 1e-9);
    ck_assert_double_eq(estimate.wander_bound, raw.wander);
}

/* A hundred windows of 1 us around zero, in ten seconds. */
static mh_past narrow_past(void)
{
    mh_past past = {.has_last = false};
    for (int64_t i = 0; i < 100; i++) {
        mh_past_window narrow = window_at(i * 100 * MH_NS_PER_MS, 0, 1000);
        mh_past_add(&past, &narrow, raw);
    }
    return past;
}

/* A wide one says nothing new. */
TEST(wide_window_is_narrowed)
{
    mh_past past = narrow_past();
    mh_past_window wide = window_at(10 * MH_NS_PER_S, 0, MH_NS_PER_MS);
    ck_assert(mh_past_add(&past, &wide, raw));
    mh_estimate estimate = mh_past_estimate(&past, raw, (mh_model){0, 500000, 0});
    ck_assert_int_lt(estimate.bound_ns, 3000);
    ck_assert_int_lt(llabs(estimate.model.offset_ns), 1500);
}

/* The clock has wandered by more than its limit: what was known is void, and the new window is all there is. */
TEST(contradiction_leaves_the_last_window)
{
    mh_past past = narrow_past();
    mh_past_window other = window_at(10 * MH_NS_PER_S, 5000, 1000);
    ck_assert(!mh_past_add(&past, &other, raw));
    mh_estimate estimate = mh_past_estimate(&past, raw, (mh_model){0, 5000, 0});
    ck_assert_int_eq(estimate.bound_ns, 1000);
    ck_assert_double_eq(estimate.drift_bound, raw.limit);
}

/* The drift between measurements changes once. Returns whether one of them disproved the limit of wander. */
static bool follow_change(mh_rates rates, double change)
{
    enum { MEASUREMENTS = 200, INTERVAL_NS = 100 * 1000 * 1000, HALF_NS = 1000 };
    int64_t offset_ns = 0;
    bool wandered = false;
    mh_tracker tracker;
    mh_tracker_reset(&tracker, rates);
    for (int64_t i = 0; i < MEASUREMENTS; i++) {
        offset_ns += i > MEASUREMENTS / 2 ? llround(change * INTERVAL_NS) : 0;
        mh_tracker_feed(&tracker, &(mh_offset){i * INTERVAL_NS, offset_ns, HALF_NS});
        wandered |= tracker.wandered;
    }
    return wandered;
}

TEST(wander_beyond_the_limit_is_told)
{
    mh_rates looser = {raw.limit, true, 100 * raw.wander}, corrected = {0.1, false, raw.wander};
    EXPECT(follow_change(raw, 5 * MH_PPM), "nothing tells that the limit was disproved");
    EXPECT(!follow_change(raw, 0), "a steady clock disproves the limit");
    EXPECT(!follow_change(looser, 5 * MH_PPM), "the clock disproves a limit to which it keeps");
    EXPECT(!follow_change(corrected, 5 * MH_PPM), "a clock disproves the limit of others");
}

/* After a dozen years, a clock that wanders may be anywhere; so a measurement says nothing of its rate. */
TEST(long_pause_is_no_slew)
{
    mh_tracker tracker;
    mh_tracker_reset(&tracker, (mh_rates){0.1, false, raw.wander});
    for (int64_t i = 0; i < 2; i++)
        mh_tracker_feed(&tracker, &(mh_offset){i * 400000000 * MH_NS_PER_S, 0, 100});
    ck_assert_int_eq(tracker.measurements, 2);
}
