/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock.c - the global clock, which MPI_Wtime is: it begins in MPI_Init, and collective calls of all processes look
 * after it, as MPIX_Harmonize synchronizes it as often as it must.
 */
#include "trace/harmonize/clock.h"

#include "trace/shared/interposer.h"
#include "trace/back/twin.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

preload_care mh_preload_care;

/* MPI_Wtime begins with that of rank 0 at the first synchronization of the clocks, and continues by global time. */
static double epoch_s;
/* Global minus plain time of this process, for calls after MPI_Finalize. */
static double ahead_of_plain_s;
static bool has_clock, has_ended;

static bool global_time(double *seconds)
{
    if (PMPIX_Global_time(mh_twin_of_world, seconds) != MPI_SUCCESS)
        return false;
    *seconds += epoch_s;
    return true;
}

bool mh_preload_statistic(MPI_Comm comm, const char *key, int64_t *value)
{
    char text[32];
    if (!mh_interpose_statistic(comm, key, text, sizeof text))
        return false;
    *value = strtoll(text, NULL, 10);
    return true;
}

void mh_preload_describe(MPI_Comm comm, int code, char *text, int size)
{
    char general[MPI_MAX_ERROR_STRING];
    int length;
    if (mh_interpose_statistic(comm, "mpix_harmonize_last_error", text, size) && text[0])
        return;
    PMPI_Error_string(code, general, &length);
    snprintf(text, (size_t)size, "%.*s", size - 1, general);
}

/* ---- From MPI_Init to MPI_Finalize */

/*
 * One synchronization measures the drift of a clock to within some parts per million, and a program may make no
 * collective call for a second. If processes have different clocks, more synchronizations over a longer time measure it
 * well enough.
 */
static const double settling_s = 0.5;
enum { MIN_SETTLING_SYNCS = 4 }; /* however long they take */
static const struct timespec settling_pause = {.tv_nsec = 5000000};

static int settle_clock(void)
{
    int64_t interval_ns = 0; /* 0: the processes share a clock, which needs no further synchronization */
    double begin_s = PMPI_Wtime();
    mh_preload_statistic(mh_twin_of_world, "mpix_harmonize_resync_used_ns", &interval_ns);
    for (int syncs = 0;; syncs++) {
        int goes_on = interval_ns > 0 && (syncs < MIN_SETTLING_SYNCS || PMPI_Wtime() - begin_s < settling_s);
        int code = PMPI_Bcast(&goes_on, 1, MPI_INT, 0, mh_twin_of_world);
        if (code != MPI_SUCCESS || !goes_on)
            return code;
        nanosleep(&settling_pause, NULL);
        code = PMPIX_Clock_sync(mh_twin_of_world);
        if (code != MPI_SUCCESS)
            return code;
    }
}

int mh_preload_start_clock(void)
{
    int flag, code = PMPIX_Clock_sync(mh_twin_of_world);
    if (code != MPI_SUCCESS || !mh_choices.wtime)
        return code;
    code = settle_clock();
    /* The first of these calls takes longer than others, and the program does not expect that of a collective call. */
    if (code == MPI_SUCCESS)
        code = PMPIX_Harmonize(mh_twin_of_world, &flag);
    if (code != MPI_SUCCESS)
        return code;
    double global_s = 0, plain_s = PMPI_Wtime();
    PMPIX_Global_time(mh_twin_of_world, &global_s);
    epoch_s = plain_s - global_s;
    PMPI_Bcast(&epoch_s, 1, MPI_DOUBLE, 0, mh_twin_of_world);
    ahead_of_plain_s = epoch_s + global_s - plain_s;
    has_clock = true;
    return MPI_SUCCESS;
}

void mh_preload_end_clock(void)
{
    double global_s;
    if (has_clock && global_time(&global_s))
        ahead_of_plain_s = global_s - PMPI_Wtime();
    has_ended = true;
}

bool mh_preload_wtime(double *seconds)
{
    if (!has_clock)
        return false;
    if (has_ended || !global_time(seconds))
        *seconds = PMPI_Wtime() + ahead_of_plain_s;
    return true;
}

bool mh_preload_is_wtime_keyval(int keyval, bool is_of_fortran)
{
#ifdef MPICH_NUMVERSION
    /* The keys of Fortran, whose attributes are values, follow those of C. */
    return has_clock && keyval == MPI_WTIME_IS_GLOBAL + is_of_fortran;
#else
    (void)is_of_fortran;
    return has_clock && keyval == MPI_WTIME_IS_GLOBAL;
#endif
}

/* ---- Looking after it */

/* The clocks are checked once in this time, after at most so many calls, but not in the first calls after a barrier. */
static const double look_interval_s = 0.01;
static const double s_per_ns = 1e-9;
enum { MAX_STRIDE = 64, MAX_EARLY_LOOKS = 1024, CALLS_AFTER_BARRIER = 16 };

/* All processes make the same collective calls of all processes in the same order, so these are the same on all. */
static int calls_since_look, calls_until_look = 1, early_looks;
static bool cannot_look;

/* The time since the last release of all processes, which was the last check of the clocks. */
static double since_look_s(void)
{
    int64_t instant_ns, now_ns, bound_ns;
    if (PMPIX_Harmonize_instant(mh_twin_of_world, &instant_ns) != MPI_SUCCESS ||
        PMPIX_Global_time_ns(mh_twin_of_world, &now_ns, &bound_ns) != MPI_SUCCESS)
        return HUGE_VAL;
    return (double)(now_ns - instant_ns) * s_per_ns;
}

/*
 * In between, rank 0, whose clock is the reference, tells all processes how long it has been; so they agree. If its
 * clock was set back, global time stands still until somebody looks, so the clock is not asked forever.
 */
void mh_preload_look(void)
{
    double since_s = since_look_s();
    int flag;
    if (PMPI_Bcast(&since_s, 1, MPI_DOUBLE, 0, mh_twin_of_world) != MPI_SUCCESS) {
        cannot_look = true;
    } else if (since_s < look_interval_s && early_looks++ < MAX_EARLY_LOOKS) {
        calls_until_look = calls_since_look < MAX_STRIDE ? calls_since_look : MAX_STRIDE;
    } else {
        double calls = calls_since_look * look_interval_s / since_s;
        calls_until_look = calls < 1 ? 1 : calls > MAX_STRIDE ? MAX_STRIDE : (int)calls;
        calls_since_look = early_looks = 0;
        mh_preload_care.looks++;
        cannot_look = PMPIX_Harmonize(mh_twin_of_world, &flag) != MPI_SUCCESS;
    }
}

/* One that MPI refuses on a process is not made, and others need not make it. */
bool mh_preload_is_look_due(MPI_Comm comm, int result)
{
    if (!has_clock || has_ended || !mh_interpose_is_of_all(comm, result))
        return false;
    mh_preload_care.calls++;
    calls_since_look++;
    return !cannot_look && --calls_until_look <= 0;
}

/* So measurements after a barrier, which is counted next, are not disturbed. */
void mh_preload_before_harmonize(void)
{
    mh_preload_care.looks++;
    calls_since_look = -1;
    calls_until_look = CALLS_AFTER_BARRIER + 2;
}
