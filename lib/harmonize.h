/* SPDX-License-Identifier: BSD-3-Clause */
/* harmonize.h - the collective calls on a communicator's state. */
#ifndef MH_HARMONIZE_H
#define MH_HARMONIZE_H

#include "comm_state.h"

/* The arguments of MPIX_Harmonize or MPIX_Harmonize_delayed. */
typedef struct mh_call {
    bool is_delayed; /* the latter */
    int64_t delay_ns;
    int *flag;
    mh_last_wait wait;
} mh_call;

/*
 * Wait for all processes, and agree on the instant that is common to all. Then mh_leave must follow. Collective. If a
 * process has a bad delay, or a null pointer for its flag, no process is released, no flag is written, and all get
 * MPI_ERR_ARG.
 */
int mh_harmonize(mh_comm_state *state, mh_call *call, mh_error *error);

/*
 * Leave delay_ns after the common instant. flag: 1 if this process left within the tolerance of its own deadline, else
 * 0. Return whether the deadline is near and this must be called again, as mh_rounds_leave says. Local.
 */
bool mh_leave(mh_comm_state *state, mh_call *call);

/*
 * Synchronize the clocks by the settings. If a process found its clock wrong, measurements are discarded. Collective.
 */
int mh_clock_sync(mh_comm_state *state, mh_error *error);

#endif
