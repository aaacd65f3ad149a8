/* SPDX-License-Identifier: BSD-3-Clause */
/* back.c - the clock of the world, and what the front calls. */
#include "preload/back.h"
#include "preload/preload.h"
#include "preload/twin.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

_Static_assert(sizeof(MPI_Fint) == sizeof(int), "the front takes integers of Fortran for ints");

preload_options mh_preload_options;
MPI_Comm mh_preload_world = MPI_COMM_NULL;

/* MPI_Wtime begins with that of rank 0 at the first synchronization of the clocks, and continues by global time. */
static double epoch_s;
/* Global minus plain time of this process, for calls after MPI_Finalize. */
static double ahead_of_plain_s;
static bool has_clock, has_ended;

/* The clocks are checked once in this time, after at most so many calls, but not in the first calls after a barrier. */
static const double look_interval_s = 0.01;
static const double s_per_ns = 1e-9;
enum { MAX_STRIDE = 64, MAX_EARLY_LOOKS = 1024, CALLS_AFTER_BARRIER = 16 };
preload_care mh_preload_care;

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

/* ---- Looking after the clock: MPIX_Harmonize synchronizes it as often as it must */

/* All processes make the same collective calls of all processes in the same order, so these are the same on all. */
static int calls_since_look, calls_until_look = 1, early_looks;
static bool cannot_look;

/* The time since the last release of all processes, which was the last check of the clocks: in a replaced barrier, or
 * in look. */
static double since_look_s(void)
{
    int64_t instant_ns, now_ns, bound_ns;
    if (PMPIX_Harmonize_instant(mh_preload_world, &instant_ns) != MPI_SUCCESS ||
        PMPIX_Global_time_ns(mh_preload_world, &now_ns, &bound_ns) != MPI_SUCCESS)
        return HUGE_VAL;
    return (double)(now_ns - instant_ns) * s_per_ns;
}

/*
 * In between, rank 0, whose clock is the reference, tells all processes how long it has been; so they agree. If its
 * clock was set back, global time stands still until somebody looks, so the clock is not asked forever.
 */
static void look(void)
{
    double since_s = since_look_s();
    int flag;
    if (PMPI_Bcast(&since_s, 1, MPI_DOUBLE, 0, mh_preload_world) != MPI_SUCCESS) {
        cannot_look = true;
    } else if (since_s < look_interval_s && early_looks++ < MAX_EARLY_LOOKS) {
        calls_until_look = calls_since_look < MAX_STRIDE ? calls_since_look : MAX_STRIDE;
    } else {
        double calls = calls_since_look * look_interval_s / since_s;
        calls_until_look = calls < 1 ? 1 : calls > MAX_STRIDE ? MAX_STRIDE : (int)calls;
        calls_since_look = early_looks = 0;
        mh_preload_care.looks++;
        cannot_look = PMPIX_Harmonize(mh_preload_world, &flag) != MPI_SUCCESS;
    }
}

/* This precedes the call, whose outcome may differ between processes; but all of them make it. */
void mh_preload_before_call(void)
{
    mh_preload_care.calls++;
    if (cannot_look)
        return;
    calls_since_look++;
    if (--calls_until_look <= 0)
        look();
}

/* So measurements after a barrier are not disturbed. */
void mh_preload_before_harmonize(void)
{
    mh_preload_care.calls++;
    mh_preload_care.looks++;
    calls_since_look = 0;
    calls_until_look = CALLS_AFTER_BARRIER + 1;
}

static void before_collective(MPI_Comm comm)
{
    if (has_clock && !has_ended && mh_preload_is_world(comm))
        mh_preload_before_call();
}

static void before_collective_c(void *comm)
{
    before_collective((MPI_Comm)(intptr_t)comm);
}

static void before_collective_fortran(int comm)
{
    before_collective(PMPI_Comm_f2c(comm));
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
    return barrier(PMPI_Comm_f2c(comm), code);
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
    .before_collective = before_collective_c,
    .before_collective_fortran = before_collective_fortran,
    .wtime = wtime,
    .is_wtime_keyval = is_wtime_keyval,
};
