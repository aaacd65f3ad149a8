/* SPDX-License-Identifier: BSD-3-Clause */
/* back.c - the clock of the world, and what the front calls. */
#include "preload/back.h"
#include "preload/preload.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(MPI_Fint) == sizeof(int), "the front takes integers of Fortran for ints");

preload_options mh_preload_options;
MPI_Comm mh_preload_world = MPI_COMM_NULL;

/* MPI_Wtime is the plain one of rank 0 when the clocks were first synchronized, and goes on by global time. */
static double epoch_s;
/* Global less plain time of this process, for after MPI_Finalize. */
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

/* A launcher of another MPI library starts processes that do not know of each other. */
static void check_launcher(void)
{
    static const char *const variables[][2] = {{"PMI_SIZE", "PMI_RANK"},
                                               {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}};
    int size = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; size == 1 && i < sizeof variables / sizeof *variables; i++) {
        const char *started = getenv(variables[i][0]), *rank = getenv(variables[i][1]);
        if (started && atoi(started) > 1 && (!rank || atoi(rank) == 0))
            fprintf(stderr,
                    "mpix_preload: the launcher started %s processes, and each is alone in MPI_COMM_WORLD: "
                    "take the launcher of the program's MPI library\n",
                    started);
    }
}

/* Why the library failed: its own words, if it can be asked, or those of MPI. */
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

static void give_up(int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int rank;
    PMPI_Comm_rank(mh_preload_world, &rank);
    read_reason(code, text);
    if (rank == 0)
        fprintf(stderr, "mpix_preload: %s; the program runs without the preload\n", text);
    mh_preload_world = MPI_COMM_NULL;
}

static bool global_time(double *seconds)
{
    if (PMPIX_Global_time(mh_preload_world, seconds) != MPI_SUCCESS)
        return false;
    *seconds += epoch_s;
    return true;
}

static void start_clock(void)
{
    double global_s = 0, plain_s = PMPI_Wtime();
    PMPIX_Global_time(mh_preload_world, &global_s);
    epoch_s = plain_s - global_s;
    PMPI_Bcast(&epoch_s, 1, MPI_DOUBLE, 0, mh_preload_world);
    ahead_of_plain_s = epoch_s + global_s - plain_s;
    has_clock = true;
}

static void begin(void)
{
    int rank = 0, code = MPI_ERR_OTHER;
    check_launcher();
    mh_preload_world = mh_preload_twin(MPI_COMM_WORLD);
    if (mh_preload_world == MPI_COMM_NULL)
        return;
    PMPI_Comm_rank(mh_preload_world, &rank);
    if (rank == 0)
        read_options(&mh_preload_options);
    PMPI_Bcast(&mh_preload_options, (int)sizeof mh_preload_options, MPI_BYTE, 0, mh_preload_world);
    code = PMPIX_Clock_sync(mh_preload_world);
    if (code != MPI_SUCCESS) {
        give_up(code);
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

/* The conversion is that of the register in which the handle came, see preload.h. */
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
    .wtime = wtime,
    .is_wtime_keyval = is_wtime_keyval,
};
