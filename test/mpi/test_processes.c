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
#include <unistd.h>

/* ---- A process is stopped for a while */

typedef enum phase { ARRIVING, CALLING, SYNCHRONIZING, PHASES } phase;

static const char *const phase_names[] = {"arrives", "waits", "synchronizes"};

enum { BURST = 10, STOP_AFTER_MS = 60, STOPPED_MS = 300, SURE_TO_WAIT_MS = 30 };

/* So long a wait follows each arrival. A stop within SURE_TO_WAIT_MS comes before the process decides on its flag. */
static const char long_slack[] = "40000000";

/* What one process saw of a call, in true time; the exit is a reading of the raw clock. */
typedef struct timed_call {
    int64_t coming_ns, arrived_ns, left_ns, exit_ns;
    int flag;
} timed_call;

/* The last rank naps before each call if it is to be stopped there. The test itself sends nothing between the calls. */
static void call_in_burst(MPI_Comm comm, phase now, timed_call calls[BURST])
{
    for (int i = 0; i < BURST; i++) {
        calls[i] = (timed_call){.coming_ns = true_ns()};
        if (now == ARRIVING && my_rank == ranks - 1)
            nap_ms(5);
        calls[i].arrived_ns = true_ns();
        if (now == SYNCHRONIZING)
            CHECK_OK(MPIX_Clock_sync(comm));
        else
            calls[i].flag = harmonize(comm);
        calls[i].exit_ns = last_raw_reading_ns();
        calls[i].left_ns = true_ns();
    }
}

/*
 * Nobody leaves before all have come. Where all processes read the same raw clock, which is not corrected, none leaves
 * before the deadline, so that one that leaves later than another by more than the tolerance is late.
 */
static void check_burst(MPI_Comm comm, phase now, bool is_one_node, const timed_call calls[BURST])
{
    enum { LONGEST_S = 10 };
    int64_t tolerance_ns = info_number(comm, "tolerance_used_ns");
    for (int i = 0; i < BURST; i++) {
        CHECK(calls[i].left_ns - calls[i].arrived_ns < LONGEST_S * NS_PER_S, "a call took more than %d s, while one %s",
              LONGEST_S, phase_names[now]);
        if (now == SYNCHRONIZING)
            continue;
        int64_t early_ns = max_over(comm, calls[i].arrived_ns) - calls[i].left_ns;
        int64_t late_ns = calls[i].exit_ns - min_over(comm, calls[i].exit_ns);
        CHECK(early_ns <= 0, "left %" PRId64 " ns before the last came, while one %s", early_ns, phase_names[now]);
        CHECK(!calls[i].flag || !is_one_node || late_ns <= tolerance_ns,
              "flag 1, but it left %" PRId64 " ns after the first, while one %s", late_ns, phase_names[now]);
    }
}

/* The call of the last rank in which it was stopped where it should be: on its way to the call, or inside. */
static int find_stopped(phase now, const timed_call calls[BURST], const stop *stop)
{
    for (int i = 0; i < BURST; i++) {
        const timed_call *call = &calls[i];
        int64_t begin_ns = now == ARRIVING ? call->coming_ns : call->arrived_ns;
        int64_t end_ns = now == ARRIVING ? call->arrived_ns : call->left_ns;
        bool is_early = now != CALLING || stop->stopped_ns < call->arrived_ns + SURE_TO_WAIT_MS * NS_PER_MS;
        if (begin_ns < stop->stopped_ns && end_ns >= stop->continued_ns && is_early)
            return i;
    }
    return -1;
}

/* Bursts until the last rank has been stopped. Returns the place in the last burst of the call that this fell into. */
static int call_through_stop(MPI_Comm comm, phase now, const stopper *stopper, timed_call calls[BURST], stop *stop)
{
    enum { AT_MOST_MS = 300 };
    const bool is_victim = my_rank == ranks - 1, is_one_node = min_over(comm, processes_of_node()) == ranks;
    const int64_t last_ns = true_ns() + AT_MOST_MS * NS_PER_MS;
    *stop = (struct stop){INT64_MIN, INT64_MIN};
    if (is_victim)
        ask_for_stop(stopper);
    bool is_over;
    do {
        call_in_burst(comm, now, calls);
        is_over = calls[BURST - 1].left_ns - calls[0].coming_ns >= STOPPED_MS * NS_PER_MS || true_ns() > last_ns;
        check_burst(comm, now, is_one_node, calls);
    } while (!max_over(comm, is_over));
    if (is_victim)
        *stop = await_stop(stopper);
    int at = is_victim ? find_stopped(now, calls, stop) : -1;
    stop->stopped_ns = max_over(comm, stop->stopped_ns);
    stop->continued_ns = max_over(comm, stop->continued_ns);
    return (int)max_over(comm, at);
}

static int64_t longest_of(const timed_call calls[BURST])
{
    int64_t longest_ns = 0;
    for (int i = 0; i < BURST; i++) {
        int64_t took_ns = calls[i].left_ns - calls[i].arrived_ns;
        longest_ns = took_ns > longest_ns ? took_ns : longest_ns;
    }
    return longest_ns;
}

/* Whether what has happened on all processes lets the outcome be judged. */
static bool is_clear(MPI_Comm comm, phase now, int at, const timed_call calls[BURST], const stop *stop)
{
    const bool is_victim = my_rank == ranks - 1;
    if (at < 0)
        return false;
    if (now == ARRIVING)
        return max_over(comm, is_victim ? INT64_MIN : calls[at].arrived_ns) < stop->stopped_ns + 50 * NS_PER_MS;
    if (now == CALLING) /* others have left by the deadline */
        return min_over(comm, is_victim ? INT64_MAX : calls[at].left_ns) < stop->continued_ns - 20 * NS_PER_MS;
    return at < BURST - 1; /* else the others may have left their last call of the burst */
}

/* Returns whether the stop fell where it should. */
static bool try_phase(MPI_Comm comm, phase now, const stopper *stopper)
{
    stop stop;
    timed_call calls[BURST];
    const bool is_victim = my_rank == ranks - 1;
    int at = call_through_stop(comm, now, stopper, calls, &stop);
    check_clock(comm, phase_names[now]);
    if (!is_clear(comm, now, at, calls, &stop))
        return false;
    int64_t longest_ns = longest_of(calls);
    if (now == CALLING && is_victim) {
        CHECK(longest_ns >= STOPPED_MS * NS_PER_MS * 9 / 10, "stopped in a call that took %" PRId64 " ns", longest_ns);
        CHECK(calls[at].flag == 0, "stopped while the deadline passed, and the flag is 1");
    }
    /* A stop may begin between two calls of another process that synchronizes, which then waits in both. */
    int64_t min_ns = STOPPED_MS * NS_PER_MS * (now == ARRIVING ? 9 : 4) / 10;
    CHECK(now == CALLING || is_victim || longest_ns >= min_ns,
          "the longest call took %" PRId64 " ns while one that %s was stopped for %d ms", longest_ns, phase_names[now],
          STOPPED_MS);
    longest_ns = max_over(comm, longest_ns);
    if (my_rank == 0)
        printf("stopped %d ms while it %s: the longest call took %.2f s\n", STOPPED_MS, phase_names[now],
               (double)longest_ns / 1e9);
    return true;
}

SUB_TEST(stopped_phases, ITSELF, "a process is stopped in each phase of a call")
{
    enum { TRIES = 6 };
    stopper stopper;
    int missed = 0;
    bool has_stopper = start_stopper(&stopper, STOP_AFTER_MS, STOPPED_MS);
    start_mpi(MPI_THREAD_SINGLE);
    if (!min_over(MPI_COMM_WORLD, has_stopper)) {
        test_skip("cannot start another process");
        return;
    }
    MPI_Comm comm = duplicate_with("clock=monotonic_raw sync=prop");
    harmonize_times(comm, 10);
    for (phase now = ARRIVING; now < PHASES; now++) {
        bool is_judged = false;
        CHECK_OK(set_setting(comm, "slack_min_ns", now == CALLING ? long_slack : "auto"));
        if (now == SYNCHRONIZING)
            CHECK_OK(set_setting(comm, "sync", "track/skampi/20"));
        for (int i = 0; i < TRIES && !is_judged; i++)
            is_judged = try_phase(comm, now, &stopper);
        missed += !is_judged;
    }
    harmonize_times(comm, 10);
    check_clock(comm, "after the stops");
    MPI_Comm_free(&comm);
    end_stopper(&stopper);
    if (missed)
        test_skip("too noisy: in %d tries, the stop fell between calls", TRIES);
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

SUB_TEST(astray, SINGLE, "a process that does not come; to be run by run_fault_tests.sh")
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
