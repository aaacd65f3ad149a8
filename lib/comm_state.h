/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * comm_state.h - the state of a communicator: its private communicator, settings, clock and rounds.
 *
 * It is made by the first collective call, kept as an attribute of the communicator, and freed with the communicator or
 * at MPI_Finalize.
 */
#ifndef MH_COMM_STATE_H
#define MH_COMM_STATE_H

#include "transport/message.h"
#include "release/release.h"
#include "settings.h"
#include "history.h"
#include "sync/comm_clock.h"
#include "pure/topology.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct mh_comm_state {
    MPI_Comm user_comm;
    mh_channel channel; /* on a private communicator with the same processes */
    mh_room room;
    int keyval;        /* under which user_comm has it as an attribute; MPI_KEYVAL_INVALID: not yet, or it has ended */
    int64_t number;    /* in the order in which they were made */
    bool failed;       /* no further call can succeed: processes may be out of step, or MPI_Finalize has ended it */
    bool before_world; /* made before MPI_Init, so the communicator is that of a session */
    mh_settings settings;
    mh_sites sites;      /* where its processes run: found once, by the first set-up; size 0 before it */
    bool oversubscribed; /* some node has more processes than processors */
    mh_comm_clock clock;
    mh_history history;
    bool plan_is_current; /* else the settings have changed: the next call plans and synchronizes again */
    mh_barrier barrier;
    mh_rounds rounds;

    struct mh_comm_state *next; /* in the list of its group, or of what is kept */
} mh_comm_state;

#endif
