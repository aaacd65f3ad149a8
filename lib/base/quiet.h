/* SPDX-License-Identifier: BSD-3-Clause */
/* quiet.h - keep MPI from calling an error handler of the program for a while. */
#ifndef MH_QUIET_H
#define MH_QUIET_H

#include "base/error.h"

#include <mpi.h>
#include <stdbool.h>

typedef struct mh_quiet {
    MPI_Comm comm;
    MPI_Errhandler theirs;
    bool is_held, is_replaced;
} mh_quiet;

/*
 * Let comm return errors until mh_quiet_end. MPI must not call an error handler of the program on comm before all
 * processes know of an error: the handler may jump out of the library, and the other processes would wait for ever. The
 * caller raises what was agreed. Local.
 */
mh_quiet mh_quiet_begin(MPI_Comm comm, mh_error *error);

void mh_quiet_end(mh_quiet *quiet);

#endif
