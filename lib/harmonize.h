/* SPDX-License-Identifier: BSD-3-Clause */
/* harmonize.h - the collective calls on a communicator's state. */
#ifndef MH_HARMONIZE_H
#define MH_HARMONIZE_H

#include "comm_state.h"

/*
 * Wait for all processes and leave with them. Collective. refuses: this process has a bad argument, so no process is
 * released and all get MPI_ERR_ARG. flag: 1 if this process left within the tolerance, else 0; not written if a process
 * refuses.
 */
int mh_harmonize(mh_comm_state *state, bool refuses, int *flag, mh_error *error);

/*
 * Synchronize the clocks by the settings. If a process found its clock wrong, measurements are discarded. Collective.
 */
int mh_clock_sync(mh_comm_state *state, mh_error *error);

#endif
