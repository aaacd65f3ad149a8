/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_barrier_algorithms.c - the ways in which processes meet: each of them, changes between them, and where one is
 * impossible.
 */
#include "mpix_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static void check_used(MPI_Comm comm, const char *choice)
{
    const char *used = info_text(comm, "barrier_used"), *reason = info_text(comm, "barrier_reason");
    CHECK(used[0] && reason[0], "%s: nothing says what is used", choice);
    bool as_asked = strcmp(used, choice) == 0, automatic = strcmp(choice, "auto") == 0;
    CHECK(as_asked || automatic || strstr(reason, "no shared memory"), "%s was asked for, but %s is used: %s", choice,
          used, reason);
    CHECK(strcmp(used, "auto") != 0, "auto is no barrier algorithm");
    CHECK(max_over(comm, used[0]) == used[0], "processes use different ones: here it is %s", used);
}

SUB_TEST(barrier_algorithms, SINGLE, "each way to meet")
{
    const char *const *barriers = choices_of("barrier");
    for (int i = 0; barriers[i]; i++) {
        MPI_Comm comm = duplicate_with("barrier=%s", barriers[i]);
        harmonize_times(comm, times(2000, 50));
        check_used(comm, barriers[i]);
        MPI_Comm_free(&comm);
    }
}

static void check_alone(MPI_Comm comm, const char *label)
{
    CHECK_OK(set_setting(comm, "sync", label));
    harmonize_times(comm, times(50, 5));
    CHECK(strcmp(info_text(comm, "barrier_used"), "dissemination") != 0,
          "%s: auto lets processes whose clocks differ decide alone", label);
}

SUB_TEST(barrier_change, SINGLE, "changes of the way to meet")
{
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    check_alone(comm, "none");
    CHECK_OK(set_setting(comm, "sync", "track+prop"));
    const char *const *barriers = choices_of("barrier");
    int count = 0;
    while (barriers[count])
        count++;
    for (int i = 0; i < 3 * count; i++) {
        const char *choice = barriers[i * 3 % count];
        CHECK_OK(set_setting(comm, "barrier", choice));
        harmonize_times(comm, times(50, 5));
        check_used(comm, choice);
    }
    MPI_Comm_free(&comm);
}

/* How many processes the node of a rank has. */
static int neighbors(int rank)
{
    int size = processes_of_node();
    return (int)max_over(MPI_COMM_WORLD, my_rank == rank ? size : 0);
}

static void check_refused(int rank, const char *choice)
{
    MPI_Comm comm = duplicate_with("barrier=%s", choice);
    refuse_shared_memory(my_rank == rank, my_rank == rank);
    harmonize_times(comm, times(50, 10));
    refuse_shared_memory(false, false);
    const char *reason = info_text(comm, "barrier_reason");
    CHECK(!info_shows(comm, "barrier_used", "shm"), "%s: shm is used, though rank %d has no shared memory", choice,
          rank);
    CHECK(strstr(reason, "no shared memory"), "%s: the reason says nothing of shared memory: %s", choice, reason);
    if (my_rank == rank)
        CHECK(strstr(reason, "ermission"), "%s: the reason does not say what happened: %s", choice, reason);
    MPI_Comm_free(&comm);
}

SUB_TEST(barrier_refused, SINGLE, "a process that cannot share memory")
{
    static const char *const wanted[] = {"auto", "shm"};
    bool tried = false;
    for (int i = 0; i < 4; i++) {
        int rank = i / 2 * (ranks - 1);
        if (neighbors(rank) < 2)
            continue;
        check_refused(rank, wanted[i % 2]);
        tried = true;
    }
    if (!tried)
        test_skip("no process has to share memory with another one");
}

/*
 * Somebody else may keep the processor from the one that is waited for, so a long wait gives it away, also if there are
 * processors enough for this job. What an MPI library does in its own collective operations is up to it.
 */
static void check_yields(const char *barrier, const char *yield)
{
    enum { NAP_MS = 100, LEAST = 10 };
    MPI_Comm comm = duplicate_with("barrier=%s yield=%s", barrier, yield);
    harmonize_times(comm, 3);
    meet(comm);
    if (my_rank == 1)
        nap_ms(NAP_MS);
    int64_t before = yields();
    clock_t begin = clock(); /* of the processor */
    harmonize(comm);
    int64_t count = yields() - before, busy_ms = (clock() - begin) * INT64_C(1000) / CLOCKS_PER_SEC;
    /* After a yield, others may keep the processor for most of the wait: then few yields take it. */
    CHECK(my_rank == 1 || count >= LEAST || count > busy_ms,
          "barrier %s, yield %s: a process that waits for %d ms, %" PRId64 " ms of them on a processor, yields %" PRId64
          " times",
          barrier, yield, NAP_MS, busy_ms, count);
    MPI_Comm_free(&comm);
}

SUB_TEST(barrier_yields, SEVERAL, "a long wait gives the processor away")
{
    static const char *const yielding[] = {"shm", "dissemination", "tree"};
    for (int i = 0; i < 3; i++) {
        check_yields(yielding[i], "auto");
        check_yields(yielding[i], "always");
    }
}
