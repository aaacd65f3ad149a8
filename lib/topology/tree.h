/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tree.h - the trees along which processes talk to each other. Pure; no MPI.
 *
 * All are the neighbors of one process, so that nobody keeps a table of all.
 */
#ifndef MH_TREE_H
#define MH_TREE_H

#include "topology/topology.h"

enum { MH_TREE_MAX_CHILDREN = 32, MH_TREE_FAN_IN = 8 };

/* The neighbors of a process. Processes are numbered as the function that made the tree says. */
typedef struct mh_tree {
    int parent; /* -1: this is the root */
    int children;
    int child[MH_TREE_MAX_CHILDREN];
} mh_tree;

/*
 * The binomial tree of size processes, by their indexes; 0 is the root. Children with fewer descendants come first: the
 * i-th is 2^i further.
 */
mh_tree mh_tree_binomial(int index, int size);

/* The same of a group, by ranks. */
mh_tree mh_tree_of_group(const mh_group *group);

/*
 * The tree along which the processes of a node report their arrival, by their indexes in the node: the neighbors of the
 * one at index, from the places of all ranks.
 *
 * Within a NUMA node of a package, and again among the first processes of these, each has at most MH_TREE_FAN_IN
 * children: nobody polls more than twice as many cache lines, few of them in another package, and 128 processes are at
 * most three levels deep in each even division of a node.
 */
mh_tree mh_tree_of_node(const mh_place *places, const mh_group *node, int index);

#endif
