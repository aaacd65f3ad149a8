/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topology.h - groups of processes for a hierarchy of levels, from where each process runs. Pure; no MPI.
 *
 * The innermost of L levels has a group for each place: each node with two levels, each package with three, each NUMA
 * node with four. The lowest rank of each group represents it at the next outer level, and so on. The outermost level
 * is one group. Rank 0 is always the first of its group.
 */
#ifndef MH_TOPOLOGY_H
#define MH_TOPOLOGY_H

#include <stdbool.h>

/* Caches are those of the third level; they have no level of their own. */
enum { MH_PLACE_PACKAGE, MH_PLACE_NUMA, MH_PLACE_CACHE, MH_PLACE_KINDS };

/* All processes, those of a node, of a package, and of a NUMA node. */
enum { MH_MAX_LEVELS = 4 };

/* Where in its node a process runs. Numbers are only compared for equality, within the place of the previous kind. */
typedef struct mh_place {
    int at[MH_PLACE_KINDS];
} mh_place;

/* Whether the places of the first kinds of two processes of a node are equal. */
bool mh_place_share(const mh_place *a, const mh_place *b, int kinds);

/* Whether the process at an index is the first of those that share its places of the first kinds. */
bool mh_place_is_first(const mh_place *places, int index, int kinds);

/* A group that this process belongs to. */
typedef struct mh_group {
    int size;   /* 0: this process takes no part */
    int index;  /* of this process in the group */
    int *ranks; /* ascending; owned. NULL: the process at an index has this rank, so that no process keeps a list */
} mh_group;

static inline int mh_group_rank(const mh_group *group, int index)
{
    return group->ranks ? group->ranks[index] : index;
}

/* Whether a rank is one of a group that has a list. */
bool mh_group_has(const mh_group *group, int rank);

void mh_group_free(mh_group *group);

/* What a process knows of where the processes of a communicator run. The first process of a node is its lowest rank. */
typedef struct mh_sites {
    int rank, size;   /* of this process, and of the communicator */
    mh_group leaders; /* the first processes of all nodes; only such a process knows them */
    mh_group node;    /* the processes of this one's node; always has ranks */
    mh_place *places; /* of the processes of the node, by their indexes there; owned */
} mh_sites;

void mh_sites_free(mh_sites *sites);

/* The name of a level: "all", "node", "package", "numa". */
const char *mh_level_name(int level);

/*
 * The group of this process at level (0: outermost) of levels (at most MH_MAX_LEVELS). Returns 0, or -1 when out of
 * memory. The group is to be freed by mh_group_free.
 */
int mh_topology_group(const mh_sites *sites, int level, int levels, mh_group *group);

#endif
