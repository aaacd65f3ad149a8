/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_release.c - rounds of simulated processes: who leaves when in truth, and what the process says about it.
 *
 * Global time is the virtual time; the estimates of all processes are exact unless a test makes one wrong.
 */
#include "pure/units.h"
#include "release/barrier_private.h"
#include "harmonize.h"
#include "virtual_processes.h"
#include "support.h"

enum { CALLS = 400, TOLERANCE_NS = 500, FLOOR_NS = 80, CEILING_NS = 50 * 1000 * 1000, ROUNDING_NS = 3 };

typedef struct scene {
    const char *name;
    int processes, per_node;
    simulated_network network;
    double work_ns; /* mean time between calls */
    double descheduled;
    bool yields;
    double least_valid; /* the least fraction of calls in which all leave in time, after the first few */
} scene;

#define QUIET                \
    {                        \
        500, 5000, 300, 1, 0 \
    }

static const scene scenes[] = {
    {"quiet", 8, 4, QUIET, 1000, 0, false, 0.9},
    {"one process", 1, 1, QUIET, 1000, 0, false, 0.99},
    {"two processes", 2, 2, QUIET, 1000, 0, false, 0.9},
    {"yields", 4, 4, {20000, 20000, 2000, 1, 0}, 1000, 0, true, 0.9},
    {"long work", 8, 4, QUIET, 1e6, 0, false, 0.95},
    {"lopsided", 8, 4, {500, 5000, 300, 5, 0}, 1000, 0, false, 0.9},
    {"rough", 8, 4, {500, 5000, 2000, 1, 0.01}, 1000, 0, false, 0.7},
    {"descheduled", 8, 4, QUIET, 1000, 0.01, false, 0.8},
};

/* How a process leaves; SYNCED: after a synchronization. */
typedef enum left { IN_TIME, LATE, DISRUPTED, SYNCED } left;

/* One call of one process. */
typedef struct record {
    int64_t instant_ns, slack_ns, need_ns;
    int64_t delay_ns; /* of this process alone */
    left left;
    int64_t left_ns; /* virtual time */
} record;

typedef struct play {
    const scene *scene;
    int barrier_choice;
    int64_t wrong_ns[SIMULATED_MOST]; /* how far a process's estimate is ahead */
    int64_t bound_ns;
    int calls;
    int64_t max_delay_ns; /* 0: no delays */
    record records[SIMULATED_MOST][CALLS];
    mh_rounds last[SIMULATED_MOST];
    int64_t slack_after_rehearsal_ns;
} play;

static mh_rounds_settings settings_with(int barrier_choice)
{
    return (mh_rounds_settings){.barrier_choice = barrier_choice,
                                .clocks_agree = true,
                                .tolerance_ns = TOLERANCE_NS,
                                .slack_floor_ns = FLOOR_NS,
                                .slack_ceiling_ns = CEILING_NS};
}

/* Global time is the virtual time: true = local - offset - drift * true. */
static mh_estimate exact_estimate(const simulation *world, int rank)
{
    const simulated_clock *clock = &world->clocks[rank];
    return (mh_estimate){.model = {clock->offset_ns, clock->offset_ns, clock->drift / (1 + clock->drift)}};
}

/* Without the shared memory, in which no virtual time would pass. */
static void open_barrier(const mh_channel *channel, mh_barrier *barrier)
{
    static mh_place places[SIMULATED_MOST];
    mh_group all = {channel->size, channel->rank, NULL};
    mh_sites sites = {channel->rank, channel->size, all, all, places};
    mh_barrier_site site = {channel, &sites, &barrier->slots};
    memset(barrier, 0, sizeof *barrier);
    mh_barrier_open_members(barrier, &site);
}

static void open_process(const simulation *world, const mh_channel *channel, const mh_base_clock *base,
                         const play *play, mh_comm_state *state)
{
    mh_estimate estimate = exact_estimate(world, channel->rank);
    estimate.model.offset_ns -= play->wrong_ns[channel->rank];
    estimate.bound_ns = channel->rank == 0 ? 0 : play->bound_ns; /* global time is that of rank 0 */
    memset(state, 0, sizeof *state);
    state->channel = *channel;
    state->channel.yields = play->scene->yields;
    state->plan_is_current = true;
    mh_settings_default(&state->settings);
    mh_comm_clock_init(&state->clock, &state->channel);
    state->clock.global.base = *base;
    mh_global_clock_publish(&state->clock.global, &estimate);
    /* The steady clock is not virtual: whatever it says is no step. */
    mh_clock_watch_start(&state->clock.watch, base);
    state->clock.watch.steady_limit = HUGE_VAL;
    state->clock.watch.every_ns = INT64_MAX;
    open_barrier(&state->channel, &state->barrier);
    mh_rounds_init(&state->rounds, &state->channel, &state->clock.global, &state->barrier);
    mh_rounds_settings settings = settings_with(play->barrier_choice);
    mh_rounds_configure(&state->rounds, &settings);
}

static void play_calls(const simulation *world, const mh_channel *channel, const mh_base_clock *base, void *argument)
{
    play *play = argument;
    mh_comm_state state;
    mh_error error = MH_NO_ERROR;
    chance dice = chance_of_round(9000 + world->round * SIMULATED_MOST + channel->rank);
    open_process(world, channel, base, play, &state);
    mh_rounds_rehearse(&state.rounds, &error);
    if (channel->rank == 0)
        play->slack_after_rehearsal_ns = state.rounds.slack.slack_ns;
    for (int i = 0; i < play->calls; i++) {
        record *record = &play->records[channel->rank][i];
        int flag = -1;
        simulated_pass_ns((int64_t)chance_exponential(&dice, play->scene->work_ns));
        record->delay_ns = play->max_delay_ns > 0 ? chance_between(&dice, 0, play->max_delay_ns) : 0;
        mh_call call = {.is_delayed = record->delay_ns > 0, .delay_ns = record->delay_ns, .flag = &flag};
        ck_assert_int_eq(mh_harmonize(&state, &call, &error), MPI_SUCCESS);
        record->left_ns = simulated_now_ns();
        record->left = state.clock.schedule.count > 0 ? SYNCED
                       : state.clock.disrupted        ? DISRUPTED
                       : flag == 1                    ? IN_TIME
                                                      : LATE;
        record->instant_ns = state.rounds.instant_ns;
        record->slack_ns = state.rounds.slack_ns;
        record->need_ns = state.rounds.arrival.need_ns;
    }
    play->last[channel->rank] = state.rounds;
    mh_barrier_close(&state.barrier);
}

static simulation make_world(const scene *scene, int round)
{
    chance dice = chance_of_round(7000 + round);
    simulation world = {.processes = scene->processes,
                        .clocks_are_raw = true,
                        .network = scene->network,
                        .descheduled = scene->descheduled,
                        .round = round};
    for (int rank = 0; rank < world.processes; rank++) {
        world.node[rank] = rank / scene->per_node;
        world.clocks[rank] = simulated_random_clock(&dice, 250 * MH_PPM);
    }
    return world;
}

/* Places in the list of mh_barrier_choice. */
enum { AUTO = 0, DISSEMINATION = 2, TREE = 3, COLLECTIVE = 4 };

/* How many there are. Another one takes the place of one that needs shared memory. */
static int choices(void)
{
    int count = 1; /* there is one at least */
    while (mh_barrier_choice(count))
        count++;
    return count;
}

static play *play_scene(const scene *scene, int round, int64_t max_delay_ns, int calls)
{
    static play played;
    memset(&played, 0, sizeof played);
    played.scene = scene;
    played.calls = calls;
    played.max_delay_ns = max_delay_ns;
    played.barrier_choice = round % choices();
    simulation world = make_world(scene, round);
    simulate(&world, play_calls, &played);
    return &played;
}

static int64_t lateness_ns(const record *record)
{
    return record->left_ns - record->instant_ns - record->delay_ns;
}

/* ---- What each call promises, with delays and without */

static void check_flags(const scene *scene, const play *played)
{
    for (int rank = 0; rank < scene->processes; rank++)
        for (int i = 0; i < CALLS; i++) {
            const record *record = &played->records[rank][i];
            int64_t late_ns = lateness_ns(record);
            EXPECT(late_ns >= -ROUNDING_NS, "%s, rank %d, call %d: it leaves %" PRId64 " ns early", scene->name, rank,
                   i, -late_ns);
            if (record->left == IN_TIME)
                EXPECT(late_ns <= TOLERANCE_NS + ROUNDING_NS, "%s, rank %d, call %d: in time, but %" PRId64 " ns late",
                       scene->name, rank, i, late_ns);
            else
                EXPECT(record->left == LATE && late_ns >= TOLERANCE_NS - ROUNDING_NS,
                       "%s, rank %d, call %d: not in time, but only %" PRId64 " ns late", scene->name, rank, i,
                       late_ns);
        }
}

static void check_validity(const scene *scene, const play *played)
{
    enum { FIRST = 50 }; /* calls, which do not count */
    int valid = 0;
    for (int i = FIRST; i < CALLS; i++) {
        bool all = true;
        for (int rank = 0; rank < scene->processes; rank++)
            all &= played->records[rank][i].left == IN_TIME;
        valid += all;
    }
    double fraction = (double)valid / (CALLS - FIRST);
    EXPECT(fraction >= scene->least_valid, "%s: all are in time in %.1f %% of the calls", scene->name, 100 * fraction);
}

static void check_instants(const scene *scene, const play *played)
{
    for (int rank = 1; rank < scene->processes; rank++)
        for (int i = 0; i < CALLS; i++) {
            const record *mine = &played->records[rank][i], *first = &played->records[0][i];
            EXPECT(mine->instant_ns == first->instant_ns && mine->slack_ns == first->slack_ns,
                   "%s, rank %d, call %d: another instant or slack than that of rank 0", scene->name, rank, i);
        }
}

static void check_counts(const scene *scene, const play *played)
{
    for (int rank = 0; rank < scene->processes; rank++) {
        int64_t misses = 0;
        for (int i = 0; i < CALLS; i++)
            misses += played->records[rank][i].left != IN_TIME;
        ck_assert_int_eq(played->last[rank].calls, CALLS);
        ck_assert_int_eq(played->last[rank].misses, misses);
    }
}

static void check_rehearsal(const scene *scene, const play *played)
{
    /* A message of the simulated barrier to each process, one after the other. */
    double delay_ns = (double)scene->network.far_ns * scene->network.lopsided + scene->network.jitter_ns;
    double max_ns = scene->network.stalls > 0 ? 1e9 : 10 * delay_ns + 1000 * scene->processes;
    EXPECT((double)played->slack_after_rehearsal_ns <= max_ns, "%s: it starts with a slack of %" PRId64 " ns",
           scene->name, played->slack_after_rehearsal_ns);
    ck_assert_int_eq(played->records[0][0].slack_ns, played->slack_after_rehearsal_ns);
}

/* Returns the overhead that is learned. */
static int64_t check_calls(const scene *scene, int round, int64_t max_delay_ns)
{
    const play *played = play_scene(scene, round, max_delay_ns, CALLS);
    check_flags(scene, played);
    check_validity(scene, played);
    check_instants(scene, played);
    check_counts(scene, played);
    check_rehearsal(scene, played);
    return played->last[0].slack.overhead_ns;
}

/* Delays are much longer than the tolerance, and too short for sleeps and yields, which take real time. */
LOOP_TEST(calls_keep_their_promises, COUNT_OF(scenes))
{
    enum { MAX_DELAY_NS = 40 * 1000 };
    const scene *scene = &scenes[_i];
    int64_t plain_ns = 0, delayed_ns = 0;
    for (int i = 0; i < rounds_of(3); i++) {
        plain_ns += check_calls(scene, _i + i * choices(), 0);
        delayed_ns += check_calls(scene, _i + i * choices(), MAX_DELAY_NS);
    }
    /* Most of the time between two calls is a delay, of which the overhead must have nothing. */
    EXPECT(delayed_ns <= 2 * plain_ns && plain_ns <= 8 * delayed_ns,
           "%s: overheads of %" PRId64 " ns without delays, %" PRId64 " ns with them", scene->name, plain_ns,
           delayed_ns);
}

/* ---- The slack */

TEST(needs_are_forgotten_with_the_barrier)
{
    mh_rounds rounds;
    mh_rounds_settings tree = settings_with(TREE), collective = settings_with(COLLECTIVE);
    mh_channel alone = {.rank = 0, .size = 1};
    mh_rounds_init(&rounds, &alone, NULL, NULL);
    mh_rounds_configure(&rounds, &tree);
    mh_slack_learn(&rounds.slack, &(mh_slack_call){1000, 1000, 0, 0, 0});
    int64_t slack_ns = rounds.slack.slack_ns;
    tree.tolerance_ns++;
    mh_rounds_configure(&rounds, &tree);
    EXPECT(rounds.slack.calls == 1 && rounds.slack.slack_ns == slack_ns,
           "another tolerance, and what was learned is forgotten");
    rounds.last_call.overhead_ns = 1000;
    mh_rounds_configure(&rounds, &collective);
    EXPECT(rounds.slack.calls == 0, "another barrier, but what was learned is kept");
    EXPECT(rounds.last_call.overhead_ns == INT64_MIN, "another barrier, but a need of the former one will be learned");
}

/* What one call tells, from what all processes recorded. */
static mh_slack_call told_by(const play *played, int i)
{
    mh_slack_call told = {.slack_ns = played->records[0][i].slack_ns, .need_ns = INT64_MIN};
    for (int rank = 0; rank < played->scene->processes; rank++) {
        const record *record = &played->records[rank][i];
        bool is_late = record->left == LATE && record->need_ns <= record->slack_ns + record->delay_ns;
        told.need_ns = record->need_ns > told.need_ns ? record->need_ns : told.need_ns;
        told.delay_ns = record->delay_ns > told.delay_ns ? record->delay_ns : told.delay_ns;
        told.late_ns += is_late;
    }
    return told;
}

/* With delays and without. The last two calls are not learned from. */
TEST(late_calls_are_learned)
{
    enum { SHORT = 140 }; /* with the rehearsals fewer than the slack remembers */
    static const scene scene = {"descheduled", 4, 4, QUIET, 1000, 0.02, false, 0};
    for (int round = 0; round < rounds_of(2 * choices()); round++) {
        const play *played = play_scene(&scene, round, round < choices() ? 0 : 100000, SHORT);
        int late = 0;
        double waited_ns = 0, delay_ns = 0;
        for (int i = 0; i < SHORT - 2; i++) {
            mh_slack_call told = told_by(played, i);
            if (told.need_ns > told.slack_ns + told.delay_ns)
                continue;
            late += told.late_ns > 0;
            waited_ns += (double)(told.slack_ns + told.delay_ns);
            delay_ns += (double)told.delay_ns;
        }
        const mh_slack_counts *counts = &played->last[0].slack.counts[0];
        ck_assert_int_gt(late, 0);
        ck_assert_int_eq(counts->late_calls, late);
        ck_assert_double_eq(counts->waited_ns, waited_ns);
        ck_assert_double_eq(counts->delay_ns, delay_ns);
        ck_assert_double_ge(counts->late_ns, (double)late * TOLERANCE_NS);
    }
}

/* ---- Wrong clocks */

static const struct {
    const char *name;
    int64_t ahead_ns, bound_ns;
    left left;   /* how the process with that clock leaves */
    left others; /* without a root, where the last one to arrive is who is ahead */
} wrongs[] = {
    {"right", 0, 0, IN_TIME, IN_TIME},
    {"behind by 1 s", -MH_NS_PER_S, 1000, DISRUPTED, IN_TIME},
    {"behind by 1 ms", -MH_NS_PER_MS, 1000, DISRUPTED, IN_TIME},
    {"behind, within the bound", -MH_NS_PER_MS, 2 * MH_NS_PER_MS, IN_TIME, IN_TIME},
    {"behind, bound unknown", -MH_NS_PER_MS, MH_TIME_UNKNOWN_NS, DISRUPTED, IN_TIME},
    {"behind by less than a message takes", -200, 0, IN_TIME, IN_TIME},
    {"ahead by 1 s", MH_NS_PER_S, 1000, SYNCED, DISRUPTED},
    {"ahead, within the bound", 200000, 300000, IN_TIME, IN_TIME},
    {"ahead, bound unknown", 200000, MH_TIME_UNKNOWN_NS, IN_TIME, IN_TIME},
};

static void check_wrong(int wrong, int choice, int rank, left expected)
{
    static const scene scene = {"", 4, 4, QUIET, 1000, 0, false, 0};
    static play played;
    memset(&played, 0, sizeof played);
    played.scene = &scene;
    played.barrier_choice = choice;
    played.calls = 1;
    played.bound_ns = wrongs[wrong].bound_ns;
    played.wrong_ns[2] = wrongs[wrong].ahead_ns;
    simulation world = make_world(&scene, 500);
    simulate(&world, play_calls, &played);
    const record *record = &played.records[rank][0];
    /* Without a root, each waits for many messages, of which one may take longer than in the rehearsal. */
    bool may_be_late = choice == DISSEMINATION && expected == IN_TIME;
    EXPECT(record->left == expected || (may_be_late && record->left == LATE),
           "%s, %s: rank %d leaves as %d instead of %d", wrongs[wrong].name, mh_barrier_choice(choice), rank,
           (int)record->left, (int)expected);
    if (record->left == DISRUPTED)
        EXPECT(lateness_ns(record) < MH_NS_PER_MS / 2, "%s: disrupted, but it waits", wrongs[wrong].name);
}

LOOP_TEST(wrong_clock_shows, COUNT_OF(wrongs))
{
    check_wrong(_i, TREE, 2, wrongs[_i].left);
    if (wrongs[_i].left != SYNCED)
        check_wrong(_i, DISSEMINATION, 2, wrongs[_i].left);
    check_wrong(_i, DISSEMINATION, 0, wrongs[_i].others);
}

/* ---- Requests */

#define NOTHING MH_ORDER_RELEASE
#define RESTART MH_ORDER_RESTART
#define NO_FLAG MH_ORDER_NO_FLAG
#define DELAYED MH_ORDER_NO_FLAG_DELAYED
#define BAD_DELAY MH_ORDER_BAD_DELAY

static const struct {
    const char *name;
    mh_order requests[3];
    bool is_due; /* to synchronize, by the clock of rank 0 */
    mh_order order, done;
} requests[] = {
    {"nothing special", {NOTHING, NOTHING, NOTHING}, false, MH_ORDER_RELEASE, MH_ORDER_RELEASE},
    {"due", {NOTHING, NOTHING, NOTHING}, true, MH_ORDER_SYNC, MH_ORDER_RELEASE},
    {"rank 0 asks", {RESTART, NOTHING, NOTHING}, false, MH_ORDER_RESTART, MH_ORDER_RELEASE},
    {"another one asks", {NOTHING, NOTHING, RESTART}, false, MH_ORDER_RESTART, MH_ORDER_RELEASE},
    {"due, and one asks for more", {NOTHING, NOTHING, RESTART}, true, MH_ORDER_RESTART, MH_ORDER_RELEASE},
    {"one refuses", {NOTHING, NO_FLAG, NOTHING}, false, MH_ORDER_NO_FLAG, MH_ORDER_RELEASE},
    {"due, but one refuses", {NOTHING, NO_FLAG, NOTHING}, true, MH_ORDER_NO_FLAG, MH_ORDER_RELEASE},
    {"one refuses, one asks", {RESTART, NOTHING, NO_FLAG}, false, MH_ORDER_NO_FLAG, MH_ORDER_RELEASE},
    {"due, but done", {NOTHING, NOTHING, NOTHING}, true, MH_ORDER_RELEASE, MH_ORDER_SYNC},
    {"one asks, but that is done", {NOTHING, RESTART, NOTHING}, false, MH_ORDER_RELEASE, MH_ORDER_RESTART},
    {"due, but more is done", {NOTHING, NOTHING, NOTHING}, true, MH_ORDER_RELEASE, MH_ORDER_RESTART},
    {"one asks for more than is done", {NOTHING, RESTART, NOTHING}, false, MH_ORDER_RESTART, MH_ORDER_SYNC},
    {"two functions refuse", {NO_FLAG, DELAYED, NO_FLAG}, false, MH_ORDER_NO_FLAG_DELAYED, MH_ORDER_RELEASE},
    {"one has a bad delay, another no flag", {BAD_DELAY, RESTART, NO_FLAG}, true, MH_ORDER_BAD_DELAY, MH_ORDER_RELEASE},
    {"done, but one refuses", {NOTHING, NO_FLAG, NOTHING}, false, MH_ORDER_NO_FLAG, MH_ORDER_RESTART},
};

static struct {
    int row;
    mh_release first[3], next[3];
} asked;

static void ask(const simulation *world, const mh_channel *channel, const mh_base_clock *base, void *argument)
{
    mh_comm_state state;
    mh_rounds *rounds = &state.rounds;
    mh_error error = MH_NO_ERROR;
    int rank = channel->rank;
    open_process(world, channel, base, argument, &state);
    mh_rounds_rehearse(rounds, &error);
    if (requests[asked.row].is_due)
        mh_rounds_sync_at(rounds, mh_global_clock_now_ns(&state.clock.global));
    mh_rounds_arrive(rounds, mh_base_clock_now_ns(base), requests[asked.row].requests[rank], requests[asked.row].done,
                     &asked.first[rank], &error);
    /* A request is for one round. */
    mh_rounds_sync_at(rounds, INT64_MAX);
    mh_rounds_arrive(rounds, mh_base_clock_now_ns(base), MH_ORDER_RELEASE, MH_ORDER_RELEASE, &asked.next[rank], &error);
    mh_barrier_close(&state.barrier);
}

LOOP_TEST(greatest_request_wins, 2 * COUNT_OF(requests))
{
    static const scene scene = {"", 3, 3, QUIET, 1000, 0, false, 0};
    static play play;
    simulation world = make_world(&scene, 600);
    int row = _i / 2;
    play.scene = &scene;
    play.barrier_choice = _i % 2 ? DISSEMINATION : TREE;
    asked.row = row;
    simulate(&world, ask, &play);
    for (int rank = 0; rank < 3; rank++) {
        EXPECT(asked.first[rank].order == (int)requests[row].order, "%s: rank %d gets order %d instead of %d",
               requests[row].name, rank, (int)asked.first[rank].order, (int)requests[row].order);
        EXPECT(asked.next[rank].order == MH_ORDER_RELEASE, "%s: rank %d is not released in the next round",
               requests[row].name, rank);
    }
}
