/* SPDX-License-Identifier: BSD-3-Clause */
/* channel.c - split off the private communicator, by which no attribute of the program is copied. */
#include "transport/channel.h"

/*
 * MPI_Comm_dup would call the copy callbacks of the user's attributes, and MPI_Comm_create of MPICH 4.0 crashes in
 * programs that use sessions only. Equal keys keep the order of ranks.
 */
int mh_channel_make(mh_channel *channel, MPI_Comm comm, mh_error *error)
{
    if (mh_check_mpi(error, PMPI_Comm_split(comm, 0, 0, &channel->comm), "MPI_Comm_split") != MPI_SUCCESS)
        channel->comm = MPI_COMM_NULL;
    int code = mh_error_agree(error, comm);
    if (code != MPI_SUCCESS)
        return code;
    /* Before this call, the handler is that of the user's communicator. */
    mh_check_mpi(error, PMPI_Comm_set_errhandler(channel->comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    PMPI_Comm_set_name(channel->comm, "libmpix_harmonize"); /* for debuggers only */
    mh_check_mpi(error, PMPI_Comm_rank(channel->comm, &channel->rank), "MPI_Comm_rank");
    mh_check_mpi(error, PMPI_Comm_size(channel->comm, &channel->size), "MPI_Comm_size");
    return MPI_SUCCESS;
}

void mh_channel_free(mh_channel *channel)
{
    if (channel->comm != MPI_COMM_NULL)
        PMPI_Comm_free(&channel->comm);
}
