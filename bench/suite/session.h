/* SPDX-License-Identifier: BSD-3-Clause */
/* session.h - begin MPI by a session of MPI-4. */
#ifndef SESSION_H
#define SESSION_H

#include "common/mpi/world.h"

/* NULL: the MPI library has no sessions. All processes begin it, or none: the first call for all waits for all. */
extern const world_session_t *const suite_session;

#endif
