/* SPDX-License-Identifier: BSD-3-Clause */
/* test_communicators.c - which communicators work, and that the application's messages are left alone. */
#include "mpix_test.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Calls, a synchronization, and readings: all that a communicator is good for. */
static void use(MPI_Comm comm, int calls)
{
    double first = -1, second = -1;
    harmonize_times(comm, calls);
    CHECK_OK(MPIX_Global_time(comm, &first));
    CHECK_OK(MPIX_Clock_sync(comm));
    harmonize(comm);
    CHECK_OK(MPIX_Global_time(comm, &second));
    CHECK(second >= first, "global time went from %.9f to %.9f", first, second);
}

SUB_TEST(subcomm, SINGLE, "calls on a sub-communicator while the others do something else")
{
    int others = my_rank % 2;
    MPI_Comm part = split(MPI_COMM_WORLD, others, my_rank);
    meet(MPI_COMM_WORLD);
    if (others) {
        nap_ms(100);
        meet(part);
    } else {
        use(part, times(200, 40));
    }
    meet(MPI_COMM_WORLD);
    MPI_Comm_free(&part);
}

SUB_TEST(rates, SINGLE, "disjoint communicators, each at its own rate")
{
    int slow = my_rank % 2;
    MPI_Comm part = split(MPI_COMM_WORLD, slow, my_rank);
    int calls = slow ? 10 : times(400, 60);
    for (int i = 0; i < calls; i++) {
        if (slow)
            nap_ms(2);
        harmonize(part);
        if (i % 7 == 3)
            CHECK_OK(MPIX_Clock_sync(part));
    }
    CHECK_NUMBER(part, "calls", calls);
    MPI_Comm_free(&part);
}

/* A chain of pairs: each process shares one communicator with the one before and one with the one after. */
SUB_TEST(overlapping, SINGLE, "communicators that share processes, in turn")
{
    MPI_Comm even = split(MPI_COMM_WORLD, my_rank / 2, my_rank),
             odd = split(MPI_COMM_WORLD, (my_rank + 1) / 2, my_rank);
    for (int i = 0; i < times(100, 20); i++) {
        harmonize(even);
        harmonize(odd);
        if (i % 10 == 0)
            harmonize(MPI_COMM_WORLD);
    }
    MPI_Comm_free(&odd);
    harmonize(even);
    MPI_Comm_free(&even);
    harmonize(MPI_COMM_WORLD);
}

SUB_TEST(self, SINGLE, "MPI_COMM_SELF")
{
    CHECK_OK(set_setting(MPI_COMM_SELF, "tolerance_ns", "1000000000"));
    int valid = harmonize_times(MPI_COMM_SELF, 200);
    CHECK(valid > 0, "none of 200 calls was valid");
    use(MPI_COMM_SELF, 10);
    check_clock(MPI_COMM_SELF, "MPI_COMM_SELF");
}

SUB_TEST(reversed, SINGLE, "ranks in reverse")
{
    MPI_Comm reversed = split(MPI_COMM_WORLD, 0, -my_rank);
    use(reversed, 30);
    check_clock(reversed, "ranks in reverse");
    MPI_Comm_free(&reversed);
}

SUB_TEST(dup, SINGLE, "a duplicate starts fresh")
{
    double time;
    MPI_Comm parent = duplicate_with("tolerance_ns=12345");
    use(parent, 5);
    MPI_Comm child = duplicate(parent);
    CHECK_CLASS(MPIX_Global_time(child, &time), MPI_ERR_OTHER, "the clock of a new duplicate");
    CHECK_TEXT(child, "tolerance_ns", "auto", "a new duplicate");
    CHECK_TEXT(child, "calls", "", "a new duplicate");
    use(child, 5);
    MPI_Comm_free(&parent);
    use(child, 5);
    MPI_Comm grandchild = duplicate(child);
    MPI_Comm_free(&child);
    use(grandchild, 5);
    MPI_Comm_free(&grandchild);
}

SUB_TEST(cartesian, SINGLE, "a cartesian communicator")
{
    int sizes[2] = {0, 0}, periods[2] = {1, 0}, kept[2] = {1, 0};
    MPI_Comm grid, column;
    MPI_Dims_create(ranks, 2, sizes);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 1, &grid);
    use(grid, 20);
    MPI_Cart_sub(grid, kept, &column);
    use(column, 20);
    MPI_Comm_free(&column);
    MPI_Comm_free(&grid);
}

/* ---- Intercommunicators */

static void check_refused(MPI_Comm inter)
{
    errors_raised = 0;
    check_all_refuse(inter, MPI_ERR_COMM);
    CHECK(errors_raised == ALL_CALLS, "%d errors were raised, expected %d", errors_raised, ALL_CALLS);
}

SUB_TEST(intercomm, SEVERAL, "an intercommunicator is refused")
{
    int second = my_rank >= ranks / 2;
    MPI_Comm inter;
    MPI_Comm part = split(MPI_COMM_WORLD, second, my_rank);
    MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, second ? 0 : ranks / 2, 1, &inter);
    set_handler(inter, count_error);
    check_refused(inter);
    harmonize(part);
    check_refused(inter);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&part);
    harmonize(MPI_COMM_WORLD);
}

/* ---- The application's messages and attributes */

static void call_with_receive_pending(MPI_Comm comm, MPI_Request *request, int calls)
{
    int arrived = 0;
    for (int i = 0; i < calls; i++) {
        harmonize(comm);
        if (i % 20 == 0)
            CHECK_OK(MPIX_Clock_sync(comm));
        if (i % 10 == 0)
            CHECK_OK(set_setting(comm, "tolerance_ns", "1000"));
        MPI_Test(request, &arrived, MPI_STATUS_IGNORE);
        CHECK(!arrived, "a message arrived at the application before it was sent, at call %d", i);
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &arrived, MPI_STATUS_IGNORE);
        CHECK(!arrived, "the application can see a message of the library at call %d", i);
    }
}

SUB_TEST(wildcard, SINGLE, "a pending wildcard receive gets only the application's message")
{
    enum { TAG = 4711 };
    int got = -1, sent = 1234;
    MPI_Request request, sends[64];
    MPI_Status status = {.MPI_SOURCE = -1, .MPI_TAG = -1};
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
    call_with_receive_pending(comm, &request, times(100, 40));
    meet(MPI_COMM_WORLD);
    for (int i = 0; my_rank == 0 && i < ranks && i < 64; i++)
        MPI_Isend(&sent, 1, MPI_INT, i, TAG, comm, &sends[i]);
    MPI_Wait(&request, &status);
    CHECK(got == sent && status.MPI_SOURCE == 0 && status.MPI_TAG == TAG,
          "received %d from rank %d with tag %d, expected %d from rank 0 with tag %d", got, status.MPI_SOURCE,
          status.MPI_TAG, sent, TAG);
    for (int i = 0; my_rank == 0 && i < ranks && i < 64; i++)
        MPI_Wait(&sends[i], MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
}

static int copies;

static int count_copy(MPI_Comm comm, int keyval, void *extra, void *value, void *copied, int *flag)
{
    (void)comm;
    (void)keyval;
    (void)extra;
    copies++;
    *(void **)copied = value;
    *flag = 1;
    return MPI_SUCCESS;
}

SUB_TEST(attributes, SINGLE, "the copy callbacks of the user's attributes are not called")
{
    int keyval;
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    MPI_Comm_create_keyval(count_copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Comm_set_attr(comm, keyval, &copies);
    CHECK_OK(set_setting(comm, "sync", "hca3o+prop"));
    use(comm, 5);
    CHECK(copies == 0, "the copy callback of an attribute was called %d times", copies);
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&keyval);
}

/* ---- Sends under way */

enum { MAX_BYTES = 16 << 20 };

typedef bool sends_to(int source, int target);

static bool in_pairs(int source, int target)
{
    return source % 2 == 0 && target == source + 1;
}

static bool all_to_first(int source, int target)
{
    return source > 0 && target == 0;
}

static bool first_to_all(int source, int target)
{
    return source == 0 && target > 0;
}

/* The receivers receive before their call, the senders complete their sends only after theirs. */
static void check_pending(MPI_Comm comm, sends_to *pattern, int bytes, char *sent, char *received)
{
    MPI_Request requests[64];
    int pending = 0;
    memset(sent, bytes % 251 + my_rank, (size_t)bytes);
    for (int target = 0; target < ranks && pending < 64; target++)
        if (pattern(my_rank, target))
            MPI_Isend(sent, bytes, MPI_CHAR, target, 5, comm, &requests[pending++]);
    for (int source = 0; source < ranks; source++) {
        if (!pattern(source, my_rank))
            continue;
        MPI_Recv(received, bytes, MPI_CHAR, source, 5, comm, MPI_STATUS_IGNORE);
        CHECK(received[0] == (char)(bytes % 251 + source) && received[bytes - 1] == received[0],
              "%d bytes from rank %d are not what it sent", bytes, source);
    }
    harmonize(comm);
    for (int i = 0; i < pending; i++)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}

SUB_TEST(pending, SINGLE, "sends under way that are received only before the receiver's call")
{
    static const int sizes[] = {8, 64 << 10, 1 << 20, MAX_BYTES};
    static sends_to *const patterns[] = {in_pairs, all_to_first, first_to_all};
    char *sent = malloc(MAX_BYTES), *received = malloc(MAX_BYTES);
    const char *const *barriers = choices_of("barrier");
    for (int i = 0; barriers[i]; i++)
        for (int size = i % times(1, 2); size < 4; size += times(1, 2)) {
            /* New each time, so that the first call, with its synchronization, is one of those under test. */
            MPI_Comm comm = duplicate_with("barrier=%s", barriers[i]);
            for (int pattern = 0; pattern < 3; pattern++)
                check_pending(comm, patterns[(pattern + size) % 3], sizes[size], sent, received);
            MPI_Comm_free(&comm);
        }
    free(sent);
    free(received);
}
