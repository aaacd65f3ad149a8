/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * back.c - from MPI_Init to MPI_Finalize, the table by which the front finds what it calls, and what the launcher asks
 * before a program starts.
 */
#define _GNU_SOURCE
#include "generated/functions.h"
#include "trace/shared/interposer.h"
#include "trace/back/twin.h"
#include "pure/launcher.h"
#include "pure/setting_names.h"
#include "pure/text.h"
#include "settings.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_SPEAKS_S = 1, STATUS_REFUSED = 2 };

#define NAME(name) "MPI_" #name,
static const char *const function_names[] = {INTERPOSE_FUNCTIONS(NAME)};
enum { FUNCTIONS = sizeof function_names / sizeof *function_names };

MPI_Comm mh_twin_of_world = MPI_COMM_NULL;
bool mh_has_threads;
static int does;                      /* what front.c is told */
static bool is_wanted[FUNCTIONS + 1]; /* by id of the function, to be recorded */
static int own_rank;                  /* in the world */
static int has_spawned;               /* by any thread */

/* With or without MPI_, in any case. Returns false if the pattern fits no function. */
static bool want(const char *pattern)
{
    bool fits_any = false;
    for (size_t i = 0; i < FUNCTIONS; i++)
        if (fnmatch(pattern, function_names[i], FNM_CASEFOLD) == 0 ||
            fnmatch(pattern, function_names[i] + strlen("MPI_"), FNM_CASEFOLD) == 0)
            fits_any = is_wanted[i + 1] = true;
    return fits_any;
}

/*
 * By names and patterns in a list, which is cut; if it is empty, all but MPI_Wtime and MPI_Wtick, which come last.
 * Returns NULL, or a pattern that fits none: mpix_trace refuses that.
 */
static const char *choose_functions(char *list)
{
    char *rest = NULL;
    for (size_t i = 0; i < FUNCTIONS - 2; i++)
        is_wanted[i + 1] = !list[0];
    for (char *pattern = strtok_r(list, ",", &rest); pattern; pattern = strtok_r(NULL, ",", &rest))
        if (!want(pattern))
            return pattern;
    return NULL;
}

/* reason: NULL if there is none, so that this can be done; otherwise rank 0 says so. */
static bool can(const char *reason, const char *tool, const char *without)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (reason && rank == 0)
        mh_interpose_print("%s: %s; the program runs %s\n", tool, reason, without);
    return !reason;
}

/* Processes that do not know of each other would overwrite each other's files: as all of them end, the job does. */
static void check_launcher(void)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "", message[MH_LAUNCHER_MESSAGE];
    int size = 0, length;
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    PMPI_Get_library_version(library, &length);
    if (!mh_launcher_leaves_alone(size, library, message))
        return;
    if (*message)
        mh_interpose_print("%s: %s\n", mh_choices_name(), message);
    if (mh_choices.records)
        rmdir(mh_choices.folder); /* if it is empty */
    PMPI_Finalize();
    sleep(FIRST_SPEAKS_S);
    _Exit(STATUS_REFUSED);
}

/* Choices of rank 0 are for all processes. */
static void begin_all(const interpose_choices *choices, interpose_file standard_error, int64_t entered_raw_ns,
                      trace_call *call)
{
    int thread_level = MPI_THREAD_MULTIPLE;
    char only[CHOICES_TEXT];
    const int64_t left_raw_ns = trace_raw_now_ns();
    mh_choices = *choices;
    mh_standard_error = standard_error;
    check_launcher();
    mh_twin_of_world = mh_interpose_twin(MPI_COMM_WORLD);
    const bool has_twin = mh_twin_of_world != MPI_COMM_NULL;
    PMPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
    if (!can(has_twin ? NULL : "MPI_Comm_split of MPI_COMM_WORLD failed on at least one process", mh_choices_name(),
             mh_choices_without()))
        return;
    PMPI_Bcast(&mh_choices, (int)sizeof mh_choices, MPI_BYTE, 0, mh_twin_of_world);
    PMPI_Query_thread(&thread_level);
    mh_has_threads = !mh_interpose_agree(thread_level != MPI_THREAD_MULTIPLE, mh_twin_of_world);
    strcpy(only, mh_choices.only);
    choose_functions(only);
    if (mh_choices.harmonizes && can(mh_preload_begin(), "mpix_preload", "without the preload"))
        does |= INTERPOSE_HARMONIZES;
    if (mh_choices.records &&
        can(mh_trace_begin(function_names, is_wanted, FUNCTIONS, entered_raw_ns, left_raw_ns, call), "mpix_trace",
            "without being recorded"))
        does |= INTERPOSE_RECORDS;
    if (!does)
        PMPI_Comm_free(&mh_twin_of_world);
}

static int begin(const interpose_choices *choices, interpose_file standard_error, int64_t entered_raw_ns,
                 trace_call *call)
{
    interpose_thread_state its;
    mh_interpose_leave_state(&its);
    begin_all(choices, standard_error, entered_raw_ns, call);
    mh_interpose_restore_state(&its);
    return does;
}

/* In the trace, it is no computation of the program. */
static void after_collective(trace_call *recorded, MPI_Comm comm, int result)
{
    if (!mh_interpose_was_refused(result))
        mh_preload_know(comm);
    if (!mh_preload_is_look_due(comm, result))
        return;
    interpose_thread_state its;
    mh_interpose_leave_state(&its);
    if (recorded)
        mh_trace_clock_region(recorded, true);
    mh_preload_look();
    if (recorded)
        mh_trace_clock_region(recorded, false);
    mh_interpose_restore_state(&its);
}

/* One line for all processes: of rank 0, at once if it takes part, and otherwise at the end. */
static void say_spawned(void)
{
    static bool is_said;
    if (own_rank == 0 && !__atomic_exchange_n(&is_said, true, __ATOMIC_RELAXED))
        mh_interpose_print("%s: processes that MPI_Comm_spawn starts run %s, if their command is not %s\n",
                           mh_choices_name(), mh_choices_without(), mh_choices_name());
}

static void spawn(void)
{
    __atomic_store_n(&has_spawned, 1, __ATOMIC_RELAXED);
    say_spawned();
}

static void end(trace_call *call)
{
    interpose_thread_state its;
    int some_spawned = 0;
    mh_interpose_leave_state(&its);
    if (does & INTERPOSE_RECORDS)
        mh_trace_end(call);
    if (does & INTERPOSE_HARMONIZES)
        mh_preload_end();
    PMPI_Reduce(&has_spawned, &some_spawned, 1, MPI_INT, MPI_MAX, 0, mh_twin_of_world);
    if (some_spawned)
        say_spawned();
    PMPI_Comm_free(&mh_twin_of_world);
    mh_interpose_restore_state(&its);
}

/* What the front looks for. The linker knows where this object begins and ends. */
#define ENTRY(name) .name = mh_trace_##name,
extern const char __ehdr_start[] __attribute__((visibility("hidden"))), _end[] __attribute__((visibility("hidden")));
extern const interpose_back mpix_interpose_back;
__attribute__((visibility("default")))
const interpose_back mpix_interpose_back = {.code = __ehdr_start,
                                            .code_end = _end,
                                            .begin = begin,
                                            .end = end,
                                            .spawn = spawn,
                                            .barrier = mh_preload_barrier,
                                            .know = mh_preload_know,
                                            .expect = mh_preload_expect,
                                            .after_collective = after_collective,
                                            .wtime = mh_preload_wtime,
                                            .is_wtime_keyval = mh_preload_is_wtime_keyval,
                                            TRACE_OPERATIONS(ENTRY)};

/* ---- Before a program starts: MPI is not started */

static void refuse_pattern(const char *tool, const char *pattern)
{
    const char *names[FUNCTIONS]; /* without MPI_, which says nothing */
    for (size_t i = 0; i < FUNCTIONS; i++)
        names[i] = function_names[i] + strlen("MPI_");
    const size_t likest = mh_likest(pattern + (mh_has_prefix(pattern, "MPI_") ? strlen("MPI_") : 0), names, FUNCTIONS);
    fprintf(stderr, "%s: option --only: \"%s\" matches no function of MPI%s%s%s\n", tool, pattern,
            likest < FUNCTIONS ? "; did you mean " : "", likest < FUNCTIONS ? function_names[likest] : "",
            likest < FUNCTIONS ? "?" : "");
}

extern char **environ;

static bool are_settings_good(const char *tool)
{
    mh_settings settings;
    mh_error error = MH_NO_ERROR;
    char text[256];
    for (char **entry = environ; *entry; entry++)
        if (mh_variable_is_unknown(*entry)) {
            mh_variable_describe(*entry, text, sizeof text);
            fprintf(stderr, "%s: %s\n", tool, text);
        }
    if (mh_settings_from_environment(&settings, &error) == MPI_SUCCESS)
        return true;
    fprintf(stderr, "%s: %s\n", tool, error.message);
    return false;
}

extern interpose_check mpix_interpose_check;
__attribute__((visibility("default"))) bool mpix_interpose_check(const char *tool, const char *only)
{
    char list[CHOICES_TEXT];
    if (!are_settings_good(tool))
        return false;
    snprintf(list, sizeof list, "%s", only);
    const char *unknown = choose_functions(list);
    if (unknown)
        refuse_pattern(tool, unknown);
    return !unknown;
}
