/* SPDX-License-Identifier: BSD-3-Clause */
/* finalize.h - notice that MPI_Finalize begins. */
#ifndef MH_FINALIZE_H
#define MH_FINALIZE_H

#include "base/error.h"

#include <stdbool.h>

/*
 * Call at_end when MPI_Finalize begins, or, in MPI libraries that stay active for sessions, with the last session. Does
 * nothing if that is arranged already, or if no MPI_Finalize will come. Local.
 */
int mh_finalize_watch(void (*at_end)(void), mh_error *error);

/* Whether at_end is still to be called. */
bool mh_finalize_is_watched(void);

/* Whether at_end was called, or is under way. */
bool mh_finalize_has_begun(void);

#endif
