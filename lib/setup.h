/* SPDX-License-Identifier: BSD-3-Clause */
/* setup.h - make a state ready for its first synchronization and call, and again where settings change. */
#ifndef MH_SETUP_H
#define MH_SETUP_H

#include "comm_state.h"

/*
 * Find out where processes run, open a base clock and plan the synchronization; what is there stays. Collective.
 * state->plan_is_current says that this is not due.
 */
int mh_setup(mh_comm_state *state, mh_error *error);

/* Put other settings in force, which are the same on all processes. Collective. */
int mh_setup_change(mh_comm_state *state, const mh_settings *settings, mh_error *error);

#endif
