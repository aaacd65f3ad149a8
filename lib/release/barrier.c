/* SPDX-License-Identifier: BSD-3-Clause */
/* barrier.c - the list of barrier algorithms, and what is common to them. */
#include "release/barrier.h"

#include "release/barrier_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIND(name) &mh_barrier_##name,
static const mh_barrier_kind *const kinds[] = {MH_EACH_BARRIER(KIND)};

enum { KINDS = sizeof kinds / sizeof *kinds, ALIGNMENT_BYTES = 64 };

const char *mh_barrier_choice(int index)
{
    if (index == 0)
        return "auto";
    return index <= KINDS ? kinds[index - 1]->name : NULL;
}

/* The offset of a member's state in the memory for all; past the last member, the size of this memory. */
static size_t offset_of(int index)
{
    size_t offset = 0;
    for (int i = 0; i < index; i++)
        offset += (kinds[i]->state_size + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
    return offset;
}

int mh_barrier_open_members(mh_barrier *barrier, const mh_barrier_site *site)
{
    barrier->channel = site->channel;
    barrier->states = calloc(1, offset_of(KINDS));
    for (int i = 0; barrier->states && i < KINDS; i++)
        kinds[i]->open(barrier->states + offset_of(i), site);
    return barrier->states ? 0 : -1;
}

int mh_barrier_open(mh_barrier *barrier, const mh_channel *channel, const mh_sites *sites, mh_error *error)
{
    memset(barrier, 0, sizeof *barrier);
    mh_barrier_site site = {channel, sites, &barrier->slots};
    if (mh_barrier_open_members(barrier, &site))
        mh_fail(error, MPI_ERR_NO_MEM, "out of memory on rank %d for a barrier", channel->rank);
    int code = mh_error_agree(error, channel->comm);
    if (code == MPI_SUCCESS)
        code = mh_slots_open(&barrier->slots, channel, &sites->node, error);
    if (code != MPI_SUCCESS)
        mh_barrier_close(barrier);
    return code;
}

void mh_barrier_close(mh_barrier *barrier)
{
    mh_slots_close(&barrier->slots);
    free(barrier->states);
    barrier->states = NULL;
    barrier->channel = NULL;
}

void mh_barrier_give_up(const mh_barrier *barrier)
{
    mh_slots_give_up(&barrier->slots);
}

bool mh_barrier_is_open(const mh_barrier *barrier)
{
    return barrier->channel != NULL;
}

bool mh_barrier_is_available(const mh_barrier *barrier, int choice)
{
    const mh_barrier_kind *kind = kinds[choice - 1];
    return !kind->is_available || kind->is_available(barrier->states + offset_of(choice - 1));
}

bool mh_barrier_decides_alone(int choice)
{
    return !kinds[choice - 1]->release;
}

void mh_barrier_use(mh_barrier *barrier, int choice, const char *reason)
{
    const mh_slots *slots = &barrier->slots;
    snprintf(barrier->reason, sizeof barrier->reason, "%s%s%s", reason,
             slots->usable ? "" : "; no shared memory: ", slots->usable ? "" : slots->why_not);
    barrier->kind = kinds[choice - 1];
    barrier->state = barrier->states + offset_of(choice - 1);
}

const char *mh_barrier_name(const mh_barrier *barrier)
{
    return barrier->kind ? barrier->kind->name : "";
}

bool mh_barrier_informs_all(const mh_barrier *barrier)
{
    return !barrier->kind->release;
}

void mh_barrier_announce(mh_barrier *barrier, const mh_arrival *mine)
{
    barrier->slots.waited_long = false;
    if (barrier->kind->announce)
        barrier->kind->announce(barrier->state, mine);
}

int mh_barrier_arrive(mh_barrier *barrier, const mh_arrival *mine, mh_arrival *all, mh_error *error)
{
    return barrier->kind->arrive(barrier->state, mine, all, error);
}

int mh_barrier_release(mh_barrier *barrier, mh_release *release, mh_error *error)
{
    return barrier->kind->release ? barrier->kind->release(barrier->state, release, error) : MPI_SUCCESS;
}

bool mh_barrier_is_heard_outside_mpi(const mh_barrier *barrier)
{
    const mh_barrier_kind *kind = barrier->kind;
    return barrier->channel->size == 1 || (kind->is_heard_outside_mpi && kind->is_heard_outside_mpi(barrier->state));
}
