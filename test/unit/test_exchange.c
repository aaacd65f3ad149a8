/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_exchange.c - bursts of exchanges between two simulated processes: how many there are, and that both ends agree.
 */
#include "pure/units.h"
#include "virtual_processes.h"
#include "support.h"
#include "sync/exchange.h"
#include "sync/offset.h"

#include <inttypes.h>

enum { MOST = 200 };

/* A burst, and then the count that the client made, which the reference must be able to receive. */
typedef struct play {
    bool may_stop;
    int most;
    mh_exchange exchanges[MOST];
    mh_burst burst; /* of the client */
    int reported;   /* to the reference */
} play;

enum { TAG_TEST = 900 };

static void run_burst(const simulation *world, const mh_channel *channel, const mh_base_clock *clock, void *argument)
{
    play *play = argument;
    mh_error error = {0};
    mh_link link = {channel, clock, 1 - channel->rank};
    (void)world;
    if (channel->rank == 0) {
        mh_model bare = mh_model_identity();
        mh_exchange_serve(&link, &bare, &error);
        mh_recv(channel, &play->reported, sizeof play->reported, 1, TAG_TEST, &error);
        return;
    }
    play->burst = (mh_burst){play->exchanges, play->most, play->may_stop, MH_RAW_RATE_LIMIT, 0, false};
    mh_exchange_measure(&link, &play->burst, &error);
    mh_send(channel, &play->burst.count, sizeof play->burst.count, 0, TAG_TEST, &error);
}

static simulation make_world(double jitter_ns)
{
    return (simulation){.processes = 2,
                        .node = {0, 1},
                        .clocks = {{0, 0, 0, 0, 0, 0}, {123456789, 20 * MH_PPM, 20 * MH_PPM, 0, 0, 0}},
                        .clocks_are_raw = true,
                        .network = {.near_ns = 500, .far_ns = 2000, .jitter_ns = jitter_ns, .lopsided = 1}};
}

/* How many are made. */
static const struct {
    bool may_stop;
    int most;
    double jitter_ns;
    int made_at_least, made_at_most;
} bursts[] = {
    {false, 1, 300, 1, 1},          {false, 2, 300, 2, 2}, {false, 10, 300, 10, 10},
    {false, MOST, 300, MOST, MOST}, {true, MOST, 0, 5, 5}, /* the network is steady */
    {true, MOST, 300, 6, MOST - 1},                        /* the window narrows for some time */
    {true, 1, 2000, 1, 1},          {true, 2, 2000, 1, 2}, {true, 8, 2000, 1, 8},
};

LOOP_TEST(a_burst_goes_on_while_it_is_of_use, COUNT_OF(bursts))
{
    simulation world = make_world(bursts[_i].jitter_ns);
    play result = {.may_stop = bursts[_i].may_stop, .most = bursts[_i].most};
    simulate(&world, run_burst, &result);
    ck_assert_int_ge(result.burst.count, bursts[_i].made_at_least);
    ck_assert_int_le(result.burst.count, bursts[_i].made_at_most);
    ck_assert_int_eq(result.reported, result.burst.count);
}

/* A clock that nobody has set may show 1970. */
LOOP_TEST(clocks_may_be_a_century_apart, 2)
{
    static const int64_t offsets_ns[] = {INT64_C(100) * 365 * 86400 * MH_NS_PER_S,
                                         INT64_C(-100) * 365 * 86400 * MH_NS_PER_S};
    simulation world = make_world(300);
    play result = {.may_stop = true, .most = MOST};
    world.clocks[1].offset_ns = offsets_ns[_i];
    simulate(&world, run_burst, &result);
    EXPECT(!result.burst.stepped && result.burst.count >= 5, "%d exchanges, and %s step", result.burst.count,
           result.burst.stepped ? "a" : "no");
}

/* ---- A clock is stepped during the burst */

static const int64_t steps_ns[] = {MH_NS_PER_MS, -MH_NS_PER_MS,      MH_NS_PER_S,
                                   -MH_NS_PER_S, 3600 * MH_NS_PER_S, -3600 * MH_NS_PER_S};

/* The offset of the client's clock, at a true time. */
static int64_t offset_at(const simulation *world, int64_t true_ns)
{
    return simulated_clock_ns(world, 1, true_ns) - simulated_clock_ns(world, 0, true_ns);
}

static mh_window window_of(const play *play)
{
    mh_window window = mh_window_unknown();
    for (int i = 0; i < play->burst.count; i++) {
        const mh_exchange *one = &play->exchanges[i];
        mh_window_narrow(&window, one->sent_ns, one->remote_ns, one->received_ns);
    }
    return window;
}

static bool holds(mh_window window, int64_t offset_ns)
{
    enum { DRIFTED_NS = 100 }; /* 500 ppm of 200 us */
    return window.min_ns - DRIFTED_NS <= offset_ns && offset_ns <= window.max_ns + DRIFTED_NS;
}

/* Wherever a step falls: exchanges of both sides of it are not mixed, and it is noticed if it falls among them. */
LOOP_TEST(a_step_in_a_burst_is_found, COUNT_OF(steps_ns))
{
    int found = 0;
    for (int round = 0; round < rounds_of(400); round++) {
        chance dice = chance_of_round(round);
        simulation world = make_world(300);
        simulated_clock *stepped = &world.clocks[round % 2];
        stepped->step_ns = steps_ns[_i];
        stepped->step_at_ns = chance_between(&dice, 0, 1200000);
        world.round = round;
        play result = {.most = 20};
        simulate(&world, run_burst, &result);
        found += result.burst.stepped;
        EXPECT(result.reported == result.burst.count, "the reference received %d", result.reported);
        if (result.burst.count == 0) {
            EXPECT(result.burst.stepped, "round %d: a burst without exchanges, and no step is reported", round);
            continue;
        }
        mh_window window = window_of(&result);
        bool before = holds(window, offset_at(&world, 0)), after = holds(window, offset_at(&world, INT64_C(2000000)));
        EXPECT(result.burst.stepped ? after : before || after,
               "round %d: step %" PRId64 " at %" PRId64 ": the window is from %" PRId64 " to %" PRId64, round,
               steps_ns[_i], stepped->step_at_ns, window.min_ns, window.max_ns);
    }
    EXPECT(found > 0, "no step fell into a burst");
}
