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

static play burst(bool may_stop, int most, double jitter_ns)
{
    simulation world = make_world(jitter_ns);
    play result = {.may_stop = may_stop, .most = most};
    simulate(&world, run_burst, &result);
    return result;
}

START_TEST(all_are_made_where_each_counts)
{
    static const int counts[] = {1, 2, 10, MOST};
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        play result = burst(false, counts[i], 300);
        EXPECT(result.burst.count == counts[i], "%d exchanges instead of %d", result.burst.count, counts[i]);
        EXPECT(result.reported == counts[i], "the reference received %d instead of %d", result.reported, counts[i]);
    }
}
END_TEST

START_TEST(a_burst_ends_where_the_network_is_steady)
{
    play result = burst(true, MOST, 0);
    EXPECT(result.burst.count == 5, "%d exchanges, though all were alike", result.burst.count);
    EXPECT(result.reported == result.burst.count, "the reference received %d instead of %d", result.reported,
           result.burst.count);
}
END_TEST

START_TEST(a_burst_goes_on_while_the_window_narrows)
{
    play steady = burst(true, MOST, 0), jittery = burst(true, MOST, 300);
    EXPECT(jittery.burst.count > steady.burst.count, "%d exchanges with jitter, %d without", jittery.burst.count,
           steady.burst.count);
    EXPECT(jittery.burst.count < MOST, "all %d exchanges, though the window hardly narrows after some",
           jittery.burst.count);
}
END_TEST

START_TEST(no_more_than_asked_for)
{
    for (int most = 1; most <= 8; most++) {
        play result = burst(true, most, 2000);
        EXPECT(result.burst.count >= 1 && result.burst.count <= most, "%d exchanges, at most %d asked for",
               result.burst.count, most);
        EXPECT(result.reported == result.burst.count, "the reference received %d instead of %d", result.reported,
               result.burst.count);
    }
}
END_TEST

/* A clock that nobody has set may show 1970. */
START_TEST(clocks_may_be_a_century_apart)
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
END_TEST

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
START_TEST(a_step_in_a_burst_is_found)
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
        EXPECT_SEEDED(result.reported == result.burst.count, "the reference received %d", result.reported);
        if (result.burst.count == 0) {
            EXPECT_SEEDED(result.burst.stepped, "round %d: a burst without exchanges, and no step is reported", round);
            continue;
        }
        mh_window window = window_of(&result);
        bool before = holds(window, offset_at(&world, 0)), after = holds(window, offset_at(&world, INT64_C(2000000)));
        EXPECT_SEEDED(result.burst.stepped ? after : before || after,
                      "round %d: step %" PRId64 " at %" PRId64 ": the window is from %" PRId64 " to %" PRId64, round,
                      steps_ns[_i], stepped->step_at_ns, window.min_ns, window.max_ns);
    }
    EXPECT(found > 0, "no step fell into a burst");
}
END_TEST

static void add(TCase *tests)
{
    tcase_add_loop_test(tests, clocks_may_be_a_century_apart, 0, 2);
    tcase_add_loop_test(tests, a_step_in_a_burst_is_found, 0, COUNT_OF(steps_ns));
    tcase_add_test(tests, all_are_made_where_each_counts);
    tcase_add_test(tests, a_burst_ends_where_the_network_is_steady);
    tcase_add_test(tests, a_burst_goes_on_while_the_window_narrows);
    tcase_add_test(tests, no_more_than_asked_for);
}

SUITE(exchange, add)
