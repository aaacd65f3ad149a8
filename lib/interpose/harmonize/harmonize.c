/* SPDX-License-Identifier: BSD-3-Clause */
/* harmonize.c - from MPI_Init to MPI_Finalize: barriers, MPI_Wtime, and collective calls that look after the clock. */
#include "interpose/harmonize/communicators.h"
#include "interpose/harmonize/report.h"
#include "interpose/harmonize/clock.h"
#include "interpose/interposer.h"
#include "interpose/twin.h"

#include <time.h>

/* MPI_Wtime begins with that of rank 0 at the first synchronization of the clocks, and continues by global time. */
static double epoch_s;
/* Global minus plain time of this process, for calls after MPI_Finalize. */
static double ahead_of_plain_s;
static bool has_clock, has_ended;

/* Why the library failed: its own message if there is one, otherwise that of MPI. */
static const char *reason_of(int code)
{
    static char text[MPI_MAX_ERROR_STRING];
    int length;
    if (!mh_interpose_statistic(mh_twin_of_world, "mpix_harmonize_last_error", text, sizeof text))
        PMPI_Error_string(code, text, &length);
    return text;
}

static bool global_time(double *seconds)
{
    if (PMPIX_Global_time(mh_twin_of_world, seconds) != MPI_SUCCESS)
        return false;
    *seconds += epoch_s;
    return true;
}

/* ---- From MPI_Init to MPI_Finalize */

static void start_clock(void)
{
    double global_s = 0, plain_s = PMPI_Wtime();
    PMPIX_Global_time(mh_twin_of_world, &global_s);
    epoch_s = plain_s - global_s;
    PMPI_Bcast(&epoch_s, 1, MPI_DOUBLE, 0, mh_twin_of_world);
    ahead_of_plain_s = epoch_s + global_s - plain_s;
    has_clock = true;
}

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

const char *mh_preload_begin(void)
{
    int flag;
    int code = PMPIX_Clock_sync(mh_twin_of_world);
    if (code == MPI_SUCCESS && mh_choices.wtime)
        code = settle_clock();
    /* The first of these calls takes longer than others, and the program does not expect that of a collective call. */
    if (code == MPI_SUCCESS && mh_choices.wtime)
        code = PMPIX_Harmonize(mh_twin_of_world, &flag);
    if (code != MPI_SUCCESS)
        return reason_of(code);
    mh_preload_open_communicators();
    if (mh_choices.wtime)
        start_clock();
    return NULL;
}

void mh_preload_end(void)
{
    double global_s;
    mh_preload_close_communicators();
    if (!mh_choices.quiet)
        mh_preload_report();
    if (has_clock && global_time(&global_s))
        ahead_of_plain_s = global_s - PMPI_Wtime();
    has_ended = true;
    mh_preload_free_communicators();
}

bool mh_preload_wtime(double *seconds)
{
    if (!has_clock)
        return false;
    if (has_ended || !global_time(seconds))
        *seconds = PMPI_Wtime() + ahead_of_plain_s;
    return true;
}

bool mh_preload_barrier(MPI_Comm comm, int *result)
{
    *result = MPI_SUCCESS;
    return !has_ended && mh_preload_replace(comm);
}

void mh_preload_after_collective(MPI_Comm comm, int result)
{
    if (has_clock && !has_ended && mh_interpose_is_of_all(comm, result))
        mh_preload_after_call();
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
