/* SPDX-License-Identifier: BSD-3-Clause */
/* launcher.h - what launchers tell each process in variables, against what its MPI library knows. No MPI here. */
#ifndef MH_LAUNCHER_H
#define MH_LAUNCHER_H

#include <stdbool.h>

/* Whether this is the first process of a job, as far as launchers tell. One line for all processes is enough. */
bool mh_launcher_is_first(void);

/* How many processes were started together, as far as launchers tell; otherwise 1. */
int mh_launcher_count(void);

/* Whether Slurm started this process as a task of a step: not a launcher that is such a task, nor a batch script. */
bool mh_launcher_is_slurm(void);

/*
 * Whether each of several processes is alone in its world, which has so many processes: their launcher belongs to
 * another MPI library, or was not told which one. The user may want this and set MPIX_SINGLETONS. library: what
 * MPI_Get_library_version says. message: for the first process, one line that says what to do; for the others empty.
 */
enum { MH_LAUNCHER_MESSAGE = 384 };
bool mh_launcher_leaves_alone(int world_size, const char *library, char message[MH_LAUNCHER_MESSAGE]);

/* For the library, which has no other line: once in a process, this message on standard error. */
void mh_launcher_warn_alone(int world_size, const char *library);

#endif
