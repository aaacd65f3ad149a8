/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_faults.c - what the library calls fails once. The error reaches the user's handler exactly once, later calls
 * work or fail cleanly and in the same way on all processes, and nothing is left behind.
 */
#include "mpix_test.h"

#include <dirent.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Calls that may fail */

static MPI_Comm make_counted_comm(void)
{
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    set_handler(comm, count_error);
    errors_raised = 0;
    return comm;
}

typedef struct outcome {
    const char *what; /* the fault */
    int failures;     /* calls that returned an error */
} outcome;

/* Check the code of a call: the handler was called once for an error, and (if collective) all have the same class. */
static void check_call(outcome *seen, const char *call, int code, bool collective)
{
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    CHECK(errors_raised == (code != MPI_SUCCESS), "%s, %s: the handler was called %d times, the code is %d", seen->what,
          call, errors_raised, code);
    if (collective) {
        int64_t most = max_over(MPI_COMM_WORLD, class), fewest = min_over(MPI_COMM_WORLD, class);
        CHECK(most == fewest, "%s, %s: the classes are %" PRId64 " and %" PRId64, seen->what, call, fewest, most);
    }
    seen->failures += code != MPI_SUCCESS;
    errors_raised = 0;
}

static int change_tolerance(MPI_Comm comm, const char *value)
{
    const char *barrier = getenv("MPIX_TEST_BARRIER");
    return set_keys(comm, PREFIX "tolerance_ns", value, PREFIX "barrier", barrier ? barrier : "shm");
}

/* Nothing is left beside the file, whatever fails. In memory, because this is called often. */
static void write_clocks(MPI_Comm comm, outcome *seen)
{
    char folder[] = "/dev/shm/mpix_clock_write_XXXXXX", path[64];
    CHECK(my_rank > 0 || mkdtemp(folder), "no folder");
    snprintf(path, sizeof path, "%s/file", folder);
    check_call(seen, "MPIX_Clock_write", MPIX_Clock_write(comm, path), true);
    if (my_rank > 0)
        return;
    unlink(path);
    CHECK(rmdir(folder) == 0, "%s: MPIX_Clock_write leaves a file in %s", seen->what, folder);
}

/* Local calls fail only where their fault happens. A bad value makes an error, so that errors are seen to fail too. */
static void use(MPI_Comm comm, outcome *seen)
{
    int flag;
    double time;
    MPI_Info info = MPI_INFO_NULL;
    errors_raised = 0;
    check_call(seen, "MPIX_Harmonize_set_info", change_tolerance(comm, "600"), true);
    check_call(seen, "MPIX_Harmonize", MPIX_Harmonize(comm, &flag), true);
    check_call(seen, "MPIX_Clock_sync", MPIX_Clock_sync(comm), true);
    check_call(seen, "MPIX_Harmonize, again", MPIX_Harmonize(comm, &flag), true);
    write_clocks(comm, seen);
    check_call(seen, "MPIX_Harmonize_get_info", MPIX_Harmonize_get_info(comm, &info), false);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    outcome refused = {seen->what, 0};
    check_call(&refused, "a bad setting", change_tolerance(comm, "never"), false);
    CHECK(refused.failures == 1, "%s: a bad setting was accepted", seen->what);
    if (MPIX_Global_time(comm, &time) != MPI_SUCCESS)
        errors_raised = 0;
}

typedef struct belongings {
    int64_t blocks, mappings, communicators, files;
} belongings;

/* Of files and memory: MPI libraries open and close sockets at any time. */
static int64_t open_files(void)
{
    int64_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char target;
        count += readlinkat(dirfd(folder), entry->d_name, &target, 1) == 1 && target == '/';
    }
    if (folder)
        closedir(folder);
    return count;
}

static belongings look_at_belongings(void)
{
    return (belongings){allocations_alive(), mapped_segments(), communicators_alive(), open_files()};
}

/*
 * The library keeps a communicator on which MPI has failed, so that no other one receives what is left of it, and the
 * memory that MPI may still use.
 */
static void check_belongings(const belongings *before, bool may_keep, const char *what)
{
    belongings now = look_at_belongings();
    int64_t kept = now.communicators - before->communicators, blocks = now.blocks - before->blocks;
    CHECK(blocks >= 0 && blocks <= kept, "%s: %" PRId64 " blocks of memory are left", what, blocks);
    CHECK(now.mappings == before->mappings, "%s: %" PRId64 " mappings are left", what, now.mappings - before->mappings);
    CHECK(now.files == before->files, "%s: %" PRId64 " open files are left", what, now.files - before->files);
    CHECK(kept == 0 || (kept == 1 && may_keep), "%s: %" PRId64 " communicators are left", what, kept);
}

/* ---- MPI functions */

/* The nth call of a function fails on this process (0: on others only). Returns whether it happened anywhere. */
static bool try_fault(int function, int nth, bool must_recover)
{
    const char *what = text_of("call %d of %s fails", nth, fault_name(function));
    belongings before = look_at_belongings();
    outcome first = {what, 0}, second = {what, 0};
    MPI_Comm comm = make_counted_comm();
    fault_plan(nth > 0 ? function : -1, nth);
    use(comm, &first);
    bool happened = max_over(MPI_COMM_WORLD, fault_happened()) > 0;
    use(comm, &second);
    CHECK(!must_recover || second.failures == 0, "%s: later calls fail too", what);
    MPI_Comm_free(&comm);
    check_belongings(&before, !must_recover && first.failures + second.failures > 0, what);
    return happened;
}

static int find_function(const char *name)
{
    int i = 0;
    while (fault_name(i) && strcmp(fault_name(i), name) != 0)
        i++;
    return i;
}

/* If another process waits for a message that is never sent, MPI waits for ever. */
static bool can_fail_on_all(int function)
{
    return ranks == 1 || fault_kind_of(function) != FAULT_MESSAGE;
}

/*
 * Collective operations are blocking or not, by whether processes yield, and one process sends no messages. The others
 * are called once in the life of a process, or with one MPI library alone.
 */
static bool may_be_unused(int function)
{
    static const char *const once[] = {"MPI_Comm_create_keyval", "MPI_Get_library_version", "MPI_Error_string",
                                       "MPI_Add_error_class",    "MPI_Add_error_code",      "MPI_Add_error_string",
                                       "MPI_Comm_get_errhandler"};
    bool may_be = fault_kind_of(function) != FAULT_LOCAL;
    for (size_t i = 0; i < sizeof once / sizeof *once; i++)
        may_be = may_be || function == find_function(once[i]);
    return may_be;
}

/* The first calls, and the last; how many there are differs between processes and runs. */
static void fail_on_all(int function, int calls)
{
    enum { MOST = 24, MAX_QUICK = 6 }; /* more calls than MOST are those of a loop */
    int most = in_quick_check() ? MAX_QUICK : MOST;
    int last = (int)min_over(MPI_COMM_WORLD, calls), tried = 0;
    for (int nth = 1; nth <= most && nth <= last; nth++)
        tried += try_fault(function, nth, false);
    if (last > most)
        tried += try_fault(function, last, false);
    CHECK(tried > 0 || (last == 0 && may_be_unused(function)), "%s never failed", fault_name(function));
    check_fresh();
}

/* Whatever text MPI has for it, which may be a stack of several lines. */
static void check_one_line(void)
{
    int flag;
    MPI_Comm comm = make_counted_comm();
    fault_plan(find_function("MPI_Comm_split"), 1);
    int code = MPIX_Harmonize(comm, &flag);
    CHECK(fault_happened() && code != MPI_SUCCESS, "MPI_Comm_split did not fail");
    const char *last = info_text(comm, "last_error");
    CHECK(strstr(last, "MPI_Comm_split failed: ") && !strchr(last, '\n'), "last_error is '%s', not one line", last);
    CHECK(last[strlen(last) - 1] != ' ', "last_error '%s' ends with a blank", last);
    int handlers = fault_calls(find_function("MPI_Comm_get_errhandler"));
    CHECK(fault_calls(find_function("MPI_Errhandler_free")) == handlers, "%d error handlers are not freed", handlers);
    MPI_Comm_free(&comm);
}

/* The communicator that the library has beside the program's cannot be freed. */
static void check_freeing(void)
{
    outcome seen = {"freeing a communicator", 0};
    belongings before = look_at_belongings();
    MPI_Comm comm = make_counted_comm();
    use(comm, &seen);
    fault_plan(find_function("MPI_Comm_free"), 1);
    int code = MPI_Comm_free(&comm);
    CHECK(fault_happened(), "freeing a communicator frees no other one");
    CHECK(code == MPI_SUCCESS && errors_raised == 0, "freeing a communicator: the code is %d, %d calls of the handler",
          code, errors_raised);
    check_belongings(&before, false, seen.what);
    check_fresh();
}

/* So that what is not written holds something. */
static void dirty_the_stack(void)
{
    volatile char dirt[16384];
    for (size_t i = 0; i < sizeof dirt; i++)
        dirt[i] = 'x';
}

/* A bad environment is found by MPIX_Harmonize on one process, which tells the others. */
static void check_broadcast(void)
{
    int flag;
    MPI_Comm comm = make_counted_comm();
    setenv("MPIX_HARMONIZE_CLOCK", "sundial", 1);
    dirty_the_stack();
    CHECK_CLASS(MPIX_Harmonize(comm, &flag), MPI_ERR_ARG, "MPIX_Harmonize with a bad environment");
    unsetenv("MPIX_HARMONIZE_CLOCK");
    CHECK(untidy_broadcasts() == 0, "an error was broadcast with something behind its text");
    MPI_Comm_free(&comm);
}

SUB_TEST(faults_text, INJECTION, "the text of an error is one line, and all of it is written")
{
    check_one_line();
    check_broadcast();
}

SUB_TEST(faults_mpi, INJECTION, "each MPI function that the library calls fails once, on all processes")
{
    CHECK(try_fault(find_function("MPI_Comm_create_keyval"), 2, true), "no attribute key was made");
    fault_plan(-1, 0);
    outcome seen = {"no fault", 0};
    MPI_Comm comm = make_counted_comm();
    use(comm, &seen);
    int calls[64], functions = 0;
    for (; fault_name(functions); functions++)
        calls[functions] = fault_calls(functions);
    CHECK(seen.failures == 0, "%d calls failed without a fault", seen.failures);
    MPI_Comm_free(&comm);
    for (int i = 0; i < functions; i++)
        if (can_fail_on_all(i))
            fail_on_all(i, calls[i]);
    check_freeing();
}

/* A function that is called once in the life of a process, so in the first communicator that uses the library. */
SUB_TEST(faults_mpi_first, INJECTION, "the same of one that is called once in a process")
{
    const char *name = getenv("MPIX_TEST_FUNCTION");
    if (!name) {
        test_skip("MPIX_TEST_FUNCTION names no function");
        return;
    }
    CHECK(try_fault(find_function(name), 1, false), "%s never failed", name);
    check_fresh();
}

static void harmonize_with(MPI_Comm comm, const char *setting, const char *value)
{
    CHECK_OK(set_setting(comm, setting, value));
    harmonize_times(comm, 2);
}

/* Also where a change of settings takes another plan. */
SUB_TEST(found_once, INJECTION, "a communicator finds out once where its processes run, a process once about hwloc")
{
    int allowed = mpi_shares_memory() ? 1 : 3;
    for (int i = 0; i < 2; i++) {
        MPI_Comm comm = duplicate(MPI_COMM_WORLD);
        fault_plan(-1, 0);
        harmonize_times(comm, 2);
        harmonize_with(comm, "wander_max_ppb_per_s", "400");
        harmonize_with(comm, "sync", "skampi/skampi/10+prop");
        int splits = fault_calls(find_function("MPI_Comm_split"));
        int searches = fault_calls(find_function("MPI_Comm_split_type"));
        CHECK(splits <= allowed && searches == 1,
              "%d MPI_Comm_split, expected at most %d; %d MPI_Comm_split_type, expected 1", splits, allowed, searches);
        MPI_Comm_free(&comm);
    }
    CHECK(hwloc_discoveries == 1, "hwloc discovered the machine %d times, expected once", hwloc_discoveries);
}

/* In the wait for others, who then notice, as they share memory: all calls fail from then on. */
static void fail_in_wait(void)
{
    MPI_Comm comm = make_counted_comm();
    outcome seen = {"progress fails on one process", 0};
    CHECK_OK(change_tolerance(comm, "600"));
    harmonize_times(comm, 3);
    fault_plan(my_rank == 0 ? find_function("MPI_Iprobe") : -1, 1);
    for (int i = 0; i < 3; i++) {
        int flag;
        if (my_rank > 0 && i == 0)
            nap_ms(500);
        int code = MPIX_Harmonize(comm, &flag);
        check_call(&seen, "MPIX_Harmonize", code, false);
    }
    CHECK(fault_happened() == (my_rank == 0), "progress never failed");
    CHECK(seen.failures >= 2, "%d calls failed, expected at least 2", seen.failures);
    CHECK_MESSAGE(comm, "free the communicator");
    MPI_Comm_free(&comm);
    check_fresh();
}

/*
 * The first call fails where processes agree, so none knows of the others. Later calls begin nothing on the
 * communicator of the program, where others may go on.
 */
static void fail_to_agree(const char *name, int nth)
{
    int flag;
    const char *what = text_of("agreement fails in call %d of %s", nth, name);
    belongings before = look_at_belongings();
    outcome seen = {what, 0};
    MPI_Comm comm = make_counted_comm();
    fault_plan(find_function(name), nth);
    check_call(&seen, "MPIX_Harmonize", MPIX_Harmonize(comm, &flag), true);
    CHECK(fault_happened() && seen.failures == 1, "%s: the first call does not fail", what);
    fault_plan(-1, 0);
    check_call(&seen, "MPIX_Harmonize, again", MPIX_Harmonize(comm, &flag), true);
    check_call(&seen, "MPIX_Harmonize_set_info", change_tolerance(comm, "600"), true);
    CHECK(seen.failures == 3, "%s: later calls succeed", what);
    CHECK_MESSAGE(comm, "free the communicator");
    CHECK(fault_calls(find_function("MPI_Comm_split")) == 0, "%s: a later call splits the communicator", what);
    CHECK(MPIX_Global_time_ns(comm, &(int64_t){0}, &(int64_t){0}) != MPI_SUCCESS, "%s: there is a clock", what);
    CHECK(MPIX_Harmonize_instant(comm, &(int64_t){0}) != MPI_SUCCESS, "%s: there was a release", what);
    MPI_Comm_free(&comm);
    check_belongings(&before, true, what);
}

static jmp_buf out_of_call;

static void jump_out(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    longjmp(out_of_call, 1);
}

/* A handler that jumps out of the first call is called on all processes, after all know of the error. */
static void jump_out_of_first_call(const char *name, int rank)
{
    int flag;
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    set_handler(comm, jump_out);
    fault_plan(my_rank == rank ? find_function(name) : -1, 1);
    if (setjmp(out_of_call) == 0) {
        MPIX_Harmonize(comm, &flag);
        CHECK(false, "%s fails on rank %d, but the handler was not called", name, rank);
    }
    fault_plan(-1, 0);
    meet(MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
}

/* Those whose failure on one process all processes agree on, and so can go on after it. */
SUB_TEST(faults_mpi_one, INJECTION, "the same on one process, if others notice")
{
    static const char *const agreed[] = {"MPI_Comm_split",    "MPI_Comm_set_errhandler", "MPI_Comm_set_name",
                                         "MPI_Comm_set_attr", "MPI_Info_get_nkeys",      "MPI_Info_get_nthkey",
                                         "MPI_Info_get"};
    for (size_t i = 0; i < sizeof agreed / sizeof *agreed; i++)
        for (int rank = 0; rank < ranks; rank++)
            CHECK(try_fault(find_function(agreed[i]), my_rank == rank, true), "%s never failed", agreed[i]);
    for (int rank = 0; rank < ranks; rank++) {
        jump_out_of_first_call("MPI_Comm_split", rank);
        jump_out_of_first_call("MPI_Comm_set_attr", rank);
    }
    for (int nth = 1; nth <= 4; nth++)
        fail_to_agree("MPI_Allreduce", nth);
    fail_to_agree("MPI_Bcast", 1);
    check_fresh();
    if (min_over(MPI_COMM_WORLD, processes_of_node()) == ranks)
        fail_in_wait();
}

SUB_TEST(faults_resync, INJECTION, "a call that synchronizes, as that is due, fails on all processes")
{
    MPI_Comm comm = make_counted_comm();
    outcome seen = {"a synchronization within a call fails", 0};
    set_settings(comm, "sync=hca3o/skampi/10 barrier=tree yield=never resync_interval_ns=1000000");
    harmonize_times(comm, 2);
    nap_ms(2);
    fault_plan(find_function("MPI_Allreduce"), 1);
    check_call(&seen, "MPIX_Harmonize", MPIX_Harmonize(comm, &(int){0}), true);
    CHECK(fault_happened() && seen.failures == 1, "%s: %d calls failed", seen.what, seen.failures);
    MPI_Comm_free(&comm);
}

/* MPI_Wait is called for the first messages between nodes only. */
SUB_TEST(faults_between_nodes, INJECTION, "the first messages between nodes fail on all processes")
{
    if (ranks != 4 || processes_of_node() != 2 || !getenv("MPIR_CVAR_ODD_EVEN_CLIQUES")) {
        test_skip("it takes two nodes, on which ranks alternate, so that each process talks to the other node");
        return;
    }
    MPI_Comm comm = make_counted_comm();
    outcome seen = {"first messages fail", 0};
    fault_plan(find_function("MPI_Wait"), 1);
    check_call(&seen, "MPIX_Harmonize", MPIX_Harmonize(comm, &(int){0}), true);
    CHECK(fault_happened() && seen.failures == 1, "%s: %d calls failed", seen.what, seen.failures);
    check_call(&seen, "a later call", MPIX_Harmonize(comm, &(int){0}), true);
    CHECK(seen.failures == 2, "%s: a later call succeeds", seen.what);
    MPI_Comm_free(&comm);
    check_fresh();
}

/* ---- Messages */

/* Nobody is released by a message that was left on an earlier communicator. */
static void check_waits(MPI_Comm comm, const char *what)
{
    for (int i = 0; i < 3; i++) {
        nap_ms(my_rank > 0 ? 2 : 0);
        int64_t arrived_ns = true_ns();
        harmonize(comm);
        int64_t left_ns = true_ns(), last_ns = max_over(MPI_COMM_WORLD, arrived_ns);
        CHECK(left_ns >= last_ns, "before %s: left %" PRId64 " ns before the last arrival", what, last_ns - left_ns);
    }
}

/*
 * Messages fail for good, and everywhere, so that nobody waits for ever. Some learn that from others. The first process
 * comes last, so that messages to it have been sent and are not received.
 */
static void call_until_failure(MPI_Comm comm, outcome *seen)
{
    enum { MANY = 1000 };
    int flag;
    nap_ms(my_rank == 0 ? 2 : 0);
    for (int i = 0; i < MANY && seen->failures == 0; i++)
        check_call(seen, "a call", i % 2 ? MPIX_Clock_sync(comm) : MPIX_Harmonize(comm, &flag), false);
    fault_happened();
    CHECK(seen->failures == 1, "%s: no call fails", seen->what);
    check_call(seen, "a later call", MPIX_Harmonize(comm, &flag), true);
    CHECK(seen->failures == 2, "%s: a later call succeeds", seen->what);
    CHECK_MESSAGE(comm, "free the communicator");
}

static void fail_messages(const char *barrier, int nth, _Atomic int *fail_everywhere)
{
    const char *what = text_of("barrier %s, messages fail from number %d on", barrier, nth);
    belongings before = look_at_belongings();
    outcome seen = {what, 0};
    MPI_Comm comm = make_counted_comm();
    set_settings(comm, "barrier=%s yield=always", barrier);
    check_waits(comm, what);
    *fail_everywhere = false;
    meet(MPI_COMM_WORLD);
    fault_plan_messages(fail_everywhere, nth);
    call_until_failure(comm, &seen);
    MPI_Comm_free(&comm);
    check_belongings(&before, true, what);
}

SUB_TEST(faults_messages, INJECTION, "messages fail for good, on all processes")
{
    static const char *const barriers[] = {"shm", "dissemination", "tree", "collective"};
    _Atomic int *fail_everywhere;
    MPI_Win window;
    if (ranks < 2 || min_over(MPI_COMM_WORLD, processes_of_node()) < ranks || !mpi_shares_memory()) {
        test_skip("it takes several processes on one node, and an MPI library that shares memory");
        return;
    }
    MPI_Win_allocate_shared(sizeof *fail_everywhere, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &fail_everywhere, &window);
    MPI_Win_shared_query(window, 0, &(MPI_Aint){0}, &(int){0}, &fail_everywhere);
    for (int i = 0; i < 4; i++)
        for (int nth = 1; nth < 60; nth += 1 + nth / 2)
            fail_messages(barriers[i], nth, fail_everywhere);
    check_fresh();
    MPI_Win_free(&window);
}

/* For a moment in which late messages come. */
__attribute__((noinline)) static void look_at_stack(const char *what)
{
    volatile char unused[16384];
    size_t written = 0;
    for (size_t i = 0; i < sizeof unused; i++)
        unused[i] = 'x';
    meet(MPI_COMM_WORLD);
    nap_ms(1);
    meet(MPI_COMM_WORLD);
    for (size_t i = 0; i < sizeof unused; i++)
        written += unused[i] != 'x';
    CHECK(written == 0, "%s: MPI writes %zu bytes to the stack after the call", what, written);
}

/* A wait fails on the last process before the others come, which go on. */
static void fail_before_end(const char *barrier)
{
    enum { NTH = 100 };
    bool fails = my_rank == ranks - 1;
    outcome seen = {text_of("barrier %s, a wait fails", barrier), 0};
    belongings before = look_at_belongings();
    MPI_Comm comm = make_counted_comm();
    set_settings(comm, "barrier=%s yield=always resync_interval_ns=1000000000000", barrier);
    harmonize_times(comm, 2);
    fault_plan(fails ? find_function("MPI_Test") : -1, NTH);
    if (!fails)
        MPI_Recv(NULL, 0, MPI_BYTE, ranks - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check_call(&seen, "MPIX_Harmonize", MPIX_Harmonize(comm, &(int){0}), false);
    for (int rank = 0; rank < ranks - 1 && fails; rank++)
        MPI_Send(NULL, 0, MPI_BYTE, rank, 0, MPI_COMM_WORLD);
    CHECK(fault_happened() == fails && seen.failures == fails, "%s: %d calls failed", seen.what, seen.failures);
    look_at_stack(seen.what);
    MPI_Comm_free(&comm);
    check_belongings(&before, fails, seen.what);
}

SUB_TEST(faults_late, INJECTION, "MPI writes no result of a failed operation to a stack that is gone")
{
    if (ranks > 1) {
        fail_before_end("collective");
        fail_before_end("tree");
    }
    check_fresh();
}

/* ---- Allocations */

/* From this allocation on each stride-th one. Rank -1: on all processes */
static void try_allocations(int rank, int from, int stride)
{
    enum { MANY = 200 };
    int64_t any = 1;
    belongings before = look_at_belongings();
    for (int nth = from; any && nth < MANY; nth += stride) {
        const char *what = text_of("allocation %d fails", nth);
        outcome first = {what, 0}, second = {what, 0};
        MPI_Comm comm = make_counted_comm();
        fail_allocation(rank < 0 || rank == my_rank ? nth : 0);
        use(comm, &first);
        any = max_over(MPI_COMM_WORLD, allocation_failed());
        use(comm, &second);
        CHECK(any || first.failures == 0, "%d calls failed without a fault", first.failures);
        CHECK(second.failures == 0, "%s: later calls fail too", what);
        MPI_Comm_free(&comm);
        check_belongings(&before, false, what);
        CHECK(nth > from || any, "no allocation failed");
    }
    CHECK(!any, "there is always another allocation");
}

static bool can_fail_allocations(void)
{
    if (allocations_alive() < 0)
        test_skip("this build has an allocator of its own");
    return allocations_alive() >= 0;
}

SUB_TEST(faults_memory, INJECTION, "each allocation fails once, on all processes")
{
    if (can_fail_allocations())
        try_allocations(-1, 1, 1);
}

/* If calls take long, all allocations of the first process, and of the others in turn. */
SUB_TEST(faults_memory_one, INJECTION, "the same on one process")
{
    int stride = times(1, 2);
    for (int rank = 0; rank < ranks && can_fail_allocations(); rank++)
        try_allocations(rank, 1 + rank % stride, rank > 0 ? stride : 1);
}
