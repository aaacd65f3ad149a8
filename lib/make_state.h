/* SPDX-License-Identifier: BSD-3-Clause */
/* make_state.h - find the state of a communicator, or make it. */
#ifndef MH_MAKE_STATE_H
#define MH_MAKE_STATE_H

#include "comm_state.h"

/* The state of comm, or NULL if no collective call has made one. Local, any thread. MPI must be active. */
int mh_comm_state_find(MPI_Comm comm, mh_comm_state **state, mh_error *error);

/*
 * The state of comm, made if there is none yet. Collective over comm. Errors are the same on all processes: MPI_ERR_ARG
 * for a bad environment, MPI_ERR_NO_MEM. state: NULL after an error; but if others may not know of it, a failed one.
 */
int mh_comm_state_get(MPI_Comm comm, mh_comm_state **state, mh_error *error);

#endif
