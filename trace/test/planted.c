/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * planted.c - a program in which one rank is late, at a place, for a time and in iterations that are known. There is a
 * kind of program for each way in which ranks may wait for the late one.
 *
 * Usage: planted                                   prints the kinds that this MPI library has, and how others wait:
 *                                                  KIND|STATE, with STATE as mpix_trace_report names it, if it does
 *        planted KIND RANK MS SEED HOW [without]   HOW ranks compute and are late: compute, or sleep; without: nobody
 *                                                  is late
 *
 * Each rank prints when its program began, when MPI was initialized, when the last call before MPI_Finalize returned,
 * and when MPI_Finalize returned, in nanoseconds of CLOCK_MONOTONIC. The late rank prints its number, by how many
 * nanoseconds it was late, and the calls between which it was, with their lines. Files are made in the working
 * directory.
 */
#include "pure/random.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    ITERATIONS = 8,
    MOST_RANKS = 64,
    BIG = 1 << 20,             /* numbers in a message that waits for its receiver */
    WORK_NS = 5000000,         /* what each rank computes in an iteration */
    POLL_WORK_NS = 20000,      /* between two looks for a message */
    LONG_POLL_WORK_NS = 200000 /* likewise */
};

static struct {
    int rank, is_planted, iterations[2];
    int64_t ns, was_ns; /* each time; all in all */
    int is_open;        /* the rank was late, and has called nothing since */
} late;

typedef struct {
    const char *function;
    int line;
} place;

static int rank, ranks, left, right, root, iteration, sleeps, status;
static int in[BIG], out[BIG], many_in[MOST_RANKS], many_out[MOST_RANKS];
static int counts[MOST_RANKS], places[MOST_RANKS], offsets[MOST_RANKS];
static MPI_Datatype types[MOST_RANKS];
static MPI_Comm world, ring, part;
static MPI_Group neighbors[2]; /* the left one, the right one */
static MPI_Win window;
static MPI_Request request, requests[2];
static MPI_Status statuses[2];
static place last_call, late_from = {"-", 0}, late_to = {"-", 0};

static void note(const char *function, int line)
{
    if (late.is_open) {
        late_from = last_call;
        late_to = (place){function, line};
    }
    late.is_open = 0;
    last_call = (place){function, line};
}
/* What is added to the status keeps the compiler from a jump in place of the call, which has no line then. */
#define CALL(function, ...) (note("MPI_" #function, __LINE__), (void)(status |= MPI_##function(__VA_ARGS__)))

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void spend(int64_t ns)
{
    const struct timespec time = {ns / 1000000000, ns % 1000000000};
    const int64_t end_ns = now_ns() + ns;
    if (sleeps)
        nanosleep(&time, NULL);
    else
        while (now_ns() < end_ns)
            ;
}

static void be_late(void)
{
    if (!late.is_planted || rank != late.rank)
        return;
    const int64_t begin_ns = now_ns();
    spend(late.ns);
    late.was_ns += now_ns() - begin_ns;
    late.is_open = 1;
}

static void work(void)
{
    spend(WORK_NS);
    if (iteration == late.iterations[0] || iteration == late.iterations[1])
        be_late();
}

/* ---- Messages to the right neighbor, from the left one */

static void give(int count)
{
    CALL(Send, out, count, MPI_INT, right, 0, world);
}

static void take(void)
{
    CALL(Recv, in, 1, MPI_INT, left, 0, world, MPI_STATUS_IGNORE);
}

static void recv(void)
{
    work();
    CALL(Send, out, 1, MPI_INT, right, 0, world);
    CALL(Recv, in, 1, MPI_INT, left, 0, world, MPI_STATUS_IGNORE);
}

static void recv_any_source(void)
{
    work();
    CALL(Send, out, 1, MPI_INT, right, 0, world);
    CALL(Recv, in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, MPI_STATUS_IGNORE);
}

static void bsend(void)
{
    static char buffer[sizeof(int) + MPI_BSEND_OVERHEAD];
    work();
    CALL(Buffer_attach, buffer, (int)sizeof buffer);
    CALL(Bsend, out, 1, MPI_INT, right, 0, world);
    CALL(Recv, in, 1, MPI_INT, left, 0, world, MPI_STATUS_IGNORE);
    CALL(Buffer_detach, &(void *){NULL}, &(int){0});
}

static void rsend(void)
{
    CALL(Irecv, in, 1, MPI_INT, left, 0, world, &request);
    CALL(Barrier, world);
    work();
    CALL(Rsend, out, 1, MPI_INT, right, 0, world);
    CALL(Wait, &request, MPI_STATUS_IGNORE);
}

static void ssend(void)
{
    work();
    CALL(Irecv, in, 1, MPI_INT, left, 0, world, &request);
    CALL(Ssend, out, 1, MPI_INT, right, 0, world);
    CALL(Wait, &request, MPI_STATUS_IGNORE);
}

static void send_big(void)
{
    work();
    CALL(Irecv, in, BIG, MPI_INT, left, 0, world, &request);
    CALL(Send, out, BIG, MPI_INT, right, 0, world);
    CALL(Wait, &request, MPI_STATUS_IGNORE);
}

static void start_messages(int count)
{
    CALL(Isend, out, count, MPI_INT, right, 0, world, &requests[0]);
    CALL(Irecv, in, count, MPI_INT, left, 0, world, &requests[1]);
}

static void wait_recv(void)
{
    work();
    CALL(Isend, out, 1, MPI_INT, right, 0, world, &requests[0]);
    CALL(Irecv, in, 1, MPI_INT, left, 0, world, &requests[1]);
    CALL(Wait, &requests[1], MPI_STATUS_IGNORE);
    CALL(Wait, &requests[0], MPI_STATUS_IGNORE);
}

static void wait_isend_big(void)
{
    work();
    CALL(Isend, out, BIG, MPI_INT, right, 0, world, &requests[0]);
    CALL(Irecv, in, BIG, MPI_INT, left, 0, world, &requests[1]);
    CALL(Wait, &requests[0], MPI_STATUS_IGNORE);
    CALL(Wait, &requests[1], MPI_STATUS_IGNORE);
}

static void wait_issend(void)
{
    work();
    CALL(Issend, out, 1, MPI_INT, right, 0, world, &requests[0]);
    CALL(Irecv, in, 1, MPI_INT, left, 0, world, &requests[1]);
    CALL(Wait, &requests[0], MPI_STATUS_IGNORE);
    CALL(Wait, &requests[1], MPI_STATUS_IGNORE);
}

static void waitall(void)
{
    work();
    CALL(Irecv, in, 1, MPI_INT, left, 0, world, &requests[1]);
    CALL(Isend, out, 1, MPI_INT, right, 0, world, &requests[0]);
    CALL(Waitall, 2, requests, statuses);
}

/* The receive is posted before the computation, the message is sent after it. */
static void overlap(void)
{
    CALL(Irecv, in, 1, MPI_INT, left, 0, world, &requests[1]);
    work();
    CALL(Isend, out, 1, MPI_INT, right, 0, world, &requests[0]);
    CALL(Waitall, 2, requests, statuses);
}

static void waitany(void)
{
    work();
    CALL(Isend, out, 1, MPI_INT, right, 0, world, &requests[0]);
    CALL(Irecv, in, 1, MPI_INT, left, 0, world, &requests[1]);
    for (int i = 0, index; i < 2; i++)
        CALL(Waitany, 2, requests, &index, MPI_STATUS_IGNORE);
}

static void waitsome(void)
{
    int indices[2];
    work();
    CALL(Isend, out, 1, MPI_INT, right, 0, world, &requests[0]);
    CALL(Irecv, in, 1, MPI_INT, left, 0, world, &requests[1]);
    for (int left_over = 2, done; left_over > 0; left_over -= done)
        CALL(Waitsome, 2, requests, &done, indices, statuses);
}

static void test_for_ns(int64_t ns)
{
    int found = 0;
    work();
    CALL(Send, out, 1, MPI_INT, right, 0, world);
    CALL(Irecv, in, 1, MPI_INT, left, 0, world, &request);
    while (!found) {
        CALL(Test, &request, &found, MPI_STATUS_IGNORE);
        if (!found && ns > 0)
            spend(ns);
    }
}

static void test(void)
{
    test_for_ns(0);
}

static void test_and_work(void)
{
    test_for_ns(POLL_WORK_NS);
}

static void test_and_work_long(void)
{
    test_for_ns(LONG_POLL_WORK_NS);
}

static void testall(void)
{
    work();
    start_messages(1);
    for (int found = 0; !found;)
        CALL(Testall, 2, requests, &found, statuses);
}

static void testany(void)
{
    work();
    start_messages(1);
    for (int count = 0, found, index; count < 2; count += found)
        CALL(Testany, 2, requests, &index, &found, MPI_STATUS_IGNORE);
}

static void testsome(void)
{
    int indices[2];
    work();
    start_messages(1);
    for (int count = 0, done; count < 2; count += done)
        CALL(Testsome, 2, requests, &done, indices, statuses);
}

static void get_status(void)
{
    work();
    start_messages(1);
    for (int found = 0; !found;)
        CALL(Request_get_status, requests[1], &found, MPI_STATUS_IGNORE);
    CALL(Waitall, 2, requests, statuses);
}

static void probe(void)
{
    work();
    give(1);
    CALL(Probe, left, 0, world, MPI_STATUS_IGNORE);
    take();
}

static void iprobe(void)
{
    work();
    give(1);
    for (int found = 0; !found;)
        CALL(Iprobe, left, 0, world, &found, MPI_STATUS_IGNORE);
    take();
}

static void mprobe(void)
{
    MPI_Message message;
    work();
    give(1);
    CALL(Mprobe, left, 0, world, &message, MPI_STATUS_IGNORE);
    CALL(Mrecv, in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
}

static void improbe(void)
{
    MPI_Message message;
    work();
    give(1);
    for (int found = 0; !found;)
        CALL(Improbe, left, 0, world, &found, &message, MPI_STATUS_IGNORE);
    CALL(Imrecv, in, 1, MPI_INT, &message, &request);
    CALL(Wait, &request, MPI_STATUS_IGNORE);
}

static void sendrecv(void)
{
    work();
    CALL(Sendrecv, out, 1, MPI_INT, right, 0, in, 1, MPI_INT, left, 0, world, MPI_STATUS_IGNORE);
}

static void sendrecv_replace(void)
{
    work();
    CALL(Sendrecv_replace, in, 1, MPI_INT, right, 0, left, 0, world, MPI_STATUS_IGNORE);
}

static void persistent(void)
{
    CALL(Send_init, out, 1, MPI_INT, right, 0, world, &requests[0]);
    CALL(Recv_init, in, 1, MPI_INT, left, 0, world, &requests[1]);
    work();
    CALL(Startall, 2, requests);
    CALL(Waitall, 2, requests, statuses);
    CALL(Request_free, &requests[0]);
    CALL(Request_free, &requests[1]);
}

static void persistent_ssend(void)
{
    CALL(Ssend_init, out, 1, MPI_INT, right, 0, world, &requests[0]);
    CALL(Recv_init, in, 1, MPI_INT, left, 0, world, &requests[1]);
    work();
    CALL(Start, &requests[0]);
    CALL(Start, &requests[1]);
    CALL(Wait, &requests[0], MPI_STATUS_IGNORE);
    CALL(Wait, &requests[1], MPI_STATUS_IGNORE);
    CALL(Request_free, &requests[0]);
    CALL(Request_free, &requests[1]);
}

/* Others receive from the late rank first, though a message of rank left is there. */
static void wrong_order(void)
{
    enum { EARLY = 1, LATE = 2 };
    CALL(Send, out, 1, MPI_INT, right, EARLY, world);
    CALL(Probe, left, EARLY, world, MPI_STATUS_IGNORE);
    work();
    CALL(Send, out, 1, MPI_INT, right, LATE, world);
    CALL(Recv, in, 1, MPI_INT, left, LATE, world, MPI_STATUS_IGNORE);
    CALL(Recv, in, 1, MPI_INT, left, EARLY, world, MPI_STATUS_IGNORE);
}

/* The root gives work, and takes results, in the order of ranks. The late rank is a worker. */
static void workers(void)
{
    for (int i = 1; rank == root && i < ranks; i++)
        CALL(Send, out, 1, MPI_INT, (root + i) % ranks, 0, world);
    if (rank != root)
        CALL(Recv, in, 1, MPI_INT, root, 0, world, MPI_STATUS_IGNORE);
    work();
    if (rank != root)
        CALL(Send, out, 1, MPI_INT, root, 0, world);
    for (int i = 1; rank == root && i < ranks; i++)
        CALL(Recv, in, 1, MPI_INT, (root + i) % ranks, 0, world, MPI_STATUS_IGNORE);
}

/* Each rank works on what the one before it gave in the iteration before, from rank 0 on, which is late. */
static void pipeline(void)
{
    work();
    if (rank + 1 < ranks)
        CALL(Send, out, 1, MPI_INT, right, 0, world);
    if (rank > 0)
        CALL(Recv, in, 1, MPI_INT, left, 0, world, MPI_STATUS_IGNORE);
}

/* Sums go up a binary tree and come down again, with the root in the place of rank 0. */
static void tree(void)
{
    const int place = (rank - root + ranks) % ranks, parent = (root + (place - 1) / 2) % ranks;
    work();
    for (int child = 2 * place + 1; child <= 2 * place + 2 && child < ranks; child++)
        CALL(Recv, in, 1, MPI_INT, (root + child) % ranks, 0, world, MPI_STATUS_IGNORE);
    if (place > 0) {
        CALL(Send, out, 1, MPI_INT, parent, 0, world);
        CALL(Recv, in, 1, MPI_INT, parent, 0, world, MPI_STATUS_IGNORE);
    }
    for (int child = 2 * place + 1; child <= 2 * place + 2 && child < ranks; child++)
        CALL(Send, out, 1, MPI_INT, (root + child) % ranks, 0, world);
}

#if MPI_VERSION >= 4
static void isendrecv(void)
{
    work();
    CALL(Isendrecv, out, 1, MPI_INT, right, 0, in, 1, MPI_INT, left, 0, world, &request);
    CALL(Wait, &request, MPI_STATUS_IGNORE);
}

static void isendrecv_replace(void)
{
    work();
    CALL(Isendrecv_replace, in, 1, MPI_INT, right, 0, left, 0, world, &request);
    CALL(Wait, &request, MPI_STATUS_IGNORE);
}
#endif

#if MPI_VERSION >= 4
static void start_partitioned(void)
{
    CALL(Psend_init, out, 2, 1, MPI_INT, right, 0, world, MPI_INFO_NULL, &requests[0]);
    CALL(Precv_init, in, 2, 1, MPI_INT, left, 0, world, MPI_INFO_NULL, &requests[1]);
    CALL(Startall, 2, requests);
    CALL(Pready, 0, requests[0]);
    work();
    CALL(Pready, 1, requests[0]);
}

static void end_partitioned(void)
{
    CALL(Waitall, 2, requests, statuses);
    CALL(Request_free, &requests[0]);
    CALL(Request_free, &requests[1]);
}

static void partitioned(void)
{
    start_partitioned();
    end_partitioned();
}

static void parrived(void)
{
    start_partitioned();
    for (int found = 0; !found;)
        CALL(Parrived, requests[1], 1, &found);
    end_partitioned();
}
#endif

/* ---- Collective operations. Of each with requests: started after the delay. */

static void complete(void)
{
    CALL(Wait, &request, MPI_STATUS_IGNORE);
}

#define BLOCKING(name, function, ...) \
    static void name(void)            \
    {                                 \
        work();                       \
        CALL(function, __VA_ARGS__);  \
    }
#define NONBLOCKING(name, function, ...)       \
    static void name(void)                     \
    {                                          \
        work();                                \
        CALL(function, __VA_ARGS__, &request); \
        complete();                            \
    }
#define PERSISTENT(name, function, ...)                              \
    static void name(void)                                           \
    {                                                                \
        CALL(function##_init, __VA_ARGS__, MPI_INFO_NULL, &request); \
        work();                                                      \
        CALL(Start, &request);                                       \
        complete();                                                  \
        CALL(Request_free, &request);                                \
    }
#if MPI_VERSION >= 4
#define EACH_WAY(name, function, ...)          \
    BLOCKING(name, function, __VA_ARGS__)      \
    NONBLOCKING(i##name, I##name, __VA_ARGS__) \
    PERSISTENT(name##_init, function, __VA_ARGS__)
#else
#define EACH_WAY(name, function, ...) BLOCKING(name, function, __VA_ARGS__) NONBLOCKING(i##name, I##name, __VA_ARGS__)
#endif

EACH_WAY(barrier, Barrier, world)
EACH_WAY(allreduce, Allreduce, out, in, 1, MPI_INT, MPI_SUM, world)
EACH_WAY(allgather, Allgather, out, 1, MPI_INT, many_in, 1, MPI_INT, world)
EACH_WAY(allgatherv, Allgatherv, out, 1, MPI_INT, many_in, counts, places, MPI_INT, world)
EACH_WAY(alltoall, Alltoall, many_out, 1, MPI_INT, many_in, 1, MPI_INT, world)
EACH_WAY(alltoallv, Alltoallv, many_out, counts, places, MPI_INT, many_in, counts, places, MPI_INT, world)
EACH_WAY(alltoallw, Alltoallw, many_out, counts, offsets, types, many_in, counts, offsets, types, world)
EACH_WAY(reduce_scatter, Reduce_scatter, many_out, in, counts, MPI_INT, MPI_SUM, world)
EACH_WAY(reduce_scatter_block, Reduce_scatter_block, many_out, in, 1, MPI_INT, MPI_SUM, world)
EACH_WAY(scan, Scan, out, in, 1, MPI_INT, MPI_SUM, world)
EACH_WAY(exscan, Exscan, out, in, 1, MPI_INT, MPI_SUM, world)
EACH_WAY(bcast, Bcast, in, 1, MPI_INT, root, world)
EACH_WAY(scatter, Scatter, many_out, 1, MPI_INT, in, 1, MPI_INT, root, world)
EACH_WAY(scatterv, Scatterv, many_out, counts, places, MPI_INT, in, 1, MPI_INT, root, world)
EACH_WAY(reduce, Reduce, out, in, 1, MPI_INT, MPI_SUM, root, world)
EACH_WAY(gather, Gather, out, 1, MPI_INT, many_in, 1, MPI_INT, root, world)
EACH_WAY(gatherv, Gatherv, out, 1, MPI_INT, many_in, counts, places, MPI_INT, root, world)
EACH_WAY(neighbor_allgather, Neighbor_allgather, out, 1, MPI_INT, many_in, 1, MPI_INT, ring)
EACH_WAY(neighbor_alltoall, Neighbor_alltoall, many_out, 1, MPI_INT, many_in, 1, MPI_INT, ring)
EACH_WAY(neighbor_alltoallv, Neighbor_alltoallv, many_out, counts, places, MPI_INT, many_in, counts, places, MPI_INT,
         ring)

/* cppcheck-suppress constParameter ; MPI says what it takes */
static void add_late(void *from, void *to, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)to)[i] += ((int *)from)[i];
    if (iteration == late.iterations[0] || iteration == late.iterations[1])
        be_late();
}

/* The late rank is late in its operation, for which the others wait in the next barrier. */
static void in_call(void)
{
    MPI_Op op;
    CALL(Op_create, add_late, 1, &op);
    spend(WORK_NS);
    CALL(Allreduce, out, in, 1, MPI_INT, op, world);
    CALL(Barrier, world);
    CALL(Op_free, &op);
}

/* ---- Windows */

static void fence(void)
{
    work();
    CALL(Win_fence, 0, window);
    CALL(Put, out, 1, MPI_INT, right, 0, 1, MPI_INT, window);
    CALL(Win_fence, 0, window);
}

static void access_right(void)
{
    CALL(Win_start, neighbors[1], 0, window);
    CALL(Put, out, 1, MPI_INT, right, 0, 1, MPI_INT, window);
}

static void late_post(void)
{
    work();
    CALL(Win_post, neighbors[0], 0, window);
    access_right();
    CALL(Win_complete, window);
    CALL(Win_wait, window);
}

static void late_complete(void)
{
    CALL(Win_post, neighbors[0], 0, window);
    CALL(Win_start, neighbors[1], 0, window);
    work();
    CALL(Win_complete, window);
    CALL(Win_wait, window);
}

/* Others may wait until the late rank makes progress with their data, before it completes its own access. */
static void late_progress(void)
{
    CALL(Win_post, neighbors[0], 0, window);
    access_right();
    work();
    CALL(Win_complete, window);
    CALL(Win_wait, window);
}

static void win_test(void)
{
    CALL(Win_post, neighbors[0], 0, window);
    CALL(Win_start, neighbors[1], 0, window);
    work();
    CALL(Win_complete, window);
    for (int found = 0; !found;)
        CALL(Win_test, window, &found);
}

/* Others ask for a lock that the late rank has. */
static void lock(void)
{
    const int target = (late.rank + 1) % ranks;
    if (rank == late.rank) {
        CALL(Win_lock, MPI_LOCK_EXCLUSIVE, target, 0, window);
        CALL(Put, out, 1, MPI_INT, target, 0, 1, MPI_INT, window);
        CALL(Win_flush, target, window);
    }
    CALL(Barrier, world);
    if (rank == late.rank) {
        work();
        CALL(Win_unlock, target, window);
    } else {
        CALL(Win_lock, MPI_LOCK_EXCLUSIVE, target, 0, window);
        CALL(Put, out, 1, MPI_INT, target, 0, 1, MPI_INT, window);
        CALL(Win_unlock, target, window);
        work();
    }
    CALL(Barrier, world);
}

/* The target makes no progress while it is late. */
static void flush(void)
{
    CALL(Win_lock_all, 0, window);
    work();
    CALL(Accumulate, out, BIG / 2, MPI_INT, right, 0, BIG / 2, MPI_INT, MPI_SUM, window);
    CALL(Win_flush, right, window);
    CALL(Win_unlock_all, window);
}

static void win_create(void)
{
    MPI_Win other = MPI_WIN_NULL;
    work();
    CALL(Win_create, in, (MPI_Aint)sizeof in, sizeof in[0], MPI_INFO_NULL, world, &other);
    CALL(Win_free, &other);
}

static void win_free(void)
{
    MPI_Win other = MPI_WIN_NULL;
    CALL(Win_create, in, (MPI_Aint)sizeof in, sizeof in[0], MPI_INFO_NULL, world, &other);
    work();
    CALL(Win_free, &other);
}

/* ---- Communicators */

#define COMMUNICATOR(name, function, ...)    \
    static void name(void)                   \
    {                                        \
        MPI_Comm other = MPI_COMM_NULL;      \
        work();                              \
        CALL(function, __VA_ARGS__, &other); \
        CALL(Comm_free, &other);             \
    }
COMMUNICATOR(comm_dup, Comm_dup, world)
COMMUNICATOR(comm_split, Comm_split, world, rank / MOST_RANKS, rank)
COMMUNICATOR(comm_split_type, Comm_split_type, world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL)
COMMUNICATOR(cart_create, Cart_create, world, 1, &ranks, (int[]){1}, 0)
COMMUNICATOR(intercomm_create, Intercomm_create, part, 0, world, rank == 0 ? 1 : 0, 0)

static MPI_Group world_group(void)
{
    MPI_Group group;
    MPI_Comm_group(world, &group);
    return group;
}

static void comm_create(void)
{
    MPI_Comm other = MPI_COMM_NULL;
    MPI_Group group;
    CALL(Comm_group, world, &group);
    work();
    CALL(Comm_create, world, group, &other);
    CALL(Comm_free, &other);
    CALL(Group_free, &group);
}

static void comm_create_group(void)
{
    MPI_Comm other = MPI_COMM_NULL;
    MPI_Group group;
    CALL(Comm_group, world, &group);
    work();
    CALL(Comm_create_group, world, group, 0, &other);
    CALL(Comm_free, &other);
    CALL(Group_free, &group);
}

static void comm_idup(void)
{
    MPI_Comm other = MPI_COMM_NULL;
    work();
    CALL(Comm_idup, world, &other, &request);
    complete();
    CALL(Comm_free, &other);
}

static void dist_graph_create(void)
{
    MPI_Comm other = MPI_COMM_NULL;
    work();
    CALL(Dist_graph_create_adjacent, world, 1, &left, &(int){1}, 1, &right, &(int){1}, MPI_INFO_NULL, 0, &other);
    CALL(Comm_free, &other);
}

static void intercomm_merge(void)
{
    MPI_Comm between = MPI_COMM_NULL, other = MPI_COMM_NULL;
    CALL(Intercomm_create, part, 0, world, rank == 0 ? 1 : 0, 0, &between);
    work();
    CALL(Intercomm_merge, between, rank > 0, &other);
    CALL(Comm_free, &other);
    CALL(Comm_free, &between);
}

/* Operations between rank 0 and the others. */
static MPI_Comm bridge;

static void inter_bcast(void)
{
    work();
    CALL(Bcast, in, 1, MPI_INT, rank == 0 ? MPI_ROOT : 0, bridge);
    CALL(Barrier, world);
}

static void inter_gather(void)
{
    work();
    CALL(Gather, out, 1, MPI_INT, many_in, 1, MPI_INT, rank == 0 ? MPI_ROOT : 0, bridge);
}

BLOCKING(inter_barrier, Barrier, bridge)
BLOCKING(inter_allreduce, Allreduce, out, in, 1, MPI_INT, MPI_SUM, bridge)
NONBLOCKING(inter_iallreduce, Iallreduce, out, in, 1, MPI_INT, MPI_SUM, bridge)

/* ---- Files */

static MPI_File file;

static void file_open(void)
{
    MPI_File other = MPI_FILE_NULL;
    work();
    CALL(File_open, world, "planted.other", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
         &other);
    CALL(File_close, &other);
}

static void file_close(void)
{
    MPI_File other = MPI_FILE_NULL;
    CALL(File_open, world, "planted.other", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
         &other);
    work();
    CALL(File_close, &other);
}

BLOCKING(write_all, File_write_all, file, out, 1, MPI_INT, MPI_STATUS_IGNORE)
BLOCKING(write_at_all, File_write_at_all, file, rank, out, 1, MPI_INT, MPI_STATUS_IGNORE)
BLOCKING(write_ordered, File_write_ordered, file, out, 1, MPI_INT, MPI_STATUS_IGNORE)
BLOCKING(read_at_all, File_read_at_all, file, rank, in, 1, MPI_INT, MPI_STATUS_IGNORE)
BLOCKING(file_set_view, File_set_view, file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL)
BLOCKING(file_set_size, File_set_size, file, 4096)

static void write_all_begin(void)
{
    work();
    CALL(File_write_all_begin, file, out, 1, MPI_INT);
    CALL(File_write_all_end, file, out, MPI_STATUS_IGNORE);
}

/* ---- All kinds */

/*
 * How others wait, in the words of mpix_trace_report; ROOT_LATE: the root is the late rank, else another one;
 * FIRST_LATE: rank 0 is late, whichever rank is asked for; AT_...: the delay is not in the iterations.
 */
enum {
    ROOT_LATE = 1,
    FIRST_LATE = 2,
    USES_WINDOW = 4,
    USES_FILE = 8,
    USES_RING = 16,
    USES_PARTS = 32, /* an intercommunicator of rank 0 and the others, too */
    AT_BEGIN = 64,
    AT_FIRST = 128,
    AT_END = 256
};
typedef struct {
    const char *name;
    void (*iterate)(void);
    const char *state;
    int traits;
} kind;

#define KIND(which, ...)                                       \
    {                                                          \
        .name = #which, .iterate = which, .state = __VA_ARGS__ \
    }
#if MPI_VERSION >= 4
#define KINDS(name, ...) KIND(name, __VA_ARGS__), KIND(i##name, __VA_ARGS__), KIND(name##_init, __VA_ARGS__)
#else
#define KINDS(name, ...) KIND(name, __VA_ARGS__), KIND(i##name, __VA_ARGS__)
#endif

static const kind kinds[] = {
    {"begin", barrier, "", AT_BEGIN},
    {"first", barrier, "wait at barrier", AT_FIRST},
    {"end", barrier, "", AT_END},
    KIND(in_call, "wait at barrier"),
    KIND(recv, "late sender"),
    KIND(recv_any_source, "late sender"),
    KIND(bsend, "late sender"),
    KIND(rsend, ""),
    KIND(wait_recv, "late sender"),
    KIND(waitall, "late sender"),
    KIND(overlap, "late sender"),
    KIND(waitany, "late sender"),
    KIND(waitsome, "late sender"),
    KIND(test, "late sender"),
    KIND(test_and_work, "late sender"),
    KIND(test_and_work_long, ""),
    KIND(testall, "late sender"),
    KIND(testany, "late sender"),
    KIND(testsome, "late sender"),
    KIND(get_status, "late sender"),
    KIND(probe, "late sender"),
    KIND(iprobe, "late sender"),
    KIND(mprobe, "late sender"),
    KIND(improbe, "late sender"),
    KIND(sendrecv, "late sender"),
    KIND(sendrecv_replace, "late sender"),
    KIND(persistent, "late sender"),
    KIND(workers, "late sender"),
    KIND(pipeline, "late sender", FIRST_LATE),
    KIND(tree, "late sender"),
    KIND(wrong_order, "wrong order"),
    KIND(ssend, "late receiver"),
    KIND(send_big, "late receiver"),
    KIND(wait_isend_big, "late receiver"),
    KIND(wait_issend, "late receiver"),
    KIND(persistent_ssend, "late receiver"),
#if MPI_VERSION >= 4
    KIND(isendrecv, "late sender"),
    KIND(isendrecv_replace, "late sender"),
    KIND(partitioned, "late sender"),
    KIND(parrived, "late sender"),
#endif
    KINDS(barrier, "wait at barrier"),
    KINDS(allreduce, "wait at N x N"),
    KINDS(allgather, "wait at N x N"),
    KINDS(allgatherv, "wait at N x N"),
    KINDS(alltoall, "wait at N x N"),
    KINDS(alltoallv, "wait at N x N"),
    KINDS(alltoallw, "wait at N x N"),
    KINDS(reduce_scatter, "wait at N x N"),
    KINDS(reduce_scatter_block, "wait at N x N"),
    KINDS(scan, "wait at N x N", FIRST_LATE),
    KINDS(exscan, "wait at N x N", FIRST_LATE),
    KINDS(bcast, "late broadcast", ROOT_LATE),
    KINDS(scatter, "late broadcast", ROOT_LATE),
    KINDS(scatterv, "late broadcast", ROOT_LATE),
    KINDS(reduce, "early reduce"),
    KINDS(gather, "early reduce"),
    KINDS(gatherv, "early reduce"),
    KINDS(neighbor_allgather, "late neighbor", USES_RING),
    KINDS(neighbor_alltoall, "late neighbor", USES_RING),
    KINDS(neighbor_alltoallv, "late neighbor", USES_RING),
    KIND(fence, "wait at fence", USES_WINDOW),
    KIND(late_post, "late post", USES_WINDOW),
    KIND(late_complete, "late complete", USES_WINDOW),
    KIND(late_progress, "", USES_WINDOW),
    KIND(win_test, "late complete", USES_WINDOW),
    KIND(lock, "lock contention", USES_WINDOW),
    KIND(flush, "", USES_WINDOW),
    KIND(win_create, ""),
    KIND(win_free, ""),
    KIND(comm_dup, ""),
    KIND(comm_idup, ""),
    KIND(comm_split, ""),
    KIND(comm_split_type, ""),
    KIND(comm_create, "wait at N x N"),
    KIND(comm_create_group, "wait at N x N"),
    KIND(cart_create, ""),
    KIND(dist_graph_create, ""),
    KIND(intercomm_create, "wait at N x N", USES_PARTS),
    KIND(intercomm_merge, "wait at N x N", USES_PARTS),
    KIND(inter_barrier, "wait at barrier", USES_PARTS),
    KIND(inter_allreduce, "wait at N x N", USES_PARTS),
    KIND(inter_iallreduce, "wait at N x N", USES_PARTS),
    KIND(inter_bcast, "late broadcast", USES_PARTS | FIRST_LATE),
    KIND(inter_gather, "early reduce", USES_PARTS),
    KIND(file_open, ""),
    KIND(file_close, ""),
    KIND(file_set_view, "", USES_FILE),
    KIND(file_set_size, "", USES_FILE),
    KIND(write_all, "", USES_FILE),
    KIND(write_at_all, "", USES_FILE),
    KIND(write_ordered, "", USES_FILE),
    KIND(write_all_begin, "", USES_FILE),
    KIND(read_at_all, "", USES_FILE),
};
enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

/* Before MPI is initialized, the launcher tells the rank. */
static int told_rank(void)
{
    const char *text = getenv("PMI_RANK");
    text = text ? text : getenv("OMPI_COMM_WORLD_RANK");
    return text ? atoi(text) : -1;
}

static void set_up(const kind *of)
{
    root = (of->traits & ROOT_LATE) != 0 ? late.rank : (late.rank + 1) % ranks;
    left = (rank + ranks - 1) % ranks;
    right = (rank + 1) % ranks;
    for (int i = 0; i < ranks; i++) {
        counts[i] = 1;
        places[i] = i;
        offsets[i] = i * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    if (of->traits & USES_RING)
        MPI_Cart_create(world, 1, &ranks, (int[]){1}, 0, &ring);
    if (of->traits & USES_PARTS) {
        MPI_Comm_split(world, rank > 0, rank, &part);
        MPI_Intercomm_create(part, 0, world, rank == 0 ? 1 : 0, 0, &bridge);
    }
    if (of->traits & USES_WINDOW) {
        MPI_Group group = world_group();
        MPI_Group_incl(group, 1, &left, &neighbors[0]);
        MPI_Group_incl(group, 1, &right, &neighbors[1]);
        MPI_Win_create(in, sizeof in, sizeof in[0], MPI_INFO_NULL, world, &window);
    }
    if (of->traits & USES_FILE)
        MPI_File_open(world, "planted.data", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                      &file);
    CALL(Barrier, world);
}

static void clean_up(const kind *of)
{
    if (of->traits & USES_WINDOW)
        CALL(Win_free, &window);
    if (of->traits & USES_FILE)
        CALL(File_close, &file);
    CALL(Barrier, world);
}

int main(int argc, char **argv)
{
    const int64_t begin_ns = now_ns();
    const kind *of = kinds;
    if (argc < 6) {
        for (size_t i = 0; i < KIND_COUNT; i++)
            printf("%s|%s\n", kinds[i].name, kinds[i].state);
        return 0;
    }
    while (of < kinds + KIND_COUNT && strcmp(of->name, argv[1]) != 0)
        of++;
    if (of == kinds + KIND_COUNT)
        return 2;
    uint64_t seed = strtoull(argv[4], NULL, 10);
    late.rank = (of->traits & FIRST_LATE) != 0 ? 0 : atoi(argv[2]);
    late.ns = INT64_C(1000000) * atoi(argv[3]) * ((of->traits & AT_BEGIN) != 0 ? 4 : 1); /* MPI_Init takes long */
    late.is_planted = argc == 6;
    sleeps = strcmp(argv[5], "sleep") == 0;
    /* Two that are apart, and neither the first iteration nor the last one. */
    late.iterations[0] = (of->traits & (AT_BEGIN | AT_FIRST | AT_END)) != 0 ? -1 : 1 + (int)(random_next(&seed) % 2);
    late.iterations[1] = late.iterations[0] < 0 ? -1 : 4 + (int)(random_next(&seed) % 3);
    rank = told_rank();
    if (of->traits & AT_BEGIN)
        be_late();
    late.is_open = 0;
    last_call = (place){"MPI_Init", __LINE__ + 1};
    MPI_Init(&argc, &argv);
    const int64_t initialized_ns = now_ns();
    world = MPI_COMM_WORLD;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &ranks);
    set_up(of);
    if (of->traits & AT_FIRST)
        be_late();
    for (; iteration < ITERATIONS; iteration++)
        of->iterate();
    clean_up(of);
    if (of->traits & AT_END)
        be_late();
    const int64_t ended_ns = now_ns();
    CALL(Finalize);
    printf("ran %lld %lld %lld %lld\n", (long long)begin_ns, (long long)initialized_ns, (long long)ended_ns,
           (long long)now_ns());
    if (late.was_ns > 0)
        printf("late %d %lld %s %d %s %d\n", rank, (long long)late.was_ns, late_from.function, late_from.line,
               late_to.function, late_to.line);
    return status != MPI_SUCCESS;
}
