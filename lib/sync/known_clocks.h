/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * known_clocks.h - the clocks of communicators that this process was synchronized in, so that a further communicator of
 * the same processes need not start again.
 *
 * Each entry is a copy, made by each synchronization. So it can be used after the communicator was freed.
 */
#ifndef MH_KNOWN_CLOCKS_H
#define MH_KNOWN_CLOCKS_H

#include "clock/base_clock.h"
#include "pure/model.h"
#include "clock/watch.h"
#include "pure/window.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* What a process tells another one about its clock, as of the last synchronization of an earlier communicator. */
typedef struct mh_known_estimate {
    mh_estimate estimate; /* to the global time of that communicator */
    int64_t sharing_rank; /* the process there that has the same clock and measures it */
    mh_window window;     /* of the offset to that process's clock */
} mh_known_estimate;

/* What must be the same on all processes that use a known clock. */
typedef struct mh_known_name {
    uint64_t id;            /* of the communicator; 0: none */
    int64_t generation;     /* counts its synchronizations */
    int64_t barrier_choice; /* what it found the fastest, in the list of mh_barrier_choice; 0: not known yet */
} mh_known_name;

typedef struct mh_known_clock {
    mh_known_name name;
    mh_base_clock base;
    mh_clock_watch watch;
    int64_t synced_ns; /* the end of the last synchronization, by the base clock */
    mh_known_estimate known;
    int rank, size;   /* of this process, and of the communicator */
    bool is_one_node; /* all processes of the communicator ran on one node */
    bool yields;      /* its processes yielded while the barrier was chosen */
    double wander;    /* the limit for which the bounds hold */
} mh_known_clock;

enum { MH_KNOWN_CLOCKS = 8 };

/* All zero, but for the lock, is an empty list. */
typedef struct mh_known_clocks {
    pthread_mutex_t lock;
    mh_known_clock clocks[MH_KNOWN_CLOCKS]; /* the one that was synchronized last comes first */
} mh_known_clocks;

/*
 * Add a clock, or replace what was known about it. If the list is full, an entry that is useless is dropped, or the
 * oldest of those with the fewest processes.
 */
void mh_known_clocks_add(mh_known_clocks *list, const mh_known_clock *clock);

/* The communicator with this id has found its fastest barrier, whose processes yield while they wait, or do not. */
void mh_known_clocks_set_barrier(mh_known_clocks *list, uint64_t id, int64_t barrier_choice, bool yields);

/* A clock was found wrong. */
void mh_known_clocks_remove(mh_known_clocks *list, uint64_t id);

/* Their names, latest first; an id of 0 past the last. */
void mh_known_clocks_names(mh_known_clocks *list, mh_known_name names[MH_KNOWN_CLOCKS]);

/*
 * Copy the clock with this id and generation if it is of use: it was not stepped since, was synchronized within the
 * last minutes unless it ran on one node and cannot drift, and its bounds hold for as much wander.
 */
bool mh_known_clocks_get(mh_known_clocks *list, const mh_known_name *name, double wander, mh_known_clock *clock);

#endif
