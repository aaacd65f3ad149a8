/* SPDX-License-Identifier: BSD-3-Clause */
/* check_trace_refused.c - calls that MPI refuses, and messages that are too long; with two processes. */
#include <mpi.h>
#include <stdio.h>

enum { TAG = 7 };

static int rank, peer, in[2], out[2], good;

static void expect_error(int result)
{
    good += result == MPI_SUCCESS;
}

/* A handle that is of no type. Only the handler of the communicator is to see that: the one of the world is fatal. */
static void refuse_type(void)
{
#ifdef MPICH_NUMVERSION
    const MPI_Datatype type = (MPI_Datatype)MPI_COMM_WORLD;
    MPI_Comm comm;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    expect_error(MPI_Bcast(in, 1, type, 0, comm));
    expect_error(MPI_Ibcast(in, 1, type, 0, comm, &request));
    expect_error(MPI_Send(in, 1, type, peer, TAG, comm));
    expect_error(MPI_Isend(in, 1, type, peer, TAG, comm, &request));
    expect_error(MPI_Send_init(in, 1, type, peer, TAG, comm, &request));
#if MPI_VERSION >= 4
    expect_error(MPI_Bcast_init(in, 1, type, 0, comm, MPI_INFO_NULL, &request));
#endif
    MPI_Comm_free(&comm);
#endif
}

/* Of their counts, or of a tag. */
static void refuse_arguments(void)
{
    MPI_Request request;
    expect_error(MPI_Send(in, -1, MPI_INT, peer, TAG, MPI_COMM_WORLD));
    expect_error(MPI_Isend(in, -1, MPI_INT, peer, TAG, MPI_COMM_WORLD, &request));
    expect_error(MPI_Irecv(out, -1, MPI_INT, peer, TAG, MPI_COMM_WORLD, &request));
    expect_error(
        MPI_Sendrecv(in, -1, MPI_INT, peer, TAG, out, 1, MPI_INT, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    expect_error(MPI_Ssend(in, 1, MPI_INT, peer, -5, MPI_COMM_WORLD));
}

/* Nothing where a handle, a list or a flag should be. */
static void refuse_null(void)
{
    int flag;
    MPI_Request request = MPI_REQUEST_NULL;
    expect_error(MPI_Wait(NULL, MPI_STATUS_IGNORE));
    expect_error(MPI_Waitall(2, NULL, MPI_STATUSES_IGNORE));
    expect_error(MPI_Test(&request, NULL, MPI_STATUS_IGNORE));
    expect_error(MPI_Start(NULL));
    expect_error(MPI_Startall(2, NULL));
    expect_error(MPI_Cancel(NULL));
    expect_error(MPI_Request_free(NULL));
    expect_error(MPI_Improbe(peer, TAG, MPI_COMM_WORLD, &flag, NULL, MPI_STATUS_IGNORE));
#ifdef MPICH_NUMVERSION /* Open MPI dies of them by itself */
    expect_error(MPI_Mrecv(in, 1, MPI_INT, NULL, MPI_STATUS_IGNORE));
    expect_error(MPI_Imrecv(in, 1, MPI_INT, NULL, &request));
    expect_error(MPI_Iprobe(peer, TAG, MPI_COMM_WORLD, NULL, MPI_STATUS_IGNORE));
    expect_error(MPI_Comm_free(NULL));
    expect_error(MPI_Comm_disconnect(NULL));
#endif
}

/* Some MPI libraries let pass what is too long. */
static void send_too_much(void)
{
    MPI_Sendrecv(in, 2, MPI_INT, peer, TAG, out, 1, MPI_INT, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        MPI_Send(in, 2, MPI_INT, peer, TAG, MPI_COMM_WORLD);
    else
        MPI_Recv(out, 1, MPI_INT, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    refuse_type();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    refuse_arguments();
    refuse_null();
    send_too_much();
    MPI_Sendrecv(in, 1, MPI_INT, peer, TAG, out, 1, MPI_INT, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    printf(good > 0 ? "wrong: %d calls do not fail\n" : "done\n", good);
    return 0;
}
