/* SPDX-License-Identifier: BSD-3-Clause */
/* check_trace_forms_messages.c - messages and requests in all their forms, each beside what is to be recorded of it. */
#include "check_trace_forms.h"

/* Two receives, then two sends: of an int with tag 0, and of two with tag 1. */
static MPI_Request four[4];

static void begin_four(void)
{
    for (int i = 0; i < 2; i++) {
        CALL(Irecv, &out[i], i + 1, MPI_INT, peer, i, twin, &four[i]);
        expect_event("post", peer, i, 0, TWIN, ++requests);
    }
    /* Those that wait for the receiver have requests of their own. */
    for (int i = 0; i < 2; i++) {
        CALL(Issend, in, i + 1, MPI_INT, peer, i, twin, &four[2 + i]);
        expect_event("ssend", peer, i, (i + 1) * INT, TWIN, ++requests);
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

enum { HAS_MANY = MPI_VERSION * 10 + MPI_SUBVERSION >= 41 }; /* forms that ask about several */

static int ask(int form, MPI_Request *request)
{
    int done = 0, index = 0;
    if (form == 0)
        MPI_Request_get_status(*request, &done, MPI_STATUS_IGNORE);
#if MPI_VERSION * 10 + MPI_SUBVERSION >= 41
    else if (form == 1)
        MPI_Request_get_status_all(1, request, &done, MPI_STATUSES_IGNORE);
    else if (form == 2)
        MPI_Request_get_status_any(1, request, &index, &done, MPI_STATUS_IGNORE);
    else
        MPI_Request_get_status_some(1, request, &done, &index, MPI_STATUSES_IGNORE);
#endif
    return done && index == 0;
}

/* It sees the request complete, and leaves it: to be freed, or waited for, which then sees nothing new. */
static void ask_for_status(void)
{
    static const char *const names[] = {"MPI_Request_get_status", "MPI_Request_get_status_all",
                                        "MPI_Request_get_status_any", "MPI_Request_get_status_some"};
    for (int i = 0; i < (HAS_MANY ? 8 : 2); i++) {
        MPI_Request request;
        CALL(Irecv, out, 2, MPI_INT, peer, 11, twin, &request);
        expect_event("post", peer, 11, 0, TWIN, ++requests);
        CALL(Send, in, 2, MPI_INT, peer, 11, twin);
        expect_event("send", peer, 11, 2 * INT, TWIN, 0);
        while (!ask(i / 2, &request)) {
        }
        expect_call(names[i / 2]);
        expect_event("receive", peer, 11, 2 * INT, TWIN, requests);
        if (i % 2)
            CALL(Wait, &request, MPI_STATUS_IGNORE);
        else
            CALL(Request_free, &request);
    }
}

/* One request of several, and none; one buffer for both ways. */
static void send_and_receive(void)
{
    MPI_Request both[2];
    int done = 0, index;
    CALL(Irecv, out, 3, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, twin, &both[0]);
    expect_event("post", -1, -1, 0, TWIN, ++requests);
    CALL(Isend, in, 3, MPI_INT, peer, 13, twin, &both[1]);
    expect_event("send", peer, 13, 3 * INT, TWIN, ++requests);
    CALL(Waitany, 1, &both[1], &index, MPI_STATUS_IGNORE);
    expect_event("send_done", -1, 0, 0, TWIN, requests);
    while (!done)
        MPI_Testany(2, both, &index, &done, MPI_STATUS_IGNORE);
    expect_call("MPI_Testany");
    expect_event("receive", peer, 13, 3 * INT, TWIN, requests - 1);
    CALL(Sendrecv_replace, out, 2, MPI_INT, peer, 13, peer, 13, twin, MPI_STATUS_IGNORE);
    expect_event("send", peer, 13, 2 * INT, TWIN, 0);
    expect_event("receive", peer, 13, 2 * INT, TWIN, 0);
}

/* They return values, and are no calls. */
static void convert_handles(void)
{
#if MPI_VERSION >= 5
    if (MPI_Comm_fromint(MPI_Comm_toint(twin)) != twin || MPI_Type_fromint(MPI_Type_toint(MPI_INT)) != MPI_INT)
        puts("wrong: a handle is converted into another one");
#endif
}

static void start_receive(MPI_Request *request, int tag)
{
    CALL(Start, request);
    expect_event("post", peer, tag, 0, TWIN, ++requests);
}

/* A receive, one that is started again, and one that was complete before. */
static void cancel_receives(void)
{
    MPI_Request request;
    CALL(Irecv, out, 1, MPI_INT, peer, 2, twin, &request);
    expect_event("post", peer, 2, 0, TWIN, ++requests);
    CALL(Cancel, &request);
    CALL(Wait, &request, MPI_STATUS_IGNORE);
    expect_event("canceled", -1, 0, 0, TWIN, requests);

    CALL(Recv_init, out, 1, MPI_INT, peer, 2, twin, &request);
    start_receive(&request, 2);
    CALL(Cancel, &request);
    CALL(Wait, &request, MPI_STATUS_IGNORE);
    expect_event("canceled", -1, 0, 0, TWIN, requests);
    WAITING(Barrier, IS(TWIN, -1, 0, 0), twin);
    start_receive(&request, 2);
    CALL(Send, in, 1, MPI_INT, peer, 2, twin);
    expect_event("send", peer, 2, INT, TWIN, 0);
    CALL(Wait, &request, MPI_STATUS_IGNORE);
    expect_event("receive", peer, 2, INT, TWIN, requests);
    CALL(Request_free, &request);

    CALL(Irecv, out, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &request);
    expect_event("post", 0, 3, 0, OWN, ++requests);
    CALL(Send, in, 1, MPI_INT, 0, 3, MPI_COMM_SELF);
    expect_event("send", 0, 3, INT, OWN, 0);
    CALL(Cancel, &request);
    CALL(Wait, &request, MPI_STATUS_IGNORE);
    expect_event("receive", 0, 3, INT, OWN, requests);
}

static void probe(void)
{
    MPI_Request send, receive;
    MPI_Message message;
    int found = 0;
    for (int i = 0; i < 2; i++) {
        CALL(Issend, in, 2, MPI_INT, peer, 4, twin, &send);
        expect_event("ssend", peer, 4, 2 * INT, TWIN, ++requests);
        while (i == 0 && !found)
            MPI_Improbe(peer, 4, twin, &found, &message, MPI_STATUS_IGNORE);
        if (i == 1)
            MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, twin, &message, MPI_STATUS_IGNORE);
        expect_call(i == 0 ? "MPI_Improbe" : "MPI_Mprobe");
        expect_event("post", i == 0 ? peer : -1, i == 0 ? 4 : -1, 0, TWIN, ++requests);
        if (i == 0) {
            CALL(Imrecv, out, 2, MPI_INT, &message, &receive);
            CALL(Wait, &receive, MPI_STATUS_IGNORE);
        } else {
            CALL(Mrecv, out, 2, MPI_INT, &message, MPI_STATUS_IGNORE);
        }
        expect_event("receive", peer, 4, 2 * INT, TWIN, requests);
        CALL(Wait, &send, MPI_STATUS_IGNORE);
        expect_event("send_done", -1, 0, 0, TWIN, requests - 1);
    }
    CALL(Mprobe, MPI_PROC_NULL, 4, twin, &message, MPI_STATUS_IGNORE);
    CALL(Imrecv, out, 2, MPI_INT, &message, &receive);
    CALL(Wait, &receive, MPI_STATUS_IGNORE);
}

/* The second receive is from any process and with any tag. */
static void send_persistently(void)
{
    MPI_Request all[4];
    CALL(Recv_init, out, 4, MPI_INT, peer, 5, twin, &all[0]);
    CALL(Recv_init, out + 8, 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, twin, &all[1]);
    CALL(Ssend_init, in, 3, MPI_INT, peer, 5, twin, &all[2]);
    CALL(Send_init, in, 4, MPI_INT, peer, 6, twin, &all[3]);
    for (int round = 0; round < 2; round++) {
        CALL(Startall, 4, all);
        expect_event("post", peer, 5, 0, TWIN, requests + 1);
        expect_event("post", -1, -1, 0, TWIN, requests + 2);
        expect_event("ssend", peer, 5, 3 * INT, TWIN, requests + 3);
        expect_event("send", peer, 6, 4 * INT, TWIN, requests + 4);
        CALL(Waitall, 4, all, MPI_STATUSES_IGNORE);
        expect_event("receive", peer, 5, 3 * INT, TWIN, requests + 1);
        expect_event("receive", peer, 6, 4 * INT, TWIN, requests + 2);
        expect_event("send_done", -1, 0, 0, TWIN, requests + 3);
        expect_event("send_done", -1, 0, 0, TWIN, requests + 4);
        requests += 4;
    }
    for (int i = 0; i < 4; i++)
        CALL(Request_free, &all[i]);
}

/* One request for a send and a receive, of which MPICH 4.0 sets no status; parts of messages. */
static void send_newly(void)
{
#ifdef HAVE_PERSISTENT
    int bytes;
    MPI_Status status;
    MPI_Request request, parts[2];
    for (int i = 0; i < 2; i++) {
        if (i == 0)
            CALL(Isendrecv, in, 2, MPI_INT, peer, 7, out, 2, MPI_INT, peer, 7, twin, &request);
        else
            CALL(Isendrecv_replace, out, 2, MPI_INT, peer, 7, peer, 7, twin, &request);
        expect_event("send", peer, 7, 2 * INT, TWIN, ++requests);
        expect_event("post", peer, 7, 0, TWIN, requests);
        CALL(Wait, &request, &status);
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        expect_event("send_done", -1, 0, 0, TWIN, requests);
        /* MPICH 4.0 sets no status. */
        expect_event("receive", peer, 7, status.MPI_SOURCE == peer && status.MPI_TAG == 7 ? bytes : 0, TWIN, requests);
        expect_call("MPI_Get_count");
    }
    CALL(Precv_init, out, 2, 3, MPI_INT, peer, 8, twin, MPI_INFO_NULL, &parts[0]);
    CALL(Psend_init, in, 2, 3, MPI_INT, peer, 8, twin, MPI_INFO_NULL, &parts[1]);
    CALL(Start, &parts[0]);
    expect_event("ppost", peer, 8, 0, TWIN, ++requests);
    expect_event("parts", 0, 0, 1, 0, 0); /* the first request of its kind */
    CALL(Start, &parts[1]);
    expect_event("psend", peer, 8, 2 * 3 * INT, TWIN, ++requests);
    expect_event("parts", 0, 0, 1, 0, 0);
    CALL(Pready_range, 0, 1, parts[1]);
    expect_event("ready", -1, 0, 0, TWIN, requests);
    CALL(Waitall, 2, parts, MPI_STATUSES_IGNORE);
    expect_event("receive", peer, 8, 2 * 3 * INT, TWIN, requests - 1);
    expect_event("send_done", -1, 0, 0, TWIN, requests);
    CALL(Request_free, &parts[0]);
    CALL(Request_free, &parts[1]);
#endif
}

/* The same by functions whose counts are large, in a series of calls in vain too. */
static void send_with_large_counts(void)
{
#if MPI_VERSION >= 4
    MPI_Request request;
    int done = 0;
    CALL(Irecv_c, out, 2, MPI_INT, peer, 9, twin, &request);
    expect_event("post", peer, 9, 0, TWIN, ++requests);
    CALL(Send_c, in, 2, MPI_INT, peer, 9, twin);
    expect_event("send", peer, 9, 2 * INT, TWIN, 0);
    while (!done)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    expect_call("MPI_Test");
    expect_event("receive", peer, 9, 2 * INT, TWIN, requests);
    CALL(Ssend_init_c, in, 3, MPI_INT, peer, 9, twin, &request);
    CALL(Start, &request);
    expect_event("ssend", peer, 9, 3 * INT, TWIN, ++requests);
    CALL(Recv_c, out, 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, twin, MPI_STATUS_IGNORE);
    expect_event("receive", peer, 9, 3 * INT, TWIN, 0);
    CALL(Wait, &request, MPI_STATUS_IGNORE);
    expect_event("send_done", -1, 0, 0, TWIN, requests);
    CALL(Request_free, &request);
    CALL(Sendrecv_c, in, 1, MPI_INT, peer, 9, out, 1, MPI_INT, peer, 9, twin, MPI_STATUS_IGNORE);
    expect_event("send", peer, 9, INT, TWIN, 0);
    expect_event("receive", peer, 9, INT, TWIN, 0);
#endif
}

/* From a buffer: by one call, by a request, and by a request that stays. */
static void send_buffered(void)
{
    enum { WAYS = 3 };
    static char buffer[WAYS * (2 * INT + MPI_BSEND_OVERHEAD)];
    MPI_Request request = MPI_REQUEST_NULL;
    void *detached;
    int size;
    CALL(Buffer_attach, buffer, sizeof buffer);
    for (int i = 0; i < WAYS; i++) {
        if (i == 0) {
            CALL(Bsend, in, 2, MPI_INT, peer, 12, twin);
        } else if (i == 1) {
            CALL(Ibsend, in, 2, MPI_INT, peer, 12, twin, &request);
        } else {
            CALL(Bsend_init, in, 2, MPI_INT, peer, 12, twin, &request);
            CALL(Start, &request);
        }
        expect_event("bsend", peer, 12, 2 * INT, TWIN, i > 0 ? ++requests : 0);
        CALL(Recv, out, 2, MPI_INT, peer, 12, twin, MPI_STATUS_IGNORE);
        expect_event("receive", peer, 12, 2 * INT, TWIN, 0);
        if (i > 0) {
            CALL(Wait, &request, MPI_STATUS_IGNORE);
            expect_event("send_done", -1, 0, 0, TWIN, requests);
        }
    }
    CALL(Request_free, &request);
    CALL(Buffer_detach, &detached, &size);
}

/* MPI libraries use the handle of a type that was freed for the next one, which has another size. */
static void send_derived_types(void)
{
    MPI_Datatype type;
    for (int i = 1; i <= 3; i++) {
        CALL(Type_contiguous, i, MPI_INT, &type);
        CALL(Type_commit, &type);
        CALL(Sendrecv, in, 2, type, peer, 10, out, 2, type, peer, 10, twin, MPI_STATUS_IGNORE);
        expect_event("send", peer, 10, 2 * i * INT, TWIN, 0);
        expect_event("receive", peer, 10, 2 * i * INT, TWIN, 0);
        CALL(Type_free, &type);
    }
}

void do_messages(void)
{
    complete_some(1);
    complete_some(0);
    complete_all();
    ask_for_status();
    send_and_receive();
    convert_handles();
    cancel_receives();
    probe();
    send_persistently();
    send_newly();
    send_with_large_counts();
    send_buffered();
    send_derived_types();
}
