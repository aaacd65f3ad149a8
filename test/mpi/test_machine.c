/* SPDX-License-Identifier: BSD-3-Clause */
/* test_machine.c - what a machine lacks or limits: a topology, a counter, processor time, memory that can be shared. */
#define _GNU_SOURCE
#include "mpix_test.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* ---- Processors */

/* All on the first processor that rank 0 may use. Returns whether that is allowed. */
static bool share_one_processor(void)
{
    cpu_set_t set;
    int processor = 0;
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0, "the processors are unknown");
    while (processor < CPU_SETSIZE - 1 && !CPU_ISSET(processor, &set))
        processor++;
    MPI_Bcast(&processor, 1, MPI_INT, 0, MPI_COMM_WORLD);
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    return min_over(MPI_COMM_WORLD, sched_setaffinity(0, sizeof set, &set) == 0);
}

/* While something is injected, it is seen that there is but one processor for all, if that can be. */
static void check_one_for_all(_Atomic bool *injected, bool can_be, const char *what)
{
    *injected = true;
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    harmonize_times(comm, 5);
    check_clock(comm, what);
    int64_t expected = max_over(MPI_COMM_WORLD, processes_of_node()) > 1;
    CHECK(!can_be || info_number(comm, "oversubscribed") == expected,
          "%s: oversubscribed is %" PRId64 " with one processor for all", what, info_number(comm, "oversubscribed"));
    MPI_Comm_free(&comm);
    *injected = false;
}

/* Where hwloc tells nothing, the kernel does. */
SUB_TEST(faults_hwloc, INJECTION, "hwloc fails")
{
    check_one_for_all(&hwloc_fails, share_one_processor(), "hwloc fails");
}

SUB_TEST(faults_no_sys, INJECTION, "the kernel does not show its processors")
{
    check_one_for_all(&processors_are_hidden, share_one_processor(), "no /sys");
}

/* The counter of this processor, as the library names it. */
static const char *counter_name(void)
{
#if defined(__x86_64__) || defined(__i386__)
    return "tsc";
#elif defined(__aarch64__)
    return "cntvct";
#else
    return "";
#endif
}

static void check_no_counter(void)
{
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    harmonize_times(comm, 5);
    check_clock(comm, "no counter");
    const char *clock = info_text(comm, "clock_used"), *reason = info_text(comm, "clock_reason");
    CHECK(strcmp(clock, counter_name()) != 0, "the base clock is %s", clock);
    CHECK(strstr(reason, counter_name()), "the reason is '%s', expected one with '%s'", reason, counter_name());
    CHECK_OK(MPIX_Clock_sync(comm));
    MPI_Comm_free(&comm);
}

SUB_TEST(faults_no_counter, INJECTION, "no counter of the processor, on all processes and on one")
{
    clocksource_is_hidden = true;
    check_no_counter();
    clocksource_is_hidden = my_rank == 0;
    check_no_counter();
    clocksource_is_hidden = false;
    check_fresh();
}

/* As in a container: there are processors enough, but less time on them than processes. */
SUB_TEST(faults_quota, INJECTION, "a control group has less processor time than processes")
{
    if (min_over(MPI_COMM_WORLD, access("/sys/fs/cgroup", F_OK) == 0))
        check_one_for_all(&quota_is_shown, true, "a quota");
    else
        test_skip("there is no /sys/fs/cgroup");
}

/* ---- /dev/shm */

/*
 * As root, also of a user namespace around the launcher: processes in different ones share no memory without a name. To
 * be made before MPI starts threads.
 */
static bool have_own_mounts(void)
{
    if (unshare(CLONE_NEWNS) != 0)
        return false;
    return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static bool fill(const char *path)
{
    char block[4096] = "";
    int file = open(path, O_WRONLY | O_CREAT, 0600);
    while (file >= 0 && write(file, block, sizeof block) > 0)
        ;
    if (file >= 0)
        close(file);
    return file >= 0;
}

typedef struct shm_state {
    const char *name;
    const char *target;
    const char *options;
    unsigned long flags;
    bool filled;
    bool on_one; /* process only, so the others have what MPI_Init found */
} shm_state;

static const shm_state shm_states[] = {
    {"tiny", "/dev/shm", "size=4k", 0, false, false},
    {"full", "/dev/shm", "size=64k", 0, true, false},
    {"read-only", "/dev/shm", "size=64k", MS_RDONLY, false, false},
    {"missing", "/dev", "size=64k", 0, false, false},
    {"another one on one process", "/dev/shm", "size=16m", 0, false, true},
};

/* Memory without a name needs no /dev/shm; if a process cannot have that, messages take its place. */
static void check_meeting(const char *what, bool by_name_only)
{
    refuse_shared_memory(by_name_only, false);
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    harmonize_times(comm, 20);
    check_clock(comm, what);
    const char *reason = info_text(comm, "barrier_reason");
    bool some_share = max_over(MPI_COMM_WORLD, processes_of_node()) > 1;
    CHECK((by_name_only && some_share) == (strstr(reason, "no shared memory") != NULL),
          "/dev/shm %s: the reason is '%s'", what, reason);
    CHECK_OK(set_setting(comm, "barrier", "shm"));
    harmonize_times(comm, 20);
    MPI_Comm_free(&comm);
    refuse_shared_memory(false, false);
}

static void check_shm_state(const shm_state *state)
{
    bool affected = !state->on_one || my_rank == ranks - 1;
    bool mounted = affected && mount("none", state->target, "tmpfs", state->flags, state->options) == 0;
    bool ready = mounted && (!state->filled || fill("/dev/shm/filler"));
    meet(MPI_COMM_WORLD);
    CHECK(!affected || ready, "/dev/shm %s: cannot be made: %s", state->name, strerror(errno));
    check_meeting(state->name, false);
    check_meeting(state->name, true);
    if (mounted)
        umount2(state->target, MNT_DETACH);
}

SUB_TEST(faults_shm, ITSELF, "/dev/shm tiny, full, read-only, missing, or another one on one process")
{
    bool own = have_own_mounts();
    start_mpi(MPI_THREAD_SINGLE);
    if (min_over(MPI_COMM_WORLD, own) == 0) {
        test_skip("it takes root, or user namespaces");
        return;
    }
    check_fresh();
    for (size_t i = 0; i < sizeof shm_states / sizeof *shm_states; i++)
        check_shm_state(&shm_states[i]);
    check_fresh();
}
