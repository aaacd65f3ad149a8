/* SPDX-License-Identifier: BSD-3-Clause */
/* end_state.h - the end of a state: with its communicator, with MPI, or after a failure. */
#ifndef MH_END_STATE_H
#define MH_END_STATE_H

#include "comm_state.h"

/*
 * Get the keyval for a state, so that it ends with its communicator, or with MPI. Does nothing if it has one. Local.
 */
int mh_comm_state_will_end(mh_comm_state *state, mh_error *error);

/* Free a state that no communicator has; NULL: does nothing. */
void mh_comm_state_free(mh_comm_state *state);

/* A call failed in a way that other processes may not know of, so no further call can succeed. Local. */
void mh_comm_state_give_up(mh_comm_state *state);

/*
 * Whether MPI has ended, or is ending: MPI_Finalize was called, and no session that the library knows continues. Local,
 * any thread, any time.
 */
bool mh_comm_state_mpi_ended(void);

#endif
