/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_tracker.c - the tracker alone, on clocks whose truth is known: its error after it has settled, and that its
 * bound contains the truth at every time between measurements, whatever the clock and the messages do.
 *
 * Measurements come as in a run: a burst each 1.8 ms at first, then when the tracker asks for one. MH_ROUNDS=100 takes
 * hundreds of seeds. MH_VERBOSE=1 prints the figures of each round.
 */
#include "pure/units.h"
#include "clock/tracker.h"
#include "pure/order_statistics.h"
#include "support.h"
#include "wander.h"

/* ---- Clocks */

/* What a clock does, all against true time. What a row does not state, does not happen. */
typedef struct clock_traits {
    double drift_ppm; /* constant, of either sign by chance where either_sign */
    bool either_sign;
    double walk_ppb;           /* random walk of the drift: standard deviation after one second */
    double warming_ppm;        /* changes of temperature: each takes the drift by up to this much ... */
    double warming_s;          /* ... to where it then stays, this being the time constant */
    double frequency_step_ppm; /* at once */
    double slew_ppm;           /* the kernel corrects the clock: drift jumps anywhere in this range, ... */
    bool is_corrected;         /* ... and the tracker is told that the clock is not raw */
    double events_per_s;       /* of warming, frequency steps and slews */
    double wander_ppb_per_s;   /* the limit of all this but slews, which the tracker knows; 0: the default */
    bool exceeds_limit;        /* frequency steps are beyond it: only the next measurement shows them */
} clock_traits;

/* The truth: offset (local - global) over true time, which is the global one. */
typedef struct clock_truth {
    const clock_traits *traits;
    chance *dice;
    int64_t now_ns, constant_ns;
    double offset_ns; /* without the constant part */
    int64_t event_ns; /* of the last event */
    wandering_t wandering;
    double drift_ppb, warming_ppb; /* now, and how much of a change of temperature is yet to come */
} clock_truth;

#define TICK_NS (10 * MH_NS_PER_MS)

static double chance_sign(chance *dice)
{
    return chance_unit(dice) < 0.5 ? -1 : 1;
}

static clock_truth new_truth(const clock_traits *traits, chance *dice)
{
    clock_truth truth = {.traits = traits, .dice = dice};
    truth.now_ns = chance_between(dice, 0, 1000 * MH_NS_PER_S);
    truth.constant_ns = chance_between(dice, -1000000 * MH_NS_PER_S, 1000000 * MH_NS_PER_S);
    truth.drift_ppb = 1e3 * traits->drift_ppm * (traits->either_sign ? chance_sign(dice) : 1);
    return truth;
}

static double wander_limit_ppb(const clock_traits *traits)
{
    return traits->wander_ppb_per_s > 0 ? traits->wander_ppb_per_s : MH_WANDER_PPB_PER_S;
}

static void happen(clock_truth *truth)
{
    const clock_traits *traits = truth->traits;
    truth->event_ns = truth->now_ns;
    truth->drift_ppb += 1e3 * traits->frequency_step_ppm * chance_sign(truth->dice);
    truth->warming_ppb += 1e3 * traits->warming_ppm * (2 * chance_unit(truth->dice) - 1);
    if (traits->slew_ppm > 0)
        truth->drift_ppb = 1e3 * (traits->drift_ppm + traits->slew_ppm * (2 * chance_unit(truth->dice) - 1));
}

/* Let time pass; at most a tick. */
static void pass(clock_truth *truth, int64_t time_ns)
{
    const clock_traits *traits = truth->traits;
    double seconds = (double)time_ns * MH_S_PER_NS;
    if (traits->events_per_s > 0 && chance_unit(truth->dice) < seconds * traits->events_per_s)
        happen(truth);
    truth->offset_ns += truth->drift_ppb * seconds;
    truth->now_ns += time_ns;
    if (traits->walk_ppb > 0)
        truth->drift_ppb += traits->walk_ppb * sqrt(seconds) * chance_normal(truth->dice);
    if (truth->warming_ppb != 0) {
        double part = -expm1(-seconds / traits->warming_s);
        truth->drift_ppb += part * truth->warming_ppb;
        truth->warming_ppb -= part * truth->warming_ppb;
    }
    if (!traits->is_corrected && !traits->exceeds_limit)
        truth->drift_ppb = wander_to(&truth->wandering, truth->drift_ppb, wander_limit_ppb(traits), seconds);
}

static int64_t local_ns(const clock_truth *truth)
{
    return truth->now_ns + truth->constant_ns + llround(truth->offset_ns);
}

/* ---- Measurements */

/*
 * A burst: the shortest message of each direction. Excesses over the least delay are exponential; spells in which one
 * direction takes longer outlast bursts; outliers are bursts that were disturbed from beginning to end.
 */
typedef struct path {
    double min_ns, excess_ns; /* one way; the mean */
    double spell_ns;          /* mean excess of the slower direction in a spell */
    double spells;            /* the fraction of time */
    double outliers;          /* the fraction of bursts */
} path;

/* As measured on machines with a round trip of 1 and of 12 us: rms of a cold burst's error, some 20 and some 300 ns. */
static const path shared_memory = {.min_ns = 480, .excess_ns = 25, .spell_ns = 60, .spells = 0.05, .outliers = 0.01};
static const path tcp = {.min_ns = 5200, .excess_ns = 350, .spell_ns = 800, .spells = 0.1, .outliers = 0.02};
static const path rough = {.min_ns = 5200, .excess_ns = 1500, .spell_ns = 6000, .spells = 0.3, .outliers = 0.1};

typedef struct line {
    const path *path;
    chance *dice;
    int spell; /* -1, 0 or 1: the direction that is slower now */
} line;

static double one_way_ns(line *line, int direction)
{
    const path *path = line->path;
    double ns = path->min_ns + chance_exponential(line->dice, path->excess_ns);
    if (line->spell == direction)
        ns += chance_exponential(line->dice, path->spell_ns);
    if (chance_unit(line->dice) < path->outliers / 2)
        ns += chance_pareto(line->dice, 10 * path->min_ns);
    return ns;
}

/* A spell lasts for some three bursts. */
static void change_spell(line *line)
{
    if (line->spell != 0 && chance_unit(line->dice) < 0.33)
        line->spell = 0;
    else if (line->spell == 0 && chance_unit(line->dice) < 0.33 * line->path->spells / (1 - line->path->spells))
        line->spell = chance_sign(line->dice) > 0 ? 1 : -1;
}

static mh_offset measure(line *line, const clock_truth *truth)
{
    change_spell(line);
    double there_ns = one_way_ns(line, -1), back_ns = one_way_ns(line, 1);
    return measured_offset(local_ns(truth), local_ns(truth) - truth->now_ns, there_ns, back_ns);
}

/* ---- A run */

typedef struct scene {
    const char *name;
    clock_traits clock;
    const path *path;
    double rms_limit_ns, p99_limit_ns; /* of the error after SETTLED_S; 0: none */
    double seconds;                    /* 0: USUAL_S */
} scene;

enum { FIRST_BURSTS = 20, SETTLED_S = 2, USUAL_S = 60, MAX_READINGS = 100000 };

#define FIRST_INTERVAL_NS (1800 * MH_NS_PER_US)
#define YOUNG_INTERVAL_NS (20 * MH_NS_PER_MS)
#define MIN_INTERVAL_NS (100 * MH_NS_PER_MS)
#define MAX_INTERVAL_NS (300 * MH_NS_PER_S)

typedef struct run {
    const scene *scene;
    int round;
    chance dice;
    clock_truth truth;
    line line;
    mh_tracker tracker;
    mh_estimate estimate;
    int64_t began_ns, measured_ns;
    int measurements, readings;
    double errors_ns[MAX_READINGS];
} run;

static const mh_rates raw = {MH_RAW_RATE_LIMIT, true, MH_WANDER_PPB_PER_S *MH_PPB};

static mh_rates rates_of(const clock_traits *traits)
{
    const double wander = wander_limit_ppb(traits) * MH_PPB;
    return traits->is_corrected ? (mh_rates){0.23, false, wander} : (mh_rates){MH_RAW_RATE_LIMIT, true, wander};
}

static void begin(run *run, const scene *scene, int round)
{
    run->scene = scene;
    run->round = round;
    run->dice = chance_of_round(round);
    run->truth = new_truth(&scene->clock, &run->dice);
    run->line = (line){scene->path, &run->dice, 0};
    run->began_ns = run->truth.now_ns;
    run->measurements = run->readings = 0;
    mh_tracker_reset(&run->tracker, rates_of(&scene->clock));
}

static bool feed(run *run)
{
    mh_offset measured = measure(&run->line, &run->truth);
    bool consistent = mh_tracker_feed(&run->tracker, &measured);
    run->estimate = mh_tracker_estimate(&run->tracker);
    run->measured_ns = run->truth.now_ns;
    run->measurements++;
    return consistent;
}

static double elapsed_s(const run *run)
{
    return (double)(run->truth.now_ns - run->began_ns) * MH_S_PER_NS;
}

/* By as much as the library lets an error grow. */
static double target_ns(const run *run)
{
    return fmin(fmax(0.5 * mh_tracker_error_ns(&run->tracker, 0), 5), 100);
}

/* As the library decides it: hardly apart at first, soon in the first second, then as the tracker asks. */
static int64_t next_interval_ns(const run *run)
{
    if (run->measurements < FIRST_BURSTS)
        return FIRST_INTERVAL_NS;
    int64_t min_ns = elapsed_s(run) < 1 ? YOUNG_INTERVAL_NS : MIN_INTERVAL_NS;
    int64_t wanted_ns = mh_tracker_interval_ns(&run->tracker, target_ns(run), MAX_INTERVAL_NS);
    return wanted_ns > min_ns ? wanted_ns : min_ns;
}

static double error_ns(const run *run)
{
    return (double)(mh_model_apply(&run->estimate.model, local_ns(&run->truth)) - run->truth.now_ns);
}

/* Clocks, models and measurements are rounded to nanoseconds. */
enum { ROUNDING_NS = 3 };

static void read_clock(run *run)
{
    if (run->scene->clock.exceeds_limit && run->truth.event_ns >= run->measured_ns)
        return;
    double error = error_ns(run);
    int64_t bound_ns = mh_estimate_bound(&run->estimate, local_ns(&run->truth));
    EXPECT(fabs(error) <= (double)bound_ns + ROUNDING_NS,
           "%s, round %d: off by %.0f ns at %.3f s, beyond the bound of %" PRId64 " ns, %.3f s after measurement %d",
           run->scene->name, run->round, error, elapsed_s(run), bound_ns,
           (double)(run->truth.now_ns - run->measured_ns) * MH_S_PER_NS, run->measurements);
    if (elapsed_s(run) >= SETTLED_S && run->readings < MAX_READINGS)
        run->errors_ns[run->readings++] = fabs(error);
}

static void read_until(run *run, int64_t until_ns)
{
    while (run->truth.now_ns < until_ns) {
        int64_t left_ns = until_ns - run->truth.now_ns;
        pass(&run->truth, left_ns < TICK_NS ? left_ns : TICK_NS);
        read_clock(run);
    }
}

static void follow(run *run, double seconds)
{
    int64_t end_ns = run->truth.now_ns + (int64_t)(seconds * (double)MH_NS_PER_S);
    while (run->truth.now_ns < end_ns) {
        EXPECT(feed(run), "%s, round %d: measurement %d at %.3f s is taken for a disruption", run->scene->name,
               run->round, run->measurements, elapsed_s(run));
        int64_t next_ns = run->truth.now_ns + next_interval_ns(run);
        read_until(run, next_ns < end_ns ? next_ns : end_ns);
    }
}

static void expect_to_be_accurate(run *run)
{
    double squares = 0;
    for (int i = 0; i < run->readings; i++)
        squares += run->errors_ns[i] * run->errors_ns[i];
    sort_reals(run->errors_ns, run->readings);
    double rms = sqrt(squares / run->readings), p99 = run->errors_ns[(int)(0.99 * run->readings)];
    const scene *scene = run->scene;
    if (getenv("MH_VERBOSE"))
        printf("# %s, round %d: %d measurements, error %.0f ns rms, %.0f ns p99, %.0f ns at most\n", scene->name,
               run->round, run->measurements, rms, p99, run->errors_ns[run->readings - 1]);
    EXPECT(scene->rms_limit_ns == 0 || rms <= scene->rms_limit_ns, "%s, round %d: the error is %.0f ns rms",
           scene->name, run->round, rms);
    EXPECT(scene->p99_limit_ns == 0 || p99 <= scene->p99_limit_ns,
           "%s, round %d: the 99th percentile of the error is %.0f ns", scene->name, run->round, p99);
}

#define WALK .walk_ppb = 10
#define CALM .walk_ppb = 1
#define STRONG_WALK .walk_ppb = 300, .wander_ppb_per_s = 2000
#define WARMING .warming_ppm = 1, .warming_s = 10, .wander_ppb_per_s = 500
#define STEPS .frequency_step_ppm = 1, .wander_ppb_per_s = 2000
#define GREAT_STEPS .frequency_step_ppm = 1, .exceeds_limit = true
#define CORRECTED .slew_ppm = 500, .is_corrected = true
#define SLEWED .slew_ppm = 100000, .is_corrected = true
#define SELDOM .events_per_s = 0.005
#define BOTH_SIGNS(ppm) .drift_ppm = ppm, .either_sign = true

#define LIMITS(rms, p99) .rms_limit_ns = rms, .p99_limit_ns = p99

static const scene scenes[] = {
    {"shared memory, steady", {BOTH_SIGNS(10)}, &shared_memory, LIMITS(25, 100)},
    {"shared memory, 10 ppm, walk", {BOTH_SIGNS(10), WALK}, &shared_memory, LIMITS(20, 60)},
    {"shared memory, 500 ppm, walk", {BOTH_SIGNS(499), WALK}, &shared_memory, LIMITS(20, 60)},
    {"shared memory, warming", {BOTH_SIGNS(20), WALK, WARMING, .events_per_s = 0.1}, &shared_memory, LIMITS(20, 60)},
    {"shared memory, frequency steps",
     {BOTH_SIGNS(20), WALK, STEPS, .events_per_s = 0.1},
     &shared_memory,
     LIMITS(100, 500)},
    {"shared memory, corrected", {CORRECTED, .events_per_s = 0.2}, &shared_memory, LIMITS(0, 0)},
    {"tcp, no drift at all", {.drift_ppm = 0}, &tcp, LIMITS(250, 1000)},
    {"tcp, steady", {BOTH_SIGNS(10)}, &tcp, LIMITS(250, 1000)},
    {"tcp, 10 ppm, walk", {BOTH_SIGNS(10), WALK}, &tcp, LIMITS(250, 1000)},
    {"tcp, 50 ppm, walk", {BOTH_SIGNS(50), WALK}, &tcp, LIMITS(250, 1000)},
    {"tcp, 500 ppm, walk", {BOTH_SIGNS(499), WALK}, &tcp, LIMITS(250, 1000)},
    {"tcp, strong walk", {BOTH_SIGNS(10), STRONG_WALK}, &tcp, LIMITS(250, 1000)},
    {"tcp, warming", {BOTH_SIGNS(20), WALK, WARMING, .events_per_s = 0.1}, &tcp, LIMITS(250, 1000)},
    {"tcp, frequency steps", {BOTH_SIGNS(20), WALK, STEPS, .events_per_s = 0.1}, &tcp, LIMITS(400, 2500)},
    {"tcp, corrected", {CORRECTED, .events_per_s = 0.2}, &tcp, LIMITS(0, 0)},
    {"tcp, slewed by up to a tenth", {SLEWED, .events_per_s = 0.2}, &tcp, LIMITS(4e6, 15e6)},
    {"shared memory, slewed by up to a tenth", {SLEWED, .events_per_s = 0.2}, &shared_memory, LIMITS(4e6, 15e6)},
    {"tcp, rough, 50 ppm, walk", {BOTH_SIGNS(50), WALK}, &rough, LIMITS(600, 3000)},
    {"shared memory, at last warming",
     {BOTH_SIGNS(20), CALM, WARMING, SELDOM},
     &shared_memory,
     LIMITS(20, 60),
     .seconds = 600},
    {"tcp, at last warming", {BOTH_SIGNS(20), CALM, WARMING, SELDOM}, &tcp, LIMITS(250, 1000), .seconds = 600},
    {"tcp, at last a frequency step", {BOTH_SIGNS(20), CALM, GREAT_STEPS, SELDOM}, &tcp, LIMITS(0, 0), .seconds = 600},
};

enum { ROUNDS = 3 };

LOOP_TEST(bound_contains_the_truth, COUNT_OF(scenes))
{
    static run run;
    for (int round = 0; round < rounds_of(ROUNDS); round++) {
        begin(&run, &scenes[_i], round);
        follow(&run, scenes[_i].seconds > 0 ? scenes[_i].seconds : USUAL_S);
        expect_to_be_accurate(&run);
    }
}

/* ---- A start that is disturbed, after which the clock runs free */

typedef struct start {
    double drift_ppm, calm_s; /* calm bursts follow the disturbed ones for so long */
    double error_limit_ppm;   /* of the drift, rms */
} start;

static const start starts[] = {{0, 0, 50},     {10, 0, 50}, {120, 0, 120}, {200, 0, 160}, {499, 0, 120},
                               {120, 0.2, 15}, {10, 2, 1},  {50, 2, 1},    {100, 2, 1},   {499, 2, 1}};

static mh_offset burst_of(double drift_ppm, int64_t at_ns, double mean_delay_ns, chance *dice)
{
    double there_ns = tcp.min_ns + chance_exponential(dice, mean_delay_ns);
    double back_ns = tcp.min_ns + chance_exponential(dice, mean_delay_ns);
    return measured_offset(at_ns, llround(drift_ppm * MH_PPM * (double)at_ns), there_ns, back_ns);
}

/*
 * Disturbed bursts of 40 ms show more than 60 ppm, which the clock does not have. Calm bursts show what it has. The
 * error of a drift that is not usual is larger, and the estimate says so.
 */
LOOP_TEST(disturbed_start_shows_no_drift, COUNT_OF(starts))
{
    enum { STARTS = 1000, RUN_FREE_S = 5, CALM_INTERVAL_MS = 100 };
    const start *start = &starts[_i];
    double squares = 0, claimed_squares = 0;
    for (int round = 0; round < STARTS; round++) {
        chance dice = chance_of_round(round);
        mh_tracker tracker;
        mh_offset last;
        mh_tracker_reset(&tracker, raw);
        for (int i = 0; i < FIRST_BURSTS; i++) {
            last = burst_of(start->drift_ppm, i * FIRST_INTERVAL_NS, tcp.min_ns, &dice);
            mh_tracker_feed(&tracker, &last);
        }
        for (int i = 0; i < start->calm_s * 1000 / CALM_INTERVAL_MS; i++) {
            last = burst_of(start->drift_ppm, last.at_ns + CALM_INTERVAL_MS * MH_NS_PER_MS, tcp.excess_ns, &dice);
            mh_tracker_feed(&tracker, &last);
        }
        mh_estimate estimate = mh_tracker_estimate(&tracker);
        squares += pow(estimate.model.drift / MH_PPM - start->drift_ppm, 2) / STARTS;
        claimed_squares += estimate.errors.p11 * pow(MH_PPB / MH_PPM, 2) / STARTS;
        int64_t at_ns = last.at_ns + RUN_FREE_S * MH_NS_PER_S;
        double off_ns =
            (double)(at_ns - mh_model_apply(&estimate.model, at_ns)) - start->drift_ppm * MH_PPM * (double)at_ns;
        EXPECT(fabs(off_ns) <= (double)mh_estimate_bound(&estimate, at_ns) + ROUNDING_NS,
               "%.0f ppm, round %d: off by %.0f ns", start->drift_ppm, round, off_ns);
    }
    EXPECT(sqrt(squares) <= start->error_limit_ppm, "%.0f ppm, %.1f s: the drift is off by %.1f ppm rms",
           start->drift_ppm, start->calm_s, sqrt(squares));
    EXPECT(squares <= 4 * claimed_squares, "%.0f ppm, %.1f s: the drift is off by %.1f ppm rms, but claims %.1f ppm",
           start->drift_ppm, start->calm_s, sqrt(squares), sqrt(claimed_squares));
}

/* ---- Clocks that are stepped */

enum { BEFORE_S = 5, AFTER_S = 20, STEP_ROUNDS = 20 };

static const scene stepped[] = {
    {"shared memory", {BOTH_SIGNS(20), WALK}, &shared_memory, LIMITS(0, 0)},
    {"tcp", {BOTH_SIGNS(20), WALK}, &tcp, LIMITS(0, 0)},
    {"tcp, corrected", {CORRECTED, .events_per_s = 0.2}, &tcp, LIMITS(0, 0)},
};

/* From what a kernel's correction of the rate, or an outlier, cannot explain, to days. */
static double chance_step_ns(run *run)
{
    mh_tracker as_corrected = run->tracker;
    as_corrected.rates.are_raw = false;
    mh_estimate if_corrected = mh_tracker_estimate(&as_corrected);
    int64_t bound_ns = mh_estimate_bound(&if_corrected, local_ns(&run->truth));
    double least = log(2 * (double)bound_ns + 200 * run->scene->path->min_ns), most = log(1e14);
    return chance_sign(&run->dice) * exp(least + chance_unit(&run->dice) * (most - least));
}

LOOP_TEST(step_is_noticed, COUNT_OF(stepped))
{
    static run run;
    for (int round = 0; round < rounds_of(STEP_ROUNDS); round++) {
        begin(&run, &stepped[_i], round);
        follow(&run, BEFORE_S);
        double step_ns = chance_step_ns(&run);
        run.truth.offset_ns += step_ns;
        EXPECT(!feed(&run), "%s, round %d: a step of %.0f ns is not noticed", run.scene->name, round, step_ns);
        run.measurements = 0;
        follow(&run, AFTER_S);
    }
}

/* As when both clocks of a pair are set back together: the offset is the same as ever. */
TEST(clock_that_is_set_back_starts_anew)
{
    static const int64_t steps_ns[] = {-50 * MH_NS_PER_MS, -MH_NS_PER_S, -3600 * MH_NS_PER_S};
    for (int i = 0; i < COUNT_OF(steps_ns); i++) {
        mh_tracker tracker;
        mh_offset offset = {MH_NS_PER_S, 1234567, 5000};
        mh_tracker_reset(&tracker, raw);
        for (int fed = 0; fed < 30; fed++, offset.at_ns += 10 * MH_NS_PER_MS)
            mh_tracker_feed(&tracker, &offset);
        offset.at_ns += steps_ns[i];
        EXPECT(!mh_tracker_feed(&tracker, &offset), "set back by %" PRId64 " ns, which is not noticed", -steps_ns[i]);
        for (int fed = 0; fed < 30; fed++, offset.at_ns += 10 * MH_NS_PER_MS)
            mh_tracker_feed(&tracker, &offset);
        double off_ns = mh_tracker_error_ns(&tracker, 0), drift = mh_tracker_estimate(&tracker).model.drift;
        EXPECT(isfinite(off_ns) && isfinite(drift), "set back by %" PRId64 " ns, the error is %g ns and the drift %g",
               -steps_ns[i], off_ns, drift);
    }
}

/* On a path that becomes twice as long, within hours, but not within a busy second. */
TEST(lowest_bound_rises_with_time_only)
{
    static const int64_t spans_ns[] = {MH_NS_PER_S, 8000 * MH_NS_PER_S};
    enum { BURSTS = 400, SHORT_NS = 1000, LONG_NS = 2000 };
    for (int i = 0; i < COUNT_OF(spans_ns); i++) {
        mh_tracker tracker;
        mh_offset offset = {MH_NS_PER_S, 0, SHORT_NS};
        mh_tracker_reset(&tracker, raw);
        for (int fed = 0; fed < BURSTS; fed++, offset.at_ns += spans_ns[i] / BURSTS, offset.bound_ns = LONG_NS)
            mh_tracker_feed(&tracker, &offset);
        ck_assert_double_eq_tol(tracker.low_bound_ns, (i ? LONG_NS : SHORT_NS), 1);
    }
}

TEST(nothing_is_known_before_the_first_offset)
{
    mh_tracker tracker;
    mh_tracker_reset(&tracker, raw);
    EXPECT(mh_tracker_estimate(&tracker).bound_ns == MH_TIME_UNKNOWN_NS, "a bound of %" PRId64 " ns out of nowhere",
           mh_tracker_estimate(&tracker).bound_ns);
}

/* ---- Recorded bursts */

typedef struct recording {
    mh_offset bursts[200];
    int count;
} recording;

static bool read_recording(FILE *file, recording *recording)
{
    char line[100];
    recording->count = 0;
    while (fgets(line, sizeof line, file)) {
        mh_offset *burst = &recording->bursts[recording->count];
        if (sscanf(line, "%" SCNd64 " %" SCNd64 " %" SCNd64, &burst->at_ns, &burst->offset_ns, &burst->bound_ns) == 3)
            recording->count++;
        else if (recording->count > 0)
            return true;
    }
    return false;
}

/* The mean square, in ns, of the errors between two bursts: they are read ten times. */
static double square_error_between(const mh_estimate *estimate, int64_t from_ns, int64_t to_ns)
{
    double squares = 0;
    for (int i = 0; i < 10; i++) {
        int64_t at_ns = from_ns + (to_ns - from_ns) * i / 10;
        squares += pow((double)(at_ns - mh_model_apply(&estimate->model, at_ns)), 2) / 10;
    }
    return squares;
}

/* In these recordings, bounds vary much more than offsets: the delays of both directions rise and fall together. */
TEST(recorded_clock_is_followed)
{
    static recording recording;
    double squares = 0, total_ns = 0;
    FILE *file = fopen(RECORDED_BURSTS, "r");
    EXPECT(file, "cannot open %s", RECORDED_BURSTS);
    while (read_recording(file, &recording)) {
        const mh_offset *bursts = recording.bursts;
        mh_tracker tracker;
        mh_tracker_reset(&tracker, raw);
        for (int i = 0; i + 1 < recording.count; i++) {
            mh_tracker_feed(&tracker, &bursts[i]);
            mh_estimate estimate = mh_tracker_estimate(&tracker);
            double length_ns = (double)(bursts[i + 1].at_ns - bursts[i].at_ns);
            squares += length_ns * square_error_between(&estimate, bursts[i].at_ns, bursts[i + 1].at_ns);
            total_ns += length_ns;
        }
    }
    fclose(file);
    double rms = sqrt(squares / total_ns);
    EXPECT(rms <= 240, "the error is %.0f ns rms; it was 196 ns, and 385 ns without the hypothesis of even delays",
           rms);
}
