/* SPDX-License-Identifier: BSD-3-Clause */
/* planted_messages.c - kinds of planted in which ranks wait for messages, from the left neighbor to the right one. */
#include "planted.h"

enum {
    POLL_WORK_NS = 20000,       /* between two looks for a message */
    LONG_POLL_WORK_NS = 200000, /* likewise */
    FLOOD = 250                 /* messages, and numbers in each */
};

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

/* With some MPI libraries, large messages move only while both ranks are in MPI. */
static void overlap_big(void)
{
    CALL(Irecv, in, BIG, MPI_INT, left, 0, world, &requests[1]);
    CALL(Isend, out, BIG, MPI_INT, right, 0, world, &requests[0]);
    work();
    CALL(Waitall, 2, requests, statuses);
}

static void overlap_isend_big(void)
{
    CALL(Isend, out, BIG, MPI_INT, right, 0, world, &requests[0]);
    work();
    CALL(Recv, in, BIG, MPI_INT, left, 0, world, MPI_STATUS_IGNORE);
    CALL(Wait, &requests[0], MPI_STATUS_IGNORE);
}

static void overlap_irecv_big(void)
{
    CALL(Irecv, in, BIG, MPI_INT, left, 0, world, &requests[1]);
    work();
    CALL(Send, out, BIG, MPI_INT, right, 0, world);
    CALL(Wait, &requests[1], MPI_STATUS_IGNORE);
}

/* So many messages that buffers may be full before they are received. */
static void flood(void)
{
    work();
    for (int i = 0; i < FLOOD; i++)
        CALL(Send, out, FLOOD, MPI_INT, right, 0, world);
    for (int i = 0; i < FLOOD; i++)
        CALL(Recv, in, FLOOD, MPI_INT, left, 0, world, MPI_STATUS_IGNORE);
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

#ifdef INTERPOSE_HAS_Isendrecv
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

#ifdef INTERPOSE_HAS_Psend_init
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

static const kind kinds[] = {
    KIND(recv, "late sender"),
    KIND(recv_any_source, "late sender"),
    KIND(bsend, "late sender"),
    KIND(rsend, ""),
    KIND(wait_recv, "late sender"),
    KIND(waitall, "late sender"),
    KIND(overlap, "late sender"),
    KIND(overlap_big, ""),
    KIND(overlap_isend_big, ""),
    KIND(overlap_irecv_big, ""),
    KIND(flood, ""),
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
#ifdef INTERPOSE_HAS_Isendrecv
    KIND(isendrecv, "late sender"),
    KIND(isendrecv_replace, "late sender"),
#else
    MISSING("MPI_Isendrecv", isendrecv, "late sender"),
    MISSING("MPI_Isendrecv_replace", isendrecv_replace, "late sender"),
#endif
#ifdef INTERPOSE_HAS_Psend_init
    KIND(partitioned, "late sender"),
    KIND(parrived, "late sender"),
#else
    MISSING("partitioned communication", partitioned, "late sender"),
    MISSING("partitioned communication", parrived, "late sender"),
#endif
};
const family messages = {.kinds = kinds, .count = sizeof kinds / sizeof kinds[0]};
