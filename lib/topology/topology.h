/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topology.h - groups of processes for a hierarchy of levels, from a table of where each process runs. Pure; no MPI.
 *
 * With L levels, processes with equal places of the first L - 1 kinds (node, package, NUMA node) form the groups of the
 * innermost level. The lowest rank of each group represents it at the next outer level, and so on. The outermost level
 * is one group. Rank 0 is always the first of its group.
 */
#ifndef MH_TOPOLOGY_H
#define MH_TOPOLOGY_H

#include <stdbool.h>

enum { MH_PLACE_NODE, MH_PLACE_PACKAGE, MH_PLACE_NUMA, MH_PLACE_KINDS };

enum { MH_MAX_LEVELS = MH_PLACE_KINDS + 1 };

/*
 * Where a process runs. The number of a node is the lowest rank on it. Numbers of the other kinds are only compared for
 * equality, within the same place of the previous kind.
 */
typedef struct mh_place {
    int at[MH_PLACE_KINDS];
} mh_place;

/* Whether the places of the first kinds of two processes are equal. */
bool mh_place_share(const mh_place *a, const mh_place *b, int kinds);

/* A group that this process belongs to. */
typedef struct mh_group {
    int size;   /* 0: this process takes no part */
    int index;  /* this process in ranks */
    int *ranks; /* ascending; owned */
} mh_group;

/* The name of a level: "all", "node", "package", "numa". */
const char *mh_level_name(int level);

/*
 * The group of rank at level (0: outermost) of levels (at most MH_MAX_LEVELS), from the places of count processes.
 * Returns 0, or -1 when out of memory. The group is to be freed by mh_group_free.
 */
int mh_topology_group(const mh_place *places, int count, int rank, int level, int levels, mh_group *group);

void mh_group_free(mh_group *group);

#endif
