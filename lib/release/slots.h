/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slots.h - shared memory through which the processes of a node exchange arrivals and releases.
 *
 * Each line has one writer. It is complete when it contains the number of the round, so it is never reset.
 */
#ifndef MH_SLOTS_H
#define MH_SLOTS_H

#include "release/arrival.h"
#include "pure/topology.h"
#include "transport/message.h"
#include "transport/shared_memory.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { MH_LINE_BYTES = 128 }; /* processors fetch pairs of 64 bytes */

typedef struct mh_arrival_line {
    _Alignas(MH_LINE_BYTES) atomic_uint_least64_t round;
    mh_arrival arrival;
} mh_arrival_line;

typedef struct mh_release_line {
    _Alignas(MH_LINE_BYTES) atomic_uint_least64_t round;
    mh_release release;
} mh_release_line;

/* The two lines of a process in a tree. */
typedef struct mh_slot {
    mh_arrival_line arrival;
    mh_release_line release;
} mh_slot;

_Static_assert(offsetof(mh_arrival_line, arrival) + sizeof(mh_arrival) <= 64, "an arrival comes with one transfer");
_Static_assert(sizeof(mh_slot) == 2 * MH_LINE_BYTES, "each half of a slot fits into one line");

typedef struct mh_slots {
    const mh_channel *channel;
    mh_shared_memory memory; /* none for a process that is alone on its node */
    int index, size;         /* of the process in its node */
    bool usable;             /* on all nodes */
    char why_not[64];        /* the reason if not usable */
    uint64_t round;
    bool waited_long; /* in this round, for a process of the node */
} mh_slots;

/* The size of the memory for so many processes. has_steps: there are no others, so a dissemination uses it, too. */
size_t mh_slots_bytes(int processes, bool has_steps);

/* Share memory with the processes of the node. Collective. If that fails on any process, why_not says why. */
int mh_slots_open(mh_slots *slots, const mh_channel *channel, const mh_group *node, mh_error *error);

/* Local. Does nothing if they are not open. */
void mh_slots_close(mh_slots *slots);

/* The first slot holds the nonce of the memory and, in its second line, whether a process has given up. */
static inline mh_slot *mh_slots_of(const mh_slots *slots, int index)
{
    return (mh_slot *)slots->memory.data + 1 + index;
}

/*
 * The line that a process of the node writes in a step of a dissemination. Two lines alternate, because a process may
 * be one round ahead of its reader. Only if all processes share the memory.
 */
static inline mh_arrival_line *mh_slots_step(const mh_slots *slots, int index, int step)
{
    mh_arrival_line *first = (mh_arrival_line *)mh_slots_of(slots, slots->size);
    return first + 2 * ((size_t)step * (size_t)slots->size + (size_t)index) + (slots->round & 1);
}

/* Write a line of this process for the present round. */
static inline void mh_slots_arrive(const mh_slots *slots, mh_arrival_line *line, const mh_arrival *arrival)
{
    line->arrival = *arrival;
    atomic_store_explicit(&line->round, slots->round, memory_order_release);
}

static inline void mh_slots_release(const mh_slots *slots, mh_release_line *line, const mh_release *release)
{
    line->release = *release;
    atomic_store_explicit(&line->round, slots->round, memory_order_release);
}

/* Tell the processes of the node that this one has given up, so that their waits end. */
void mh_slots_give_up(const mh_slots *slots);

/* Wait until a line contains the present round. Fails if a process of the node has given up. */
int mh_slots_await(mh_slots *slots, const atomic_uint_least64_t *round, mh_error *error);

#endif
