/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_test.h - what the sub-tests of mpix_test share.
 *
 * A sub-test is a function that all processes run. It records failures by CHECK and goes on, in the same way on all
 * processes; at its end they agree on the outcome. Processes may be descheduled anywhere: no sub-test asserts that
 * something is fast, or that one particular call is valid.
 */
#ifndef MPIX_TEST_H
#define MPIX_TEST_H

#include "mpix_harmonize.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NS_PER_US INT64_C(1000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)

/* The rates of two clocks of one machine differ by less: what the kernel corrects at most. */
#define RATE_DIFFERENCE 500e-6

/* ---- Outcome (support.c) */

extern int my_rank, ranks; /* in MPI_COMM_WORLD; 0 and 1 before MPI_Init */

/* Start MPI at a thread level; returns the level provided. Errors return on MPI_COMM_WORLD and MPI_COMM_SELF. */
int start_mpi(int thread_level);

/* End MPI if it is active. Returns the exit status, the same on all processes where they can still agree. */
int conclude(void);

void test_fail(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The sub-test cannot run here. All processes must come to this. */
void test_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

void check_class(const char *file, int line, int code, int expected_class, const char *what);

#define CHECK(condition, ...) ((condition) ? (void)0 : test_fail(__FILE__, __LINE__, __VA_ARGS__))
#define CHECK_CLASS(code, expected_class, what) check_class(__FILE__, __LINE__, code, expected_class, what)
#define CHECK_OK(call) check_class(__FILE__, __LINE__, call, MPI_SUCCESS, #call)

/* ---- Ranks and time (support.c) */

/* relaxed; but few where there are more processes than processors, as some MPI libraries then take milliseconds a call.
 */
int times(int relaxed, int few);

/* CLOCK_MONOTONIC of the system, whatever is injected: the truth that all processes of a machine share. */
int64_t true_ns(void);

void nap_ms(int duration_ms);

/* Numbers below limit that depend on nothing but the seed (splitmix64). */
uint32_t random_below(uint64_t *seed, uint32_t limit);

/* ---- Messages of the test that give the processor away while they wait (support.c) */

void finish_yielding(MPI_Request *request);
void meet(MPI_Comm comm);
int64_t greatest(MPI_Comm comm, int64_t mine);
int64_t least(MPI_Comm comm, int64_t mine);

/* ---- The library (support.c) */

MPI_Comm duplicate(MPI_Comm comm);

/* Call MPIX_Harmonize, which must succeed; returns the flag. */
int harmonize(MPI_Comm comm);

/* Returns how many of the calls were valid here. */
int harmonize_times(MPI_Comm comm, int calls);

enum { TEXT_SIZE = 1025 };

/* Values of MPIX_Harmonize_get_info, by their names without prefix. Text: whether there is such a key. */
bool info_text(MPI_Comm comm, const char *name, char text[TEXT_SIZE]);
int64_t info_number(MPI_Comm comm,
                    const char *name); /* "unknown" is INT64_MAX; none or no number: a failure, INT64_MIN */

/* Set one setting, by its name without prefix; returns the code of MPIX_Harmonize_set_info. */
int set_setting(MPI_Comm comm, const char *name, const char *value);

/* All settings as one text. */
void all_settings(MPI_Comm comm, char text[TEXT_SIZE]);

extern const char *const setting_names[]; /* NULL past the last */

/* Check that last_error names all words of the NULL-terminated list and is the same on all processes of comm. */
void check_message(const char *file, int line, MPI_Comm comm, const char *const words[]);
#define CHECK_MESSAGE(comm, ...) check_message(__FILE__, __LINE__, comm, (const char *const[]){__VA_ARGS__, NULL})

/*
 * Check the global clock of comm against true_ns: between rank 0 and each other process it must be right within the
 * bounds that they state. what names the case in messages.
 */
void check_clock(MPI_Comm comm, const char *what);

/* ---- Other clocks than the machine's (injection.c) */

/*
 * From now on CLOCK_MONOTONIC_RAW and CLOCK_REALTIME of this process, as clock_gettime shows them, are ahead by
 * offset_ns and run fast by drift (a ratio).
 */
void inject_clock(int64_t offset_ns, double drift);

/* Step those clocks by so much more. */
void inject_step(int64_t step_ns);

/* What CLOCK_MONOTONIC_RAW of the system was when it was last read by anybody in this process. */
int64_t last_raw_reading_ns(void);

/* From now on this process can or cannot open shared memory by a name. */
void refuse_shared_memory(bool refused);

/* ---- The sub-tests */

/* test_barrier.c */
void test_barrier(void);
void test_deadline(void);
void test_flag(void);
void test_flag_under_load(void);
void test_stopped(void);
void test_late(void);

/* test_rendezvous.c */
void test_rendezvous(void);
void test_rendezvous_change(void);
void test_rendezvous_refused(void);
void test_rendezvous_naps(void);

/* test_communicators.c */
void test_subcomm(void);
void test_rates(void);
void test_overlapping(void);
void test_self(void);
void test_reversed(void);
void test_dup(void);
void test_cartesian(void);
void test_intercomm(void);
void test_wildcard(void);
void test_attributes(void);
void test_pending(void);

/* test_errors.c */
void test_errors_null(void);
void test_errors_unsynced(void);
void test_errors_values(void);
void test_errors_one_rank(void);
void test_errors_differ(void);
void test_errors_handler(void);
void test_errors_environment(void);

/* test_clocks.c */
void test_clock_zero(void);
void test_clock_forms(void);
void test_clock_resync(void);
void test_clock_labels(void);
void test_clock_injected(void);
void test_clock_unshared(void);
void test_clock_unshared_later(void);
void test_clock_steps(void);
void test_clock_disrupted(void);
void test_clock_set_back_in_wait(void);
void test_clock_goes_on(void);
void test_clock_interval_changed(void);
void test_clock_monotone(void);

/* test_info.c */
void test_info_fresh(void);
void test_info_statistics(void);
void test_info_round_trip(void);
void test_info_effect(void);

/* test_threads.c */
void test_threads(void);
void test_readers(void);

/* test_lifetime.c */
void test_cycles(void);
void test_resyncs(void);
void test_freed_early(void);
void test_unfreed(void);
void test_before_init(void);
void test_after_finalize(void);
void test_sessions(void);
void test_spawn(void);
void test_spawned(void);
void test_profiling(void);

#endif
