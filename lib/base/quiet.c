/* SPDX-License-Identifier: BSD-3-Clause */
/* quiet.c - replace the error handler of a communicator, and put it back. */
#include "base/quiet.h"

/*
 * Handlers that cannot jump stay: in MPICH, the handler of the world is that of all communicators that never got one,
 * and setting the same one ends this.
 */
mh_quiet mh_quiet_begin(MPI_Comm comm, mh_error *error)
{
    mh_quiet quiet = {.comm = comm};
    if (mh_check_mpi(error, PMPI_Comm_get_errhandler(comm, &quiet.theirs), "MPI_Comm_get_errhandler") != MPI_SUCCESS)
        return quiet;
    quiet.is_held = true;
    quiet.is_replaced = quiet.theirs != MPI_ERRORS_RETURN && quiet.theirs != MPI_ERRORS_ARE_FATAL;
    if (quiet.is_replaced)
        mh_check_user_mpi(error, PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    return quiet;
}

void mh_quiet_end(mh_quiet *quiet)
{
    if (quiet->is_replaced && PMPI_Comm_set_errhandler(quiet->comm, quiet->theirs) != MPI_SUCCESS)
        PMPI_Comm_set_errhandler(quiet->comm, quiet->theirs); /* it must not get lost */
    if (quiet->is_held)
        PMPI_Errhandler_free(&quiet->theirs);
}
