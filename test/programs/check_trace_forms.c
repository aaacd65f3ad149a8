/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_trace_forms.c - calls in all their forms, each beside what is to be recorded of it: check_trace_forms FOLDER,
 * with two processes. The calls and their events go into FOLDER/expected-RANK, as trace_dump writes them, but without
 * threads and times.
 */
#include <mpi.h>
#include <stdio.h>

/* As they are numbered: in the order in which they are made. */
enum { OWN = 1, TWIN, GRAPH, AGAIN, BRIDGE, COMMS };
enum { INT = sizeof(int), DOUBLE = sizeof(double), ROOT_SELF = -2 };

static FILE *expected;
static int rank, peer, collectives[COMMS], requests;
static MPI_Comm twin;
static double in[64], out[64];

/* What a process puts into a collective operation, and what it gets: bytes. */
typedef struct {
    int comm, root, put, got;
} volume;
#define IS(comm_, root_, put_, got_) ((volume){comm_, root_, put_, got_})

static void expect_call(const char *name)
{
    fprintf(expected, "enter %s\n", name);
}

static void expect_event(const char *kind, int partner, int tag, int bytes, int comm, int request)
{
    fprintf(expected, "%s partner %d tag %d bytes %d comm %d request %d\n", kind, partner, tag, bytes, comm, request);
}

static void expect_collective(const char *name, volume its, int request)
{
    expect_event("collective", its.root, ++collectives[its.comm], its.put, its.comm, request);
    fprintf(expected, "collective_out partner %d bytes %d of %s request %d\n", its.root, its.got, name, request);
}

static void wait_for(MPI_Request *request)
{
    expect_call("MPI_Wait");
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void wait_for_collective(MPI_Request *request, volume its)
{
    wait_for(request);
    expect_event("collective_done", -1, 0, 0, its.comm, requests);
}

static void free_comm(MPI_Comm *comm)
{
    expect_call("MPI_Comm_free");
    MPI_Comm_free(comm);
}

static void free_request(MPI_Request *request)
{
    expect_call("MPI_Request_free");
    MPI_Request_free(request);
}

/* ---- Collective operations: a name, what is to be recorded, and the arguments */

#define WAITING(name, its, ...)                  \
    do {                                         \
        expect_call("MPI_" #name);               \
        expect_collective("MPI_" #name, its, 0); \
        MPI_##name(__VA_ARGS__);                 \
    } while (0)

#define NOT_WAITING(name, its, ...)                       \
    do {                                                  \
        MPI_Request request;                              \
        expect_call("MPI_" #name);                        \
        expect_collective("MPI_" #name, its, ++requests); \
        MPI_##name(__VA_ARGS__, &request);                \
        wait_for_collective(&request, its);               \
    } while (0)

/* Open MPI 5 has them, though it says MPI 3. */
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define HAVE_PERSISTENT 1
#define PERSISTENT(name, its, ...)                        \
    do {                                                  \
        MPI_Request request;                              \
        MPI_##name(__VA_ARGS__, MPI_INFO_NULL, &request); \
        start_twice("MPI_" #name, its, &request);         \
    } while (0)

static void start_twice(const char *name, volume its, MPI_Request *request)
{
    expect_call(name);
    for (int i = 0; i < 2; i++) {
        expect_call("MPI_Start");
        expect_collective(name, its, ++requests);
        MPI_Start(request);
        wait_for_collective(request, its);
    }
    free_request(request);
}
#else
#define PERSISTENT(...) (void)0
#endif

#define FORMS(name, small_name, its, ...)             \
    do {                                              \
        WAITING(name, its, __VA_ARGS__);              \
        NOT_WAITING(I##small_name, its, __VA_ARGS__); \
        PERSISTENT(name##_init, its, __VA_ARGS__);    \
    } while (0)

/* Of two ints and of three, one after the other. */
static int pieces[2] = {2, 3}, places[2] = {0, 2};

/* With root 1, rank is 1 on the root and 0 elsewhere; with root 0, peer is. */
static void do_rooted(void)
{
    const int own = pieces[rank];
    FORMS(Bcast, bcast, IS(TWIN, 1, rank * 3 * INT, peer * 3 * INT), out, 3, MPI_INT, 1, twin);
    FORMS(Reduce, reduce, IS(TWIN, 1, 3 * INT, rank * 3 * INT), in, out, 3, MPI_INT, MPI_SUM, 1, twin);
    FORMS(Gather, gather, IS(TWIN, 0, 3 * INT, peer * 6 * INT), in, 3, MPI_INT, out, 3, MPI_INT, 0, twin);
    FORMS(Scatter, scatter, IS(TWIN, 0, peer * 6 * INT, 3 * INT), in, 3, MPI_INT, out, 3, MPI_INT, 0, twin);
    FORMS(Gatherv, gatherv, IS(TWIN, 1, own * INT, rank * 5 * INT), in, own, MPI_INT, out, pieces, places, MPI_INT, 1,
          twin);
    FORMS(Scatterv, scatterv, IS(TWIN, 1, rank * 5 * INT, own * INT), in, pieces, places, MPI_INT, out, own, MPI_INT, 1,
          twin);
}

static void do_for_all(void)
{
    const int own = pieces[rank];
    FORMS(Barrier, barrier, IS(TWIN, -1, 0, 0), twin);
    FORMS(Allreduce, allreduce, IS(TWIN, -1, 3 * INT, 3 * INT), in, out, 3, MPI_INT, MPI_SUM, twin);
    FORMS(Scan, scan, IS(TWIN, -1, 3 * INT, 3 * INT), in, out, 3, MPI_INT, MPI_SUM, twin);
    FORMS(Reduce_scatter_block, reduce_scatter_block, IS(TWIN, -1, 4 * INT, 2 * INT), in, out, 2, MPI_INT, MPI_SUM,
          twin);
    FORMS(Reduce_scatter, reduce_scatter, IS(TWIN, -1, 5 * INT, own * INT), in, out, pieces, MPI_INT, MPI_SUM, twin);
    FORMS(Allgather, allgather, IS(TWIN, -1, 3 * INT, 6 * INT), in, 3, MPI_INT, out, 3, MPI_INT, twin);
    FORMS(Allgatherv, allgatherv, IS(TWIN, -1, own * INT, 5 * INT), in, own, MPI_INT, out, pieces, places, MPI_INT,
          twin);
    FORMS(Alltoall, alltoall, IS(TWIN, -1, 6 * INT, 6 * INT), in, 3, MPI_INT, out, 3, MPI_INT, twin);
}

/* Rank 0 sends 1 and 2 numbers, rank 1 sends 3 and 4; those to rank 0 are ints where types differ. */
static void exchange(void)
{
    int to[2] = {1 + 2 * rank, 2 + 2 * rank}, from[2] = {1 + rank, 3 + rank}, starts[2] = {0, 8}, bytes[2] = {0, 64};
    MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, own[2] = {types[rank], types[rank]};
    FORMS(Alltoallv, alltoallv, IS(TWIN, -1, (rank ? 7 : 3) * DOUBLE, (rank ? 6 : 4) * DOUBLE), in, to, starts,
          MPI_DOUBLE, out, from, starts, MPI_DOUBLE, twin);
    FORMS(Alltoallw, alltoallw,
          IS(TWIN, -1, rank ? 3 * INT + 4 * DOUBLE : INT + 2 * DOUBLE, rank ? 6 * DOUBLE : 4 * INT), in, to, bytes,
          types, out, from, bytes, own, twin);
}

static void do_in_place(void)
{
    int own = pieces[rank], both[2] = {1 + rank, 2 + 2 * rank}, starts[2] = {0, 8}, bytes[2] = {0, 64};
    MPI_Datatype types[2] = {rank ? MPI_DOUBLE : MPI_INT, rank ? MPI_INT : MPI_DOUBLE};
    void *from = rank == 1 ? MPI_IN_PLACE : in, *to = rank == 1 ? MPI_IN_PLACE : out;
    WAITING(Allreduce, IS(TWIN, -1, 3 * INT, 3 * INT), MPI_IN_PLACE, out, 3, MPI_INT, MPI_SUM, twin);
    WAITING(Reduce, IS(TWIN, 1, 3 * INT, rank * 3 * INT), from, out, 3, MPI_INT, MPI_SUM, 1, twin);
    WAITING(Gather, IS(TWIN, 1, 3 * INT, rank * 6 * INT), from, peer * 3, MPI_INT, out, 3, MPI_INT, 1, twin);
    WAITING(Gatherv, IS(TWIN, 1, own * INT, rank * 5 * INT), from, peer * own, MPI_INT, out, pieces, places, MPI_INT, 1,
            twin);
    WAITING(Scatterv, IS(TWIN, 1, rank * 5 * INT, own * INT), in, pieces, places, MPI_INT, to, peer * own, MPI_INT, 1,
            twin);
    WAITING(Allgatherv, IS(TWIN, -1, own * INT, 5 * INT), MPI_IN_PLACE, 0, MPI_INT, out, pieces, places, MPI_INT, twin);
    WAITING(Alltoall, IS(TWIN, -1, 6 * INT, 6 * INT), MPI_IN_PLACE, 0, MPI_INT, out, 3, MPI_INT, twin);
    WAITING(Alltoallv, IS(TWIN, -1, (3 + 3 * rank) * INT, (3 + 3 * rank) * INT), MPI_IN_PLACE, NULL, NULL, MPI_INT, out,
            both, starts, MPI_INT, twin);
    const int sum = rank ? 2 * DOUBLE + 4 * INT : INT + 2 * DOUBLE;
    WAITING(Alltoallw, IS(TWIN, -1, sum, sum), MPI_IN_PLACE, NULL, NULL, NULL, out, both, bytes, types, twin);
    WAITING(Reduce_scatter_block, IS(TWIN, -1, 4 * INT, 2 * INT), MPI_IN_PLACE, out, 2, MPI_INT, MPI_SUM, twin);
    WAITING(Reduce_scatter, IS(TWIN, -1, 5 * INT, own * INT), MPI_IN_PLACE, out, pieces, MPI_INT, MPI_SUM, twin);
}

static void do_with_large_counts(void)
{
#if MPI_VERSION >= 4
    const MPI_Count counts[2] = {2, 3}, own = counts[rank];
    const MPI_Aint starts[2] = {0, 2};
    WAITING(Gatherv_c, IS(TWIN, 1, (int)own * INT, rank * 5 * INT), in, own, MPI_INT, out, counts, starts, MPI_INT, 1,
            twin);
    NOT_WAITING(Iallgatherv_c, IS(TWIN, -1, (int)own * INT, 5 * INT), in, own, MPI_INT, out, counts, starts, MPI_INT,
                twin);
    PERSISTENT(Reduce_scatter_init_c, IS(TWIN, -1, 5 * INT, (int)own * INT), in, out, counts, MPI_INT, MPI_SUM, twin);
#endif
}

/* Of these, bytes are not known. */
static void do_with_neighbors(void)
{
    const volume its = IS(GRAPH, -1, 0, 0);
    const int count = 2, place = 0;
    const MPI_Aint offset = 0;
    MPI_Datatype type = MPI_INT;
    MPI_Comm graph;
    expect_call("MPI_Dist_graph_create_adjacent");
    MPI_Dist_graph_create_adjacent(twin, 1, &peer, MPI_UNWEIGHTED, 1, &peer, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    FORMS(Neighbor_allgather, neighbor_allgather, its, in, 2, MPI_INT, out, 2, MPI_INT, graph);
    FORMS(Neighbor_allgatherv, neighbor_allgatherv, its, in, 2, MPI_INT, out, &count, &place, MPI_INT, graph);
    FORMS(Neighbor_alltoall, neighbor_alltoall, its, in, 2, MPI_INT, out, 2, MPI_INT, graph);
    FORMS(Neighbor_alltoallv, neighbor_alltoallv, its, in, &count, &place, MPI_INT, out, &count, &place, MPI_INT,
          graph);
    FORMS(Neighbor_alltoallw, neighbor_alltoallw, its, in, &count, &offset, &type, out, &count, &offset, &type, graph);
    free_comm(&graph);
}

static void do_with_duplicate(void)
{
    MPI_Comm again;
    MPI_Request request;
    expect_call("MPI_Comm_idup");
    MPI_Comm_idup(twin, &again, &request);
    wait_for(&request);
    WAITING(Allreduce, IS(AGAIN, -1, 3 * INT, 3 * INT), in, out, 3, MPI_INT, MPI_SUM, again);
    free_comm(&again);
}

/* From one group, of rank 0, to the other. Bytes of MPI_Reduce_scatter are not known there. */
static void do_across_groups(void)
{
    const int root = rank == 0 ? MPI_ROOT : 0, root_of_trace = rank == 0 ? ROOT_SELF : 0;
    const int three = 3, zero = 0, own = 2 + rank, theirs = 2 + peer;
    MPI_Comm bridge;
    expect_call("MPI_Intercomm_create");
    MPI_Intercomm_create(MPI_COMM_SELF, 0, twin, peer, 1, &bridge);
    WAITING(Bcast, IS(BRIDGE, root_of_trace, peer * 3 * INT, rank * 3 * INT), out, 3, MPI_INT, root, bridge);
    WAITING(Gatherv, IS(BRIDGE, root_of_trace, rank * 3 * INT, peer * 3 * INT), in, 3, MPI_INT, out, &three, &zero,
            MPI_INT, root, bridge);
    WAITING(Scatterv, IS(BRIDGE, root_of_trace, peer * 3 * INT, rank * 3 * INT), in, &three, &zero, MPI_INT, out, 3,
            MPI_INT, root, bridge);
    WAITING(Allgatherv, IS(BRIDGE, -1, own * INT, theirs * INT), in, own, MPI_INT, out, &theirs, &zero, MPI_INT,
            bridge);
    WAITING(Reduce_scatter, IS(BRIDGE, -1, 0, 0), in, out, &three, MPI_INT, MPI_SUM, bridge);
    free_comm(&bridge);
}

/* ---- Messages */

/* Two receives, then two sends: of an int with tag 0, and of two with tag 1. */
static MPI_Request four[4];

static void begin_four(void)
{
    for (int i = 0; i < 2; i++) {
        expect_call("MPI_Irecv");
        expect_event("post", peer, i, 0, TWIN, ++requests);
        MPI_Irecv(&out[i], i + 1, MPI_INT, peer, i, twin, &four[i]);
    }
    /* Those that wait for the receiver have requests of their own. */
    for (int i = 0; i < 2; i++) {
        expect_call("MPI_Issend");
        expect_event("send", peer, i, (i + 1) * INT, TWIN, ++requests);
        MPI_Issend(in, i + 1, MPI_INT, peer, i, twin, &four[2 + i]);
    }
}

static void expect_completed(int index)
{
    const int request = requests - 3 + index;
    if (index < 2)
        expect_event("receive", peer, index, (index + 1) * INT, TWIN, request);
    else
        expect_event("send_done", -1, 0, 0, TWIN, request);
}

static void complete_some(int waits)
{
    int count, indices[4];
    MPI_Status statuses[4];
    begin_four();
    for (int left = 4; left > 0; left -= count) {
        if (waits)
            MPI_Waitsome(4, four, &count, indices, MPI_STATUSES_IGNORE);
        else
            MPI_Testsome(4, four, &count, indices, statuses);
        if (count > 0)
            expect_call(waits ? "MPI_Waitsome" : "MPI_Testsome");
        for (int i = 0; i < count; i++)
            expect_completed(indices[i]);
    }
}

static void complete_all(void)
{
    int done = 0;
    begin_four();
    while (!done)
        MPI_Testall(4, four, &done, MPI_STATUSES_IGNORE);
    expect_call("MPI_Testall");
    for (int i = 0; i < 4; i++)
        expect_completed(i);
}

static void start(MPI_Request *request, int partner, int tag)
{
    expect_call("MPI_Start");
    expect_event("post", partner, tag, 0, TWIN, ++requests);
    MPI_Start(request);
}

static void cancel(MPI_Request *request)
{
    expect_call("MPI_Cancel");
    MPI_Cancel(request);
}

/* A receive, one that is started again, and one that was complete before. */
static void cancel_receives(void)
{
    MPI_Request request;
    expect_call("MPI_Irecv");
    expect_event("post", peer, 2, 0, TWIN, ++requests);
    MPI_Irecv(out, 1, MPI_INT, peer, 2, twin, &request);
    cancel(&request);
    wait_for(&request);
    expect_event("canceled", -1, 0, 0, TWIN, requests);

    expect_call("MPI_Recv_init");
    MPI_Recv_init(out, 1, MPI_INT, peer, 2, twin, &request);
    start(&request, peer, 2);
    cancel(&request);
    wait_for(&request);
    expect_event("canceled", -1, 0, 0, TWIN, requests);
    WAITING(Barrier, IS(TWIN, -1, 0, 0), twin);
    start(&request, peer, 2);
    expect_call("MPI_Send");
    expect_event("send", peer, 2, INT, TWIN, 0);
    MPI_Send(in, 1, MPI_INT, peer, 2, twin);
    wait_for(&request);
    expect_event("receive", peer, 2, INT, TWIN, requests);
    free_request(&request);

    expect_call("MPI_Irecv");
    expect_event("post", 0, 3, 0, OWN, ++requests);
    MPI_Irecv(out, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request);
    expect_call("MPI_Send");
    expect_event("send", 0, 3, INT, OWN, 0);
    MPI_Send(in, 1, MPI_INT, 0, 3, MPI_COMM_SELF);
    cancel(&request);
    wait_for(&request);
    expect_event("receive", 0, 3, INT, OWN, requests);
}

static void probe(void)
{
    MPI_Request send, receive;
    MPI_Message message;
    int found = 0;
    for (int i = 0; i < 2; i++) {
        expect_call("MPI_Issend");
        expect_event("send", peer, 4, 2 * INT, TWIN, ++requests);
        MPI_Issend(in, 2, MPI_INT, peer, 4, twin, &send);
        while (i == 0 && !found)
            MPI_Improbe(peer, 4, twin, &found, &message, MPI_STATUS_IGNORE);
        if (i == 1)
            MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, twin, &message, MPI_STATUS_IGNORE);
        expect_call(i == 0 ? "MPI_Improbe" : "MPI_Mprobe");
        expect_event("post", i == 0 ? peer : -1, i == 0 ? 4 : -1, 0, TWIN, ++requests);
        expect_call(i == 0 ? "MPI_Imrecv" : "MPI_Mrecv");
        if (i == 0) {
            MPI_Imrecv(out, 2, MPI_INT, &message, &receive);
            wait_for(&receive);
        } else {
            MPI_Mrecv(out, 2, MPI_INT, &message, MPI_STATUS_IGNORE);
        }
        expect_event("receive", peer, 4, 2 * INT, TWIN, requests);
        wait_for(&send);
        expect_event("send_done", -1, 0, 0, TWIN, requests - 1);
    }
    expect_call("MPI_Mprobe");
    MPI_Mprobe(MPI_PROC_NULL, 4, twin, &message, MPI_STATUS_IGNORE);
    expect_call("MPI_Imrecv");
    MPI_Imrecv(out, 2, MPI_INT, &message, &receive);
    wait_for(&receive);
}

/* The second receive is from any process and with any tag. */
static void send_persistently(void)
{
    MPI_Request all[4];
    for (int i = 0; i < 2; i++) {
        expect_call("MPI_Recv_init");
        MPI_Recv_init(i == 0 ? out : out + 8, 4, MPI_INT, i == 0 ? peer : MPI_ANY_SOURCE, i == 0 ? 5 : MPI_ANY_TAG,
                      twin, &all[i]);
        expect_call("MPI_Ssend_init");
        MPI_Ssend_init(in, 3 + i, MPI_INT, peer, 5 + i, twin, &all[2 + i]);
    }
    for (int round = 0; round < 2; round++) {
        expect_call("MPI_Startall");
        MPI_Startall(4, all);
        expect_event("post", peer, 5, 0, TWIN, requests + 1);
        expect_event("post", -1, -1, 0, TWIN, requests + 2);
        expect_event("send", peer, 5, 3 * INT, TWIN, requests + 3);
        expect_event("send", peer, 6, 4 * INT, TWIN, requests + 4);
        expect_call("MPI_Waitall");
        MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
        expect_event("receive", peer, 5, 3 * INT, TWIN, requests + 1);
        expect_event("receive", peer, 6, 4 * INT, TWIN, requests + 2);
        expect_event("send_done", -1, 0, 0, TWIN, requests + 3);
        expect_event("send_done", -1, 0, 0, TWIN, requests + 4);
        requests += 4;
    }
    for (int i = 0; i < 4; i++)
        free_request(&all[i]);
}

/* One request for a send and a receive, of which MPICH 4.0 sets no status; parts of messages. */
static void send_newly(void)
{
#ifdef HAVE_PERSISTENT
    int bytes;
    MPI_Status status;
    MPI_Request request, parts[2];
    for (int i = 0; i < 2; i++) {
        expect_call(i == 0 ? "MPI_Isendrecv" : "MPI_Isendrecv_replace");
        expect_event("send", peer, 7, 2 * INT, TWIN, ++requests);
        expect_event("post", peer, 7, 0, TWIN, requests);
        if (i == 0)
            MPI_Isendrecv(in, 2, MPI_INT, peer, 7, out, 2, MPI_INT, peer, 7, twin, &request);
        else
            MPI_Isendrecv_replace(out, 2, MPI_INT, peer, 7, peer, 7, twin, &request);
        expect_call("MPI_Wait");
        MPI_Wait(&request, &status);
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        expect_event("send_done", -1, 0, 0, TWIN, requests);
        if (status.MPI_SOURCE == peer && status.MPI_TAG == 7)
            expect_event("receive", peer, 7, bytes, TWIN, requests);
        expect_call("MPI_Get_count");
    }
    expect_call("MPI_Precv_init");
    MPI_Precv_init(out, 2, 3, MPI_INT, peer, 8, twin, MPI_INFO_NULL, &parts[0]);
    expect_call("MPI_Psend_init");
    MPI_Psend_init(in, 2, 3, MPI_INT, peer, 8, twin, MPI_INFO_NULL, &parts[1]);
    start(&parts[0], peer, 8);
    expect_call("MPI_Start");
    expect_event("send", peer, 8, 2 * 3 * INT, TWIN, ++requests);
    MPI_Start(&parts[1]);
    expect_call("MPI_Pready_range");
    MPI_Pready_range(0, 1, parts[1]);
    expect_call("MPI_Waitall");
    MPI_Waitall(2, parts, MPI_STATUSES_IGNORE);
    expect_event("receive", peer, 8, 2 * 3 * INT, TWIN, requests - 1);
    expect_event("send_done", -1, 0, 0, TWIN, requests);
    free_request(&parts[0]);
    free_request(&parts[1]);
#endif
}

static void do_all(void)
{
    expect_call("MPI_Comm_dup");
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    do_rooted();
    do_for_all();
    exchange();
    do_in_place();
    do_with_large_counts();
    do_with_neighbors();
    do_with_duplicate();
    do_across_groups();
    complete_some(1);
    complete_some(0);
    complete_all();
    cancel_receives();
    probe();
    send_persistently();
    send_newly();
    free_comm(&twin);
}

int main(int argc, char **argv)
{
    char path[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    snprintf(path, sizeof path, "%s/expected-%d", argc > 1 ? argv[1] : ".", rank);
    expected = fopen(path, "w");
    if (!expected)
        MPI_Abort(MPI_COMM_WORLD, 1);
    expect_call("MPI_Init");
    expect_call("MPI_Comm_rank");
    do_all();
    expect_call("MPI_Finalize");
    fclose(expected);
    MPI_Finalize();
    printf("done\n");
    return 0;
}
