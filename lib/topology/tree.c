/* SPDX-License-Identifier: BSD-3-Clause */
/* tree.c - the binomial tree, and the tree of a node that heeds its packages and NUMA nodes. */
#include "topology/tree.h"

#include <stdbool.h>

mh_tree mh_tree_binomial(int index, int size)
{
    mh_tree tree = {.parent = -1};
    int step = 1;
    for (; step < size && !(index & step); step *= 2)
        if (index + step < size)
            tree.child[tree.children++] = index + step;
    if (index > 0)
        tree.parent = index - step;
    return tree;
}

mh_tree mh_tree_of_group(const mh_group *group)
{
    mh_tree tree = mh_tree_binomial(group->index, group->size);
    for (int i = 0; i < tree.children; i++)
        tree.child[i] = group->ranks[tree.child[i]];
    if (tree.parent >= 0)
        tree.parent = group->ranks[tree.parent];
    return tree;
}

static bool together(const mh_place *places, const mh_group *node, int a, int b)
{
    return mh_place_share(&places[node->ranks[a]], &places[node->ranks[b]], MH_PLACE_KINDS);
}

/* How many processes of its own place come before the one at index. */
static int position(const mh_place *places, const mh_group *node, int index)
{
    int before = 0;
    for (int other = 0; other < index; other++)
        before += together(places, node, other, index);
    return before;
}

/* The number of the place whose first process is at index. */
static int place_number(const mh_place *places, const mh_group *node, int index)
{
    int number = 0;
    for (int other = 0; other < index; other++)
        number += position(places, node, other) == 0;
    return number;
}

/* The process at a position of the place of the one at index; -1: there is none. */
static int member_at(const mh_place *places, const mh_group *node, int index, int wanted)
{
    int before = 0;
    for (int other = 0; other < node->size; other++)
        if (together(places, node, other, index) && before++ == wanted)
            return other;
    return -1;
}

/* The first process of a place; -1: there is none. */
static int first_of_place(const mh_place *places, const mh_group *node, int wanted)
{
    int number = 0;
    for (int other = 0; other < node->size; other++)
        if (position(places, node, other) == 0 && number++ == wanted)
            return other;
    return -1;
}

static int parent_of(int position)
{
    return (position - 1) / MH_TREE_FAN_IN;
}

static void add(mh_tree *tree, int child)
{
    if (child >= 0)
        tree->child[tree->children++] = child;
}

mh_tree mh_tree_of_node(const mh_place *places, const mh_group *node, int index)
{
    mh_tree tree = {.parent = -1};
    int inner = position(places, node, index);
    for (int i = 1; i <= MH_TREE_FAN_IN; i++)
        add(&tree, member_at(places, node, index, inner * MH_TREE_FAN_IN + i));
    if (inner > 0) {
        tree.parent = member_at(places, node, index, parent_of(inner));
        return tree;
    }
    int outer = place_number(places, node, index);
    for (int i = 1; i <= MH_TREE_FAN_IN; i++)
        add(&tree, first_of_place(places, node, outer * MH_TREE_FAN_IN + i));
    if (outer > 0)
        tree.parent = first_of_place(places, node, parent_of(outer));
    return tree;
}
