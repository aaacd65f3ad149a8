/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memo.h - what this process remembers of earlier communicators, so that a further one of the same processes need not
 * start again: their clocks, and which barrier was the fastest.
 *
 * Each entry is a copy, so it can be used after the communicator was freed.
 */
#ifndef MH_MEMO_H
#define MH_MEMO_H

#include "sync/comm_clock.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct mh_memory {
    mh_known_clock clock;
    int64_t fastest; /* barrier, in the list of mh_barrier_choice; 0: not known */
    bool yielded;    /* the processes yielded while it was found */
} mh_memory;

enum { MH_MEMORIES = 8 };

/* All zero, but for the lock, is an empty memo. */
typedef struct mh_memo {
    pthread_mutex_t lock;
    mh_memory memories[MH_MEMORIES]; /* the one that was added last comes first */
} mh_memo;

/* That of this process. */
extern mh_memo mh_memo_of_process;

/*
 * Add what is known of a communicator, or replace what was known. If the memo is full, an entry that is useless is
 * dropped, or the oldest of those with the fewest processes.
 */
void mh_memo_add(mh_memo *memo, const mh_memory *memory);

/* The clock with this id was found wrong. */
void mh_memo_forget(mh_memo *memo, uint64_t id);

/* What must be the same on all processes that use an entry. */
typedef struct mh_memory_name {
    uint64_t id; /* of the clock; 0: none */
    int64_t generation;
    int64_t fastest;
} mh_memory_name;

/* The names of the entries, latest first; an id of 0 past the last. */
void mh_memo_names(mh_memo *memo, mh_memory_name names[MH_MEMORIES]);

/*
 * Copy the entry with this name if its clock is of use: it was not stepped since, was synchronized within the last
 * minutes unless it ran on one node and cannot drift, and its bounds hold for as much wander.
 */
bool mh_memo_get(mh_memo *memo, const mh_memory_name *name, double wander, mh_memory *memory);

/* What a further communicator is like. */
typedef struct mh_memo_query {
    const mh_channel *channel;
    int clock_choice; /* an index into the list of mh_base_clock_choice */
    double wander;    /* as much as its clocks may have */
    bool is_one_node; /* all its processes run on one node */
} mh_memo_query;

/* What all its processes remember of one earlier communicator; the same one on all. */
typedef struct mh_origin {
    mh_known_clock clock; /* its id is 0 if there is none */
    bool has_same_ranks;
    int fastest; /* a barrier that was the fastest in like circumstances; 0: not known */
} mh_origin;

/* Find the latest that all processes remember and can use. Collective. */
int mh_memo_find(mh_memo *memo, const mh_memo_query *query, mh_origin *origin, mh_error *error);

#endif
