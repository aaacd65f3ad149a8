/* SPDX-License-Identifier: BSD-3-Clause */
/* harmonize.h - the collective calls on a communicator's state. */
#ifndef MH_HARMONIZE_H
#define MH_HARMONIZE_H

#include "comm_state.h"

enum { MH_FOLLOWING = 2 };

/* The arguments of MPIX_Harmonize or MPIX_Harmonize_delayed. */
typedef struct mh_call {
    bool is_delayed; /* the latter */
    int64_t delay_ns;
    int *flag;
    const void *following[MH_FOLLOWING]; /* code that is likely to run after the call; NULL ends the list */
} mh_call;

/*
 * Wait for all processes, and leave delay_ns after the instant that is common to all. flag: 1 if this process left
 * within the tolerance of its own deadline, else 0. Collective. If a process has a bad delay, or a null pointer for its
 * flag, no process is released, no flag is written, and all get MPI_ERR_ARG.
 */
int mh_harmonize(mh_comm_state *state, const mh_call *call, mh_error *error);

/*
 * Synchronize the clocks by the settings. If a process found its clock wrong, measurements are discarded. Collective.
 */
int mh_clock_sync(mh_comm_state *state, mh_error *error);

#endif
