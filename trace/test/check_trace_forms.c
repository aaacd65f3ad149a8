/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_trace_forms.c - calls in all their forms, each beside what is to be recorded of it: check_trace_forms FOLDER,
 * with two processes. The calls and their events go into FOLDER/expected-RANK, as trace_dump writes them, but without
 * threads and times.
 */
#include "check_trace_forms.h"

#include "trace/shared/trace_format.h"

int rank, peer, requests;
MPI_Comm twin;
double in[64], out[64];

static FILE *expected;
static int collectives[COMMS], persistent[COMMS];

void expect_call(const char *name)
{
    fprintf(expected, "enter %s\n", name);
}

void expect_event(const char *kind, int partner, int tag, unsigned bytes, int comm, int request)
{
    fprintf(expected, "%s partner %d tag %d bytes %u comm %d request %d\n", kind, partner, tag, bytes, comm, request);
}

/* number: on the communicator, or of starts of what is the so many-th persistent one on it, if it is one. */
static void expect_number(const char *name, volume its, int number, int made, int request)
{
    expect_event("collective", its.root, number, its.put, its.comm, request);
    fprintf(expected, "collective_out partner %d tag %d bytes %u of %s request %d\n", its.root, made, its.got, name,
            request);
}

void expect_collective(const char *name, volume its, int request)
{
    expect_number(name, its, ++collectives[its.comm], 0, request);
}

static void wait_for_collective(MPI_Request *request, volume its)
{
    CALL(Wait, request, MPI_STATUS_IGNORE);
    expect_event("collective_done", -1, 0, 0, its.comm, requests);
}

/* ---- Collective operations: a name, what is to be recorded, and the arguments */

#define NOT_WAITING(name, its, ...)                       \
    do {                                                  \
        MPI_Request request;                              \
        CALL(name, __VA_ARGS__, &request);                \
        expect_collective("MPI_" #name, its, ++requests); \
        wait_for_collective(&request, its);               \
    } while (0)

#ifdef HAVE_PERSISTENT
#define PERSISTENT(name, its, ...)                        \
    do {                                                  \
        MPI_Request request;                              \
        CALL(name, __VA_ARGS__, MPI_INFO_NULL, &request); \
        start_twice("MPI_" #name, its, &request);         \
    } while (0)

static void start_twice(const char *name, volume its, MPI_Request *request)
{
    const int made = ++persistent[its.comm];
    for (int i = 0; i < 2; i++) {
        CALL(Start, request);
        expect_number(name, its, i + 1, made, ++requests);
        wait_for_collective(request, its);
    }
    CALL(Request_free, request);
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
static int pieces[2] = {2, 3}, shifts[2] = {0, 2};

/* With root 1, rank is 1 on the root and 0 elsewhere; with root 0, peer is. */
static void do_rooted(void)
{
    const int own = pieces[rank];
    FORMS(Bcast, bcast, IS(TWIN, 1, rank * 3 * INT, peer * 3 * INT), out, 3, MPI_INT, 1, twin);
    FORMS(Reduce, reduce, IS(TWIN, 1, 3 * INT, rank * 3 * INT), in, out, 3, MPI_INT, MPI_SUM, 1, twin);
    FORMS(Gather, gather, IS(TWIN, 0, 3 * INT, peer * 6 * INT), in, 3, MPI_INT, out, 3, MPI_INT, 0, twin);
    FORMS(Scatter, scatter, IS(TWIN, 0, peer * 6 * INT, 3 * INT), in, 3, MPI_INT, out, 3, MPI_INT, 0, twin);
    FORMS(Gatherv, gatherv, IS(TWIN, 1, own * INT, rank * 5 * INT), in, own, MPI_INT, out, pieces, shifts, MPI_INT, 1,
          twin);
    FORMS(Scatterv, scatterv, IS(TWIN, 1, rank * 5 * INT, own * INT), in, pieces, shifts, MPI_INT, out, own, MPI_INT, 1,
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
    FORMS(Allgatherv, allgatherv, IS(TWIN, -1, own * INT, 5 * INT), in, own, MPI_INT, out, pieces, shifts, MPI_INT,
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

/* A type of 3 GiB: more than an int. On one process, nothing is moved. */
static void do_large(void)
{
    const unsigned size = 3U << 30;
    MPI_Datatype part, type;
    CALL(Type_contiguous, 1 << 20, MPI_BYTE, &part);
    CALL(Type_contiguous, 3 << 10, part, &type);
    CALL(Type_commit, &type);
    WAITING(Bcast, IS(OWN, 0, size, 0), out, 1, type, 0, MPI_COMM_SELF);
    CALL(Type_free, &type);
    CALL(Type_free, &part);
}

static void do_in_place(void)
{
    int own = pieces[rank], both[2] = {1 + rank, 2 + 2 * rank}, starts[2] = {0, 8}, bytes[2] = {0, 64};
    MPI_Datatype types[2] = {rank ? MPI_DOUBLE : MPI_INT, rank ? MPI_INT : MPI_DOUBLE};
    void *from = rank == 1 ? MPI_IN_PLACE : in, *to = rank == 1 ? MPI_IN_PLACE : out;
    WAITING(Allreduce, IS(TWIN, -1, 3 * INT, 3 * INT), MPI_IN_PLACE, out, 3, MPI_INT, MPI_SUM, twin);
    WAITING(Reduce, IS(TWIN, 1, 3 * INT, rank * 3 * INT), from, out, 3, MPI_INT, MPI_SUM, 1, twin);
    WAITING(Gather, IS(TWIN, 1, 3 * INT, rank * 6 * INT), from, peer * 3, MPI_INT, out, 3, MPI_INT, 1, twin);
    WAITING(Gatherv, IS(TWIN, 1, own * INT, rank * 5 * INT), from, peer * own, MPI_INT, out, pieces, shifts, MPI_INT, 1,
            twin);
    WAITING(Scatterv, IS(TWIN, 1, rank * 5 * INT, own * INT), in, pieces, shifts, MPI_INT, to, peer * own, MPI_INT, 1,
            twin);
    WAITING(Allgatherv, IS(TWIN, -1, own * INT, 5 * INT), MPI_IN_PLACE, 0, MPI_INT, out, pieces, shifts, MPI_INT, twin);
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

/* Two ways lead from rank 0 to rank 1, and one back: each process has as many targets as the other one has sources. */
static void do_with_neighbors(void)
{
    const int targets = 2 - rank, sources = 1 + rank, counts[2] = {1, 3}, places[2] = {0, 4}, peers[2] = {peer, peer};
    const int put = rank == 0 ? 4 * INT : INT, got = rank == 1 ? 4 * INT : INT;
    const MPI_Aint offsets[2] = {0, 64};
    const MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};
    MPI_Comm graph;
    WAITING(Dist_graph_create_adjacent, IS(TWIN, -1, 0, 0), twin, sources, peers, MPI_UNWEIGHTED, targets, peers,
            MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    FORMS(Neighbor_allgather, neighbor_allgather, IS(GRAPH, -1, 2 * INT, sources * 2 * INT), in, 2, MPI_INT, out, 2,
          MPI_INT, graph);
    FORMS(Neighbor_allgatherv, neighbor_allgatherv, IS(GRAPH, -1, targets * INT, sources * (1 + rank) * INT), in,
          targets, MPI_INT, out, (int[]){1 + rank, 1 + rank}, places, MPI_INT, graph);
    FORMS(Neighbor_alltoall, neighbor_alltoall, IS(GRAPH, -1, targets * 2 * INT, sources * 2 * INT), in, 2, MPI_INT,
          out, 2, MPI_INT, graph);
    FORMS(Neighbor_alltoallv, neighbor_alltoallv, IS(GRAPH, -1, put, got), in, counts, places, MPI_INT, out, counts,
          places, MPI_INT, graph);
    FORMS(Neighbor_alltoallw, neighbor_alltoallw,
          IS(GRAPH, -1, rank == 0 ? INT + 3 * DOUBLE : INT, rank == 1 ? INT + 3 * DOUBLE : INT), in, counts, offsets,
          types, out, counts, offsets, types, graph);
    CALL(Comm_free, &graph);
}

/* Two processes in a line have one neighbor each, before or after them, and nobody on the other side. */
static void do_in_a_line(void)
{
    const int two = 2, is_ring = 0, places[2] = {0, 4}, put = rank == 0 ? 3 * INT : INT;
    const int to[2] = {1, 3}, from[2] = {3, 1};
    MPI_Comm line;
    WAITING(Cart_create, IS(TWIN, -1, 0, 0), twin, 1, &two, &is_ring, 0, &line);
    FORMS(Neighbor_allgather, neighbor_allgather, IS(LINE, -1, 2 * INT, 2 * INT), in, 2, MPI_INT, out, 2, MPI_INT,
          line);
    FORMS(Neighbor_alltoall, neighbor_alltoall, IS(LINE, -1, 2 * INT, 2 * INT), in, 2, MPI_INT, out, 2, MPI_INT, line);
    FORMS(Neighbor_alltoallv, neighbor_alltoallv, IS(LINE, -1, put, rank == 0 ? INT : 3 * INT), in, to, places, MPI_INT,
          out, from, places, MPI_INT, line);
    CALL(Comm_free, &line);
}

static void do_with_duplicate(void)
{
    MPI_Comm again;
    MPI_Request request;
    CALL(Comm_idup, twin, &again, &request);
    expect_collective("MPI_Comm_idup", IS(TWIN, -1, 0, 0), ++requests);
    wait_for_collective(&request, IS(TWIN, -1, 0, 0));
    WAITING(Allreduce, IS(AGAIN, -1, 3 * INT, 3 * INT), in, out, 3, MPI_INT, MPI_SUM, again);
    CALL(Comm_free, &again);
}

/* From one group, of rank 0, to the other. Bytes of MPI_Reduce_scatter are not known there. */
static void do_across_groups(void)
{
    const int root = rank == 0 ? MPI_ROOT : 0, root_of_trace = rank == 0 ? ROOT_SELF : 0;
    const int three = 3, zero = 0, own = 2 + rank, theirs = 2 + peer;
    MPI_Comm bridge;
    WAITING(Intercomm_create, IS(BRIDGE, -1, 0, 0), MPI_COMM_SELF, 0, twin, peer, 1, &bridge);
    WAITING(Bcast, IS(BRIDGE, root_of_trace, peer * 3 * INT, rank * 3 * INT), out, 3, MPI_INT, root, bridge);
    WAITING(Gatherv, IS(BRIDGE, root_of_trace, rank * 3 * INT, peer * 3 * INT), in, 3, MPI_INT, out, &three, &zero,
            MPI_INT, root, bridge);
    WAITING(Scatterv, IS(BRIDGE, root_of_trace, peer * 3 * INT, rank * 3 * INT), in, &three, &zero, MPI_INT, out, 3,
            MPI_INT, root, bridge);
    WAITING(Allgatherv, IS(BRIDGE, -1, own * INT, theirs * INT), in, own, MPI_INT, out, &theirs, &zero, MPI_INT,
            bridge);
    WAITING(Reduce_scatter, IS(BRIDGE, -1, 0, 0), in, out, &three, MPI_INT, MPI_SUM, bridge);
    CALL(Comm_free, &bridge);
}

/* Both ranks put and are put into. */
static void do_in_epochs(void)
{
    MPI_Group all, other;
    MPI_Win window;
    int done = 0;
    CALL(Comm_group, twin, &all);
    CALL(Group_incl, all, 1, &peer, &other);
    WAITING(Win_create, IS(TWIN, -1, 0, 0), out, sizeof out, 1, MPI_INFO_NULL, twin, &window);
    for (int i = 0; i < 2; i++) {
        CALL(Win_post, other, 0, window);
        expect_event("send", peer, TRACE_TAG_POST, 0, WINDOW, 0);
        CALL(Win_start, other, 0, window);
        expect_event("post", -1, TRACE_TAG_POST, 0, WINDOW, ++requests);
        CALL(Put, in, 3, MPI_INT, peer, 0, 3, MPI_INT, window);
        expect_event("put", peer, 0, 3 * INT, WINDOW, 0);
        CALL(Win_complete, window);
        expect_event("send", peer, TRACE_TAG_COMPLETE, 0, WINDOW, 0);
        expect_event("receive", peer, TRACE_TAG_POST, 0, WINDOW, requests);
        if (i == 0)
            MPI_Win_wait(window);
        while (i == 1 && !done)
            MPI_Win_test(window, &done);
        expect_call(i == 0 ? "MPI_Win_wait" : "MPI_Win_test");
        expect_event("receive", peer, TRACE_TAG_COMPLETE, 0, WINDOW, 0);
    }
    WAITING(Win_free, IS(WINDOW, -1, 0, 0), &window);
    CALL(Group_free, &other);
    CALL(Group_free, &all);
}

static void expect_access(const char *kind, int target, unsigned bytes)
{
    expect_event(kind, target, 0, bytes, PASSIVE, 0);
}

#define ACCESS(kind, target, bytes, name, ...) (CALL(name, __VA_ARGS__), expect_access(kind, target, bytes))

/* Both ways: what is put and combined there, and what was there before. */
static void do_atomics(MPI_Win window)
{
    double got[4];
    ACCESS("update", peer, 3 * DOUBLE, Accumulate, in, 3, MPI_DOUBLE, peer, 0, 3, MPI_DOUBLE, MPI_SUM, window);
    ACCESS("update", peer, 2 * DOUBLE, Get_accumulate, in, 2, MPI_DOUBLE, got, 2, MPI_DOUBLE, peer, 0, 2, MPI_DOUBLE,
           MPI_SUM, window);
    expect_access("get", peer, 2 * DOUBLE);
    ACCESS("get", peer, 2 * DOUBLE, Get_accumulate, in, 2, MPI_DOUBLE, got, 2, MPI_DOUBLE, peer, 0, 2, MPI_DOUBLE,
           MPI_NO_OP, window);
    ACCESS("update", peer, DOUBLE, Fetch_and_op, in, &got[2], MPI_DOUBLE, peer, 0, MPI_SUM, window);
    expect_access("get", peer, DOUBLE);
    ACCESS("get", peer, DOUBLE, Fetch_and_op, in, &got[2], MPI_DOUBLE, peer, 0, MPI_NO_OP, window);
    ACCESS("update", peer, 2 * sizeof(long), Compare_and_swap, in, in + 1, &got[3], MPI_LONG, peer, 5, window);
    expect_access("get", peer, sizeof(long));
    ACCESS("flush", -1, 0, Win_flush_all, window);
}

/* Nothing goes to MPI_PROC_NULL. */
static void do_at_passive_targets(void)
{
    double got[2];
    MPI_Win window;
    MPI_Request request;
    WAITING(Win_create, IS(TWIN, -1, 0, 0), out, sizeof out, DOUBLE, MPI_INFO_NULL, twin, &window);
    ACCESS("lock_exclusive", peer, 0, Win_lock, MPI_LOCK_EXCLUSIVE, peer, 0, window);
    ACCESS("put", peer, 3 * INT, Put, in, 3, MPI_INT, peer, 0, 3, MPI_INT, window);
    ACCESS("flush_local", peer, 0, Win_flush_local, peer, window);
    ACCESS("unlock", peer, 0, Win_unlock, peer, window);
    ACCESS("lock_shared", rank, 0, Win_lock, MPI_LOCK_SHARED, rank, 0, window);
    ACCESS("get", rank, 2 * DOUBLE, Get, got, 2, MPI_DOUBLE, rank, 0, 2, MPI_DOUBLE, window);
    ACCESS("flush", rank, 0, Win_flush, rank, window);
    ACCESS("unlock", rank, 0, Win_unlock, rank, window);
    ACCESS("lock_shared", -1, 0, Win_lock_all, 0, window);
    CALL(Put, in, 3, MPI_INT, MPI_PROC_NULL, 0, 3, MPI_INT, window);
    ACCESS("put", peer, INT, Rput, in, 1, MPI_INT, peer, 0, 1, MPI_INT, window, &request);
    CALL(Wait, &request, MPI_STATUS_IGNORE);
    do_atomics(window);
    ACCESS("flush_local", -1, 0, Win_flush_local_all, window);
    ACCESS("unlock", -1, 0, Win_unlock_all, window);
    WAITING(Win_free, IS(PASSIVE, -1, 0, 0), &window);
}

static void expect_in_file(const char *kind)
{
    expect_event(kind, -1, 0, DOUBLE, FILE_OF_TWIN, 0);
}

/* One double each; its place in a shared file is that of the rank. */
static void do_with_file(const char *folder)
{
    char path[4096];
    MPI_File file;
    MPI_Request request;
    snprintf(path, sizeof path, "%s/data", folder);
    WAITING(File_open, IS(TWIN, -1, 0, 0), twin, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
            MPI_INFO_NULL, &file);
    WAITING(File_set_view, IS(FILE_OF_TWIN, -1, 0, 0), file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL);
    WAITING(File_write_at_all, IS(FILE_OF_TWIN, -1, 0, 0), file, rank, in, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
    expect_in_file("put");
    CALL(File_read_at, file, rank, in, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
    expect_in_file("get");
    CALL(File_iwrite_at, file, rank, in, 1, MPI_DOUBLE, &request);
    expect_in_file("put");
    CALL(Wait, &request, MPI_STATUS_IGNORE);
    WAITING(File_read_all_begin, IS(FILE_OF_TWIN, -1, 0, 0), file, out, 1, MPI_DOUBLE);
    expect_in_file("get");
    WAITING(File_read_all_end, IS(FILE_OF_TWIN, -1, 0, 0), file, out, MPI_STATUS_IGNORE);
    CALL(File_write, file, in, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
    expect_in_file("put");
    WAITING(File_close, IS(FILE_OF_TWIN, -1, 0, 0), &file);
}

static void do_all(const char *folder)
{
    WAITING(Comm_dup, IS(WORLD, -1, 0, 0), MPI_COMM_WORLD, &twin);
    do_rooted();
    do_for_all();
    exchange();
    do_in_place();
    do_large();
    do_with_large_counts();
    do_with_neighbors();
    do_in_a_line();
    do_with_duplicate();
    do_across_groups();
    do_messages();
    do_in_epochs();
    do_at_passive_targets();
    do_with_file(folder);
    CALL(Comm_free, &twin);
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
    do_all(argc > 1 ? argv[1] : ".");
    expect_call("MPI_Finalize");
    fclose(expected);
    MPI_Finalize();
    printf("done\n");
    return 0;
}
