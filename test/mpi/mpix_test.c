/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_test.c - the MPI tests, as one program: mpix_test SUBTEST, or mpix_test --list.
 *
 * Exit status: 0 passed, or skipped with a line "skip: REASON"; 1 failed.
 */
#include "mpix_test.h"

#include <stdio.h>
#include <string.h>

typedef enum start { SINGLE, MULTIPLE, ITSELF } start; /* the thread level to start MPI at; or the sub-test starts it */

typedef struct sub_test {
    const char *name;
    void (*run)(void);
    const char *doc;
    start start;
} sub_test;

static const sub_test sub_tests[] = {
    {"barrier", test_barrier, "nobody leaves before the last has arrived", SINGLE},
    {"deadline", test_deadline, "nobody leaves before the deadline", SINGLE},
    {"flag", test_flag, "the flag is 1 exactly where the lateness is within the tolerance", SINGLE},
    {"flag_under_load", test_flag_under_load, "the flag is true in a million calls beside other programs", SINGLE},
    {"stopped", test_stopped, "a process that is stopped while it waits says so", ITSELF},
    {"late", test_late, "a late first arrival leaves no trace in the slack", SINGLE},

    {"delays", test_delays, "each process leaves by its own deadline, and its flag says so", SINGLE},
    {"delays_mixed", test_delays_mixed, "MPIX_Harmonize and MPIX_Harmonize_delayed in one call", SINGLE},
    {"delays_slack", test_delays_slack, "delays leave no trace in the slack", SINGLE},
    {"delays_validity", test_delays_validity, "calls with differing delays are valid as often as others", SINGLE},
    {"delays_refused", test_delays_refused, "a bad delay is an error on all processes, and nobody waits", SINGLE},
    {"instant", test_instant, "the common instant, the same on all processes", SINGLE},
    {"wait_until", test_wait_until, "waiting for an instant of the global clock", SINGLE},
    {"waits_sleep", test_waits_sleep, "a process sleeps through a long wait", SINGLE},

    {"subcomm", test_subcomm, "calls on a sub-communicator while the others do something else", SINGLE},
    {"rates", test_rates, "disjoint communicators, each at its own rate", SINGLE},
    {"overlapping", test_overlapping, "communicators that share processes, in turn", SINGLE},
    {"self", test_self, "MPI_COMM_SELF", SINGLE},
    {"reversed", test_reversed, "ranks in reverse", SINGLE},
    {"dup", test_dup, "a duplicate starts fresh", SINGLE},
    {"cartesian", test_cartesian, "a cartesian communicator", SINGLE},
    {"intercomm", test_intercomm, "an intercommunicator is refused", SINGLE},
    {"wildcard", test_wildcard, "a pending wildcard receive gets only the application's message", SINGLE},
    {"attributes", test_attributes, "the copy callbacks of the user's attributes are not called", SINGLE},
    {"pending", test_pending, "sends under way that are received only before the receiver's call", SINGLE},

    {"environment_locale", test_environment_locale, "settings in the locale that the environment names", SINGLE},
    {"environment_ignored", test_environment_ignored, "variables of other programs with the library's prefix", SINGLE},
    {"environment_spellings", test_environment_spellings, "keys that differ in case only", SINGLE},
    {"environment_silent", test_environment_silent, "nothing is printed", SINGLE},
    {"environment_file_limit", test_environment_file_limit, "a limit of 0 on the size of files", SINGLE},
    {"environment_memory", test_environment_memory, "shared memory without descriptors, and what it leaves", SINGLE},

    {"errors_null", test_errors_null, "null communicators and pointers", SINGLE},
    {"errors_unsynced", test_errors_unsynced, "clocks that were never synchronized", SINGLE},
    {"errors_values", test_errors_values, "bad settings, and good ones in odd spelling", SINGLE},
    {"errors_one_rank", test_errors_one_rank, "bad settings on one process only", SINGLE},
    {"errors_differ", test_errors_differ, "settings that differ between processes", SINGLE},
    {"errors_handler", test_errors_handler, "the user's error handler is called once for each error", SINGLE},
    {"errors_environment", test_errors_environment, "a bad environment, on all processes and on one", SINGLE},

    {"clock_zero", test_clock_zero, "global time begins at the first synchronization", SINGLE},
    {"clock_forms", test_clock_forms, "seconds, nanoseconds and interval agree", SINGLE},
    {"clock_resync", test_clock_resync, "time never decreases across synchronizations, in any thread", MULTIPLE},
    {"clock_labels", test_clock_labels, "each base clock with each algorithm is right within its bound", SINGLE},
    {"clock_injected", test_clock_injected, "clocks far apart, negative and drifting", SINGLE},
    {"clock_unshared", test_clock_unshared, "clocks that only seem to be shared", SINGLE},
    {"clock_unshared_later", test_clock_unshared_later, "clocks that seem to be shared, and then drift apart", SINGLE},
    {"clock_none", test_clock_none, "clocks that nobody synchronizes, and that are apart", SINGLE},
    {"clock_wander", test_clock_wander, "bounds grow by the wander that is allowed", SINGLE},
    {"clock_narrowed", test_clock_narrowed, "MPIX_Clock_sync measures a wide bound until its time is up", SINGLE},
    {"clock_steps", test_clock_steps, "recovery from a clock that was stepped", SINGLE},
    {"clock_stepped", test_clock_stepped, "any step, on one process or all, whatever the clock and how processes meet",
     SINGLE},
    {"clock_stepped_in_sync", test_clock_stepped_in_sync, "a step between two readings of a synchronization", SINGLE},
    {"clock_stepped_in_first_sync", test_clock_stepped_in_first_sync,
     "a step in the first synchronization of a communicator", SINGLE},
    {"clock_set", test_clock_set, "any step of a clock that may be set, MPI_Wtime included", SINGLE},
    {"clock_set_back_by_pause", test_clock_set_back_by_pause,
     "a raw clock set back by about the time since the last call", SINGLE},
    {"clock_disrupted", test_clock_disrupted, "a clock that is stepped: found out in a call, right after the next",
     SINGLE},
    {"clock_set_back_in_wait", test_clock_set_back_in_wait, "a clock set back by an hour while a process waits",
     SINGLE},
    {"clock_set_in_delay", test_clock_set_in_delay, "a clock set while a process sleeps through a delay", SINGLE},
    {"clock_goes_on", test_clock_goes_on, "after MPIX_Clock_sync, though the base clock was set back by an hour",
     SINGLE},
    {"clock_interval_changed", test_clock_interval_changed, "another interval or target takes effect at once", SINGLE},
    {"clock_monotone", test_clock_monotone, "time never decreases though the base clock is set back", SINGLE},

    {"clock_shared", test_clock_shared, "communicators that begin with the clock of an earlier one", SINGLE},
    {"clock_shared_epoch", test_clock_shared_epoch, "their global time begins with themselves", SINGLE},
    {"clock_not_shared", test_clock_not_shared, "clocks that are unknown, stepped or unwanted", SINGLE},

    {"info_fresh", test_info_fresh, "information before the first collective call", SINGLE},
    {"info_statistics", test_info_statistics, "calls, misses and synchronizations are counted", SINGLE},
    {"info_round_trip", test_info_round_trip, "what get_info returns, set_info accepts", SINGLE},
    {"info_effect", test_info_effect, "settings take effect", SINGLE},
    {"fortran_handles", test_fortran_handles, "the functions that the modules for Fortran call", SINGLE},

    {"threads", test_threads, "two threads call on two communicators", MULTIPLE},
    {"readers", test_readers, "threads read a clock beside calls, and while other communicators come and go", MULTIPLE},
    {"readers_beside_frees", test_readers_beside_frees, "readers while another thread uses and frees communicators",
     MULTIPLE},
    {"threads_first_use", test_threads_first_use, "several threads use a communicator each for the first time",
     MULTIPLE},
    {"threads_info", test_threads_info, "statistics beside readers of the same communicator", MULTIPLE},
    {"threads_passing", test_threads_passing, "threads that end after one call or reading", MULTIPLE},

    {"cycles", test_cycles, "communicators come and go; memory stays flat", SINGLE},
    {"resyncs", test_resyncs, "memory stays flat over thousands of synchronizations", SINGLE},
    {"freed_early", test_freed_early, "communicators that are freed with messages under way", SINGLE},
    {"unfreed", test_unfreed, "communicators that are not freed before MPI_Finalize", SINGLE},
    {"lookups", test_lookups, "reading several clocks in turn asks MPI nothing", SINGLE},
    {"barrier_algorithms", test_barrier_algorithms, "each way to meet", SINGLE},
    {"barrier_change", test_barrier_change, "changes of the way to meet", SINGLE},
    {"barrier_refused", test_barrier_refused, "a process that cannot share memory", SINGLE},
    {"barrier_naps", test_barrier_naps, "processes that are late by chance", SINGLE},
    {"barrier_yields", test_barrier_yields, "a long wait gives the processor away", SINGLE},
    {"found_once", test_found_once, "a communicator finds out once where its processes run, a process once about hwloc",
     SINGLE},
    {"faults_mpi", test_faults_mpi, "each MPI function that the library calls fails once, on all processes", SINGLE},
    {"faults_mpi_first", test_faults_mpi_first, "the same of one that is called once in a process", SINGLE},
    {"faults_mpi_one", test_faults_mpi_one, "the same on one process, if others notice", SINGLE},
    {"faults_messages", test_faults_messages, "messages fail for good, on all processes", SINGLE},
    {"faults_text", test_faults_text, "the text of an error is one line, and all of it is written", SINGLE},
    {"faults_memory", test_faults_memory, "each allocation fails once, on all processes", SINGLE},
    {"faults_memory_one", test_faults_memory_one, "the same on one process", SINGLE},
    {"faults_hwloc", test_faults_hwloc, "hwloc fails", SINGLE},
    {"faults_no_sys", test_faults_no_sys, "the kernel does not show its processors", SINGLE},
    {"faults_no_counter", test_faults_no_counter, "no counter of the processor, on all processes and on one", SINGLE},
    {"faults_quota", test_faults_quota, "a control group has less processor time than processes", SINGLE},
    {"faults_shm", test_faults_shm, "/dev/shm tiny, full, read-only, missing, or another one on one process", ITSELF},
    {"stopped_phases", test_stopped_phases, "a process is stopped for 1 s in each phase of a call", ITSELF},
    {"astray", test_astray, "a process that does not come; to be run by run_fault_tests.sh", SINGLE},
    {"before_init", test_before_init, "all functions before MPI_Init", ITSELF},
    {"after_finalize", test_after_finalize, "all functions after MPI_Finalize", ITSELF},
    {"sessions", test_sessions, "a program that has sessions only", ITSELF},
    {"session_goes_on", test_session_goes_on, "a session that outlives MPI_Finalize", ITSELF},
    {"loaded", test_loaded, "the library is loaded at run time: runs loading_test", ITSELF},
    {"spawn", test_spawn, "processes that were spawned", SINGLE},
    {"spawned", test_spawned, "what sub-test spawn spawns; not to be run by itself", SINGLE},
    {"profiling", test_profiling, "tools see the user's calls and no others: runs wrapper_test beside this program",
     ITSELF},
};

enum { SUB_TESTS = sizeof sub_tests / sizeof *sub_tests };

static int list(void)
{
    for (int i = 0; i < SUB_TESTS; i++)
        printf("%-22s %s\n", sub_tests[i].name, sub_tests[i].doc);
    return 0;
}

static const sub_test *find(const char *name)
{
    for (int i = 0; i < SUB_TESTS; i++)
        if (strcmp(name, sub_tests[i].name) == 0)
            return &sub_tests[i];
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0)
        return list();
    const sub_test *test = argc == 2 ? find(argv[1]) : NULL;
    if (!test) {
        fprintf(stderr, "usage: mpix_test SUBTEST, one of those that mpix_test --list shows\n");
        return 1;
    }
    if (test->start != ITSELF)
        start_mpi(test->start == MULTIPLE ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
    test->run();
    return conclude();
}
