/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arrival.h - the tree along which the processes of a node report their arrival. Pure; no MPI.
 *
 * Within a NUMA node of a package, and again among the first processes of these, each has at most MH_ARRIVAL_FAN_IN
 * children: nobody polls more than twice as many cache lines, few of them in another package, and 128 processes are at
 * most three levels deep in each even division of a node.
 */
#ifndef MH_ARRIVAL_H
#define MH_ARRIVAL_H

#include "topology/topology.h"

enum { MH_ARRIVAL_FAN_IN = 8 };

/* The neighbours of a process of the node, by their places in the group; 0 is the root. */
typedef struct mh_arrival {
    int parent; /* -1: this is the root */
    int children;
    int child[2 * MH_ARRIVAL_FAN_IN];
} mh_arrival;

/* The neighbours of the process at index of a node, from the places of all ranks. */
mh_arrival mh_topology_arrival(const mh_place *places, const mh_group *node, int index);

#endif
