/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_topology.c - groups of processes on invented machines, against groups formed from a table of all processes. Each
 * process gets what it would discover, and no more.
 */
#include "support.h"
#include "pure/topology.h"

enum { MAX_RANKS = 256, MACHINES = 200 };

/* Where a process runs: the lowest rank of its node, and its place there. */
typedef struct spot {
    int at[1 + MH_PLACE_KINDS];
} spot;

/* Ranks are dealt to nodes one by one, in blocks, or by chance; places in a node likewise, or they are not known. */
typedef struct machine {
    int ranks, nodes, packages, numas;
    enum { DEALT, BLOCKS, CHANCE, STYLES } style;
    spot spots[MAX_RANKS];
} machine;

static int deal(chance *dice, const machine *machine, int number, int count, int parts)
{
    if (machine->style == CHANCE)
        return (int)chance_between(dice, 0, parts - 1);
    return machine->style == DEALT ? number % parts : number * parts / count;
}

static void make_machine(machine *machine, int number)
{
    chance dice = chance_of_round(number);
    int node_of[MAX_RANKS], seen = 0;
    machine->ranks = number < 16 ? number + 1 : (int)chance_between(&dice, 1, number % 8 ? 40 : MAX_RANKS);
    machine->nodes = (int)chance_between(&dice, 1, number % 3 ? 8 : machine->ranks);
    machine->packages = (int)chance_between(&dice, 0, 3);
    machine->numas = (int)chance_between(&dice, 1, 3);
    machine->style = number % STYLES;
    for (int rank = 0; rank < machine->ranks; rank++) {
        node_of[rank] = deal(&dice, machine, rank, machine->ranks, machine->nodes);
        int lowest = 0, package = -1, numa = -1;
        while (node_of[lowest] != node_of[rank])
            lowest++;
        if (machine->packages > 0) {
            package = deal(&dice, machine, seen++, machine->ranks, machine->packages);
            numa = package * machine->numas + (int)chance_between(&dice, 0, machine->numas - 1);
        }
        machine->spots[rank] = (spot){{lowest, package, numa}};
    }
}

/* What a process knows, and the lists. */
typedef struct knowledge {
    int leaders[MAX_RANKS], node[MAX_RANKS];
    mh_place places[MAX_RANKS];
    mh_sites sites;
} knowledge;

/* Returns sites that are valid until the next call. */
static const mh_sites *know(const machine *machine, int rank)
{
    static knowledge own;
    const spot *spots = machine->spots;
    mh_sites *sites = &own.sites;
    bool leads = spots[rank].at[0] == rank;
    *sites = (mh_sites){rank, machine->ranks, {0, 0, NULL}, {0, 0, own.node}, own.places};
    for (int other = 0; other < machine->ranks; other++) {
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
    if (sites->leaders.size > 1 && sites->leaders.size < machine->ranks)
        sites->leaders.ranks = own.leaders;
    return sites;
}

/* Whether two processes share the first kinds of places, nodes included. */
static bool share(const machine *machine, int a, int b, int kinds)
{
    return memcmp(machine->spots[a].at, machine->spots[b].at, (size_t)kinds * sizeof(int)) == 0;
}

/* Whether a rank takes part at a level: at the innermost one, and else if it is the lowest of a group inside. */
static bool takes_part(const machine *machine, int rank, int level, int levels)
{
    if (level == levels - 1)
        return true;
    for (int lower = 0; lower < rank; lower++)
        if (share(machine, lower, rank, level + 1))
            return false;
    return true;
}

/* The group of a rank, from the table of all. Returns its size. */
static int expected_group(const machine *machine, int rank, int level, int levels, int members[MAX_RANKS])
{
    int size = 0;
    for (int other = 0; other < machine->ranks && takes_part(machine, rank, level, levels); other++)
        if (takes_part(machine, other, level, levels) && share(machine, rank, other, level))
            members[size++] = other;
    return size;
}

static void check_group(const machine *machine, int rank, int level, int levels)
{
    mh_group group;
    int members[MAX_RANKS], size = expected_group(machine, rank, level, levels, members);
    int code = mh_topology_group(know(machine, rank), level, levels, &group);
    bool is_same = code == 0 && group.size == size && (size > 0 || !group.ranks);
    for (int i = 0; i < size && is_same; i++)
        is_same = mh_group_rank(&group, i) == members[i] && (members[i] == rank) == (group.index == i);
    EXPECT(is_same, "%d ranks on %d nodes, style %d, rank %d, level %d of %d: %d members, not %d, or others",
           machine->ranks, machine->nodes, (int)machine->style, rank, level, levels, group.size, size);
    EXPECT(levels > 1 || !group.ranks, "%d ranks: a list of all processes", machine->ranks);
    for (int i = 0; i < size && group.ranks; i++)
        EXPECT(mh_group_has(&group, members[i]), "rank %d is not found in its group", members[i]);
    EXPECT(!group.ranks || !mh_group_has(&group, machine->ranks), "rank %d is found", machine->ranks);
    mh_group_free(&group);
    EXPECT(group.size == 0 && !group.ranks, "something is left of the group");
    mh_group_free(&group);
}

LOOP_TEST(groups_are_those_of_the_table, MACHINES)
{
    static machine machine;
    make_machine(&machine, _i);
    for (int levels = 1; levels <= MH_MAX_LEVELS; levels++)
        for (int level = 0; level < levels; level++)
            for (int rank = 0; rank < machine.ranks; rank++)
                check_group(&machine, rank, level, levels);
}

/* Worked out by hand: two nodes with two packages, dealt out; package numbers are those of the node. */
TEST(an_example_by_hand)
{
    static const machine example = {
        .ranks = 8, .spots = {{{0, 0}}, {{1, 0}}, {{0, 1}}, {{1, 1}}, {{0, 0}}, {{1, 0}}, {{0, 1}}, {{1, 1}}}};
    static const struct {
        int rank, level, size, members[4];
    } groups[] = {{1, 0, 2, {0, 1}}, {2, 0, 0, {0}},    {3, 1, 2, {1, 3}}, {6, 1, 0, {0}},
                  {4, 2, 2, {0, 4}}, {7, 2, 2, {3, 7}}, {0, 1, 2, {0, 2}}, {5, 2, 2, {1, 5}}};
    for (int i = 0; i < COUNT_OF(groups); i++) {
        int members[MAX_RANKS], size = expected_group(&example, groups[i].rank, groups[i].level, 3, members);
        EXPECT(size == groups[i].size && memcmp(members, groups[i].members, (size_t)size * sizeof(int)) == 0,
               "rank %d, level %d: another group is expected", groups[i].rank, groups[i].level);
        check_group(&example, groups[i].rank, groups[i].level, 3);
    }
}

TEST(levels_have_names)
{
    static const char *const names[MH_MAX_LEVELS] = {"all", "node", "package", "numa"};
    for (int level = 0; level < MH_MAX_LEVELS; level++)
        EXPECT(strcmp(mh_level_name(level), names[level]) == 0, "level %d is %s instead of %s", level,
               mh_level_name(level), names[level]);
}
