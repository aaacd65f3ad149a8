/* SPDX-License-Identifier: BSD-3-Clause */
/* slots.c - getting the memory, and waiting for what others write into it. */
#include "deadline/slots.h"

#include "deadline/rendezvous_private.h"

#include <sched.h>
#include <stdio.h>

enum {
    SPINS_PER_PROGRESS = 512, /* some microseconds: longer than others are missing who have all arrived */
    SPINS_BEFORE_YIELD = 4 * SPINS_PER_PROGRESS,
    YIELDS_PER_PROGRESS = 16
};

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

static inline atomic_uint_least64_t *given_up(const mh_rendezvous *rendezvous)
{
    return &((mh_slot *)rendezvous->slots.data)->order.round;
}

void mh_slots_give_up(const mh_rendezvous *rendezvous)
{
    if (rendezvous->slots.data)
        atomic_store_explicit(given_up(rendezvous), 1, memory_order_release);
}

/* What a process does now and then while it waits. */
static int make_progress(const mh_rendezvous *rendezvous, mh_error *error)
{
    if (!atomic_load_explicit(given_up(rendezvous), memory_order_acquire))
        return mh_make_progress(rendezvous->channel, error);
    error->alone = true;
    return mh_fail(error, MPI_ERR_OTHER, "a call failed inside MPI on another process of the node");
}

static int await_yielding(const mh_rendezvous *rendezvous, const atomic_uint_least64_t *place, mh_error *error)
{
    int code = MPI_SUCCESS;
    for (unsigned yields = 1; code == MPI_SUCCESS && !is_there(place, rendezvous->round); yields++) {
        sched_yield();
        if (yields % YIELDS_PER_PROGRESS == 0)
            code = make_progress(rendezvous, error);
    }
    return code;
}

/* If that takes long, another process may need this processor to come here, of this job or of another one. */
static int await_spinning(mh_rendezvous *rendezvous, const atomic_uint_least64_t *place, mh_error *error)
{
    int code = MPI_SUCCESS;
    for (unsigned spins = 1; code == MPI_SUCCESS && !is_there(place, rendezvous->round); spins++) {
        relax();
        if (spins % SPINS_PER_PROGRESS != 0)
            continue;
        code = make_progress(rendezvous, error);
        if (spins < SPINS_BEFORE_YIELD)
            continue;
        rendezvous->waited_long = true;
        sched_yield();
    }
    return code;
}

int mh_slots_await(mh_rendezvous *rendezvous, const atomic_uint_least64_t *round, mh_error *error)
{
    return rendezvous->channel->yields ? await_yielding(rendezvous, round, error) : await_spinning(rendezvous, round, error);
}

static int steps_among(int processes)
{
    int steps = 0;
    while (1 << steps < processes)
        steps++;
    return steps;
}

size_t mh_slots_bytes(int processes)
{
    size_t slots = 1 + (size_t)processes, lines = 2 * (size_t)steps_among(processes) * (size_t)processes;
    return slots * sizeof(mh_slot) + lines * sizeof(mh_report_line);
}

/* ---- Getting the memory */

#ifdef SMPI_H
#define CAN_SHARE 0
#else
#define CAN_SHARE 1
#endif

static int create(mh_rendezvous *rendezvous, const mh_group *node, mh_shared_memory_way way, char *why, size_t why_size,
                  mh_shared_memory_key *key, mh_error *error)
{
    if (mh_shared_memory_create(&rendezvous->slots, mh_slots_bytes(node->size), way, key, why, why_size) == 0)
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

/* all_have: on each node, so that all processes try the next way or none does. */
static int open_by(mh_rendezvous *rendezvous, const mh_group *node, mh_shared_memory_way way, int64_t *all_have,
                   mh_error *error)
{
    char *why = rendezvous->no_slots;
    size_t why_size = sizeof rendezvous->no_slots;
    mh_shared_memory_key key = {.name = ""};
    int code = MPI_SUCCESS;
    why[0] = '\0';
    if (node->size > 1)
        code = node->index == 0 ? create(rendezvous, node, way, why, why_size, &key, error)
                                : map(rendezvous, node, why, why_size, &key, error);
    if (code == MPI_SUCCESS)
        code = mh_allreduce_and(rendezvous->channel, why[0] == '\0', all_have, error);
    if (node->index == 0)
        mh_shared_memory_withdraw(&key);
    if (code == MPI_SUCCESS && *all_have)
        return MPI_SUCCESS;
    mh_shared_memory_unmap(&rendezvous->slots);
    if (!why[0])
        snprintf(why, why_size, "another process could not map it");
    return code;
}

int mh_slots_open(mh_rendezvous *rendezvous, const mh_group *node, mh_error *error)
{
    int64_t all_have = 0;
    int code = MPI_SUCCESS;
    if (!CAN_SHARE)
        snprintf(rendezvous->no_slots, sizeof rendezvous->no_slots, "a simulated process shares no memory");
    for (int way = 0; way < MH_SHARED_WAYS && CAN_SHARE && !all_have && code == MPI_SUCCESS; way++)
        code = open_by(rendezvous, node, (mh_shared_memory_way)way, &all_have, error);
    return code;
}
