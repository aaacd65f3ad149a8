/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * twin.h - what both parts of the back share.
 *
 * The library never gets a communicator of the program, but a twin of it: one of the back's own, of the same processes.
 * The program's error handlers do not see errors of the back, unless the program gives a communicator that is none.
 */
#ifndef INTERPOSE_TWIN_H
#define INTERPOSE_TWIN_H

#include "trace/shared/choices.h"

#include <fenv.h>
#include <locale.h>
#include <mpi.h>

/* The processes of the program's world, in a communicator of the back's own. */
extern MPI_Comm mh_twin_of_world;
extern bool mh_has_threads; /* MPI_THREAD_MULTIPLE, on some process */

/* Whether all processes agree. Collective; the program's error handler does not see errors. */
bool mh_interpose_agree(int mine, MPI_Comm comm);

/* A communicator of the same processes in the same order, without the program's attributes; MPI_COMM_NULL if not. */
MPI_Comm mh_interpose_twin(MPI_Comm comm);

/* Whether an error says that MPI refused the arguments of a call, so that it was not made. */
bool mh_interpose_was_refused(int result);

/* The ranks in one group of the processes of another, MPI_UNDEFINED of those that are not in it. NULL if there is no
 * memory; the caller frees it. */
int *mh_interpose_ranks(MPI_Group of, MPI_Group in, int *count);

/* Whether processes of another world belong to a communicator, which may make the real calls and record nothing. All of
 * its processes see the same. */
bool mh_interpose_is_foreign(MPI_Comm comm);

/*
 * Whether all processes of the world make calls on a communicator, all in the same order as those on the world: with
 * several threads, it must be the world. Remembered for each communicator.
 */
bool mh_interpose_has_all(MPI_Comm comm);

/* The same of one collective call. One that MPI refuses on a process is not made, and others need not make it. */
bool mh_interpose_is_of_all(MPI_Comm comm, int result);

/*
 * What a thread of the program has set for itself. In between, numbers are written as in C, and computed without traps,
 * to the nearest.
 */
typedef struct {
    locale_t locale;
    fenv_t arithmetic;
} interpose_thread_state;
void mh_interpose_leave_state(interpose_thread_state *its);
void mh_interpose_restore_state(const interpose_thread_state *its);

/* What the library knows of a communicator under this key, as text of at most size - 1. Returns false if nothing. */
bool mh_interpose_statistic(MPI_Comm comm, const char *key, char *text, int size);

#endif
