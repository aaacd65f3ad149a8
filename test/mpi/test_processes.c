/* SPDX-License-Identifier: BSD-3-Clause */
/* test_processes.c - processes that are stopped for a while, or that never come, leave or die. */
#define _GNU_SOURCE
#include "mpix_test.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- A process is stopped for a second */

typedef enum phase { ARRIVING, CALLING, SYNCHRONIZING, DONE } phase;

static const char *const phase_names[] = {"arrives", "waits", "synchronizes"};

enum { BEFORE_STOP_MS = 300, STOPPED_MS = 1000 };

static _Atomic int *shared_phase; /* with the process that stops this one */

/* A child of the last rank, made before MPI starts: it stops its parent once in each phase. */
static pid_t start_stopper(void)
{
    shared_phase = mmap(NULL, sizeof *shared_phase, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared_phase == MAP_FAILED)
        return -1;
    pid_t parent = getpid(), child = fork();
    if (child != 0)
        return child;
    while (*shared_phase == 0 && getppid() == parent)
        nap_ms(10);
    for (int i = ARRIVING; i < DONE && getppid() == parent; i++) {
        *shared_phase = i + 1;
        nap_ms(BEFORE_STOP_MS);
        kill(parent, SIGSTOP);
        nap_ms(STOPPED_MS);
        kill(parent, SIGCONT);
        nap_ms(BEFORE_STOP_MS);
    }
    *shared_phase = DONE + 1;
    _exit(0);
}

/*
 * One call, before which the last rank naps if it is to be stopped there. Nobody leaves before all have come. Where all
 * processes read the same raw clock, which is not corrected, none leaves before the deadline, so that one that leaves
 * later than another by more than the tolerance is late.
 */
static void call_in_phase(MPI_Comm comm, phase now)
{
    int flag = 0;
    bool is_one_node = min_over(MPI_COMM_WORLD, processes_of_node()) == ranks;
    if (now == ARRIVING && my_rank == ranks - 1)
        nap_ms(5);
    int64_t arrived_ns = true_ns();
    if (now == SYNCHRONIZING)
        CHECK_OK(MPIX_Clock_sync(comm));
    else
        flag = harmonize(comm);
    int64_t exit_ns = last_raw_reading_ns(), left_ns = true_ns(), last_ns = max_over(MPI_COMM_WORLD, arrived_ns);
    int64_t late_ns = exit_ns - min_over(MPI_COMM_WORLD, exit_ns);
    CHECK(now == SYNCHRONIZING || left_ns >= last_ns, "left %" PRId64 " ns before the last came, while one %s",
          last_ns - left_ns, phase_names[now]);
    CHECK(!flag || !is_one_node || late_ns <= info_number(comm, "tolerance_used_ns"),
          "flag 1, but it left %" PRId64 " ns after the first, while one %s", late_ns, phase_names[now]);
}

/* Calls until the last rank has been stopped in each phase. Clocks are measured in the last phase alone. */
static void call_in_phases(MPI_Comm comm, int64_t longest_ns[DONE])
{
    phase last = ARRIVING;
    for (;;) {
        phase now = (phase)(max_over(MPI_COMM_WORLD, my_rank == ranks - 1 ? *shared_phase : 0) - 1);
        if (now >= DONE)
            return;
        if (now == SYNCHRONIZING && last != SYNCHRONIZING)
            CHECK_OK(set_setting(comm, "sync", "track/skampi/20"));
        last = now;
        int64_t began_ns = true_ns();
        call_in_phase(comm, now);
        int64_t took_ns = true_ns() - began_ns;
        longest_ns[now] = took_ns > longest_ns[now] ? took_ns : longest_ns[now];
    }
}

void test_stopped_phases(void)
{
    enum { LONGEST_S = 10 };
    int64_t longest_ns[DONE] = {0, 0, 0};
    pid_t child = start_stopper();
    start_mpi(MPI_THREAD_SINGLE);
    if (min_over(MPI_COMM_WORLD, child) < 0) {
        test_skip("cannot start another process");
        return;
    }
    MPI_Comm comm = duplicate(MPI_COMM_WORLD);
    CHECK_OK(set_setting(comm, "clock", "monotonic_raw"));
    CHECK_OK(set_setting(comm, "sync", "prop"));
    harmonize_times(comm, 10);
    if (my_rank == ranks - 1)
        *shared_phase = 1;
    else
        kill(child, SIGKILL);
    call_in_phases(comm, longest_ns);
    waitpid(child, NULL, 0);
    check_clock(comm, "after the stops");
    harmonize_times(comm, 10);
    for (int i = 0; i < DONE; i++) {
        CHECK(longest_ns[i] < LONGEST_S * NS_PER_S, "a call took more than %d s", LONGEST_S);
        if (my_rank == 0)
            printf("stopped 1 s while it %s: the longest call took %.2f s\n", phase_names[i],
                   (double)longest_ns[i] / 1e9);
    }
    MPI_Comm_free(&comm);
}

/* ---- A process that never comes again; run_fault_tests.sh runs this and looks on */

static void put_file(const char *name, const char *text)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", getenv("MPIX_TEST_FOLDER"), name);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || write(file, text, strlen(text)) < 0)
        CHECK(false, "cannot write %s", path);
    if (file >= 0)
        close(file);
}

static char handled_path[4096];

/* Only what is allowed in a handler. If nothing comes of it, run_fault_tests.sh says so. */
static void on_signal(int number)
{
    (void)number;
    int file = open(handled_path, O_WRONLY | O_CREAT, 0600);
    if (file >= 0)
        close(file);
}

static void say_pid(const char *prefix)
{
    char name[64], pid[32];
    snprintf(name, sizeof name, "%s.%d", prefix, my_rank);
    snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
    put_file(name, pid);
}

/* What the last rank does instead of the next call. */
static void go_astray(const char *how)
{
    if (strcmp(how, "exit") == 0)
        _exit(0);
    if (strcmp(how, "kill") == 0)
        kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

void test_astray(void)
{
    const char *how = getenv("MPIX_TEST_ASTRAY"), *calls = getenv("MPIX_TEST_CALLS");
    if (!how || !calls || !getenv("MPIX_TEST_FOLDER") || ranks < 2) {
        test_skip("to be run by run_fault_tests.sh");
        return;
    }
    snprintf(handled_path, sizeof handled_path, "%s/handled", getenv("MPIX_TEST_FOLDER"));
    signal(SIGUSR1, on_signal);
    signal(SIGINT, SIG_DFL); /* ignored in the background of a shell */
    harmonize_times(MPI_COMM_WORLD, atoi(calls));
    say_pid("waiting");
    if (my_rank == ranks - 1) {
        nap_ms(500);
        go_astray(how);
    }
    harmonize(MPI_COMM_WORLD);
    put_file("released", "");
}
