/* SPDX-License-Identifier: BSD-3-Clause */
/* test_lifetime.c - communicators, MPI itself and processes that begin and end. */
#define _GNU_SOURCE
#include "mpix_test.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Communicators */

typedef struct memory {
    int64_t heap_bytes;
    int64_t resident_bytes;
} memory;

/* Since a memory before, which may be all zero. */
static memory growth_since(memory before)
{
    memory now = {0, 0};
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) {
        if (fscanf(file, "%*d %ld", &pages) != 1)
            pages = 0;
        fclose(file);
    }
    now.resident_bytes = pages * sysconf(_SC_PAGESIZE) - before.resident_bytes;
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    now.heap_bytes = (int64_t)mallinfo2().uordblks - before.heap_bytes;
#endif
    return now;
}

/* Memory may grow by what the MPI library keeps of a communicator, which cycles without a call show. */
static memory growth(int cycles, bool with_calls)
{
    memory early = {0, 0};
    int settled = cycles / 10;
    for (int i = 0; i < cycles; i++) {
        if (i == settled)
            early = growth_since((memory){0, 0});
        MPI_Comm comm = duplicate(MPI_COMM_WORLD);
        if (with_calls)
            harmonize(comm);
        else
            meet(comm);
        MPI_Comm_free(&comm);
    }
    return growth_since(early);
}

/* Checking allocators keep what was freed, so their memory grows whatever the library does. */
static bool memory_tells(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return false;
#else
    return growth_since((memory){0, 0}).heap_bytes > 0;
#endif
}

static void check_growth(memory grown, int64_t heap_limit, int64_t resident_limit)
{
    if (!memory_tells())
        return;
    CHECK(grown.heap_bytes <= heap_limit, "the heap grew by %" PRId64 " bytes, expected at most %" PRId64,
          grown.heap_bytes, heap_limit);
    CHECK(grown.resident_bytes <= resident_limit,
          "resident memory grew by %" PRId64 " bytes, expected at most %" PRId64, grown.resident_bytes, resident_limit);
}

SUB_TEST(cycles, SINGLE, "communicators come and go; memory stays flat")
{
    int cycles = memory_tells() ? times(2000, 15) : 100;
    if (my_rank == 0)
        printf("%d cycles\n", cycles);
    memory without = growth(cycles, false), with = growth(cycles, true);
    check_growth(with, without.heap_bytes + cycles * INT64_C(64) + 100000,
                 without.resident_bytes + cycles * INT64_C(256) + 4000000);
}

/* Each algorithm for a while, so that what a change of the algorithm takes is given back too. */
static void synchronize_times(MPI_Comm comm, int syncs)
{
    static const char *const labels[] = {"track/skampi/5", "hca3/2/skampi/2", "prop", "hca2/2/meanrtt/2+prop",
                                         "jk/2/skampi/2"};
    for (int i = 0; i < syncs; i++) {
        if (i % 100 == 0)
            CHECK_OK(set_setting(comm, "sync", labels[i / 100 % 5]));
        CHECK_OK(MPIX_Clock_sync(comm));
    }
}

SUB_TEST(resyncs, SINGLE, "memory stays flat over thousands of synchronizations")
{
    int syncs = times(10000, 200);
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    /* What is remembered of so few is there early. */
    CHECK_OK(set_setting(comm, "history", "10"));
    harmonize_times(comm, 10);
    synchronize_times(comm, syncs / 10);
    memory early = growth_since((memory){0, 0});
    synchronize_times(comm, syncs);
    check_growth(growth_since(early), 49999, 999999);
    MPI_Comm_free(&comm);
}

/* The application's messages are still under way when the communicator is freed. */
SUB_TEST(freed_early, SINGLE, "communicators that are freed with messages under way")
{
    enum { BYTES = 1 << 20 };
    char *sent = calloc(1, BYTES), *received = calloc(1, BYTES);
    for (int i = 0; i < times(20, 5); i++) {
        MPI_Request requests[2];
        MPI_Comm comm = duplicate(MPI_COMM_WORLD);
        harmonize(comm);
        memset(sent, i + my_rank, BYTES);
        MPI_Irecv(received, BYTES, MPI_CHAR, (my_rank + ranks - 1) % ranks, 3, comm, &requests[0]);
        MPI_Isend(sent, BYTES, MPI_CHAR, (my_rank + 1) % ranks, 3, comm, &requests[1]);
        if (i % 2)
            harmonize(comm);
        MPI_Comm_free(&comm);
        finish_yielding(&requests[0]);
        finish_yielding(&requests[1]);
        CHECK(received[BYTES - 1] == (char)(i + (my_rank + ranks - 1) % ranks),
              "round %d: what was received is not what was sent", i);
        harmonize(MPI_COMM_WORLD);
    }
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    harmonize(comm);
    MPI_Comm_disconnect(&comm);
    free(sent);
    free(received);
}

/* Of the leak sanitizer, where it is linked in. */
__attribute__((weak)) void __lsan_disable(void);
__attribute__((weak)) void __lsan_enable(void);

/* A communicator that is left to MPI_Finalize. MPICH does not free it: no leak of the library. */
static MPI_Comm make_to_leave(int part)
{
    MPI_Comm comm;
    if (__lsan_disable)
        __lsan_disable();
    MPI_Comm_split(MPI_COMM_WORLD, part, 0, &comm);
    if (__lsan_enable)
        __lsan_enable();
    return comm;
}

SUB_TEST(unfreed, SINGLE, "communicators that are not freed before MPI_Finalize")
{
    for (int i = 0; i < 3; i++)
        harmonize(make_to_leave(0));
    harmonize(make_to_leave(my_rank % 2));
    harmonize(MPI_COMM_WORLD);
    harmonize(MPI_COMM_SELF);
    CHECK_OK(MPIX_Harmonize_set_info(make_to_leave(0), MPI_INFO_NULL)); /* a state without a clock */
    MPI_Comm freed = duplicate(MPI_COMM_WORLD);
    harmonize(freed);
    MPI_Comm_free(&freed);
}

/* ---- Before and after MPI */

/* Codes must be plain classes here: MPI cannot be asked. */
static void check_inactive(MPI_Comm comm, int expected)
{
    called calls[ALL_CALLS];
    call_all(comm, calls);
    for (int i = 0; i < ALL_CALLS; i++)
        CHECK(calls[i].code == expected, "%s returned %d, expected %d", calls[i].function, calls[i].code, expected);
}

SUB_TEST(before_init, ITSELF, "all functions before MPI_Init")
{
    check_inactive(MPI_COMM_WORLD, MPI_ERR_OTHER);
    check_inactive(MPI_COMM_SELF, MPI_ERR_OTHER);
    check_inactive(MPI_COMM_NULL, MPI_ERR_COMM);
    start_mpi(MPI_THREAD_SINGLE);
    harmonize_times(MPI_COMM_WORLD, 5);
}

SUB_TEST(after_finalize, ITSELF, "all functions after MPI_Finalize")
{
    start_mpi(MPI_THREAD_SINGLE);
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    harmonize_times(MPI_COMM_WORLD, 5);
    harmonize_times(MPI_COMM_SELF, 5);
    harmonize_times(comm, 5);
    conclude();
    check_inactive(comm, MPI_ERR_OTHER); /* the one used last */
    check_inactive(MPI_COMM_WORLD, MPI_ERR_OTHER);
    check_inactive(MPI_COMM_SELF, MPI_ERR_OTHER);
    check_inactive(MPI_COMM_NULL, MPI_ERR_COMM);
}

/* ---- Attributes */

/* A number of the library, which MPI gave to the program when it started again: the value is no state. */
SUB_TEST(key_given_away, INJECTION, "the library's key of an attribute belongs to the program")
{
    static int number = 42;
    void *value = NULL;
    int flag, found = 0;
    double time;
    harmonize(MPI_COMM_WORLD);
    MPI_Comm comms[] = {duplicate(MPI_COMM_WORLD), duplicate(MPI_COMM_WORLD)};
    int key = latest_key();
    MPI_Comm_set_attr(comms[0], key, &number);
    CHECK_CLASS(MPIX_Global_time(comms[0], &time), MPI_ERR_OTHER, "MPIX_Global_time before a synchronization");
    CHECK_OK(MPIX_Harmonize(comms[0], &flag));
    MPI_Comm_get_attr(comms[0], key, &value, &found);
    CHECK(found && value == &number && number == 42, "the program's attribute is lost");
    MPI_Comm_set_attr(comms[1], key, (void *)(uintptr_t)number);
    harmonize_times(comms[1], 5);
    check_clock(comms[1], "where an attribute of the program has the library's former key");
    for (int i = 0; i < 2; i++)
        MPI_Comm_free(&comms[i]);
    check_fresh();
}

/* Open MPI crashes in its own functions. */
SUB_TEST(freed, SINGLE, "a communicator that is freed: as MPI_Barrier, its handler is called once")
{
#ifdef OPEN_MPI
    test_skip("Open MPI does not check handles of communicators that are freed");
#else
    MPI_Comm freed = duplicate(MPI_COMM_WORLD), handle = freed;
    int flag;
    harmonize(freed);
    MPI_Comm_free(&freed);
    set_handler(MPI_COMM_WORLD, count_error);
    set_handler(MPI_COMM_SELF, count_error);
    errors_raised = 0;
    CHECK_CLASS(MPI_Barrier(handle), MPI_ERR_COMM, "MPI_Barrier on a freed communicator");
    int plain = errors_raised;
    CHECK_CLASS(MPIX_Harmonize(handle, &flag), MPI_ERR_COMM, "MPIX_Harmonize on a freed communicator");
    CHECK(errors_raised == 2 * plain, "handlers were called %d times by MPI_Barrier, %d times by MPIX_Harmonize", plain,
          errors_raised - plain);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
#endif
}

/* ---- Sessions */

#if MPI_VERSION >= 4

static MPI_Comm make_session_comm(MPI_Session *session)
{
    MPI_Group group;
    MPI_Comm comm;
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session) == MPI_SUCCESS, "MPI_Session_init failed");
    MPI_Group_from_session_pset(*session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "a test of harmonizing", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Group_free(&group);
    return comm;
}

/* Between two sessions MPI may give the key to the program. */
static void check_keys(bool are_used)
{
    if (can_inject())
        CHECK(keys_alive() == are_used, "%d keys of attributes are in use, expected %d", keys_alive(), are_used);
}

SUB_TEST(sessions, ITSELF, "a program that has sessions only")
{
    double time = -1;
    MPI_Session session;
    MPI_Comm comm = make_session_comm(&session);
    MPI_Comm_rank(comm, &my_rank);
    MPI_Comm_size(comm, &ranks);
    harmonize_times(comm, 5);
    CHECK_OK(MPIX_Clock_sync(comm));
    CHECK_OK(MPIX_Global_time(comm, &time));
    CHECK(time >= 0 || my_rank > 0, "global time is %.9f on rank 0", time);
    if (ranks > 1) /* MPICH 4.0 cannot complete a request in a session of one process */
        check_clock(comm, "a session");
    MPI_Comm another = duplicate(comm);
    harmonize(another);
    MPI_Comm_free(&another);
    check_keys(true);
    MPI_Comm_free(&comm);
    check_keys(false);
    MPI_Session_finalize(&session);
}

/* Open MPI 6 deletes the attributes of MPI_COMM_SELF in MPI_Finalize, which ends the library for sessions too. */
static bool is_cut_off(MPI_Comm comm)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, flag, major = 0;
    MPI_Get_library_version(version, &length);
    sscanf(version, "Open MPI v%d", &major);
    if (major < 6 || MPIX_Harmonize(comm, &flag) == MPI_SUCCESS)
        return false;
    test_skip("in MPI_Finalize of Open MPI %d, the library ends though a session goes on", major);
    return true;
}

static void use_without_world(MPI_Comm comm, MPI_Comm little, MPI_Comm unused, double before_s)
{
    double after_s = 0;
    harmonize_times(comm, 10);
    harmonize_times(little, 10);
    harmonize_times(unused, 10);
    CHECK_OK(MPIX_Clock_sync(comm));
    CHECK_OK(MPIX_Global_time(comm, &after_s));
    CHECK(after_s > before_s, "global time went from %.9f to %.9f s", before_s, after_s);
    CHECK_OK(set_setting(little, "tolerance_ns", "700"));
    check_clock(comm, "after MPI_Finalize");
}

/* A session goes on when the world ends: with what was used before, little or much, and with what is new. */
SUB_TEST(session_goes_on, ITSELF, "a session that outlives MPI_Finalize")
{
    double before_s = 0;
    MPI_Session session;
    start_mpi(MPI_THREAD_SINGLE);
    MPI_Comm comm = make_session_comm(&session), unused = duplicate(comm), little = duplicate(comm);
    harmonize_times(MPI_COMM_WORLD, 3);
    harmonize_times(MPI_COMM_SELF, 100);
    harmonize_times(comm, 100);
    harmonize_times(little, 1);
    CHECK_OK(MPIX_Global_time(comm, &before_s));
    MPI_Finalize();
    if (!is_cut_off(comm))
        use_without_world(comm, little, unused, before_s);
    MPI_Comm_free(&little);
    MPI_Comm_free(&unused);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    check_inactive(MPI_COMM_WORLD, MPI_ERR_OTHER);
    check_inactive(MPI_COMM_NULL, MPI_ERR_COMM);
}

/* Of a library whose MPI_Finalize ends the world and no more. Which communicators are of a session is not known. */
SUB_TEST(session_outlives_world, ITSELF, "communicators of a session used first before or after MPI_Init")
{
    int flag;
    called calls[ALL_CALLS];
    MPI_Session session;
    MPI_Comm early = make_session_comm(&session), late = duplicate(early);
    MPI_Comm_rank(early, &my_rank);
    MPI_Comm_size(early, &ranks);
    harmonize_times(early, 5);
    start_mpi(MPI_THREAD_SINGLE);
    if (!can_inject())
        test_skip("the calls of the library cannot be told from others");
    harmonize_times(late, 5);
    end_world_for_library();
    MPI_Finalize();
    harmonize_times(early, 5);
    call_all(late, calls);
    MPI_Comm_set_errhandler(late, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPIX_Harmonize(late, &flag), MPI_ERR_OTHER, "MPIX_Harmonize on a communicator that has ended");
    CHECK_MESSAGE(early, "MPI_Finalize", "ended");
    MPI_Comm_free(&late);
    late = duplicate(early);
    harmonize_times(late, 5);
    MPI_Comm_free(&late);
    MPI_Comm_free(&early);
    check_keys(false);
    MPI_Session_finalize(&session);
}

#else

static void skip_sessions(void)
{
    start_mpi(MPI_THREAD_SINGLE);
    test_skip("this MPI library has no sessions");
}

SUB_TEST(session_goes_on, ITSELF, "a session that outlives MPI_Finalize")
{
    skip_sessions();
}

SUB_TEST(session_outlives_world, ITSELF, "communicators of a session used first before or after MPI_Init")
{
    skip_sessions();
}

SUB_TEST(sessions, ITSELF, "a program that has sessions only")
{
    skip_sessions();
}

#endif

static void use_with_relatives(MPI_Comm relatives, int is_child)
{
    int flag;
    MPI_Comm family;
    MPI_Comm_set_errhandler(relatives, MPI_ERRORS_RETURN);
    CHECK_CLASS(MPIX_Harmonize(relatives, &flag), MPI_ERR_COMM, "MPIX_Harmonize of parents and children");
    MPI_Intercomm_merge(relatives, is_child, &family);
    harmonize_times(family, 5);
    check_clock(family, "parents and children");
    harmonize_times(MPI_COMM_WORLD, 5);
    MPI_Comm_free(&family);
}

SUB_TEST(spawned, SINGLE, "what sub-test spawn spawns; not to be run by itself")
{
    MPI_Comm parents;
    MPI_Comm_get_parent(&parents);
    if (parents == MPI_COMM_NULL) {
        test_skip("to be run by sub-test spawn");
        return;
    }
    use_with_relatives(parents, 1);
    MPI_Comm_disconnect(&parents);
}

SUB_TEST(spawn, SINGLE, "processes that were spawned")
{
    char path[4096] = "";
    char subtest[] = "spawned";
    char *arguments[] = {subtest, NULL};
    MPI_Comm children;
    CHECK(readlink("/proc/self/exe", path, sizeof path - 1) > 0, "this program has no path");
    int code = MPI_Comm_spawn(path, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    if (code != MPI_SUCCESS) {
        test_skip("processes cannot be spawned here");
        return;
    }
    use_with_relatives(children, 0);
    MPI_Comm_disconnect(&children);
}

/* ---- Tools */

/* Become a program beside this one. */
static void become(const char *name)
{
    char path[4096] = "";
    CHECK(readlink("/proc/self/exe", path, sizeof path - 1) > 0, "this program has no path");
    const char *program = text_of("%.*s%s", (int)(strrchr(path, '/') + 1 - path), path, name);
    execl(program, program, (char *)NULL);
    start_mpi(MPI_THREAD_SINGLE);
    test_skip("%s is not built beside this program", name);
}

/* A program that loads the library itself cannot be linked with it. */
SUB_TEST(loaded, ITSELF, "the library is loaded at run time: runs loading_test")
{
    become("loading_test");
}

/* Nor does this program put itself between the library and MPI, as a tool does. */
SUB_TEST(profiling, ITSELF, "tools see the user's calls and no others: runs wrapper_test beside this program")
{
    become("wrapper_test");
}
