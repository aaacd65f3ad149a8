/* SPDX-License-Identifier: BSD-3-Clause */
/* barrier_private.h - what a barrier algorithm is made of; for barrier.c and the members. */
#ifndef MH_BARRIER_PRIVATE_H
#define MH_BARRIER_PRIVATE_H

#include "release/barrier.h"
#include "pure/setting_names.h"
#include "pure/topology.h"

#include <stddef.h>

/* What a member is opened with; channel and slots outlive its state, sites does not. */
typedef struct mh_barrier_site {
    const mh_channel *channel;
    const mh_sites *sites;
    mh_slots *slots; /* of the processes of the node */
} mh_barrier_site;

typedef struct mh_barrier_kind {
    const char *name;
    const char *doc;
    size_t state_size;
    void (*open)(void *state, const mh_barrier_site *site); /* state is all zero before; owns nothing */
    bool (*is_available)(const void *state);                /* NULL: always */
    void (*announce)(void *state, const mh_arrival *mine);  /* what can be sent without waiting; NULL: nothing */
    int (*arrive)(void *state, const mh_arrival *mine, mh_arrival *all, mh_error *error);
    int (*release)(void *state, mh_release *release, mh_error *error); /* NULL: arrive informs all */
    bool (*is_heard_outside_mpi)(const void *state); /* as mh_barrier_is_heard_outside_mpi; NULL: never */
} mh_barrier_kind;

#define MH_DECLARE_BARRIER(name) extern const mh_barrier_kind mh_barrier_##name;
MH_EACH_BARRIER(MH_DECLARE_BARRIER)

/* The local part of mh_barrier_open: the states of all members. Returns 0, or -1: out of memory. */
int mh_barrier_open_members(mh_barrier *barrier, const mh_barrier_site *site);

#endif
