/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_tree.c - trees: that each is one, how deep that of a node is, and which cache lines cross
 * caches and packages.
 */
#include "support.h"
#include "pure/tree.h"

#include <limits.h>

enum { MOST = 300 };

/* Ranks of one node, dealt to so many caches of so many NUMA nodes of so many packages. */
typedef struct division {
    const char *name;
    int size, packages, numas, caches; /* NUMA nodes in a package, caches in a NUMA node */
    bool in_blocks;                    /* else dealt out one by one */
    int most_depth;
} division;

static const division divisions[] = {
    {"one process", 1, 1, 1, 1, true, 0},
    {"two", 2, 1, 1, 1, true, 1},
    {"eight", 8, 1, 1, 1, true, 1},
    {"eight in 2 packages", 8, 2, 1, 1, true, 2},
    {"nine", 9, 1, 1, 1, true, 1},
    {"ten", 10, 1, 1, 1, true, 2},
    {"32 in 2 packages", 32, 2, 1, 1, true, 3},
    {"32 in 8 caches", 32, 2, 1, 4, true, 3},
    {"32 in 8 caches, dealt out", 32, 2, 1, 4, false, 3},
    {"128 in one place", 128, 1, 1, 1, true, 3},
    {"128 in 2 packages", 128, 2, 1, 1, true, 3},
    {"128 in 4 packages", 128, 4, 1, 1, true, 3},
    {"128 in 4 NUMA nodes", 128, 2, 2, 1, true, 4},
    {"128 in 8", 128, 2, 4, 1, true, 4},
    {"128 in 16, dealt out", 128, 4, 4, 1, false, 3},
    {"128 in 64", 128, 16, 4, 1, true, 4},
    {"128 in 16 caches of one package", 128, 1, 1, 16, true, 3},
    {"128 in 16 caches", 128, 2, 1, 8, true, 3},
    {"128 in 16 caches, dealt out", 128, 2, 1, 8, false, 3},
    {"128 in 32 caches", 128, 2, 1, 16, true, 4},
    {"128 in 16 caches of 8 NUMA nodes", 128, 2, 4, 2, true, 4},
    {"uneven", 37, 3, 2, 1, false, 3},
    {"uneven, with caches", 37, 3, 2, 3, false, 4},
    {"300 in 4", 300, 4, 1, 1, true, 4},
};

static mh_place places[MOST];
static mh_tree arrivals[MOST];

static void build(const division *division)
{
    int parts = division->packages * division->numas * division->caches;
    for (int i = 0; i < division->size; i++) {
        int part = division->in_blocks ? i * parts / division->size : i % parts;
        int numa = part / division->caches;
        places[i] = (mh_place){{numa / division->numas, numa, part}};
    }
    for (int i = 0; i < division->size; i++)
        arrivals[i] = mh_tree_of_node(places, division->size, i);
}

static int depth_of(int index, int size)
{
    int depth = 0;
    for (; arrivals[index].parent >= 0 && depth <= size; depth++)
        index = arrivals[index].parent;
    return depth;
}

/* Also checks that parents and children know of each other. */
static int times_listed(int child, int size)
{
    int times = 0;
    for (int parent = 0; parent < size; parent++)
        for (int i = 0; i < arrivals[parent].children; i++)
            if (arrivals[parent].child[i] == child) {
                times++;
                ck_assert_int_eq(arrivals[child].parent, parent);
            }
    return times;
}

/* Cache lines: of the processes of a place, only the first one reports to another place. */
static void check_parent(const char *name, int index)
{
    for (int kinds = 1; kinds <= MH_PLACE_KINDS; kinds++)
        EXPECT(mh_place_share(&places[arrivals[index].parent], &places[index], kinds) !=
                   mh_place_is_first(places, index, kinds),
               "%s: process %d reports to %d, with %d kinds of places", name, index, arrivals[index].parent, kinds);
}

/* How many kinds of places a process shares with its parent. */
static int shared_kinds(int index)
{
    int kinds = MH_PLACE_KINDS;
    while (kinds > 0 && !mh_place_share(&places[index], &places[arrivals[index].parent], kinds))
        kinds--;
    return kinds;
}

static int descendants_of(int index)
{
    int count = 0;
    for (int i = 0; i < arrivals[index].children; i++)
        count += 1 + descendants_of(arrivals[index].child[i]);
    return count;
}

/* A process reads the lines of its children one after the other, and those that are ready late come last. */
static void check_children(const char *name, int index)
{
    int of_kind[1 + MH_PLACE_KINDS] = {0}, before = 0;
    for (int c = 0; c < arrivals[index].children; c++) {
        int child = arrivals[index].child[c], below = descendants_of(child);
        EXPECT(below >= before, "%s: child %d of %d has fewer descendants than the one before it", name, child, index);
        before = below;
        EXPECT(++of_kind[shared_kinds(child)] <= MH_TREE_FAN_IN, "%s: %d has too many children in one place", name,
               index);
    }
}

LOOP_TEST(it_is_one_tree_of_little_depth_that_fits_the_machine, COUNT_OF(divisions))
{
    const division *division = &divisions[_i];
    build(division);
    ck_assert_int_eq(arrivals[0].parent, -1);
    for (int i = 0; i < division->size; i++) {
        int depth = depth_of(i, division->size);
        EXPECT(depth <= division->most_depth, "%s: process %d is %d levels deep", division->name, i, depth);
        ck_assert_int_eq(times_listed(i, division->size), i > 0);
        if (i > 0)
            check_parent(division->name, i);
        check_children(division->name, i);
    }
}

/* ---- The binomial tree */

TEST(children_of_binomial_tree_agree_with_parents)
{
    for (int size = 1; size <= 70; size++) {
        int listed[70] = {0};
        for (int index = 0; index < size; index++) {
            mh_tree tree = mh_tree_binomial(index, size);
            ck_assert_int_eq(tree.parent < 0, index == 0);
            for (int i = 0; i < tree.children; i++) {
                int child = tree.child[i];
                ck_assert_int_eq(child, index + (1 << i));
                ck_assert_int_lt(child, size);
                ck_assert_int_eq(mh_tree_binomial(child, size).parent, index);
                listed[child]++;
            }
        }
        for (int index = 1; index < size; index++)
            ck_assert_int_eq(listed[index], 1);
    }
}

TEST(largest_binomial_tree)
{
    const int sizes[] = {(1 << 30) + 1, INT_MAX - 1, INT_MAX};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        mh_tree root = mh_tree_binomial(0, sizes[i]);
        ck_assert_int_eq(root.children, 31);
        ck_assert_int_lt(root.children, MH_TREE_MAX_CHILDREN); /* there is room for a parent */
        ck_assert_int_eq(root.child[30], 1 << 30);
        ck_assert_int_eq(mh_tree_binomial(1 << 30, sizes[i]).parent, 0);
    }
}

/* ---- The tree whose pairs take turns */

enum { MAX_IN_TURNS = 1100, MANY = 1 << 30 };

static int binomial_rounds(int size)
{
    int rounds = 0;
    while (1 << rounds < size)
        rounds++;
    return rounds;
}

static void check_turns(int index, int size)
{
    mh_turns own = mh_turns_of_index(index, size);
    EXPECT(index == 0 ? own.parent == -1 : own.parent >= 0 && own.parent < index, "of %d, %d has parent %d", size,
           index, own.parent);
    bool has_parent = false;
    for (int turn = 0; turn < MH_TREE_MAX_TURNS; turn++) {
        int partner = own.partner[turn];
        if (partner < 0)
            continue;
        mh_turns theirs = mh_turns_of_index(partner, size);
        EXPECT(theirs.partner[turn] == index, "of %d, %d has partner %d in turn %d, who has %d", size, index, partner,
               turn, theirs.partner[turn]);
        EXPECT(partner == own.parent || theirs.parent == index, "of %d, %d and %d are partners for nothing", size,
               index, partner);
        EXPECT(turn < binomial_rounds(size), "of %d, %d has a partner in turn %d", size, index, turn);
        has_parent |= partner == own.parent;
    }
    EXPECT(has_parent == (index > 0), "of %d, %d has no turn with its parent", size, index);
}

TEST(partners_meet_in_the_same_turn)
{
    for (int size = 1; size <= MAX_IN_TURNS; size = size < 70 ? size + 1 : size + 93)
        for (int index = 0; index < size; index++)
            check_turns(index, size);
    for (int index = MANY - 1; index > 0; index /= 3)
        check_turns(index, MANY);
}

TEST(turns_are_no_deeper_than_rounds)
{
    int levels[MAX_IN_TURNS] = {0};
    for (int size = 1; size <= MAX_IN_TURNS; size++) {
        int sum = 0, deepest = 0, binomial_sum = 0;
        for (int index = 0; index < size; index++) {
            levels[index] = index ? levels[mh_turns_of_index(index, size).parent] + 1 : 0;
            deepest = levels[index] > deepest ? levels[index] : deepest;
            sum += levels[index];
            binomial_sum += __builtin_popcount((unsigned)index);
        }
        EXPECT(deepest <= binomial_rounds(size) && sum <= binomial_sum,
               "of %d, one has %d levels and all %d; in the binomial tree %d and %d", size, deepest, sum,
               binomial_rounds(size), binomial_sum);
    }
}
