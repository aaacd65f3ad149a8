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

static int times_listed(int child, int size)
{
    int times = 0;
    for (int parent = 0; parent < size; parent++)
        for (int i = 0; i < arrivals[parent].children; i++)
            if (arrivals[parent].child[i] == child) {
                times++;
                EXPECT(arrivals[child].parent == parent, "%d is a child of %d, but its parent is %d", child, parent,
                       arrivals[child].parent);
            }
    return times;
}

START_TEST(it_is_one_tree_of_little_depth)
{
    const division *division = &divisions[_i];
    build(division);
    for (int i = 0; i < division->size; i++) {
        int depth = depth_of(i, division->size);
        EXPECT(depth <= division->most_depth, "%s: process %d is %d levels deep, at most %d expected", division->name,
               i, depth, division->most_depth);
        EXPECT(times_listed(i, division->size) == (i > 0), "%s: process %d is the child of %d", division->name, i,
               times_listed(i, division->size));
    }
    EXPECT(arrivals[0].parent == -1, "%s: the first process is not the root", division->name);
}
END_TEST

/* ---- Cache lines */

/* Whether no process before this one shares its places of the first kinds. */
static bool is_first_of_place(int index, int kinds)
{
    for (int other = 0; other < index; other++)
        if (mh_place_share(&places[other], &places[index], kinds))
            return false;
    return true;
}

START_TEST(only_the_first_process_of_a_place_reports_to_another_place)
{
    const division *division = &divisions[_i];
    build(division);
    for (int i = 1; i < division->size; i++)
        for (int kinds = 1; kinds <= MH_PLACE_KINDS; kinds++)
            EXPECT(mh_place_share(&places[arrivals[i].parent], &places[i], kinds) != is_first_of_place(i, kinds),
                   "%s: process %d reports to %d, with %d kinds of places", division->name, i, arrivals[i].parent,
                   kinds);
}
END_TEST

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
START_TEST(children_are_few_and_those_with_fewer_descendants_come_first)
{
    const division *division = &divisions[_i];
    build(division);
    for (int i = 0; i < division->size; i++) {
        int of_kind[1 + MH_PLACE_KINDS] = {0}, before = 0;
        for (int c = 0; c < arrivals[i].children; c++) {
            int child = arrivals[i].child[c], below = descendants_of(child);
            EXPECT(below >= before, "%s: child %d of %d has fewer descendants than the one before it", division->name,
                   child, i);
            before = below;
            EXPECT(++of_kind[shared_kinds(child)] <= MH_TREE_FAN_IN, "%s: %d has too many children in one place",
                   division->name, i);
        }
    }
}
END_TEST

/* ---- The binomial tree */

START_TEST(children_of_binomial_tree_agree_with_parents)
{
    for (int size = 1; size <= 70; size++) {
        int listed[70] = {0};
        for (int index = 0; index < size; index++) {
            mh_tree tree = mh_tree_binomial(index, size);
            EXPECT((tree.parent < 0) == (index == 0), "of %d, %d has parent %d", size, index, tree.parent);
            for (int i = 0; i < tree.children; i++) {
                int child = tree.child[i];
                EXPECT(child == index + (1 << i), "of %d, child %d of %d is %d", size, i, index, child);
                EXPECT(mh_tree_binomial(child, size).parent == index,
                       "of %d, %d is a child of %d, who is not its parent", size, child, index);
                listed[child]++;
            }
        }
        for (int index = 1; index < size; index++)
            EXPECT(listed[index] == 1, "of %d, %d is a child of %d", size, index, listed[index]);
    }
}
END_TEST

START_TEST(tree_of_group_has_ranks)
{
    int members[] = {3, 5, 8, 13, 21};
    mh_tree root = mh_tree_of_group(&(mh_group){5, 0, members}), inner = mh_tree_of_group(&(mh_group){5, 2, members});
    EXPECT(root.parent == -1 && root.children == 3 && root.child[0] == 5 && root.child[1] == 8 && root.child[2] == 21,
           "the root has %d children", root.children);
    EXPECT(inner.parent == 3 && inner.children == 1 && inner.child[0] == 13, "the third has parent %d", inner.parent);
}
END_TEST

START_TEST(binomial_tree_fits)
{
    EXPECT(mh_tree_binomial(0, INT32_MAX / 2).children < MH_TREE_MAX_CHILDREN,
           "no room for a parent beside the children");
}
END_TEST

START_TEST(tree_of_all_needs_no_list)
{
    for (int index = 0; index < 5; index++) {
        mh_tree tree = mh_tree_of_group(&(mh_group){5, index, NULL}), same = mh_tree_binomial(index, 5);
        EXPECT(memcmp(&tree, &same, sizeof tree) == 0, "%d has another parent, or other children", index);
    }
}
END_TEST

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

START_TEST(partners_meet_in_the_same_turn)
{
    for (int size = 1; size <= MAX_IN_TURNS; size = size < 70 ? size + 1 : size + 93)
        for (int index = 0; index < size; index++)
            check_turns(index, size);
    for (int index = MANY - 1; index > 0; index /= 3)
        check_turns(index, MANY);
}
END_TEST

START_TEST(turns_are_no_deeper_than_rounds)
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
END_TEST

START_TEST(turns_of_group_have_ranks)
{
    int members[] = {3, 5, 8, 13, 21};
    for (int index = 0; index < 5; index++) {
        mh_turns all = mh_turns_of_group(&(mh_group){5, index, NULL});
        mh_turns some = mh_turns_of_group(&(mh_group){5, index, members});
        EXPECT(some.parent == (index ? members[all.parent] : -1), "%d has parent %d", members[index], some.parent);
        for (int turn = 0; turn < MH_TREE_MAX_TURNS; turn++)
            EXPECT(some.partner[turn] == (all.partner[turn] < 0 ? -1 : members[all.partner[turn]]),
                   "%d has partner %d in turn %d", members[index], some.partner[turn], turn);
    }
}
END_TEST

START_TEST(largest_binomial_tree)
{
    const int sizes[] = {(1 << 30) + 1, INT_MAX - 1, INT_MAX};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        mh_tree root = mh_tree_binomial(0, sizes[i]), last = mh_tree_binomial(1 << 30, sizes[i]);
        EXPECT(root.children == 31 && root.child[30] == 1 << 30, "of %d, the root has %d children", sizes[i],
               root.children);
        EXPECT(last.parent == 0, "of %d, the last child has parent %d", sizes[i], last.parent);
    }
}
END_TEST

static void add(TCase *tests)
{
    tcase_add_loop_test(tests, it_is_one_tree_of_little_depth, 0, COUNT_OF(divisions));
    tcase_add_loop_test(tests, only_the_first_process_of_a_place_reports_to_another_place, 0, COUNT_OF(divisions));
    tcase_add_loop_test(tests, children_are_few_and_those_with_fewer_descendants_come_first, 0, COUNT_OF(divisions));
    tcase_add_test(tests, children_of_binomial_tree_agree_with_parents);
    tcase_add_test(tests, tree_of_group_has_ranks);
    tcase_add_test(tests, tree_of_all_needs_no_list);
    tcase_add_test(tests, binomial_tree_fits);
    tcase_add_test(tests, largest_binomial_tree);
    tcase_add_test(tests, partners_meet_in_the_same_turn);
    tcase_add_test(tests, turns_are_no_deeper_than_rounds);
    tcase_add_test(tests, turns_of_group_have_ranks);
}

SUITE(tree, add)
