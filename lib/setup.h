/* SPDX-License-Identifier: BSD-3-Clause */
/* setup.h - prepare a state for its first synchronization and call, and again when settings change. */
#ifndef MH_SETUP_H
#define MH_SETUP_H

#include "comm_state.h"

/*
 * Discover where processes run, open a base clock and plan the synchronization. A clock and a barrier that are open are
 * kept. Collective. Not needed if state->plan_is_current.
 */
int mh_setup(mh_comm_state *state, mh_error *error);

/* Apply new settings, which are the same on all processes. Collective. */
int mh_setup_change(mh_comm_state *state, const mh_settings *settings, mh_error *error);

#endif
