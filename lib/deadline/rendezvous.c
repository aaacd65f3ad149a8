/* SPDX-License-Identifier: BSD-3-Clause */
#include "deadline/rendezvous.h"

#include "deadline/rendezvous_private.h"
#include "deadline/slots.h"

#include <stdio.h>
#include <string.h>

static const mh_rendezvous_kind *const kinds[] = {&mh_rendezvous_shm, &mh_rendezvous_dissemination, &mh_rendezvous_tree,
                                                 &mh_rendezvous_collective};

enum { KINDS = sizeof kinds / sizeof *kinds };

const char *mh_rendezvous_choice(int place)
{
    if (place == 0)
        return "auto";
    return place <= KINDS ? kinds[place - 1]->name : NULL;
}

static int open_groups(mh_rendezvous *rendezvous, const mh_group *leaders, const mh_group *node, const mh_place *places,
                       mh_error *error)
{
    rendezvous->all = mh_tree_binomial(rendezvous->channel->rank, rendezvous->channel->size);
    rendezvous->leaders = mh_tree_of_group(leaders);
    rendezvous->node = mh_tree_of_node(places, node, node->index);
    rendezvous->node_index = node->index;
    rendezvous->node_size = node->size;
    return mh_slots_open(rendezvous, node, error);
}

int mh_rendezvous_open(mh_rendezvous *rendezvous, const mh_channel *channel, const mh_place *places, mh_error *error)
{
    mh_group leaders, node;
    *rendezvous = (mh_rendezvous){.channel = channel};
    int missing = mh_topology_group(places, channel->size, channel->rank, 0, 2, &leaders);
    missing |= mh_topology_group(places, channel->size, channel->rank, 1, 2, &node);
    if (missing)
        mh_fail(error, MPI_ERR_NO_MEM, "out of memory on rank %d for the groups of a rendezvous", channel->rank);
    int code = mh_error_agree(error, channel->comm);
    if (code == MPI_SUCCESS)
        code = open_groups(rendezvous, &leaders, &node, places, error);
    mh_group_free(&leaders);
    mh_group_free(&node);
    if (code != MPI_SUCCESS)
        mh_rendezvous_close(rendezvous);
    return code;
}

void mh_rendezvous_close(mh_rendezvous *rendezvous)
{
    mh_shared_memory_unmap(&rendezvous->slots);
    rendezvous->channel = NULL;
}

void mh_rendezvous_give_up(const mh_rendezvous *rendezvous)
{
    mh_slots_give_up(rendezvous);
}

bool mh_rendezvous_is_open(const mh_rendezvous *rendezvous)
{
    return rendezvous->channel != NULL;
}

bool mh_rendezvous_is_available(const mh_rendezvous *rendezvous, int choice)
{
    const mh_rendezvous_kind *kind = kinds[choice - 1];
    return !kind->is_available || kind->is_available(rendezvous);
}

bool mh_rendezvous_decides_alone(int choice)
{
    return !kinds[choice - 1]->order;
}

void mh_rendezvous_use(mh_rendezvous *rendezvous, int choice, const char *reason)
{
    bool has_slots = !rendezvous->no_slots[0];
    snprintf(rendezvous->reason, sizeof rendezvous->reason, "%s%s%s", reason, has_slots ? "" : "; no shared memory: ",
             rendezvous->no_slots);
    rendezvous->kind = kinds[choice - 1];
}

const char *mh_rendezvous_name(const mh_rendezvous *rendezvous)
{
    return rendezvous->kind->name;
}

bool mh_rendezvous_informs_all(const mh_rendezvous *rendezvous)
{
    return !rendezvous->kind->order;
}

int mh_rendezvous_report(mh_rendezvous *rendezvous, const mh_report *mine, mh_report *greatest, mh_error *error)
{
    rendezvous->waited_long = false;
    return rendezvous->kind->report(rendezvous, mine, greatest, error);
}

int mh_rendezvous_order(mh_rendezvous *rendezvous, mh_order *order, mh_error *error)
{
    return rendezvous->kind->order ? rendezvous->kind->order(rendezvous, order, error) : MPI_SUCCESS;
}
