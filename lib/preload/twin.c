/* SPDX-License-Identifier: BSD-3-Clause */
/* twin.c - a communicator of a back's own, invisible to the program. */
#include "preload/twin.h"

#include "pure/launcher.h"

#include <stdio.h>

/*
 * For a call on a communicator of the program, so that the program's handler does not see its errors. In MPICH, the
 * handler of the world is that of all communicators that never got one, and one that is set, even the same, ends this.
 */
static MPI_Errhandler hold_errors(MPI_Comm comm)
{
    MPI_Errhandler handler;
    PMPI_Comm_get_errhandler(comm, &handler);
    if (comm != MPI_COMM_WORLD || handler != MPI_ERRORS_ARE_FATAL)
        PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return handler;
}

static void restore_errors(MPI_Comm comm, MPI_Errhandler handler)
{
    if (comm != MPI_COMM_WORLD || handler != MPI_ERRORS_ARE_FATAL)
        PMPI_Comm_set_errhandler(comm, handler);
    PMPI_Errhandler_free(&handler);
}

bool mh_preload_agree(int mine, MPI_Comm comm)
{
    int all = 0;
    MPI_Errhandler handler = hold_errors(comm);
    int code = PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm);
    restore_errors(comm, handler);
    return code == MPI_SUCCESS && all;
}

/* MPI_Comm_dup would call the copy callbacks of the program's attributes. */
MPI_Comm mh_preload_twin(MPI_Comm comm)
{
    MPI_Comm twin = MPI_COMM_NULL;
    MPI_Errhandler handler = hold_errors(comm);
    int code = PMPI_Comm_split(comm, 0, 0, &twin);
    restore_errors(comm, handler);
    bool all_have_it = mh_preload_agree(code == MPI_SUCCESS, comm);
    if (all_have_it)
        PMPI_Comm_set_errhandler(twin, MPI_ERRORS_RETURN);
    else if (code == MPI_SUCCESS)
        PMPI_Comm_free(&twin); /* which needs no other process */
    return all_have_it ? twin : MPI_COMM_NULL;
}

void mh_preload_check_launcher(const char *program)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "", message[MH_LAUNCHER_MESSAGE];
    int size = 0, length;
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    PMPI_Get_library_version(library, &length);
    if (mh_launcher_is_other(size, library, message) && *message)
        fprintf(stderr, "%s: %s\n", program, message);
}
