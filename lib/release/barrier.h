/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier.h - barrier algorithms: how processes report their arrival, and how each gets its release, from rank 0 or by
 * itself.
 *
 * The members of the family are registered in barrier.c; barrier_private.h is for them alone.
 */
#ifndef MH_BARRIER_H
#define MH_BARRIER_H

#include "release/arrival.h"
#include "release/slots.h"

#include <stdbool.h>

struct mh_barrier_kind;

/* The barrier of a communicator. */
typedef struct mh_barrier {
    const mh_channel *channel;          /* NULL: not open */
    const struct mh_barrier_kind *kind; /* in use */
    void *state;                        /* of the member in use */
    char reason[112];                   /* why it is in use */
    char *states;                       /* of all members */
    mh_slots slots;
} mh_barrier;

/* Names for the setting: "auto", then the members; NULL past the last. */
const char *mh_barrier_choice(int index);

/*
 * Make what all members need; none is chosen yet. Collective. Errors are those of MPI, and MPI_ERR_NO_MEM, and leave it
 * closed. Memory that cannot be shared is not an error.
 */
int mh_barrier_open(mh_barrier *barrier, const mh_channel *channel, const mh_sites *sites, mh_error *error);

/* Local. Does nothing if nothing was opened. */
void mh_barrier_close(mh_barrier *barrier);

/* This process gives up: end the waits of other processes in shared memory with an error. Local. */
void mh_barrier_give_up(const mh_barrier *barrier);

bool mh_barrier_is_open(const mh_barrier *barrier);

/* Whether the member at an index of the list above (not auto) can be used. The same on all processes. */
bool mh_barrier_is_available(const mh_barrier *barrier, int choice);

/* Whether each process releases itself with the member at an index of the list above (not auto). */
bool mh_barrier_decides_alone(int choice);

/* Use the member at an index of the list above (not auto), which must be available. Local. */
void mh_barrier_use(mh_barrier *barrier, int choice, const char *reason);

/* The name of the member in use; empty: none. */
const char *mh_barrier_name(const mh_barrier *barrier);

/* Whether every process receives the arrivals of all, so that each computes the same release. */
bool mh_barrier_informs_all(const mh_barrier *barrier);

/*
 * Begin to arrive, without waiting. mh_barrier_arrive follows, with the same arrival. What is done in between takes no
 * extra time if other processes arrive later, or if this arrival is on its way: dissemination through shared memory
 * sends it here. Local.
 */
void mh_barrier_announce(mh_barrier *barrier, const mh_arrival *mine);

/* Arrive; rank 0, or everybody, receives the arrivals of all, combined. Collective. */
int mh_barrier_arrive(mh_barrier *barrier, const mh_arrival *mine, mh_arrival *all, mh_error *error);

/* Send the release of rank 0 to all. Does nothing if each process has computed it. Collective. */
int mh_barrier_release(mh_barrier *barrier, mh_release *release, mh_error *error);

/* Whether this process hears that all have arrived without a call of MPI that lets MPI make progress. */
bool mh_barrier_is_heard_outside_mpi(const mh_barrier *barrier);

#endif
