/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * comm_state.h - what hangs on a communicator: its private communicator, settings, clock and deadline.
 *
 * Sole owner of their lifetime: made at the first collective call, kept as an attribute of the communicator, freed with
 * it or at MPI_Finalize.
 */
#ifndef MH_COMM_STATE_H
#define MH_COMM_STATE_H

#include "base/message.h"
#include "clock/global_clock.h"
#include "clock/watch.h"
#include "deadline/deadline.h"
#include "settings.h"
#include "sync/sync.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct mh_comm_state {
    MPI_Comm user_comm;
    mh_channel channel;  /* on a private communicator with the same processes */
    bool failed;         /* inside MPI, on this process or one of its node: processes may be out of step for good */
    bool before_world;   /* made before MPI_Init, so the communicator is that of a session */
    _Atomic unsigned lookups;
    mh_settings settings;
    bool oversubscribed; /* some node has more processes than processors */

    mh_sync_plan plan;
    bool plan_is_current; /* else the settings have changed: the next call plans and synchronises anew */

    mh_global_clock clock; /* the estimate of rank 0 defines global time */
    mh_clock_watch watch;  /* over the base clock of this process */
    int64_t epoch_unix_ns;  /* Unix time of global time zero */
    int64_t synced_at_ns;   /* local time of the last synchronisation */
    int64_t sync_duration_ns;
    int64_t sync_typical_ns; /* of those after the first, which is longer; 0: none yet */
    int64_t sync_total_ns;
    int64_t syncs;
    int64_t first_synced_at_ns; /* local time of the first synchronisation */
    int64_t interval_ns;    /* until the next synchronisation; 0: never, all share one clock */
    int64_t disruptions;    /* how often a clock was found wrong, by this process or by a synchronisation */
    bool disrupted;         /* found since the last synchronisation: the next call starts the clock anew */

    mh_rendezvous rendezvous;
    mh_deadline deadline;

    struct mh_comm_state *next, **link; /* in the list of all */
} mh_comm_state;

/* The state of comm if this thread has used comm lately, else NULL. Local, any thread, any time, any comm; very cheap. */
mh_comm_state *mh_comm_state_remembered(MPI_Comm comm);

/* The state of comm, or NULL if no collective call has made one. Local, any thread. MPI must be active. */
int mh_comm_state_find(MPI_Comm comm, mh_comm_state **state, mh_error *error);

/*
 * Whether MPI has ended, or is just ending: MPI_Finalize was called, and no session that the library knows of goes on.
 * Local, any thread, any time.
 */
bool mh_comm_state_mpi_ended(void);

/* A call has failed in a way that other processes may not know of: no further one can succeed. Local. */
void mh_comm_state_give_up(mh_comm_state *state);

/*
 * The state of comm, made if there is none yet. Collective over comm. Errors are the same on all processes: MPI_ERR_ARG
 * for a bad environment, MPI_ERR_NO_MEM.
 */
int mh_comm_state_get(MPI_Comm comm, mh_comm_state **state, mh_error *error);

#endif
