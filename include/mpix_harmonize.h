/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpix_harmonize.h - a barrier in space and time for MPI.
 *
 * MPIX_Harmonize waits for all processes of a communicator, as MPI_Barrier does, and then releases them at one
 * instant of a global clock. The library maintains this clock, and MPIX_Global_time reads it.
 *
 * Papers: J. Schuchart, S. Hunold and G. Bosilca, "MPI Process Synchronization in Space and Time", EuroMPI 2023, for
 * the barrier; S. Hunold and A. Carpen-Amarie, "Hierarchical Clock Synchronization in MPI", IEEE Cluster 2018, for
 * the clock.
 *
 * Common to all functions:
 * - They return an MPI error code. An error that concerns a valid communicator is raised on this communicator: its
 *   error handler is called with the code, and the code is returned if the handler returns.
 * - MPI_ERR_COMM: the communicator is MPI_COMM_NULL (returned, no handler is called) or an intercommunicator.
 * - MPI_ERR_OTHER: MPI is not initialized yet, is finalized already, or is being finalized (returned, no handler is
 *   called).
 * - MPI_ERR_OTHER: an earlier call on the communicator failed inside MPI, and other processes may not know of the
 *   failure. Free the communicator and use another one. The earlier error had the class of the MPI function's error.
 * - If several errors apply, the first one of this list is returned: MPI_COMM_NULL, MPI not active, an
 *   intercommunicator, a bad argument of a local function, the state of the communicator.
 * - After MPI_Finalize, communicators of a session can still be used if the library was called on any communicator
 *   before MPI_Finalize while the session already existed.
 * - MPI_ERR_NO_MEM: out of memory.
 * - The text of a process's last error is the statistic mpix_harmonize_last_error; see MPIX_Harmonize_get_info.
 * - Each MPIX_ function has a PMPIX_ twin, so a tool can wrap the former and call the latter.
 */
#ifndef MPIX_HARMONIZE_H
#define MPIX_HARMONIZE_H

#include <mpi.h>
#include <stdint.h>

#if defined(__GNUC__)
#define MPIX_HARMONIZE_API __attribute__((visibility("default")))
#else
#define MPIX_HARMONIZE_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * MPIX_Harmonize_built_for_... - the MPI library that the program is compiled with.
 *
 * The library defines one of these functions, which do nothing: the one for the MPI library that it was built for. Each
 * file that includes this header refers to the one for its own mpi.h. So a program of another MPI library does not
 * link, and the linker names the library that is missing. MPI libraries with the binary interface of MPICH (Intel MPI,
 * MVAPICH) are MPICH here. The parameter tells the functions apart in Fortran. A program that loads the library with
 * dlopen defines MPIX_HARMONIZE_NO_LINK before it includes this header.
 */
#if defined(OPEN_MPI)
#define MPIX_HARMONIZE_BUILT_FOR MPIX_Harmonize_built_for_Open_MPI
#define MPIX_HARMONIZE_UNUSED int32_t
#elif defined(MPICH_VERSION) || defined(I_MPI_VERSION) || defined(MVAPICH2_VERSION)
#define MPIX_HARMONIZE_BUILT_FOR MPIX_Harmonize_built_for_MPICH
#define MPIX_HARMONIZE_UNUSED int16_t
#elif defined(MPI_ABI_VERSION) && MPI_ABI_VERSION >= 1
#define MPIX_HARMONIZE_BUILT_FOR MPIX_Harmonize_built_for_standard_ABI
#define MPIX_HARMONIZE_UNUSED int64_t
#endif
#if defined(MPIX_HARMONIZE_BUILT_FOR) && defined(__GNUC__) && !defined(MPIX_HARMONIZE_NO_LINK)
MPIX_HARMONIZE_API void MPIX_HARMONIZE_BUILT_FOR(MPIX_HARMONIZE_UNUSED unused);
static void (*const mpix_harmonize_built_for)(MPIX_HARMONIZE_UNUSED) __attribute__((used)) = MPIX_HARMONIZE_BUILT_FOR;
#endif

/*
 * MPIX_Harmonize - wait for all processes of a communicator, then leave at one instant of the global clock.
 *
 * Collective over comm. The first call on a communicator also synchronizes the clocks, so it takes longer. If clocks
 * can drift apart, some later calls synchronize again. As MPI_Barrier, it lets MPI make progress: a message that came
 * before the call can be seen after it.
 *
 * comm   an intracommunicator
 * flag   out: 1 if this process left within the tolerance (setting mpix_harmonize_tolerance_ns) of the common
 *        deadline, otherwise 0. Decided after the wait, by the global clock. Local: processes may have different flags.
 *        0 after any error: it is set to 0 first.
 *
 * Errors, on all processes: MPI_ERR_ARG if flag is a null pointer on any process, if an environment variable
 * MPIX_HARMONIZE_... is bad or differs between processes, or if a process cannot use the requested base clock.
 */
MPIX_HARMONIZE_API int MPIX_Harmonize(MPI_Comm comm, int *flag);

/*
 * MPIX_Harmonize_delayed - MPIX_Harmonize, but this process leaves a delay after the common instant.
 *
 * Collective over comm. Each process gives its own delay, so the processes impose an arrival pattern on what follows.
 * With delay 0 this is MPIX_Harmonize, and some processes may call MPIX_Harmonize instead. During the delay, MPI makes
 * no progress, as in a process that computes. A process whose delay is longer than a few milliseconds sleeps for most
 * of it.
 *
 * comm       as for MPIX_Harmonize
 * delay_ns   nanoseconds from the common instant to the deadline of this process: 0 to the setting
 *            mpix_harmonize_delay_max_ns
 * flag       out: as for MPIX_Harmonize, by the deadline of this process; 0 if its clock was found wrong in the delay,
 *            which ends the wait, and after any error
 *
 * Errors, on all processes: those of MPIX_Harmonize; MPI_ERR_ARG if delay_ns is out of range on any process, and then
 * no process waits.
 */
MPIX_HARMONIZE_API int MPIX_Harmonize_delayed(MPI_Comm comm, int64_t delay_ns, int *flag);

/*
 * MPIX_Harmonize_instant - the common instant of the last release of a communicator.
 *
 * Local, as MPIX_Global_time. This is the deadline of MPIX_Harmonize, or of MPIX_Harmonize_delayed with delay 0. It is
 * the same number on all processes. A call that fails does not change it.
 *
 * comm         an intracommunicator
 * instant_ns   out: nanoseconds on the global clock, the one of MPIX_Global_time_ns
 *
 * Errors: MPI_ERR_ARG for a null pointer; MPI_ERR_OTHER before the first release.
 */
MPIX_HARMONIZE_API int MPIX_Harmonize_instant(MPI_Comm comm, int64_t *instant_ns);

/*
 * MPIX_Global_time - read the global clock of a communicator.
 *
 * Local. Any thread may call it, even while another thread makes a collective call on comm. The library does not wait
 * for other threads. But some calls read an attribute of comm, and MPI may then wait for another thread: the first call
 * of each thread, and calls after the thread used more than 16 communicators or after communicators were freed. If
 * several threads may do so at once, MPI must be initialized with MPI_THREAD_MULTIPLE. Not in a signal handler.
 *
 * At the same instant, all processes of comm read the same value, up to the bound that MPIX_Global_time_interval
 * returns. Zero is the time of the communicator's first synchronization on the clock of its rank 0. Successive readings
 * in a process never decrease.
 *
 * comm   an intracommunicator whose clock has been synchronized (by MPIX_Clock_sync or MPIX_Harmonize)
 * time   out: seconds
 *
 * Errors: MPI_ERR_ARG for a null pointer; MPI_ERR_OTHER if the clock of comm has never been synchronized.
 */
MPIX_HARMONIZE_API int MPIX_Global_time(MPI_Comm comm, double *time);

/*
 * MPIX_Global_time_interval - read the global clock as an interval that contains the reference clock's time.
 *
 * Local, as MPIX_Global_time. Half the width of the interval is the bound. The bound is the sum of the errors of the
 * offsets on the path to rank 0 (at most half a round trip each), the uncertainty of the drift multiplied by the time
 * since the last synchronization, and the cost of reading the clock. mpix_harmonize(7) lists all terms. If no bound is
 * known (synchronization "none"), the interval is infinite.
 *
 * comm               as for MPIX_Global_time
 * earliest, latest   out: seconds, earliest <= latest; -HUGE_VAL and HUGE_VAL if no bound is known
 *
 * Errors: as for MPIX_Global_time.
 */
MPIX_HARMONIZE_API int MPIX_Global_time_interval(MPI_Comm comm, double *earliest, double *latest);

/*
 * MPIX_Global_time_ns - read the global clock in integer nanoseconds, with its bound.
 *
 * Local, as MPIX_Global_time.
 *
 * comm       as for MPIX_Global_time
 * time_ns    out: nanoseconds; the same clock as MPIX_Global_time
 * bound_ns   out: the reference clock's time is within time_ns - bound_ns and time_ns + bound_ns; INT64_MAX if no
 *            bound is known
 *
 * Errors: as for MPIX_Global_time.
 */
MPIX_HARMONIZE_API int MPIX_Global_time_ns(MPI_Comm comm, int64_t *time_ns, int64_t *bound_ns);

/*
 * MPIX_Global_wait_until - wait for an instant of the global clock.
 *
 * Local, as MPIX_Global_time. No other thread may change settings of comm at the same time. MPI makes no progress
 * during the wait. A process that waits for longer than a few milliseconds sleeps for most of it. If the instant has
 * passed, the call returns at once.
 *
 * comm         as for MPIX_Global_time
 * instant_ns   nanoseconds on the global clock, the one of MPIX_Global_time_ns
 * flag         out: 1 if the wait ended within the tolerance (setting mpix_harmonize_tolerance_ns) of the instant,
 *              otherwise 0; 0 also if the clock of this process was found wrong, which ends the wait, and after any
 *              error
 *
 * Errors: as for MPIX_Global_time.
 */
MPIX_HARMONIZE_API int MPIX_Global_wait_until(MPI_Comm comm, int64_t instant_ns, int *flag);

/*
 * MPIX_Clock_sync - synchronize the clocks of a communicator now.
 *
 * Collective over comm. Uses the algorithm named by the setting mpix_harmonize_sync.
 *
 * comm   an intracommunicator
 *
 * Errors, on all processes: MPI_ERR_ARG if an environment variable MPIX_HARMONIZE_... is bad or differs between
 * processes, or if a process cannot use the requested base clock.
 */
MPIX_HARMONIZE_API int MPIX_Clock_sync(MPI_Comm comm);

/*
 * MPIX_Clock_pair - read a clock of this host and the global clock at one instant.
 *
 * Local, as MPIX_Global_time. Such pairs, taken now and then, say what other timestamps by the clock are on the global
 * clock. So time_ns is what is known of the global clock at that instant, and may be less than an earlier reading:
 * MPIX_Global_time never decreases, and after a synchronization it may stand still for a while.
 *
 * comm       as for MPIX_Global_time
 * clock      a clock of the host, as clock_gettime numbers them: CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW,
 *            CLOCK_BOOTTIME or CLOCK_TAI
 * local_ns   out: nanoseconds, as clock_gettime reads this clock
 * time_ns    out: nanoseconds on the global clock, when the clock of the host read local_ns
 * bound_ns   out: the reference clock's time is within this bound of time_ns; INT64_MAX if no bound is known
 *
 * Errors: MPI_ERR_ARG for a null pointer, and for a clock that is not one of these or that the system does not have;
 * MPI_ERR_OTHER if the clock of comm has never been synchronized.
 */
MPIX_HARMONIZE_API int MPIX_Clock_pair(MPI_Comm comm, int clock, int64_t *local_ns, int64_t *time_ns,
                                       int64_t *bound_ns);

/*
 * MPIX_Global_time_of - the global time at which a clock of this host had a reading.
 *
 * Local, as MPIX_Global_time, but it may wait some microseconds for another thread that converts or synchronizes. The
 * library remembers how the clocks of the host were at each of the last synchronizations (setting
 * mpix_harmonize_history), and how they are at a call for a reading that is newer. It interpolates between these.
 * Readings from before the first synchronization, and those that are forgotten, are extrapolated, and of the future,
 * too: their bounds grow with the distance.
 *
 * comm       as for MPIX_Global_time
 * clock      as for MPIX_Clock_pair
 * local_ns   a reading of this clock in nanoseconds, of now or of the past
 * time_ns    out: nanoseconds on the global clock, the one of MPIX_Global_time_ns. A later call may return another time
 *            for the same reading, as more is known then, within the bound.
 * bound_ns   out: the reference clock's time was within this bound of time_ns; INT64_MAX if no bound is known, as where
 *            the global clock was found wrong. Covers what the kernel may have done to the clock between two looks at
 *            it: where these are more than 10 ms apart, that is 0.1 % of the time to the nearest look, but nothing
 *            for CLOCK_MONOTONIC_RAW. If the clock was set, and so had the reading twice or never, the bound has both.
 *            A clock that was set more than once between two looks may have been anything.
 *
 * Errors: MPI_ERR_ARG for a null pointer, and for a clock that is not one of these or that the system does not have;
 * MPI_ERR_OTHER if the clock of comm has never been synchronized; MPI_ERR_NO_MEM if memory lacks.
 */
MPIX_HARMONIZE_API int MPIX_Global_time_of(MPI_Comm comm, int clock, int64_t local_ns, int64_t *time_ns,
                                           int64_t *bound_ns);

/*
 * MPIX_Clock_write - write what the clocks of all hosts were on the global clock into a file of clock records.
 *
 * Collective over comm. The file has what the library remembers for MPIX_Global_time_of, and how the clocks are now, of
 * one process of each host. mpix_clock_convert, and programs by mpix_clock_reader.h, convert timestamps by it. For
 * narrow bounds until the end, call MPIX_Clock_sync before.
 *
 * comm   an intracommunicator whose clock has been synchronized
 * path   the file, which rank 0 writes; what other processes give is ignored. A file that is there is replaced, by the
 *        complete new one or not at all: the new one has another name, in the same folder, until it is complete
 *
 * Errors, on all processes: MPI_ERR_ARG if path is a null pointer or too long; MPI_ERR_IO if the file cannot be
 * written, or path is no regular file; MPI_ERR_NO_MEM if memory lacks; MPI_ERR_OTHER if the clock of comm has never
 * been synchronized.
 */
MPIX_HARMONIZE_API int MPIX_Clock_write(MPI_Comm comm, const char *path);

/*
 * MPIX_Harmonize_set_info - change settings of a communicator.
 *
 * Collective over comm; all processes give the same settings. Keys that do not begin with mpix_harmonize_ are
 * ignored. Statistics are ignored too, so the result of MPIX_Harmonize_get_info may be passed on. Either all settings
 * of info take effect on all processes, or none on any.
 *
 * comm   an intracommunicator
 * info   the settings, or MPI_INFO_NULL for none
 *
 * Errors: MPI_ERR_INFO_VALUE for a bad value, or one that differs between processes; MPI_ERR_INFO_KEY for an unknown
 * key that begins with mpix_harmonize_; the same on all processes.
 */
MPIX_HARMONIZE_API int MPIX_Harmonize_set_info(MPI_Comm comm, MPI_Info info);

/*
 * MPIX_Harmonize_get_info - the settings and statistics of a communicator.
 *
 * Local. No other thread may make a collective call of this library on comm at the same time. Before the first
 * collective call on comm, the settings are those of the environment. The statistics of the clock and of the calls
 * exist after the first synchronization.
 *
 * comm        an intracommunicator
 * info_used   out: a new info object, to be freed by the caller
 *
 * Errors: MPI_ERR_ARG for a null pointer.
 */
MPIX_HARMONIZE_API int MPIX_Harmonize_get_info(MPI_Comm comm, MPI_Info *info_used);

/* The profiling twins. */
/* bindings/declare.sh begins: twins */
MPIX_HARMONIZE_API int PMPIX_Harmonize(MPI_Comm comm, int *flag);
MPIX_HARMONIZE_API int PMPIX_Harmonize_delayed(MPI_Comm comm, int64_t delay_ns, int *flag);
MPIX_HARMONIZE_API int PMPIX_Harmonize_instant(MPI_Comm comm, int64_t *instant_ns);
MPIX_HARMONIZE_API int PMPIX_Global_time(MPI_Comm comm, double *time);
MPIX_HARMONIZE_API int PMPIX_Global_time_interval(MPI_Comm comm, double *earliest, double *latest);
MPIX_HARMONIZE_API int PMPIX_Global_time_ns(MPI_Comm comm, int64_t *time_ns, int64_t *bound_ns);
MPIX_HARMONIZE_API int PMPIX_Global_wait_until(MPI_Comm comm, int64_t instant_ns, int *flag);
MPIX_HARMONIZE_API int PMPIX_Clock_sync(MPI_Comm comm);
MPIX_HARMONIZE_API int PMPIX_Clock_pair(MPI_Comm comm, int clock, int64_t *local_ns, int64_t *time_ns,
                                        int64_t *bound_ns);
MPIX_HARMONIZE_API int PMPIX_Global_time_of(MPI_Comm comm, int clock, int64_t local_ns, int64_t *time_ns,
                                            int64_t *bound_ns);
MPIX_HARMONIZE_API int PMPIX_Clock_write(MPI_Comm comm, const char *path);
MPIX_HARMONIZE_API int PMPIX_Harmonize_set_info(MPI_Comm comm, MPI_Info info);
MPIX_HARMONIZE_API int PMPIX_Harmonize_get_info(MPI_Comm comm, MPI_Info *info_used);
/* bindings/declare.sh ends */

#ifdef __cplusplus
}
#endif

#endif /* MPIX_HARMONIZE_H */
