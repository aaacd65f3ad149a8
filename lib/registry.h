/* SPDX-License-Identifier: BSD-3-Clause */
/* registry.h - all states of this process, by which an attribute is told from a number of the program. */
#ifndef MH_REGISTRY_H
#define MH_REGISTRY_H

#include "comm_state.h"

/* Some communicator is about to have the state as an attribute. */
void mh_registry_add(mh_comm_state *state);

/*
 * Whether an attribute of comm is its state. The value may be anything: a number of the program, or the address of a
 * state that has ended, which may now be that of another communicator's state.
 */
bool mh_registry_has(MPI_Comm comm, const void *value);

/* Take out the state that is an attribute of comm. Returns NULL if the value is none. */
mh_comm_state *mh_registry_remove(MPI_Comm comm, const void *value);

/*
 * The oldest state that has not ended and that MPI_Finalize ends; NULL if there is none. Those of sessions only if all
 * of MPI has ended.
 */
mh_comm_state *mh_registry_oldest_of_world(bool all_ended);

/* Keep a state that no communicator has until the process ends. */
void mh_registry_keep(mh_comm_state *state);

/* The states that are kept, linked by next. */
mh_comm_state *mh_registry_kept(void);

#endif
