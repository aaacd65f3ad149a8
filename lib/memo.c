/* SPDX-License-Identifier: BSD-3-Clause */
/* memo.c - a short list, the latest first; what makes an entry useless; and how processes find one that all have. */
#include "memo.h"

#include "sync/schedule.h"

#include <string.h>

mh_memo mh_memo_of_process = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The place of an entry; if it is not there, MH_MEMORIES. */
static int place_of(const mh_memo *memo, uint64_t id)
{
    int place = 0;
    while (place < MH_MEMORIES && memo->memories[place].clock.id != id)
        place++;
    return place;
}

/* Whether the clock runs as it did when it was synchronized. If all processes share one clock, it may be old. */
static bool is_fresh(mh_known_clock clock)
{
    bool stepped = mh_clock_watch_look(&clock.watch, &clock.base) != 0;
    int64_t age_ns = mh_base_clock_now_ns(&clock.base) - clock.synced_ns;
    bool is_young =
        age_ns <= MH_LONGEST_INTERVAL_NS || (clock.is_one_node && !mh_estimate_grows(&clock.known.estimate));
    return !stepped && age_ns >= 0 && is_young;
}

/*
 * The place for a further entry: a free one, or that of a useless entry, or of the entry with the fewest processes,
 * because more communicators can begin with a clock of many processes. Of equal entries, the oldest is dropped.
 */
static int place_to_give(const mh_memo *memo)
{
    int place = MH_MEMORIES - 1;
    for (int i = place; i >= 0; i--) {
        if (!memo->memories[i].clock.id || !is_fresh(memo->memories[i].clock))
            return i;
        if (memo->memories[i].clock.size < memo->memories[place].clock.size)
            place = i;
    }
    return place;
}

void mh_memo_add(mh_memo *memo, const mh_memory *memory)
{
    pthread_mutex_lock(&memo->lock);
    int place = place_of(memo, memory->clock.id);
    if (place == MH_MEMORIES)
        place = place_to_give(memo);
    memmove(&memo->memories[1], &memo->memories[0], (size_t)place * sizeof *memory);
    memo->memories[0] = *memory;
    pthread_mutex_unlock(&memo->lock);
}

void mh_memo_forget(mh_memo *memo, uint64_t id)
{
    pthread_mutex_lock(&memo->lock);
    int place = place_of(memo, id);
    if (place < MH_MEMORIES) {
        mh_memory *gap = &memo->memories[place];
        memmove(gap, gap + 1, (size_t)(MH_MEMORIES - 1 - place) * sizeof *gap);
        memo->memories[MH_MEMORIES - 1].clock.id = 0;
    }
    pthread_mutex_unlock(&memo->lock);
}

void mh_memo_names(mh_memo *memo, mh_memory_name names[MH_MEMORIES])
{
    pthread_mutex_lock(&memo->lock);
    for (int i = 0; i < MH_MEMORIES; i++) {
        const mh_memory *memory = &memo->memories[i];
        names[i] = (mh_memory_name){memory->clock.id, memory->clock.generation, memory->fastest};
    }
    pthread_mutex_unlock(&memo->lock);
}

bool mh_memo_get(mh_memo *memo, const mh_memory_name *name, double wander, mh_memory *memory)
{
    pthread_mutex_lock(&memo->lock);
    int place = name->id ? place_of(memo, name->id) : MH_MEMORIES;
    bool found = place < MH_MEMORIES;
    if (found)
        *memory = memo->memories[place];
    pthread_mutex_unlock(&memo->lock);
    const mh_known_clock *clock = &memory->clock;
    return found && clock->generation == name->generation && clock->wander >= wander && is_fresh(*clock);
}

/*
 * What a process says is one number, and what all processes say is the AND of their numbers. For each entry, three bits
 * say whether the entry is usable, its fastest barrier is likely to be the fastest here, and this process has the same
 * rank. Bit i from each place on is for entry i. The bits from KINDS_BIT on say which kinds of base clocks are usable.
 */
enum { USABLE_BIT, FASTEST_BIT = MH_MEMORIES, RANKS_BIT = 2 * MH_MEMORIES, KINDS_BIT = 3 * MH_MEMORIES };

/*
 * What this process says of entry 0 if memory is that entry; for entry i, shift it by i. A barrier that was the fastest
 * is likely to be the fastest again if both communicators are on one node, or both on several, and processes of both
 * wait alike.
 */
static int64_t say(const mh_memo_query *query, const mh_memory *memory, const mh_memory_name *name)
{
    const mh_channel *channel = query->channel;
    const mh_known_clock *clock = &memory->clock;
    bool has_same_rank = clock->rank == channel->rank && clock->size == channel->size;
    bool has_fastest = clock->is_one_node == query->is_one_node && memory->yielded == channel->yields &&
                       name->fastest > 0 && memory->fastest == name->fastest;
    return INT64_C(1) << USABLE_BIT | (int64_t)has_fastest << FASTEST_BIT | (int64_t)has_same_rank << RANKS_BIT;
}

/* The latest that all have and whose base clock is the one that all would choose. */
static void take_latest(const mh_memory *memories, int64_t common, int choice, mh_origin *origin)
{
    for (int i = 0; i < MH_MEMORIES; i++) {
        int64_t said = common >> i;
        if (!(said >> USABLE_BIT & 1) || !mh_base_clock_is_choice(&memories[i].clock.base, choice, common >> KINDS_BIT))
            continue;
        origin->clock = memories[i].clock;
        origin->has_same_ranks = said >> RANKS_BIT & 1;
        origin->fastest = said >> FASTEST_BIT & 1 ? (int)memories[i].fastest : 0;
        return;
    }
}

/* Rank 0 proposes what it remembers. */
int mh_memo_find(mh_memo *memo, const mh_memo_query *query, mh_origin *origin, mh_error *error)
{
    mh_memory memories[MH_MEMORIES];
    mh_memory_name names[MH_MEMORIES];
    int64_t mine = mh_base_clock_usable() << KINDS_BIT, common = 0;
    origin->clock.id = 0;
    origin->has_same_ranks = false;
    origin->fastest = 0;
    mh_memo_names(memo, names);
    int code = mh_bcast(query->channel, names, sizeof names, 0, error);
    if (code != MPI_SUCCESS || names[0].id == 0)
        return code;
    for (int i = 0; i < MH_MEMORIES; i++)
        if (mh_memo_get(memo, &names[i], query->wander, &memories[i]))
            mine |= say(query, &memories[i], &names[i]) << i;
    code = mh_allreduce_and(query->channel, mine, &common, error);
    if (code == MPI_SUCCESS)
        take_latest(memories, common, query->clock_choice, origin);
    return code;
}
