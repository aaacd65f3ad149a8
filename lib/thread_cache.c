/* SPDX-License-Identifier: BSD-3-Clause */
/* thread_cache.c - a few entries in the memory of each thread, which become stale when a state ends in any thread. */
#include "thread_cache.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { ENTRIES = 16, GROUPS = 256 };

/* For each group of handles. Changes whenever a state of the group ends: what threads remember is then stale. */
static _Atomic unsigned generations[GROUPS];

typedef struct mh_cache_entry {
    unsigned generation;
    MPI_Comm comm;
    struct mh_comm_state *state;
} mh_cache_entry;

/*
 * The general model of thread-local storage costs half a nanosecond, but lets programs load the library at run time.
 */
static _Thread_local mh_cache_entry entries[ENTRIES];

static inline _Atomic unsigned *generation_of(MPI_Comm comm)
{
    return &generations[mh_handle_hash(comm) % GROUPS];
}

/* Of communicators that are alike, the one used last is in this entry; the others are anywhere. */
static inline mh_cache_entry *first_entry(MPI_Comm comm)
{
    return &entries[mh_handle_hash(comm) % ENTRIES];
}

static inline bool is_of(const mh_cache_entry *entry, MPI_Comm comm, unsigned now)
{
    return entry->generation == now && entry->comm == comm;
}

/* Apart, so that it costs those nothing that are found in their first entry. */
__attribute__((noinline)) static struct mh_comm_state *search_all(mh_cache_entry *first, MPI_Comm comm, unsigned now)
{
    for (mh_cache_entry *entry = entries; entry < entries + ENTRIES; entry++)
        if (is_of(entry, comm, now)) {
            mh_cache_entry found = *entry;
            *entry = *first;
            *first = found;
            return found.state;
        }
    return NULL;
}

struct mh_comm_state *mh_comm_state_remembered(MPI_Comm comm)
{
    unsigned now = mh_thread_cache_generation(comm);
    mh_cache_entry *first = first_entry(comm);
    return is_of(first, comm, now) ? first->state : search_all(first, comm, now);
}

unsigned mh_thread_cache_generation(MPI_Comm comm)
{
    return atomic_load_explicit(generation_of(comm), memory_order_acquire);
}

/* An entry that is of no use any more, or else all in turn. */
static mh_cache_entry *entry_to_replace(void)
{
    static _Thread_local unsigned turn;
    for (int i = 0; i < ENTRIES; i++)
        if (!entries[i].state || entries[i].generation != atomic_load(generation_of(entries[i].comm)))
            return &entries[i];
    return &entries[turn++ % ENTRIES];
}

void mh_thread_cache_add(MPI_Comm comm, struct mh_comm_state *state, unsigned generation)
{
    *entry_to_replace() = *first_entry(comm);
    *first_entry(comm) = (mh_cache_entry){generation, comm, state};
}

void mh_thread_cache_drop(MPI_Comm comm)
{
    atomic_fetch_add(generation_of(comm), 1);
}
