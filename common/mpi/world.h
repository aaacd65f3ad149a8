/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world.h - what every program here needs of MPI: start and end, a communicator, agreement on errors.
 *
 * Rank 0 does all the printing, except about an error that only another rank met.
 */
#ifndef WORLD_H
#define WORLD_H

#include "common/cli/options.h"

#include <mpi.h>
#include <mpix_harmonize.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What takes the place of MPI_Init, which then follows. */
typedef struct world_session {
    const char *functions;               /* MPI's, which are called */
    MPI_Comm (*begin)(bool has_threads); /* returns a communicator of all processes */
    void (*end)(void);                   /* when that is free */
} world_session_t;

typedef struct world {
    const char *program;
    MPI_Comm comm; /* a duplicate of MPI_COMM_WORLD, or that of a session, which returns errors */
    int rank;
    int ranks;
    int nodes;
    /* Of world_begin_measured: when MPI_Init began and ended on this rank, and the first barrier, by system_time_ns. */
    int64_t begun_ns, initialized_ns, met_ns;
    int thread_level;               /* likewise: MPI's, the least of all ranks */
    const char *begun_by;           /* likewise: MPI's functions, on this rank */
    const world_session_t *session; /* NULL: MPI_Init was the first */
} world_t;

/*
 * world_begin - initialize MPI and fill in the world of a program of this name. Ends the program if the launcher of
 * another MPI library started it, and the first process says so. Collective over all processes.
 */
void world_begin(world_t *world, const char *program, int *argc, char ***argv);

/*
 * world_begin_measured - world_begin, of which the times are kept; the first call is a barrier of all processes.
 * has_threads: MPI is to begin with MPI_THREAD_MULTIPLE. Ranks may differ in this, as each has its own command line.
 * session: NULL if MPI is to begin by MPI_Init; ranks may not differ in this.
 */
void world_begin_measured(world_t *world, const char *program, bool has_threads, const world_session_t *session,
                          int *argc, char ***argv);

/* world_end - finalize MPI. Collective. Returns status, or STATUS_FAILED if standard output could not be written. */
int world_end(world_t *world, int status);

/*
 * world_start - world_begin; then read the command line on rank 0 and give the settings, at first the defaults, to all.
 * Values of kind OPTION_TEXT are of use on rank 0 only.
 *
 * Returns true to go on; else *status is the exit status.
 */
bool world_start(world_t *world, const program_spec_t *program, int argc, char **argv, void *settings,
                 size_t settings_bytes, int *status);

/* world_refuse - print one line on rank 0 about an option; returns STATUS_BAD_OPTION. The same on all ranks. */
int world_refuse(const world_t *world, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * world_require_ranks - refuse fewer ranks than a measurement between ranks takes, before it begins. Returns a status.
 */
int world_require_ranks(const world_t *world, int min);

/*
 * world_tell_unbound - before a measurement, say on rank 0 if ranks are not bound, so that two of them may meet on a
 * processor. Nothing is said if a node has fewer processors than ranks: results say this. Collective.
 */
void world_tell_unbound(const world_t *world);

/*
 * world_has_processors - whether so many threads of this process have a processor each, and all those of the processes
 * of the world on this node. Collective.
 */
bool world_has_processors(const world_t *world, int threads);

/* world_progress - show on a terminal what rank 0 does, in place of what was shown; "%s", "" for nothing. Local. */
void world_progress(const world_t *world, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* world_set - give the library a setting for the communicator, or none if the value is empty. Collective. */
int world_set(const world_t *world, const char *key, const char *value);

/* world_duplicate - the world with a communicator of its own, which the caller frees. Collective. */
world_t world_duplicate(const world_t *world);

/* world_split - those that give the same name, by its first 63 bytes; the caller frees the communicator. Collective. */
MPI_Comm world_split(const world_t *world, const char *name);

/* world_node - a communicator of the processes of the world on this node, which the caller frees. Collective. */
MPI_Comm world_node(const world_t *world);

/* world_and - whether condition is not 0 on all ranks, on all. Collective. */
int world_and(const world_t *world, int condition);

/*
 * world_all - true on all ranks if condition is true on all. Collective. The condition once more, and without a branch:
 * an analyzer, which sees one process, learns what holds in this one.
 */
static inline bool world_all(const world_t *world, bool condition)
{
    return (world_and(world, condition) & (int)condition) != 0;
}

/* world_agree - true on all ranks if a call returned MPI_SUCCESS on all. The first that failed says so. Collective. */
bool world_agree(const world_t *world, int code, const char *call);

/*
 * world_fail - say that a call failed on this rank, and end the job: the others may be waiting in the same call. call:
 * its name; arguments behind it, from a parenthesis on, are not shown.
 */
void world_fail(const world_t *world, int code, const char *call) __attribute__((noreturn));

/* world_abort - say what is wrong on this rank, and end the job. */
void world_abort(const world_t *world, const char *what) __attribute__((noreturn));

/* world_before_abort - what world_fail and world_abort do on their rank before they end the job. */
void world_before_abort(void (*clean)(void));

/*
 * world_allocate - zeroed memory for so many items; world_abort if there is none. The caller frees it. Local. advice:
 * added to the message, such as ": give less for --reads".
 */
void *world_allocate(const world_t *world, int64_t count, size_t item_bytes, const char *advice);

/* world_require_code - world_fail if code is an error. Local. */
static inline void world_require_code(const world_t *world, int code, const char *call)
{
    if (__builtin_expect(code != MPI_SUCCESS, 0))
        world_fail(world, code, call);
}

/* world_require - likewise of an MPI call, which is named as it is written here. */
#define world_require(world, call) world_require_code(world, call, #call)

/* world_statistic - a value that MPIX_Harmonize_get_info gives. Returns false, and an empty text, for none. Local. */
bool world_statistic(const world_t *world, const char *key, char *text, size_t text_bytes);

/* world_number - likewise, if it is a whole number; 0 for none. Local. */
int64_t world_number(const world_t *world, const char *key);

/* world_time_ns - the global clock. Local. */
static inline int64_t world_time_ns(const world_t *world)
{
    int64_t reading_ns, bound_ns;
    world_require(world, MPIX_Global_time_ns(world->comm, &reading_ns, &bound_ns));
    return reading_ns;
}

/* world_crowding - what to say after an error that no call was valid: "", or that processors are too few. Local. */
const char *world_crowding(const world_t *world);

/* world_bound_ns - the bound that the global clock states for this rank now; INT64_MAX: none is known. Local. */
int64_t world_bound_ns(const world_t *world);

/* world_max - the largest of all ranks' numbers, on all. Collective. */
int64_t world_max(const world_t *world, int64_t number);

/* world_library - the first line of what the MPI library says of its version. Local. */
enum { LIBRARY_BYTES = MPI_MAX_LIBRARY_VERSION_STRING + 1 };
void world_library(char text[LIBRARY_BYTES]);

/* world_describe - print the lines that head a table, on rank 0: program, version, what it measures, library, ranks. */
void world_describe(const world_t *world, FILE *file, const char *title);

#endif
