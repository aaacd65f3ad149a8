/* SPDX-License-Identifier: BSD-3-Clause */
/* back.c - from MPI_Init to MPI_Finalize, MPI_Wtime, and the table by which the front finds what it calls. */
#include "base/fortran_handles.h"
#include "preload/communicators.h"
#include "preload/preload.h"
#include "preload/report.h"
#include "preload/twin.h"
#include "preload/world.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

_Static_assert(sizeof(MPI_Fint) == sizeof(int), "the front takes integers of Fortran for ints");

/* MPI_Wtime begins with that of rank 0 at the first synchronization of the clocks, and continues by global time. */
static double epoch_s;
/* Global minus plain time of this process, for calls after MPI_Finalize. */
static double ahead_of_plain_s;
static bool has_clock, has_ended;

static void read_options(preload_options *options)
{
    static const struct {
        const char *name, *off, *on;
        size_t field;
        int is_on;
    } known[] = {
        {"MPIX_PRELOAD_BARRIER", "no", "yes", offsetof(preload_options, barrier), 1},
        {"MPIX_PRELOAD_WTIME", "no", "yes", offsetof(preload_options, wtime), 1},
        {"MPIX_PRELOAD_COMM", "world", "all", offsetof(preload_options, all), 0},
        {"MPIX_PRELOAD_QUIET", "no", "yes", offsetof(preload_options, quiet), 0},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *value = getenv(known[i].name);
        int *option = (int *)((char *)options + known[i].field);
        *option = known[i].is_on;
        if (value && (strcmp(value, known[i].on) == 0 || strcmp(value, known[i].off) == 0))
            *option = strcmp(value, known[i].on) == 0;
        else if (value)
            fprintf(stderr, "mpix_preload: %s is \"%s\"; allowed: %s, %s; %s is used\n", known[i].name, value,
                    known[i].off, known[i].on, known[i].is_on ? known[i].on : known[i].off);
    }
}

/* Why the library failed: its own message if there is one, otherwise that of MPI. */
static void read_reason(int code, char text[MPI_MAX_ERROR_STRING])
{
    int length, found = 0;
    MPI_Info info;
    if (PMPIX_Harmonize_get_info(mh_preload_world, &info) == MPI_SUCCESS) {
        PMPI_Info_get(info, "mpix_harmonize_last_error", MPI_MAX_ERROR_STRING - 1, text, &found);
        PMPI_Info_free(&info);
    }
    if (!found)
        PMPI_Error_string(code, text, &length);
}

/* On all processes. */
static void give_up(const char *reason)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        fprintf(stderr, "mpix_preload: %s; the program runs without the preload\n", reason);
    if (mh_preload_world != MPI_COMM_NULL)
        PMPI_Comm_free(&mh_preload_world);
    mh_preload_world = MPI_COMM_NULL;
}

static bool global_time(double *seconds)
{
    if (PMPIX_Global_time(mh_preload_world, seconds) != MPI_SUCCESS)
        return false;
    *seconds += epoch_s;
    return true;
}

/* ---- From MPI_Init to MPI_Finalize */

static void start_clock(void)
{
    double global_s = 0, plain_s = PMPI_Wtime();
    PMPIX_Global_time(mh_preload_world, &global_s);
    epoch_s = plain_s - global_s;
    PMPI_Bcast(&epoch_s, 1, MPI_DOUBLE, 0, mh_preload_world);
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
    mh_preload_statistic(mh_preload_world, "mpix_harmonize_resync_used_ns", &interval_ns);
    for (int syncs = 0;; syncs++) {
        int goes_on = interval_ns > 0 && (syncs < MIN_SETTLING_SYNCS || PMPI_Wtime() - begin_s < settling_s);
        int code = PMPI_Bcast(&goes_on, 1, MPI_INT, 0, mh_preload_world);
        if (code != MPI_SUCCESS || !goes_on)
            return code;
        nanosleep(&settling_pause, NULL);
        code = PMPIX_Clock_sync(mh_preload_world);
        if (code != MPI_SUCCESS)
            return code;
    }
}

static void begin(void)
{
    int rank = 0, code, flag;
    mh_preload_check_launcher("mpix_preload");
    mh_preload_world = mh_preload_twin(MPI_COMM_WORLD);
    if (mh_preload_world == MPI_COMM_NULL) {
        give_up("MPI_Comm_split of MPI_COMM_WORLD failed on at least one process");
        return;
    }
    PMPI_Comm_rank(mh_preload_world, &rank);
    if (rank == 0)
        read_options(&mh_preload_options);
    PMPI_Bcast(&mh_preload_options, (int)sizeof mh_preload_options, MPI_BYTE, 0, mh_preload_world);
    code = PMPIX_Clock_sync(mh_preload_world);
    if (code == MPI_SUCCESS && mh_preload_options.wtime)
        code = settle_clock();
    /* The first of these calls takes longer than others, and the program does not expect that of a collective call. */
    if (code == MPI_SUCCESS && mh_preload_options.wtime)
        code = PMPIX_Harmonize(mh_preload_world, &flag);
    if (code != MPI_SUCCESS) {
        char reason[MPI_MAX_ERROR_STRING] = "";
        read_reason(code, reason);
        give_up(reason);
        return;
    }
    mh_preload_open_communicators();
    if (mh_preload_options.wtime)
        start_clock();
}

static void end(void)
{
    double global_s;
    if (mh_preload_world == MPI_COMM_NULL)
        return;
    mh_preload_close_communicators();
    if (!mh_preload_options.quiet)
        mh_preload_report();
    if (has_clock && global_time(&global_s))
        ahead_of_plain_s = global_s - PMPI_Wtime();
    has_ended = true;
    mh_preload_free_communicators();
    PMPI_Comm_free(&mh_preload_world);
}

static bool wtime(double *seconds)
{
    if (!has_clock)
        return false;
    if (has_ended || !global_time(seconds))
        *seconds = PMPI_Wtime() + ahead_of_plain_s;
    return true;
}

static bool barrier(MPI_Comm comm, int *code)
{
    *code = MPI_SUCCESS;
    return mh_preload_world != MPI_COMM_NULL && !has_ended && mh_preload_barrier(comm);
}

/* The conversions from pointers are that of the register in which the handle came, see preload.h. */
static bool barrier_c(void *comm, int *code)
{
    return barrier((MPI_Comm)(intptr_t)comm, code);
}

static bool barrier_fortran(int comm, int *code)
{
    return barrier(mh_comm_of_fortran(comm), code);
}

static void after_collective(MPI_Comm comm, int code)
{
    if (has_clock && !has_ended && !mh_preload_was_refused(code) && mh_preload_is_world(comm))
        mh_preload_after_call();
}

static void after_collective_c(void *comm, int code)
{
    after_collective((MPI_Comm)(intptr_t)comm, code);
}

static void after_collective_fortran(int comm, int code)
{
    after_collective(mh_comm_of_fortran(comm), code);
}

static bool is_wtime_keyval(int keyval, bool fortran)
{
#ifdef MPICH_NUMVERSION
    /* The keys of Fortran, whose attributes are values, follow those of C. */
    return has_clock && keyval == MPI_WTIME_IS_GLOBAL + fortran;
#else
    (void)fortran;
    return has_clock && keyval == MPI_WTIME_IS_GLOBAL;
#endif
}

/* What the front looks for. */
extern const preload_back mpix_preload_back;
__attribute__((visibility("default"))) const preload_back mpix_preload_back = {
    .begin = begin,
    .end = end,
    .barrier = barrier_c,
    .barrier_fortran = barrier_fortran,
    .after_collective = after_collective_c,
    .after_collective_fortran = after_collective_fortran,
    .wtime = wtime,
    .is_wtime_keyval = is_wtime_keyval,
};
