/* SPDX-License-Identifier: BSD-3-Clause */
/* clock_write.h - a file of clock records of all hosts of a communicator. */
#ifndef MH_CLOCK_WRITE_H
#define MH_CLOCK_WRITE_H

#include "comm_state.h"

/*
 * Write the file. path: of rank 0. The clock must be synchronized. Collective. Errors, the same on all: MPI_ERR_ARG,
 * MPI_ERR_IO, MPI_ERR_NO_MEM.
 */
int mh_clock_write(mh_comm_state *state, const char *path, mh_error *error);

#endif
