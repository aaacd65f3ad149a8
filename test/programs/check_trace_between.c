/* SPDX-License-Identifier: BSD-3-Clause */
/* check_trace_between.c - messages between two processes that met by their groups, by a port or by a socket. */
#include <arpa/inet.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int rank;

static void meet_by_groups(MPI_Comm *between)
{
#if MPI_VERSION >= 4
    int peer = 1 - rank;
    MPI_Group all, own, others;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &rank, &own);
    MPI_Group_incl(all, 1, &peer, &others);
    MPI_Intercomm_create_from_groups(own, 0, others, 0, "check", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, between);
    MPI_Group_free(&others);
    MPI_Group_free(&own);
    MPI_Group_free(&all);
#else
    (void)between;
#endif
}

static void meet_by_port(MPI_Comm *between)
{
    char port[MPI_MAX_PORT_NAME] = "";
    if (rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, between);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, between);
}

static void meet_by_socket(MPI_Comm *between)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;
    int waiting = socket(AF_INET, SOCK_STREAM, 0), joined = waiting;
    if (rank == 0 && (bind(waiting, (void *)&address, bytes) != 0 || listen(waiting, 1) != 0 ||
                      getsockname(waiting, (void *)&address, &bytes) != 0))
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Bcast(&address, sizeof address, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (rank == 0)
        joined = accept(waiting, NULL, NULL);
    else if (connect(joined, (void *)&address, bytes) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_join(joined, between);
    close(joined);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    MPI_Comm between = MPI_COMM_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(how, "groups") == 0)
        meet_by_groups(&between);
    else if (strcmp(how, "port") == 0)
        meet_by_port(&between);
    else
        meet_by_socket(&between);
    if (between == MPI_COMM_NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < 10; i++) {
        if (rank == 0)
            MPI_Send(&i, 1, MPI_INT, 0, 7, between);
        else
            MPI_Recv(&(int){0}, 1, MPI_INT, 0, 7, between, MPI_STATUS_IGNORE);
    }
    MPI_Comm_disconnect(&between);
    MPI_Finalize();
    printf("done\n");
    return 0;
}
