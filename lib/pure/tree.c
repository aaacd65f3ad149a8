/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tree.c - the binomial tree, the tree whose pairs take turns, and the tree of a node that follows its packages, NUMA
 * nodes and caches.
 */
#include "pure/tree.h"

#include <stdbool.h>
#include <stdint.h>

mh_tree mh_tree_binomial(int index, int size)
{
    mh_tree tree = {.parent = -1};
    int64_t step = 1;
    for (; step < size && !(index & step); step *= 2)
        if (index + step < size)
            tree.child[tree.children++] = (int)(index + step);
    if (index > 0)
        tree.parent = (int)(index - step);
    return tree;
}

mh_tree mh_tree_of_group(const mh_group *group)
{
    mh_tree tree = mh_tree_binomial(group->index, group->size);
    for (int i = 0; i < tree.children; i++)
        tree.child[i] = mh_group_rank(group, tree.child[i]);
    if (tree.parent >= 0)
        tree.parent = mh_group_rank(group, tree.parent);
    return tree;
}

/* A process and its descendants, who follow it. */
typedef struct mh_branch {
    int first, size;
    int parent; /* of the first one; -1: this is the whole tree */
    int turn;   /* in which the two are partners */
} mh_branch;

static int count_turns(int size)
{
    int turns = 1;
    while (turns < MH_TREE_MAX_TURNS && 1 << turns < size)
        turns++;
    return turns;
}

/* One turn is that of the parent. */
static int count_branches(const mh_branch *of, int turns)
{
    int most = of->parent < 0 ? turns : turns - 1;
    return of->size - 1 < most ? of->size - 1 : most;
}

/* The i-th, which has as many processes as the others, or one more or less. */
static mh_branch branch_of(const mh_branch *of, int i, int turns)
{
    int64_t rest = of->size - 1, count = count_branches(of, turns);
    /* A process without branches is not asked: NOLINTNEXTLINE(clang-analyzer-core.DivideZero) */
    int first = of->first + 1 + (int)(rest * i / count), end = of->first + 1 + (int)(rest * (i + 1) / count);
    return (mh_branch){first, end - first, of->first, (of->turn + 1 + i) % turns};
}

static mh_branch find_branch(int index, int size, int turns)
{
    mh_branch here = {0, size, -1, -1};
    while (here.first != index) {
        int i = 0;
        mh_branch next = branch_of(&here, i, turns);
        while (index >= next.first + next.size)
            next = branch_of(&here, ++i, turns);
        here = next;
    }
    return here;
}

mh_turns mh_turns_of_index(int index, int size)
{
    int turns = count_turns(size);
    mh_branch own = find_branch(index, size, turns);
    mh_turns result = {.parent = own.parent};
    for (int turn = 0; turn < MH_TREE_MAX_TURNS; turn++)
        result.partner[turn] = own.turn == turn ? own.parent : -1;
    for (int i = 0; i < count_branches(&own, turns); i++) {
        mh_branch child = branch_of(&own, i, turns);
        result.partner[child.turn] = child.first;
    }
    return result;
}

mh_turns mh_turns_of_group(const mh_group *group)
{
    mh_turns result = mh_turns_of_index(group->index, group->size);
    for (int turn = 0; turn < MH_TREE_MAX_TURNS; turn++)
        if (result.partner[turn] >= 0)
            result.partner[turn] = mh_group_rank(group, result.partner[turn]);
    if (result.parent >= 0)
        result.parent = mh_group_rank(group, result.parent);
    return result;
}

/*
 * The tree of a node is made of heaps. There is one for each place: of its processes if the place is a cache, else of
 * the first processes of the places in it. The node is the place of no kind. Whether a process is in the heap of the
 * place of the first kinds of the one at index:
 */
static bool is_in_heap(const mh_place *places, int other, int index, int kinds)
{
    return mh_place_share(&places[other], &places[index], kinds) &&
           (kinds == MH_PLACE_KINDS || mh_place_is_first(places, other, kinds + 1));
}

/* How many processes of the heap come before the one at index. */
static int position(const mh_place *places, int index, int kinds)
{
    int before = 0;
    for (int other = 0; other < index; other++)
        before += is_in_heap(places, other, index, kinds);
    return before;
}

/* The process at a position of the heap; -1: there is none. */
static int member_at(const mh_place *places, int size, int index, int kinds, int wanted)
{
    int before = 0;
    for (int other = 0; other < size; other++)
        if (is_in_heap(places, other, index, kinds) && before++ == wanted)
            return other;
    return -1;
}

/* Later processes of a heap have fewer descendants and arrive sooner, so they come first among the children. */
mh_tree mh_tree_of_node(const mh_place *places, int size, int index)
{
    mh_tree tree = {.parent = -1};
    for (int kinds = MH_PLACE_KINDS; kinds >= 0 && tree.parent < 0; kinds--) {
        int own = position(places, index, kinds);
        for (int i = MH_TREE_FAN_IN; i >= 1; i--) {
            int child = member_at(places, size, index, kinds, own * MH_TREE_FAN_IN + i);
            if (child >= 0)
                tree.child[tree.children++] = child;
        }
        if (own > 0)
            tree.parent = member_at(places, size, index, kinds, (own - 1) / MH_TREE_FAN_IN);
    }
    return tree;
}
