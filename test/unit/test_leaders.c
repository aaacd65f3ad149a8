/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_leaders.c - the first processes of nodes learn the ranks of each other, in virtual time: with any distribution
 * of ranks over nodes, in a logarithmic number of steps, and without lists on processes that need none.
 */
#include "support.h"
#include "topology/leaders.h"
#include "virtual_world.h"

enum { MOST = 3000, ALL_UP_TO = 35, STEP_NS = 1000 };

static struct {
    int processes;
    bool leads[MOST];
    int leaders[MOST], count; /* the truth */
    bool takes_part[MOST];
    int64_t messages[MOST], end_ns;
    bool any_failed;
} play;

/* ---- Distributions: the node of each rank */

static int in_blocks(int rank, int nodes, chance *dice)
{
    (void)dice;
    return (int)((int64_t)rank * nodes / play.processes);
}

static int in_turn(int rank, int nodes, chance *dice)
{
    (void)dice;
    return rank % nodes;
}

static int reversed(int rank, int nodes, chance *dice)
{
    return nodes - 1 - in_blocks(rank, nodes, dice);
}

static int by_chance(int rank, int nodes, chance *dice)
{
    (void)rank;
    return (int)chance_between(dice, 0, nodes - 1);
}

static int (*const distributions[])(int rank, int nodes, chance *dice) = {in_blocks, in_turn, reversed, by_chance};

static void distribute(int processes, int nodes, int distribution, chance *dice)
{
    static bool seen[MOST];
    memset(seen, 0, sizeof seen);
    memset(&play, 0, sizeof play);
    play.processes = processes;
    for (int rank = 0; rank < processes; rank++) {
        int node = distributions[distribution](rank, nodes, dice);
        play.leads[rank] = !seen[node];
        seen[node] = true;
        if (play.leads[rank])
            play.leaders[play.count++] = rank;
    }
}

/* ---- Processes */

static void begin(const virtual_world *world, virtual_process *process)
{
    (void)world;
    process->now_ns = 0;
}

static int64_t arrival_ns(const virtual_world *world, virtual_process *from, int to)
{
    (void)world;
    (void)to;
    return from->now_ns + STEP_NS;
}

static void run(const virtual_world *world, virtual_process *self)
{
    int rank = self->rank;
    mh_channel channel = {.comm = MPI_COMM_NULL, .rank = rank, .size = world->processes};
    mh_leader_tree tree;
    mh_error error = MH_NO_ERROR;
    mh_leaders_count(&channel, play.leads[rank], &tree, &error);
    play.takes_part[rank] = tree.leaders > 0;
    int *ranks = tree.leaders > 0 ? malloc((size_t)play.count * sizeof *ranks) : NULL;
    mh_leaders_list(&channel, &tree, play.count, ranks, &error);
    EXPECT(!play.leads[rank] || (ranks && memcmp(ranks, play.leaders, (size_t)play.count * sizeof *ranks) == 0),
           "of %d, rank %d: another list than all %d leaders", play.processes, rank, play.count);
    EXPECT(rank > 0 || tree.leaders == play.count, "of %d, rank 0 counts %d leaders instead of %d", play.processes,
           tree.leaders, play.count);
    free(ranks);
    play.messages[rank] = self->messages;
    if (self->now_ns > play.end_ns)
        play.end_ns = self->now_ns;
}

static void run_into_failure(const virtual_world *world, virtual_process *self)
{
    mh_channel channel = {.comm = MPI_COMM_NULL, .rank = self->rank, .size = world->processes};
    mh_leader_tree tree;
    mh_error error = MH_NO_ERROR;
    int ranks[ALL_UP_TO];
    int code = mh_leaders_count(&channel, play.leads[self->rank], &tree, &error);
    if (code == MPI_SUCCESS)
        code = mh_leaders_list(&channel, &tree, play.count, ranks, &error);
    EXPECT(self->failures == (code != MPI_SUCCESS), "the code is %d, and %d operations failed", code, self->failures);
    play.any_failed = play.any_failed || self->failures > 0;
}

LOOP_TEST(no_failure_is_lost, COUNT_OF(distributions))
{
    enum { PROCESSES = 21, NODES = 8 };
    chance dice = chance_of_round(_i);
    distribute(PROCESSES, NODES, _i, &dice);
    virtual_world world = {.processes = PROCESSES, .begin = begin, .run = run_into_failure, .arrival_ns = arrival_ns};
    do {
        play.any_failed = false;
        world.fails_from++;
        virtual_run(&world);
    } while (play.any_failed);
}

static int rounds_among(int processes)
{
    int rounds = 0;
    while (1 << rounds < processes)
        rounds++;
    return rounds;
}

static void check(void)
{
    int rounds = rounds_among(play.processes);
    virtual_run(&(virtual_world){.processes = play.processes, .begin = begin, .run = run, .arrival_ns = arrival_ns});
    EXPECT(play.end_ns <= INT64_C(3) * rounds * STEP_NS,
           "%d processes take %" PRId64 " steps, more than 3 for each of %d", play.processes, play.end_ns / STEP_NS,
           rounds);
    for (int rank = 0; rank < play.processes; rank++) {
        int64_t most = play.takes_part[rank] ? 2 + rounds : 1;
        EXPECT(play.messages[rank] <= most, "of %d, rank %d sends %" PRId64 " messages, more than %" PRId64,
               play.processes, rank, play.messages[rank], most);
    }
}

LOOP_TEST(all_small_sizes, COUNT_OF(distributions))
{
    chance dice = chance_of_round(_i);
    /* And around the next power of two. */
    for (int processes = 1; processes < 67; processes += processes == ALL_UP_TO ? 28 : 1)
        for (int nodes = 1; nodes <= processes; nodes += 1 + nodes / 4) {
            distribute(processes, nodes, _i, &dice);
            check();
        }
}

LOOP_TEST(any_sizes, COUNT_OF(distributions))
{
    for (int round = 0; round < rounds_of(8); round++) {
        chance dice = chance_of_round(100 * (1 + round) + _i);
        int processes = (int)chance_between(&dice, 2, MOST);
        distribute(processes, (int)chance_between(&dice, 1, processes), _i, &dice);
        check();
    }
}

/* Dealt in turn to nodes of the same size, or in blocks of a power of two. */
LOOP_TEST(only_leaders_have_lists_if_regular, 2)
{
    enum { NODES = 37, PER_NODE = 16 };
    chance dice = chance_of_round(0);
    distribute(NODES * PER_NODE, NODES, _i, &dice);
    check();
    for (int rank = 0; rank < play.processes; rank++)
        EXPECT(play.takes_part[rank] == play.leads[rank], "rank %d has a list", rank);
}
