/* SPDX-License-Identifier: BSD-3-Clause */
/* topology.c - groups by equal places. */
#include "topology/topology.h"

#include <stdlib.h>

const char *mh_level_name(int level)
{
    static const char *const names[MH_MAX_LEVELS] = {"all", "node", "package", "numa"};
    return names[level];
}

bool mh_place_share(const mh_place *a, const mh_place *b, int kinds)
{
    for (int kind = 0; kind < kinds; kind++)
        if (a->at[kind] != b->at[kind])
            return false;
    return true;
}

/* Whether rank is the lowest of those with the same places of the first kinds. */
static int is_first(const mh_place *places, int rank, int kinds)
{
    for (int other = places[rank].at[MH_PLACE_NODE]; other < rank; other++)
        if (mh_place_share(&places[other], &places[rank], kinds))
            return 0;
    return 1;
}

int mh_topology_group(const mh_place *places, int count, int rank, int level, int levels, mh_group *group)
{
    int innermost = level == levels - 1;
    *group = (mh_group){0, 0, NULL};
    if (!innermost && !is_first(places, rank, level + 1))
        return 0;
    group->ranks = malloc((size_t)count * sizeof *group->ranks);
    if (!group->ranks)
        return -1;
    for (int other = 0; other < count; other++) {
        if (!mh_place_share(&places[other], &places[rank], level) ||
            (!innermost && !is_first(places, other, level + 1)))
            continue;
        if (other == rank)
            group->index = group->size;
        group->ranks[group->size++] = other;
    }
    int *fitted = realloc(group->ranks, (size_t)group->size * sizeof *fitted);
    if (fitted)
        group->ranks = fitted;
    return 0;
}

void mh_group_free(mh_group *group)
{
    free(group->ranks);
    *group = (mh_group){0, 0, NULL};
}
