/* SPDX-License-Identifier: BSD-3-Clause */
/* topology.c - groups by equal places. */
#include "pure/topology.h"

#include <stdlib.h>
#include <string.h>

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

bool mh_place_is_first(const mh_place *places, int index, int kinds)
{
    for (int other = 0; other < index; other++)
        if (mh_place_share(&places[other], &places[index], kinds))
            return false;
    return true;
}

static int copy(const mh_group *from, mh_group *to)
{
    size_t bytes = (size_t)from->size * sizeof *from->ranks;
    int *ranks = from->ranks ? malloc(bytes) : NULL;
    if (from->ranks && !ranks)
        return -1;
    if (ranks)
        memcpy(ranks, from->ranks, bytes);
    *to = (mh_group){from->size, from->index, ranks};
    return 0;
}

/* Those that share this process's places of the first kinds: all, or the first ones of places of one kind more. */
static int group_in_node(const mh_sites *sites, int kinds, bool all, mh_group *group)
{
    const mh_group *node = &sites->node;
    if (!all && !mh_place_is_first(sites->places, node->index, kinds + 1))
        return 0;
    group->ranks = malloc((size_t)node->size * sizeof *group->ranks);
    if (!group->ranks)
        return -1;
    for (int i = 0; i < node->size; i++) {
        if (!mh_place_share(&sites->places[i], &sites->places[node->index], kinds) ||
            (!all && !mh_place_is_first(sites->places, i, kinds + 1)))
            continue;
        if (i == node->index)
            group->index = group->size;
        group->ranks[group->size++] = node->ranks[i];
    }
    int *fitted = realloc(group->ranks, (size_t)group->size * sizeof *fitted);
    if (fitted)
        group->ranks = fitted;
    return 0;
}

int mh_topology_group(const mh_sites *sites, int level, int levels, mh_group *group)
{
    bool is_innermost = level == levels - 1;
    *group = (mh_group){0, 0, NULL};
    if (level > 0)
        return group_in_node(sites, level - 1, is_innermost, group);
    if (!is_innermost)
        return copy(&sites->leaders, group);
    *group = (mh_group){sites->size, sites->rank, NULL};
    return 0;
}

bool mh_group_has(const mh_group *group, int rank)
{
    int index = 0;
    while (index < group->size && group->ranks[index] != rank)
        index++;
    return index < group->size;
}

void mh_group_free(mh_group *group)
{
    free(group->ranks);
    *group = (mh_group){0, 0, NULL};
}

void mh_sites_free(mh_sites *sites)
{
    mh_group_free(&sites->leaders);
    mh_group_free(&sites->node);
    free(sites->places);
    *sites = (mh_sites){0};
}
