/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slots.h - the memory through which the processes of a node meet; for the members of the family of rendezvous.
 *
 * Each line has one writer. It is whole when it carries the number of the round, so nothing has to be reset.
 */
#ifndef MH_SLOTS_H
#define MH_SLOTS_H

#include "deadline/rendezvous.h"

#include <stdatomic.h>
#include <stddef.h>

enum { MH_LINE_BYTES = 128 }; /* processors fetch pairs of 64 bytes */

typedef struct mh_report_line {
    _Alignas(MH_LINE_BYTES) atomic_uint_least64_t round;
    mh_report report;
} mh_report_line;

typedef struct mh_order_line {
    _Alignas(MH_LINE_BYTES) atomic_uint_least64_t round;
    mh_order order;
} mh_order_line;

/* Of a process, for the tree. */
typedef struct mh_slot {
    mh_report_line report;
    mh_order_line order;
} mh_slot;

_Static_assert(offsetof(mh_report_line, report) + sizeof(mh_report) <= 64, "a report comes with one transfer");
_Static_assert(sizeof(mh_slot) == 2 * MH_LINE_BYTES, "each half of a slot fits into one line");

/* The memory that so many processes need. */
size_t mh_slots_bytes(int processes);

/* Share memory with the processes of the node. Collective. Where that fails on any process, no_slots says why. */
int mh_slots_open(mh_rendezvous *rendezvous, const mh_group *node, mh_error *error);

static inline bool mh_slots_are_there(const mh_rendezvous *rendezvous)
{
    return !rendezvous->no_slots[0];
}

/* The first place is taken by the nonce of the memory and, in its second line, by whether a process has given up. */
static inline mh_slot *mh_slot_of(const mh_rendezvous *rendezvous, int index)
{
    return (mh_slot *)rendezvous->slots.data + 1 + index;
}

/*
 * What a process of the node writes in a step of a dissemination; by turns two lines, as a process may be a round ahead
 * of who reads it.
 */
static inline mh_report_line *mh_slots_step(const mh_rendezvous *rendezvous, int index, int step)
{
    mh_report_line *first = (mh_report_line *)mh_slot_of(rendezvous, rendezvous->node_size);
    return first + 2 * ((size_t)step * (size_t)rendezvous->node_size + (size_t)index) + (rendezvous->round & 1);
}

/* Write a line of this process for the present round. */
static inline void mh_slots_report(const mh_rendezvous *rendezvous, mh_report_line *line, const mh_report *report)
{
    line->report = *report;
    atomic_store_explicit(&line->round, rendezvous->round, memory_order_release);
}

/* Tell the processes of the node that this one takes no further part, so that their waits end. */
void mh_slots_give_up(const mh_rendezvous *rendezvous);

/* Wait until a line is that of the present round. Fails if a process of the node has given up. */
int mh_slots_await(mh_rendezvous *rendezvous, const atomic_uint_least64_t *round, mh_error *error);

#endif
