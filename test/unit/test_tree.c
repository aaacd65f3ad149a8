/* SPDX-License-Identifier: BSD-3-Clause */
/* test_tree.c - trees: that each is one, how deep that of a node is, and who crosses packages. */
#include "support.h"
#include "topology/tree.h"

enum { MOST = 300 };

/* Ranks of one node, dealt to so many NUMA nodes of so many packages. */
typedef struct division {
    const char *name;
    int size, packages, numas; /* NUMA nodes in a package */
    bool in_blocks;            /* else dealt out one by one */
    int most_depth;
} division;

static const division divisions[] = {
    {"one process", 1, 1, 1, true, 0},
    {"two", 2, 1, 1, true, 1},
    {"nine", 9, 1, 1, true, 1},
    {"ten", 10, 1, 1, true, 2},
    {"128 in one place", 128, 1, 1, true, 3},
    {"128 in 2 packages", 128, 2, 1, true, 3},
    {"128 in 8", 128, 2, 4, true, 3},
    {"128 in 16, dealt out", 128, 4, 4, false, 3},
    {"128 in 64", 128, 16, 4, true, 3},
    {"uneven", 37, 3, 2, false, 3},
    {"300 in 4", 300, 4, 1, true, 4},
};

static mh_place places[MOST];
static int ranks[MOST];
static mh_tree arrivals[MOST];

static mh_group build(const division *division)
{
    int parts = division->packages * division->numas;
    for (int i = 0; i < division->size; i++) {
        int part = division->in_blocks ? i * parts / division->size : i % parts;
        ranks[i] = i;
        places[i] = (mh_place){{0, part / division->numas, part}};
    }
    mh_group node = {division->size, 0, ranks};
    for (int i = 0; i < division->size; i++)
        arrivals[i] = mh_tree_of_node(places, &node, i);
    return node;
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

START_TEST(one_process_of_each_place_reports_to_another_place)
{
    const division *division = &divisions[_i];
    build(division);
    for (int i = 1; i < division->size; i++) {
        bool is_first = true;
        for (int other = 0; other < i; other++)
            is_first &= !mh_place_share(&places[other], &places[i], MH_PLACE_KINDS);
        bool crosses = !mh_place_share(&places[arrivals[i].parent], &places[i], MH_PLACE_KINDS);
        EXPECT(crosses == is_first, "%s: process %d reports to %d", division->name, i, arrivals[i].parent);
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

static void add(TCase *tests)
{
    tcase_add_loop_test(tests, it_is_one_tree_of_little_depth, 0, COUNT_OF(divisions));
    tcase_add_loop_test(tests, one_process_of_each_place_reports_to_another_place, 0, COUNT_OF(divisions));
    tcase_add_test(tests, children_of_binomial_tree_agree_with_parents);
    tcase_add_test(tests, tree_of_group_has_ranks);
    tcase_add_test(tests, binomial_tree_fits);
}

int main(void)
{
    return run_suite("tree", add);
}
