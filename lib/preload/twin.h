/* SPDX-License-Identifier: BSD-3-Clause */
/* twin.h - what every back does first: it makes a communicator of its own of the processes of one of the program. */
#ifndef PRELOAD_TWIN_H
#define PRELOAD_TWIN_H

#include <mpi.h>
#include <stdbool.h>

/* Whether all processes agree. Collective; the program's error handler does not see errors. */
bool mh_preload_agree(int mine, MPI_Comm comm);

/* A communicator of the same processes in the same order, without the program's attributes; MPI_COMM_NULL if not. */
MPI_Comm mh_preload_twin(MPI_Comm comm);

/* Whether an error says that MPI refused the arguments of a call, so that it was not made. */
bool mh_preload_was_refused(int result);

/* Whether processes of another world belong to a communicator, which may make the real calls and record nothing. All of
 * its processes see the same. */
bool mh_preload_is_foreign(MPI_Comm comm);

/* A launcher of another MPI library starts processes that do not know of each other: say so, in the name of program. */
void mh_preload_check_launcher(const char *program);

#endif
