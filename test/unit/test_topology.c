/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_topology.c - groups of processes on invented machines. The test has a table of all processes; each process gets
 * what it would discover, and no more.
 */
#include "support.h"
#include "pure/topology.h"

enum { MAX_RANKS = 256, MAX_NODES = 64 };

/* Which node a rank is on. */
typedef int (*layout)(int rank, int ranks, int nodes);

static int contiguous(int rank, int ranks, int nodes)
{
    int per_node = (ranks + nodes - 1) / nodes;
    return rank / per_node;
}

static int round_robin(int rank, int ranks, int nodes)
{
    (void)ranks;
    return rank % nodes;
}

static int reversed(int rank, int ranks, int nodes)
{
    return nodes - 1 - contiguous(rank, ranks, nodes);
}

/* Node n has n + 1 ranks, the last one the rest. */
static int uneven(int rank, int ranks, int nodes)
{
    (void)ranks;
    int node = 0, first = 0;
    while (node < nodes - 1 && rank >= first + node + 1)
        first += ++node;
    return node;
}

/* Rank 0 on its own, all others together. */
static int apart(int rank, int ranks, int nodes)
{
    (void)ranks;
    return rank == 0 ? 0 : nodes - 1;
}

static int scattered(int rank, int ranks, int nodes)
{
    chance dice = chance_of_round(rank * 1000 + ranks);
    return (int)chance_between(&dice, 0, nodes - 1);
}

/* Within a node: packages and NUMA nodes in each package. 0: the processes are bound nowhere, as on a laptop. */
typedef struct machine {
    const char *name;
    int ranks, nodes;
    layout layout;
    int packages, numas;
} machine;

static const machine machines[] = {
    {"one process", 1, 1, contiguous, 1, 1},
    {"one node", 8, 1, contiguous, 1, 1},
    {"one node, bound nowhere", 8, 1, contiguous, 0, 0},
    {"one node, two packages", 8, 1, contiguous, 2, 1},
    {"one node, two packages of four", 64, 1, contiguous, 2, 4},
    {"one process a node", 16, 16, contiguous, 1, 1},
    {"contiguous", 32, 4, contiguous, 2, 2},
    {"contiguous, last node not full", 30, 4, contiguous, 2, 2},
    {"round-robin", 32, 4, round_robin, 2, 2},
    {"round-robin, not full", 31, 4, round_robin, 2, 3},
    {"reversed", 32, 4, reversed, 2, 1},
    {"uneven", 36, 8, uneven, 2, 2},
    {"rank 0 apart", 20, 2, apart, 2, 2},
    {"scattered", 100, 7, scattered, 2, 2},
    {"scattered, more nodes than ranks", 20, 40, scattered, 1, 1},
    {"large", 256, 64, round_robin, 2, 2},
};

static int lowest_rank_on_node(const machine *machine, int rank)
{
    int node = machine->layout(rank, machine->ranks, machine->nodes);
    int lowest = 0;
    while (machine->layout(lowest, machine->ranks, machine->nodes) != node)
        lowest++;
    return lowest;
}

/* Where a process runs: the lowest rank of its node, and its place there. */
typedef struct spot {
    int at[1 + MH_PLACE_KINDS];
} spot;

static void place_ranks(const machine *machine, spot *spots)
{
    int on_node[MAX_RANKS] = {0};
    for (int rank = 0; rank < machine->ranks; rank++) {
        int node = lowest_rank_on_node(machine, rank), place = on_node[node]++;
        int package = machine->packages ? place % machine->packages : -1;
        int numa = machine->packages && machine->numas ? place / machine->packages % machine->numas : -1;
        /* Numbers of NUMA nodes are unique in a node, as the operating system counts them. */
        spots[rank] = (spot){{node, package, numa < 0 ? -1 : package * machine->numas + numa}};
    }
}

/* What a process knows, and the lists. */
typedef struct knowledge {
    int leaders[MAX_RANKS], node[MAX_RANKS];
    mh_place places[MAX_RANKS];
    mh_sites sites;
} knowledge;

/* Returns sites that are valid until the next call. */
static const mh_sites *know(const spot *spots, int count, int rank)
{
    static knowledge own;
    mh_sites *sites = &own.sites;
    bool leads = spots[rank].at[0] == rank;
    *sites = (mh_sites){rank, count, {0, 0, NULL}, {0, 0, own.node}, own.places};
    for (int other = 0; other < count; other++) {
        if (other == rank) {
            sites->node.index = sites->node.size;
            sites->leaders.index = leads ? sites->leaders.size : 0;
        }
        if (leads && spots[other].at[0] == other)
            own.leaders[sites->leaders.size++] = other;
        if (spots[other].at[0] != spots[rank].at[0])
            continue;
        memcpy(&own.places[sites->node.size], &spots[other].at[1], sizeof *own.places);
        own.node[sites->node.size++] = other;
    }
    if (sites->leaders.size > 1 && sites->leaders.size < count)
        sites->leaders.ranks = own.leaders;
    return sites;
}

/* The groups of all ranks at all levels. */
typedef struct grouping {
    const machine *machine;
    int levels;
    spot spots[MAX_RANKS];
    mh_group groups[MH_MAX_LEVELS][MAX_RANKS];
} grouping;

static grouping group_all(const machine *machine, int levels)
{
    static grouping all;
    all.machine = machine;
    all.levels = levels;
    place_ranks(machine, all.spots);
    for (int level = 0; level < levels; level++)
        for (int rank = 0; rank < machine->ranks; rank++) {
            const mh_sites *sites = know(all.spots, machine->ranks, rank);
            int code = mh_topology_group(sites, level, levels, &all.groups[level][rank]);
            EXPECT(code == 0, "%s: no group for rank %d at level %d of %d", machine->name, rank, level, levels);
        }
    return all;
}

static void free_all(grouping *all)
{
    for (int level = 0; level < all->levels; level++)
        for (int rank = 0; rank < all->machine->ranks; rank++)
            mh_group_free(&all->groups[level][rank]);
}

/* Calls check for the machine with each number of levels. */
static void with_all_levels(int row, void (*check)(const grouping *all))
{
    for (int levels = 1; levels <= MH_MAX_LEVELS; levels++) {
        grouping all = group_all(&machines[row], levels);
        check(&all);
        free_all(&all);
    }
}

#define EXPECT_AT(condition, rank, level, text) \
    EXPECT_SEEDED(condition, "%s, rank %d, level %d of %d: %s", all->machine->name, rank, level, all->levels, text)

static void check_shape(const grouping *all)
{
    for (int level = 0; level < all->levels; level++)
        for (int rank = 0; rank < all->machine->ranks; rank++) {
            const mh_group *group = &all->groups[level][rank];
            EXPECT_AT(group->size > 0 || !group->ranks, rank, level, "ranks without a size");
            EXPECT_AT(level > 0 || all->levels > 1 || !group->ranks, rank, level, "a list of all processes");
            if (group->size == 0)
                continue;
            EXPECT_AT(group->index >= 0 && group->index < group->size, rank, level,
                      "its place is outside of the group");
            EXPECT_AT(mh_group_rank(group, group->index) == rank, rank, level,
                      "its place in the group is somebody else's");
            for (int i = 1; i < group->size; i++)
                EXPECT_AT(mh_group_rank(group, i - 1) < mh_group_rank(group, i), rank, level,
                          "the ranks do not ascend");
        }
}

static void check_agreement(const grouping *all)
{
    for (int level = 0; level < all->levels; level++)
        for (int rank = 0; rank < all->machine->ranks; rank++) {
            const mh_group *group = &all->groups[level][rank];
            for (int i = 0; i < group->size; i++) {
                const mh_group *other = &all->groups[level][mh_group_rank(group, i)];
                bool is_same = other->size == group->size;
                for (int k = 0; k < group->size; k++)
                    is_same = is_same && mh_group_rank(other, k) == mh_group_rank(group, k);
                EXPECT_AT(is_same, rank, level, "another member sees another group");
            }
        }
}

/* Clock models flow outward from rank 0: each other process must learn once, and from one that has learned. */
static void check_flow(const grouping *all)
{
    for (int rank = 0; rank < all->machine->ranks; rank++) {
        int learns = 0;
        for (int level = 0; level < all->levels; level++) {
            const mh_group *group = &all->groups[level][rank];
            if (group->size > 0 && mh_group_rank(group, 0) == rank)
                EXPECT_AT(rank == 0 || learns > 0, rank, level, "it teaches before it has learned");
            learns += group->index > 0;
        }
        EXPECT_AT(learns == (rank > 0), rank, all->levels - 1, "rank 0 learns, or another one not once");
    }
}

/* Kinds of places, nodes included. */
static int shared_kinds(const grouping *all, int a, int b)
{
    int kinds = 0;
    while (kinds < 1 + MH_PLACE_KINDS && all->spots[a].at[kinds] == all->spots[b].at[kinds])
        kinds++;
    return kinds;
}

static void check_innermost(const grouping *all)
{
    int level = all->levels - 1;
    for (int rank = 0; rank < all->machine->ranks; rank++) {
        const mh_group *group = &all->groups[level][rank];
        int sharers = 0;
        for (int other = 0; other < all->machine->ranks; other++)
            sharers += shared_kinds(all, rank, other) >= level;
        EXPECT_AT(group->size == sharers, rank, level, "the innermost group is not all that share the place");
        for (int i = 0; i < group->size; i++)
            EXPECT_AT(shared_kinds(all, rank, mh_group_rank(group, i)) >= level, rank, level,
                      "a member is somewhere else");
    }
}

/* Further out, the lowest ranks of the groups one level further in, as far as they share the place. */
static void check_leaders(const grouping *all)
{
    for (int level = 0; level < all->levels - 1; level++)
        for (int rank = 0; rank < all->machine->ranks; rank++) {
            bool leads = all->groups[level + 1][rank].size > 0 && all->groups[level + 1][rank].index == 0;
            EXPECT_AT((all->groups[level][rank].size > 0) == leads, rank, level,
                      "not only the lowest ranks stand for others");
            const mh_group *group = &all->groups[level][rank];
            for (int i = 0; i < group->size; i++)
                EXPECT_AT(shared_kinds(all, rank, mh_group_rank(group, i)) >= level, rank, level,
                          "a member is somewhere else");
        }
}

static void check_outermost(const grouping *all)
{
    const mh_group *group = &all->groups[0][0];
    EXPECT_AT(group->size > 0 && mh_group_rank(group, 0) == 0, 0, 0, "rank 0 is not the first of the outermost group");
    for (int rank = 0; rank < all->machine->ranks; rank++)
        EXPECT_AT(all->groups[0][rank].size == 0 || mh_group_rank(&all->groups[0][rank], 0) == 0, rank, 0,
                  "there is more than one outermost group");
}

#define TEST_OF_ALL_LEVELS(name, check) \
    START_TEST(name)                    \
    {                                   \
        with_all_levels(_i, check);     \
    }                                   \
    END_TEST

TEST_OF_ALL_LEVELS(groups_are_well_formed, check_shape)
TEST_OF_ALL_LEVELS(members_see_the_same_group, check_agreement)
TEST_OF_ALL_LEVELS(each_learns_once_and_before_it_teaches, check_flow)
TEST_OF_ALL_LEVELS(innermost_groups_share_their_place, check_innermost)
TEST_OF_ALL_LEVELS(lowest_ranks_stand_for_their_groups, check_leaders)
TEST_OF_ALL_LEVELS(outermost_level_is_one_group, check_outermost)

/* Examples worked out by hand. */
static const struct {
    const char *name;
    spot spots[8];
    int count, rank, level, levels;
    int size, index, ranks[8];
} examples[] = {
    {"two nodes: their first", {{{0}}, {{0}}, {{2}}, {{2}}}, 4, 2, 0, 2, 2, 1, {0, 2}},
    {"two nodes: not the first", {{{0}}, {{0}}, {{2}}, {{2}}}, 4, 3, 0, 2, 0, 0, {0}},
    {"two nodes: within", {{{0}}, {{0}}, {{2}}, {{2}}}, 4, 3, 1, 2, 2, 1, {2, 3}},
    {"round-robin: within", {{{0}}, {{1}}, {{0}}, {{1}}}, 4, 3, 1, 2, 2, 1, {1, 3}},
    {"one level is all", {{{0}}, {{1}}, {{0}}, {{1}}}, 4, 2, 0, 1, 4, 2, {0, 1, 2, 3}},
    {"two packages: their first", {{{0, 0}}, {{0, 1}}, {{0, 0}}, {{0, 1}}}, 4, 1, 1, 3, 2, 1, {0, 1}},
    {"two packages: within", {{{0, 0}}, {{0, 1}}, {{0, 0}}, {{0, 1}}}, 4, 3, 2, 3, 2, 1, {1, 3}},
    {"same package number on two nodes", {{{0, 0}}, {{1, 0}}, {{0, 0}}, {{1, 0}}}, 4, 2, 2, 3, 2, 1, {0, 2}},
    {"same NUMA number in two packages",
     {{{0, 0, 0}}, {{0, 1, 0}}, {{0, 0, 0}}, {{0, 1, 0}}},
     4,
     3,
     3,
     4,
     2,
     1,
     {1, 3}},
};

START_TEST(examples_by_hand)
{
    mh_group group;
    const mh_sites *sites = know(examples[_i].spots, examples[_i].count, examples[_i].rank);
    int code = mh_topology_group(sites, examples[_i].level, examples[_i].levels, &group);
    EXPECT(code == 0, "%s: no group", examples[_i].name);
    EXPECT(group.size == examples[_i].size, "%s: the group has %d members instead of %d", examples[_i].name, group.size,
           examples[_i].size);
    EXPECT(group.index == examples[_i].index, "%s: the place is %d instead of %d", examples[_i].name, group.index,
           examples[_i].index);
    for (int i = 0; i < group.size; i++)
        EXPECT(mh_group_rank(&group, i) == examples[_i].ranks[i], "%s: member %d is rank %d instead of %d",
               examples[_i].name, i, mh_group_rank(&group, i), examples[_i].ranks[i]);
    mh_group_free(&group);
    EXPECT(group.size == 0 && !group.ranks, "%s: something is left of the group", examples[_i].name);
    mh_group_free(&group);
}
END_TEST

START_TEST(levels_have_names)
{
    static const char *const names[MH_MAX_LEVELS] = {"all", "node", "package", "numa"};
    for (int level = 0; level < MH_MAX_LEVELS; level++)
        EXPECT(strcmp(mh_level_name(level), names[level]) == 0, "level %d is %s instead of %s", level,
               mh_level_name(level), names[level]);
}
END_TEST

static void add(TCase *tests)
{
    tcase_add_loop_test(tests, examples_by_hand, 0, COUNT_OF(examples));
    tcase_add_loop_test(tests, groups_are_well_formed, 0, COUNT_OF(machines));
    tcase_add_loop_test(tests, members_see_the_same_group, 0, COUNT_OF(machines));
    tcase_add_loop_test(tests, each_learns_once_and_before_it_teaches, 0, COUNT_OF(machines));
    tcase_add_loop_test(tests, innermost_groups_share_their_place, 0, COUNT_OF(machines));
    tcase_add_loop_test(tests, lowest_ranks_stand_for_their_groups, 0, COUNT_OF(machines));
    tcase_add_loop_test(tests, outermost_level_is_one_group, 0, COUNT_OF(machines));
    tcase_add_test(tests, levels_have_names);
}

SUITE(topology, add)
