/* SPDX-License-Identifier: BSD-3-Clause */
/* slots.c - share the memory, and wait for the lines of other processes. */
#include "release/slots.h"

#include "transport/tags.h"

#include <sched.h>
#include <stdio.h>

enum {
    /*
     * Some microseconds. Peers that are already in the call publish their lines sooner, so MPI progress is polled only
     * if one is late.
     */
    SPINS_PER_PROGRESS = 128,
    SPINS_BEFORE_YIELD = 16 * SPINS_PER_PROGRESS,
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

static inline bool is_there(const atomic_uint_least64_t *line_round, uint64_t round)
{
    return atomic_load_explicit(line_round, memory_order_acquire) == round;
}

static inline atomic_uint_least64_t *given_up(const mh_slots *slots)
{
    return &((mh_slot *)slots->memory.data)->release.round;
}

void mh_slots_give_up(const mh_slots *slots)
{
    if (slots->memory.data)
        atomic_store_explicit(given_up(slots), 1, memory_order_release);
}

/* Called from time to time while a process waits. */
static int make_progress(const mh_slots *slots, mh_error *error)
{
    if (!atomic_load_explicit(given_up(slots), memory_order_acquire))
        return mh_make_progress(slots->channel, error);
    error->alone = true;
    return mh_fail(error, MPI_ERR_OTHER, "a call failed inside MPI on another process of the node");
}

static int await_yielding(const mh_slots *slots, const atomic_uint_least64_t *line_round, mh_error *error)
{
    int code = MPI_SUCCESS;
    for (unsigned yields = 1; code == MPI_SUCCESS && !is_there(line_round, slots->round); yields++) {
        sched_yield();
        if (yields % YIELDS_PER_PROGRESS == 0)
            code = make_progress(slots, error);
    }
    return code;
}

/* After a long wait, yield: a missing process, or another program, may need this processor. */
static int await_spinning(mh_slots *slots, const atomic_uint_least64_t *line_round, mh_error *error)
{
    int code = MPI_SUCCESS;
    for (unsigned spins = 1; code == MPI_SUCCESS && !is_there(line_round, slots->round); spins++) {
        relax();
        if (spins % SPINS_PER_PROGRESS != 0)
            continue;
        code = make_progress(slots, error);
        if (spins < SPINS_BEFORE_YIELD)
            continue;
        slots->waited_long = true;
        sched_yield();
    }
    return code;
}

int mh_slots_await(mh_slots *slots, const atomic_uint_least64_t *round, mh_error *error)
{
    return slots->channel->yields ? await_yielding(slots, round, error) : await_spinning(slots, round, error);
}

static int steps_among(int processes)
{
    int steps = 0;
    while (1 << steps < processes)
        steps++;
    return steps;
}

size_t mh_slots_bytes(int processes, bool has_steps)
{
    int steps = has_steps ? steps_among(processes) : 0;
    size_t slots = 1 + (size_t)processes, lines = 2 * (size_t)steps * (size_t)processes;
    return slots * sizeof(mh_slot) + lines * sizeof(mh_arrival_line);
}

/* ---- Getting the memory */

#ifdef SMPI_H
#define CAN_SHARE 0
#else
#define CAN_SHARE 1
#endif

static bool create(mh_slots *slots, int processes, mh_shared_memory_way way, mh_shared_memory_key *key)
{
    size_t bytes = mh_slots_bytes(processes, processes == slots->channel->size);
    return mh_shared_memory_create(&slots->memory, bytes, way, key, slots->why_not, sizeof slots->why_not) == 0;
}

static int tell(const mh_slots *slots, const mh_group *node, const mh_shared_memory_key *key, mh_error *error)
{
    int code = MPI_SUCCESS;
    for (int i = 1; i < node->size && code == MPI_SUCCESS; i++)
        code = mh_send(slots->channel, key, sizeof *key, node->ranks[i], MH_TAG_SLOTS, error);
    return code;
}

static bool map(mh_slots *slots, int first_rank, const mh_shared_memory_key *key)
{
    if (key->name[0])
        return mh_shared_memory_map(&slots->memory, key, slots->why_not, sizeof slots->why_not) == 0;
    snprintf(slots->why_not, sizeof slots->why_not, "rank %d could not create shared memory", first_rank);
    return false;
}

static int create_or_map(mh_slots *slots, const mh_group *node, mh_shared_memory_way way, mh_shared_memory_key *key,
                         bool *mine, mh_error *error)
{
    if (node->index == 0) {
        *mine = create(slots, node->size, way, key);
        return tell(slots, node, key, error);
    }
    int code = mh_recv(slots->channel, key, sizeof *key, node->ranks[0], MH_TAG_SLOTS, error);
    *mine = code == MPI_SUCCESS && map(slots, node->ranks[0], key);
    return code;
}

/* Slots are usable only if every node has them, so either all processes try the next way, or none does. */
static int open_by(mh_slots *slots, const mh_group *node, mh_shared_memory_way way, mh_error *error)
{
    mh_shared_memory_key key = {.name = ""};
    bool mine = true;
    int64_t all_have = 0;
    int code = MPI_SUCCESS;
    if (node->size > 1)
        code = create_or_map(slots, node, way, &key, &mine, error);
    if (code == MPI_SUCCESS)
        code = mh_allreduce_and(slots->channel, mine, &all_have, error);
    if (node->index == 0)
        mh_shared_memory_withdraw(&key);
    slots->usable = code == MPI_SUCCESS && all_have;
    if (slots->usable)
        return MPI_SUCCESS;
    mh_shared_memory_unmap(&slots->memory);
    if (mine)
        snprintf(slots->why_not, sizeof slots->why_not, "another process could not map it");
    return code;
}

int mh_slots_open(mh_slots *slots, const mh_channel *channel, const mh_group *node, mh_error *error)
{
    int code = MPI_SUCCESS;
    *slots = (mh_slots){.channel = channel, .index = node->index, .size = node->size};
    if (!CAN_SHARE)
        snprintf(slots->why_not, sizeof slots->why_not, "a simulated process shares no memory");
    for (int way = 0; way < MH_SHARED_WAYS && CAN_SHARE && !slots->usable && code == MPI_SUCCESS; way++)
        code = open_by(slots, node, (mh_shared_memory_way)way, error);
    return code;
}

void mh_slots_close(mh_slots *slots)
{
    mh_shared_memory_unmap(&slots->memory);
    slots->usable = false;
}
