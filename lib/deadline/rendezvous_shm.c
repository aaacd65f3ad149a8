/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rendezvous_shm.c - shared memory within a node, messages between nodes.
 *
 * Each process of a node has a slot of two cache lines that it alone writes: one with its report, which its parent in the arrival
 * tree polls, and one with the order, which its children poll. A line is whole when it carries the number of the round, so
 * nothing has to be reset: a parent gives the order of a round after it has read its children's reports, and a child reports the
 * next time after it has read the order. The first processes of the nodes meet along a tree of messages.
 *
 * One store and one miss for each level each way; no system call, no lock. While others are missing, the MPI library is called
 * now and then, as they may be waiting for this process's earlier messages to go on.
 */
#include "deadline/rendezvous_private.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum {
    LINE_BYTES = 128,         /* processors fetch pairs of 64 bytes */
    SPINS_PER_PROGRESS = 512, /* some microseconds: longer than others are missing who have all arrived */
    YIELDS_PER_PROGRESS = 16
};

typedef struct slot {
    _Alignas(LINE_BYTES) atomic_uint_least64_t report_round;
    mh_report report;
    _Alignas(LINE_BYTES) atomic_uint_least64_t order_round;
    mh_order order;
} slot;

_Static_assert(sizeof(slot) == 2 * LINE_BYTES, "each half of a slot fits into one line");

/* The first place is taken by the nonce of the memory. */
static inline slot *slot_of(const mh_rendezvous *rendezvous, int index)
{
    return (slot *)rendezvous->slots.data + 1 + index;
}

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static inline bool is_there(const atomic_uint_least64_t *place, uint64_t round)
{
    return atomic_load_explicit(place, memory_order_acquire) == round;
}

static int await_yielding(const mh_rendezvous *rendezvous, const atomic_uint_least64_t *place, mh_error *error)
{
    int code = MPI_SUCCESS;
    for (int yields = 1; code == MPI_SUCCESS && !is_there(place, rendezvous->round); yields++) {
        sched_yield();
        if (yields % YIELDS_PER_PROGRESS == 0)
            code = mh_make_progress(rendezvous->channel, error);
    }
    return code;
}

static int await_spinning(const mh_rendezvous *rendezvous, const atomic_uint_least64_t *place, mh_error *error)
{
    int code = MPI_SUCCESS;
    for (int spins = 1; code == MPI_SUCCESS && !is_there(place, rendezvous->round); spins++) {
        relax();
        if (spins % SPINS_PER_PROGRESS == 0)
            code = mh_make_progress(rendezvous->channel, error);
    }
    return code;
}

static inline int await(const mh_rendezvous *rendezvous, const atomic_uint_least64_t *place, mh_error *error)
{
    return (rendezvous->channel->yields ? await_yielding : await_spinning)(rendezvous, place, error);
}

static int report(mh_rendezvous *rendezvous, const mh_report *mine, mh_report *greatest, mh_error *error)
{
    const mh_arrival *node = &rendezvous->node;
    *greatest = *mine;
    rendezvous->round++;
    for (int i = 0; i < node->children; i++) {
        slot *child = slot_of(rendezvous, node->child[i]);
        int code = await(rendezvous, &child->report_round, error);
        if (code != MPI_SUCCESS)
            return code;
        mh_report_combine(greatest, &child->report);
    }
    if (node->parent < 0)
        return mh_message_tree_report(rendezvous->channel, &rendezvous->leaders, greatest, error);
    slot *own = slot_of(rendezvous, rendezvous->node_index);
    own->report = *greatest;
    atomic_store_explicit(&own->report_round, rendezvous->round, memory_order_release);
    return MPI_SUCCESS;
}

static int order(mh_rendezvous *rendezvous, mh_order *order, mh_error *error)
{
    const mh_arrival *node = &rendezvous->node;
    int code;
    if (node->parent < 0) {
        code = mh_message_tree_order(rendezvous->channel, &rendezvous->leaders, order, error);
    } else {
        slot *parent = slot_of(rendezvous, node->parent);
        code = await(rendezvous, &parent->order_round, error);
        *order = parent->order;
    }
    if (code != MPI_SUCCESS || node->children == 0)
        return code;
    slot *own = slot_of(rendezvous, rendezvous->node_index);
    own->order = *order;
    atomic_store_explicit(&own->order_round, rendezvous->round, memory_order_release);
    return MPI_SUCCESS;
}

static bool is_available(const mh_rendezvous *rendezvous)
{
    return !rendezvous->no_slots[0];
}

const mh_rendezvous_kind mh_rendezvous_shm = {
    .name = "shm",
    .doc = "shared memory within a node, messages along a binomial tree between nodes",
    .is_available = is_available,
    .report = report,
    .order = order,
};

/* ---- Getting the memory */

#ifdef SMPI_H
#define CAN_SHARE 0
#else
#define CAN_SHARE 1
#endif

static int create(mh_rendezvous *rendezvous, const mh_group *node, char *why, size_t why_size, mh_shared_memory_key *key,
                  mh_error *error)
{
    if (mh_shared_memory_create(&rendezvous->slots, (size_t)(1 + node->size) * sizeof(slot), key, why, why_size) == 0)
        why[0] = '\0';
    int code = MPI_SUCCESS;
    for (int i = 1; i < node->size && code == MPI_SUCCESS; i++)
        code = mh_send(rendezvous->channel, key, sizeof *key, node->ranks[i], MH_TAG_MEETING, error);
    return code;
}

static int map(mh_rendezvous *rendezvous, const mh_group *node, char *why, size_t why_size, mh_shared_memory_key *key,
               mh_error *error)
{
    int code = mh_recv(rendezvous->channel, key, sizeof *key, node->ranks[0], MH_TAG_MEETING, error);
    if (code != MPI_SUCCESS)
        return code;
    if (!key->name[0])
        snprintf(why, why_size, "rank %d could not create shared memory", node->ranks[0]);
    else if (mh_shared_memory_map(&rendezvous->slots, key, why, why_size) == 0)
        why[0] = '\0';
    return MPI_SUCCESS;
}

int mh_slots_open(mh_rendezvous *rendezvous, const mh_group *node, mh_error *error)
{
    char *why = rendezvous->no_slots;
    size_t why_size = sizeof rendezvous->no_slots;
    mh_shared_memory_key key = {.name = ""};
    int64_t all_have;
    int code = MPI_SUCCESS;
    why[0] = '\0';
    if (!CAN_SHARE)
        snprintf(why, why_size, "a simulated process shares no memory");
    else if (node->size > 1)
        code = (node->index == 0 ? create : map)(rendezvous, node, why, why_size, &key, error);
    if (code == MPI_SUCCESS)
        code = mh_allreduce_and(rendezvous->channel, why[0] == '\0', &all_have, error);
    if (node->index == 0)
        mh_shared_memory_forget_name(&key);
    if (code == MPI_SUCCESS && all_have)
        return MPI_SUCCESS;
    mh_shared_memory_unmap(&rendezvous->slots);
    if (!why[0])
        snprintf(why, why_size, "another process could not map it");
    return code;
}
