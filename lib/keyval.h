/* SPDX-License-Identifier: BSD-3-Clause */
/* keyval.h - the keyval under which communicators have their states as attributes. */
#ifndef MH_KEYVAL_H
#define MH_KEYVAL_H

#include "base/error.h"

#include <stdbool.h>

/* MPI_KEYVAL_INVALID: there is none. */
int mh_keyval(void);

/*
 * Get the keyval for a state, which then is its user: mine is MPI_KEYVAL_INVALID before; else it has it already. MPI
 * calls on_delete when an attribute is deleted. Local.
 */
int mh_keyval_use(int *mine, MPI_Comm_delete_attr_function *on_delete, mh_error *error);

/* The state with this keyval ends; mine is MPI_KEYVAL_INVALID afterwards. Local. */
void mh_keyval_leave(int *mine);

/* Whether there are states that are attached under it, or are about to be. */
bool mh_keyval_is_used(void);

/* Free it if it is of no more use. MPI must be active. */
void mh_keyval_free_unused(void);

/* MPI started again without our notice, and gave the keyval to the program. */
void mh_keyval_lose(int keyval);

#endif
