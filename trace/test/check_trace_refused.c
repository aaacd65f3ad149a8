/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_trace_refused.c - calls that MPI refuses, and messages that are too long: check_trace_refused ACTION, with two
 * processes.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { TAG = 7 };

static int rank, peer, in[2], out[2], good;

static void expect_error(int result)
{
    good += result == MPI_SUCCESS;
}

/* ---- Calls that are refused */

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

static void call_wrongly(void)
{
    refuse_type();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    refuse_arguments();
    refuse_null();
    send_too_much();
    MPI_Sendrecv(in, 1, MPI_INT, peer, TAG, out, 1, MPI_INT, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* ---- Requests that fail. Messages of a process to itself have a number; twice as much is too much */

static void expect_message(int tag, MPI_Request *request)
{
    MPI_Irecv(&out[tag], 1, MPI_INT, 0, tag, MPI_COMM_SELF, request);
}

static void send_to_self(int tag, int count)
{
    MPI_Send(in, count, MPI_INT, 0, tag, MPI_COMM_SELF);
}

/* A persistent request that has failed is not complete again, until it is started again. */
static void fail_persistently(void)
{
    int index;
    MPI_Request requests[2];
    MPI_Recv_init(&out[0], 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[0]);
    MPI_Start(&requests[0]);
    send_to_self(0, 2);
    expect_error(MPI_Waitany(1, requests, &index, MPI_STATUS_IGNORE));
    expect_message(1, &requests[1]);
    send_to_self(1, 1);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Start(&requests[0]);
    send_to_self(0, 1);
    MPI_Waitany(1, requests, &index, MPI_STATUS_IGNORE);
    MPI_Request_free(&requests[0]);
}

/* Of requests 1 to 12, 1, 4, 7 and 10 fail, and so does the last receive. */
static void fail_requests(void)
{
    int index, count, indices[2];
    MPI_Request requests[2];
    MPI_Message message;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int way = 0; way < 3; way++) {
        expect_message(0, &requests[0]);
        expect_message(1, &requests[1]);
        send_to_self(0, 2);
        if (way > 0)
            send_to_self(1, 1);
        expect_error(way == 0   ? MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE)
                     : way == 1 ? MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
                                : MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE));
        if (requests[0] != MPI_REQUEST_NULL)
            MPI_Request_free(&requests[0]);
        /* It may get the handle of the one that failed. */
        expect_message(0, &requests[0]);
        send_to_self(0, 1);
        if (way == 0)
            send_to_self(1, 1);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    fail_persistently();
    MPI_Isend(in, 2, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[0]);
    MPI_Mprobe(0, 0, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE);
    expect_error(MPI_Mrecv(out, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

/* Each of two starts of a broadcast fails on rank 1, for which it is too much. Then the request is complete no more. */
static void fail_broadcasts(void)
{
#if MPI_VERSION >= 4
    int index, flag = 0, error = MPI_SUCCESS;
    MPI_Comm comm;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Bcast_init(out, rank == 0 ? 2 : 1, MPI_INT, 0, comm, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    expect_error(MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE));
    MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE);
    MPI_Start(&request);
    while (!flag && error == MPI_SUCCESS)
        error = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    expect_error(error);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    MPI_Comm_free(&comm);
    good = rank == 1 ? good : 0;
#else
    good = 1;
#endif
}

/* ---- Calls in an error handler */

static void look_around(MPI_Comm *comm, int *error, ...)
{
    char text[MPI_MAX_ERROR_STRING];
    int length, flag;
    nanosleep(&(struct timespec){0, 10000000}, NULL);
    MPI_Error_string(*error, text, &length);
    MPI_Iprobe(peer, TAG + 1, *comm, &flag, MPI_STATUS_IGNORE);
    good--;
}

/* Rank 1 receives too much. */
static void handle_too_much(void)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(look_around, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
    good = rank;
    MPI_Sendrecv(in, 2 - rank, MPI_INT, peer, TAG, out, 1, MPI_INT, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    const char *action = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    if (strcmp(action, "requests") == 0)
        fail_requests();
    else if (strcmp(action, "broadcasts") == 0)
        fail_broadcasts();
    else if (strcmp(action, "handler") == 0)
        handle_too_much();
    else
        call_wrongly();
    MPI_Finalize();
    printf(good > 0 ? "wrong: %d calls do not fail\n" : "done\n", good);
    return 0;
}
