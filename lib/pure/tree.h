/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tree.h - the trees along which processes communicate. Pure; no MPI.
 *
 * A tree holds the neighbors of one process only, so no process keeps a table of all.
 */
#ifndef MH_TREE_H
#define MH_TREE_H

#include "pure/topology.h"

enum { MH_TREE_MAX_CHILDREN = 32, MH_TREE_FAN_IN = 8, MH_TREE_MAX_TURNS = 5 };

/* The neighbors of a process. The function that makes the tree defines the numbering of processes. */
typedef struct mh_tree {
    int parent; /* -1: this is the root */
    int children;
    int child[MH_TREE_MAX_CHILDREN];
} mh_tree;

/*
 * The binomial tree of size processes, by index; 0 is the root. Children with fewer descendants come first: the i-th
 * has an index that is larger by 2^i.
 */
mh_tree mh_tree_binomial(int index, int size);

/* The same of a group, by ranks. */
mh_tree mh_tree_of_group(const mh_group *group);

/*
 * A tree whose pairs take turns: in each turn a process has one partner at most, and all pairs of a turn may work at
 * the same time. There are as many turns as a binomial tree has rounds, but at most MH_TREE_MAX_TURNS, and the tree is
 * not deeper than a binomial one. More turns would make it flatter, and each pass longer.
 */
typedef struct mh_turns {
    int parent;                     /* -1: this is the root */
    int partner[MH_TREE_MAX_TURNS]; /* the parent or a child; -1: nobody */
} mh_turns;

/* The partners of the process at index among size; 0 is the root. The descendants of a process follow it. */
mh_turns mh_turns_of_index(int index, int size);

/* The same in a group, by ranks. */
mh_turns mh_turns_of_group(const mh_group *group);

/*
 * The tree along which the processes of a node report their arrival, by their indexes in the node: the neighbors of the
 * one at index, from the places of all processes of the node.
 *
 * Each process has at most MH_TREE_FAN_IN children that share its cache. The first process of a cache has as many among
 * those of other caches of its NUMA node, and so on for NUMA nodes and packages. So the report of a cache or a package
 * is one line. With 128 processes, evenly divided, the tree has at most four levels. Children with fewer descendants
 * come first.
 */
mh_tree mh_tree_of_node(const mh_place *places, int size, int index);

#endif
