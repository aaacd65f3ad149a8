/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * leaders.h - how the first processes of nodes, their leaders, learn the ranks of each other.
 *
 * Along the binomial tree of all processes, first numbers of leaders and then lists of them are collected, and rank 0
 * sends the whole list back. The ranks of a subtree are contiguous, so lists need no sorting. Lists pass only through
 * subtrees with leaders. With ranks dealt to nodes of equal size in turn, or in blocks of a power of two, these are the
 * leaders alone. 3 ceil(log2 p) steps; a process without leaders below it sends one message.
 *
 * Limit: a list is one message of int bytes, so there are fewer than 2^29 leaders.
 */
#ifndef MH_LEADERS_H
#define MH_LEADERS_H

#include "pure/tree.h"
#include "transport/message.h"

typedef struct mh_leader_tree {
    mh_tree tree;
    bool is_leader;
    int below[MH_TREE_MAX_CHILDREN]; /* leaders in the subtree of each child */
    int leaders;                     /* and in that of this process; 0: it takes no part in mh_leaders_list */
} mh_leader_tree;

/* Count the leaders in the subtree of each process. Collective. */
int mh_leaders_count(const mh_channel *channel, bool is_leader, mh_leader_tree *tree, mh_error *error);

/*
 * Get the ranks of all leaders, ascending. Collective.
 *
 * count    of leaders among all processes
 * ranks    room for so many; may be NULL on processes that take no part
 */
int mh_leaders_list(const mh_channel *channel, const mh_leader_tree *tree, int count, int *ranks, mh_error *error);

#endif
