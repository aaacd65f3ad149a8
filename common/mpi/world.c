/* SPDX-License-Identifier: BSD-3-Clause */
/* world.c - start and end MPI, agree on errors, and ask the library. */
#define _GNU_SOURCE /* CPU_COUNT */
#include "common/mpi/world.h"

#include "common/mpi/machine_clock.h"
#include "common/cli/output.h"
#include "pure/launcher.h"
#include "common/cli/memory.h"
#include "common/cli/terminal.h"
#include "common/cli/text.h"
#include "common/cli/variables.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * How much later each further rank tells of an error that may be everyone's, up to a rank; and how long a rank that has
 * told waits before it ends all others: launchers were seen to lose what a process wrote just before. And how long all
 * wait before they end, of which only the first tells why: Open MPI's launcher then ends those that are late.
 */
enum { PAUSE_NS = 100 * 1000 * 1000, MAX_PAUSES = 20, ABORT_PAUSE_NS = 2 * PAUSE_NS, REFUSAL_PAUSE_NS = 10 * PAUSE_NS };

/* A launcher has passed on by then what was written. */
enum { LAUNCHER_PAUSE_NS = 2 * 1000 * 1000 };

enum { NAME_BYTES = 64 }; /* the world is split by */

static void count_nodes(world_t *world)
{
    MPI_Comm node = world_node(world);
    int node_rank;
    MPI_Comm_rank(node, &node_rank);
    MPI_Comm_free(&node);
    int leads = node_rank == 0;
    MPI_Allreduce(&leads, &world->nodes, 1, MPI_INT, MPI_SUM, world->comm);
}

/* MPICH 4.2.1 crashes in MPI_Finalize if a session that began before MPI_Init has ended. */
static void finalize(const world_session_t *session)
{
    MPI_Finalize();
    if (session)
        session->end();
}

/* After MPI_Init. all: of all processes, MPI_COMM_WORLD or that of the session, which the world takes over */
static void fill_in(world_t *world, const char *program, const world_session_t *session, MPI_Comm all)
{
    char library[LIBRARY_BYTES], message[MH_LAUNCHER_MESSAGE];
    int size;
    MPI_Comm_size(all, &size);
    world_library(library);
    if (mh_launcher_leaves_alone(size, library, message)) {
        if (*message)
            fprintf(stderr, "%s: %s\n", program, message);
        if (session)
            MPI_Comm_free(&all);
        finalize(session);
        system_sleep_ns(REFUSAL_PAUSE_NS);
        exit(STATUS_BAD_OPTION);
    }
    world->program = program;
    world->session = session;
    world->comm = all;
    if (all == MPI_COMM_WORLD)
        MPI_Comm_dup(all, &world->comm);
    MPI_Comm_rank(world->comm, &world->rank);
    MPI_Comm_size(world->comm, &world->ranks);
    count_nodes(world);
    if (world->rank == 0)
        variables_check(program);
    MPI_Comm_set_errhandler(world->comm, MPI_ERRORS_RETURN);
}

void world_begin(world_t *world, const char *program, int *argc, char ***argv)
{
    output_begin();
    MPI_Init(argc, argv);
    fill_in(world, program, NULL, MPI_COMM_WORLD);
}

static void initialize(world_t *world, bool has_threads, int *argc, char ***argv)
{
    if (has_threads)
        MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &world->thread_level);
    else
        MPI_Init(argc, argv);
}

void world_begin_measured(world_t *world, const char *program, bool has_threads, const world_session_t *session,
                          int *argc, char ***argv)
{
    MPI_Comm all = MPI_COMM_WORLD;
    world->begun_by = session ? session->functions : has_threads ? "MPI_Init_thread" : "MPI_Init";
    output_begin();
    world->begun_ns = system_time_ns();
    if (session)
        all = session->begin(has_threads);
    else
        initialize(world, has_threads, argc, argv);
    world->initialized_ns = system_time_ns();
    MPI_Barrier(all);
    world->met_ns = system_time_ns();
    if (session) { /* files, and the end of all processes, are not of a session, which may have given threads, too */
        initialize(world, has_threads, argc, argv);
        MPI_Query_thread(&world->thread_level);
    }
    fill_in(world, program, session, all);
    world->thread_level = -(int)world_max(world, -world->thread_level);
}

int world_end(world_t *world, int status)
{
    if (!output_finish(stdout, NULL, world->program) && status == STATUS_GOOD)
        status = STATUS_FAILED;
    MPI_Bcast(&status, 1, MPI_INT, 0, world->comm);
    /* MPI libraries were seen to hang if a process finalizes while others still connect. */
    MPI_Barrier(world->comm);
    MPI_Comm_free(&world->comm);
    finalize(world->session);
    return status;
}

bool world_start(world_t *world, const program_spec_t *program, int argc, char **argv, void *settings,
                 size_t settings_bytes, int *status)
{
    int outcome = OPTIONS_RUN;
    world_begin(world, program->name, &argc, &argv);
    if (world->rank == 0)
        outcome = options_parse(program, argc, argv, settings);
    MPI_Bcast(&outcome, 1, MPI_INT, 0, world->comm);
    MPI_Bcast(settings, (int)settings_bytes, MPI_BYTE, 0, world->comm);
    *status = outcome == OPTIONS_BAD ? STATUS_BAD_OPTION : STATUS_GOOD;
    return outcome == OPTIONS_RUN;
}

int world_refuse(const world_t *world, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    /* Texts among the settings are where rank 0 has them. */
    if (world->rank != 0)
        return STATUS_BAD_OPTION;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    options_refuse(world->program, "%s", text);
    return STATUS_BAD_OPTION;
}

int world_require_ranks(const world_t *world, int min)
{
    if (world->ranks >= min)
        return STATUS_GOOD;
    return world_refuse(world, "%d %s too few: start %d or more", world->ranks,
                        world->ranks == 1 ? "rank is" : "ranks are", min);
}

/* Processors that processes may use. */
typedef struct processors {
    int own; /* this process */
    int all; /* all processes of the node, each processor once */
    int sum; /* likewise, once for each process that may use it */
} processors_t;

static processors_t count_processors(MPI_Comm node)
{
    cpu_set_t mine, all;
    processors_t count;
    if (sched_getaffinity(0, sizeof mine, &mine) != 0)
        CPU_ZERO(&mine);
    count.own = CPU_COUNT(&mine);
    MPI_Allreduce(&mine, &all, sizeof mine, MPI_BYTE, MPI_BOR, node);
    MPI_Allreduce(&count.own, &count.sum, 1, MPI_INT, MPI_SUM, node);
    count.all = CPU_COUNT(&all);
    return count;
}

/* Whether ranks of a node may meet on a processor, though each may have one for itself. */
static bool may_meet(MPI_Comm node)
{
    int ranks;
#ifdef SMPI_H
    return false; /* the machine that runs the simulator has other processors */
#endif
    processors_t processors = count_processors(node);
    MPI_Comm_size(node, &ranks);
    return processors.sum > processors.all && ranks <= processors.all;
}

bool world_has_processors(const world_t *world, int threads)
{
    MPI_Comm node = world_node(world);
    processors_t processors = count_processors(node);
    int all_threads;
    MPI_Allreduce(&threads, &all_threads, 1, MPI_INT, MPI_SUM, node);
    MPI_Comm_free(&node);
    return threads <= processors.own && all_threads <= processors.all;
}

void world_tell_unbound(const world_t *world)
{
    MPI_Comm node = world_node(world);
    int any = may_meet(node);
    world_require(world, MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_LOR, world->comm));
    MPI_Comm_free(&node);
    if (any && world->rank == 0)
        fprintf(stderr,
                "%s: ranks are not bound to cores, so two may meet on one: "
                "mpiexec --bind-to core, srun --cpu-bind=cores\n",
                world->program);
}

void world_progress(const world_t *world, const char *format, ...)
{
    enum { MAX_WIDTH = 78, USUAL_WIDTH = 80 };
    static int columns = -1; /* not looked for */
    static bool is_shown;
    char text[MAX_WIDTH + 1];
    va_list arguments;
    if (world->rank == 0 && columns < 0)
        columns = terminal_columns(USUAL_WIDTH);
    if (world->rank != 0 || columns == 0)
        return;
    const int width = columns > MAX_WIDTH ? MAX_WIDTH : columns - 1;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\r%-*.*s%s", width, width, text, text[0] == '\0' ? "\r" : "");
    fflush(stderr);
    /* Rows go another way through a launcher, and are to come after the line is empty. */
    if (is_shown && text[0] == '\0' && !isatty(STDERR_FILENO))
        system_sleep_ns(LAUNCHER_PAUSE_NS);
    is_shown = text[0] != '\0';
}

int world_and(const world_t *world, int condition)
{
    int all = condition;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, world->comm);
    return all;
}

int world_set(const world_t *world, const char *key, const char *value)
{
    MPI_Info info;
    MPI_Info_create(&info);
    if (value[0] != '\0')
        MPI_Info_set(info, key, value);
    int code = MPIX_Harmonize_set_info(world->comm, info);
    MPI_Info_free(&info);
    return code;
}

world_t world_duplicate(const world_t *world)
{
    world_t own = *world;
    world_require(world, MPI_Comm_dup(world->comm, &own.comm));
    return own;
}

MPI_Comm world_split(const world_t *world, const char *name)
{
    MPI_Comm part;
    char own[NAME_BYTES] = "";
    char *names = world_allocate(world, world->ranks, NAME_BYTES, "");
    int first = 0;
    snprintf(own, sizeof own, "%.*s", NAME_BYTES - 1, name);
    MPI_Allgather(own, NAME_BYTES, MPI_CHAR, names, NAME_BYTES, MPI_CHAR, world->comm);
    while (memcmp(names + (size_t)first * NAME_BYTES, own, NAME_BYTES) != 0)
        first++;
    free(names);
    MPI_Comm_split(world->comm, first, world->rank, &part);
    return part;
}

/* An MPI library without shared memory takes each process for alone. Then the names of hosts tell. */
MPI_Comm world_node(const world_t *world)
{
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    MPI_Comm node;
    int size, most;
    world_require(world, MPI_Comm_split_type(world->comm, MPI_COMM_TYPE_SHARED, world->rank, MPI_INFO_NULL, &node));
    MPI_Comm_size(node, &size);
    MPI_Allreduce(&size, &most, 1, MPI_INT, MPI_MAX, world->comm);
    if (most > 1)
        return node;
    MPI_Comm_free(&node);
    MPI_Get_processor_name(host, &size);
    return world_split(world, host);
}

bool world_statistic(const world_t *world, const char *key, char *text, size_t text_bytes)
{
    char value[MPI_MAX_INFO_VAL + 1];
    MPI_Info info;
    int found = 0;
    text[0] = '\0';
    if (MPIX_Harmonize_get_info(world->comm, &info) != MPI_SUCCESS)
        return false;
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
    MPI_Info_free(&info);
    if (found)
        snprintf(text, text_bytes, "%s", value);
    return found && text[0] != '\0';
}

int64_t world_number(const world_t *world, const char *key)
{
    char text[64];
    return world_statistic(world, key, text, sizeof text) ? strtoll(text, NULL, 10) : 0;
}

const char *world_crowding(const world_t *world)
{
    return world_number(world, "mpix_harmonize_oversubscribed") > 0 ? "; there are more processes than processors" : "";
}

int64_t world_bound_ns(const world_t *world)
{
    int64_t time_ns, bound_ns;
    return MPIX_Global_time_ns(world->comm, &time_ns, &bound_ns) == MPI_SUCCESS ? bound_ns : INT64_MAX;
}

int64_t world_max(const world_t *world, int64_t number)
{
    world_require(world, MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT64_T, MPI_MAX, world->comm));
    return number;
}

static void report(const world_t *world, int code, const char *call)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    char detail[MPI_MAX_INFO_VAL + 1];
    int length;
    MPI_Error_string(code, text, &length);
    text[strcspn(text, "\n")] = '\0';
    world_statistic(world, "mpix_harmonize_last_error", detail, sizeof detail);
    if (strcmp(detail, "none") == 0)
        detail[0] = '\0';
    /* Open MPI gives the library's own text for its codes. */
    if (strncmp(detail, text, strlen(text)) == 0)
        text[0] = '\0';
    fprintf(stderr, "%s: %.*s failed on rank %d: %s%s%s\n", world->program, (int)strcspn(call, "("), call, world->rank,
            text, text[0] != '\0' && detail[0] != '\0' ? ": " : "", detail);
}

bool world_agree(const world_t *world, int code, const char *call)
{
    int first_failed = code == MPI_SUCCESS ? world->ranks : world->rank;
    MPI_Allreduce(MPI_IN_PLACE, &first_failed, 1, MPI_INT, MPI_MIN, world->comm);
    if (world->rank == first_failed)
        report(world, code, call);
    return first_failed == world->ranks;
}

/* If several ranks fail at once, the first to report it ends the others before they do. */
static void let_others_speak(const world_t *world)
{
    system_sleep_ns((world->rank < MAX_PAUSES ? world->rank : MAX_PAUSES) * (int64_t)PAUSE_NS);
}

static void (*before_abort)(void);

void world_before_abort(void (*clean)(void))
{
    before_abort = clean;
}

static _Noreturn void abort_all(void)
{
    if (before_abort)
        before_abort();
    system_sleep_ns(ABORT_PAUSE_NS);
    MPI_Abort(MPI_COMM_WORLD, STATUS_FAILED); /* the world of the example may be a part of it */
    abort();
}

void world_fail(const world_t *world, int code, const char *call)
{
    let_others_speak(world);
    report(world, code, call);
    abort_all();
}

void world_abort(const world_t *world, const char *what)
{
    let_others_speak(world);
    fprintf(stderr, "%s: rank %d: %s\n", world->program, world->rank, what);
    abort_all();
}

void *world_allocate(const world_t *world, int64_t count, size_t item_bytes, const char *advice)
{
    char message[200];
    void *memory = calloc(1, array_bytes(count > 0 ? count : 1, item_bytes));
    if (memory)
        return memory;
    snprintf(message, sizeof message, "out of memory%s", advice);
    world_abort(world, message);
}

void world_library(char text[LIBRARY_BYTES])
{
    int length;
    text[0] = '\0';
    MPI_Get_library_version(text, &length);
    text[strcspn(text, "\r\n")] = '\0';
    text_one_line(text);
}

void world_describe(const world_t *world, FILE *file, const char *title)
{
    char library[LIBRARY_BYTES];
    if (world->rank != 0)
        return;
    world_library(library);
    fprintf(file, "# %s %s: %s\n", world->program, options_version(), title);
    fprintf(file, "# MPI library: %s\n", library);
    fprintf(file, "# Ranks: %d on %d %s\n", world->ranks, world->nodes, world->nodes == 1 ? "node" : "nodes");
}
