/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_exchange.c - bursts of exchanges between two simulated processes: how many there are, and that both ends agree.
 */
#include "base/units.h"
#include "simulation.h"
#include "support.h"
#include "sync/exchange.h"

enum { MOST = 200 };

/* A burst, and then the count that the client made, which the reference must be able to receive. */
typedef struct play {
    bool may_stop;
    int most;
    int made;     /* by the client */
    int reported; /* to the reference */
} play;

static void run_burst(const simulation *world, const mh_channel *channel, const mh_base_clock *clock, void *argument)
{
    play *play = argument;
    mh_error error = {0};
    mh_link link = {channel, clock, 1 - channel->rank};
    (void)world;
    if (channel->rank == 0) {
        mh_model bare = mh_model_identity();
        mh_exchange_serve(&link, &bare, &error);
        mh_recv(channel, &play->reported, sizeof play->reported, 1, MH_TAG_MODEL, &error);
        return;
    }
    mh_exchange exchanges[MOST];
    play->made = play->most;
    mh_exchange_measure(&link, exchanges, &play->made, play->may_stop, &error);
    mh_send(channel, &play->made, sizeof play->made, 0, MH_TAG_MODEL, &error);
}

static play burst(bool may_stop, int most, double jitter_ns)
{
    simulation world = {.processes = 2,
                        .node = {0, 1},
                        .clocks = {{0, 0, 0, 0}, {123456789, 20 * MH_PPM, 20 * MH_PPM, 0}},
                        .clocks_are_raw = true,
                        .network = {.near_ns = 500, .far_ns = 2000, .jitter_ns = jitter_ns, .lopsided = 1}};
    play result = {.may_stop = may_stop, .most = most};
    simulate(&world, run_burst, &result);
    return result;
}

START_TEST(all_are_made_where_each_counts)
{
    static const int counts[] = {1, 2, 10, MOST};
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        play result = burst(false, counts[i], 300);
        EXPECT(result.made == counts[i], "%d exchanges instead of %d", result.made, counts[i]);
        EXPECT(result.reported == counts[i], "the reference received %d instead of %d", result.reported, counts[i]);
    }
}
END_TEST

START_TEST(a_burst_ends_where_the_network_is_steady)
{
    play result = burst(true, MOST, 0);
    EXPECT(result.made == 5, "%d exchanges, though all were alike", result.made);
    EXPECT(result.reported == result.made, "the reference received %d instead of %d", result.reported, result.made);
}
END_TEST

START_TEST(a_burst_goes_on_while_the_window_narrows)
{
    play steady = burst(true, MOST, 0), jittery = burst(true, MOST, 300);
    EXPECT(jittery.made > steady.made, "%d exchanges with jitter, %d without", jittery.made, steady.made);
    EXPECT(jittery.made < MOST, "all %d exchanges, though the window hardly narrows after some", jittery.made);
}
END_TEST

START_TEST(no_more_than_asked_for)
{
    for (int most = 1; most <= 8; most++) {
        play result = burst(true, most, 2000);
        EXPECT(result.made >= 1 && result.made <= most, "%d exchanges, at most %d asked for", result.made, most);
        EXPECT(result.reported == result.made, "the reference received %d instead of %d", result.reported, result.made);
    }
}
END_TEST

static void add(TCase *tests)
{
    tcase_add_test(tests, all_are_made_where_each_counts);
    tcase_add_test(tests, a_burst_ends_where_the_network_is_steady);
    tcase_add_test(tests, a_burst_goes_on_while_the_window_narrows);
    tcase_add_test(tests, no_more_than_asked_for);
}

int main(void)
{
    return run_suite("exchange", add);
}
