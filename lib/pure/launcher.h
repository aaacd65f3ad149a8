/* SPDX-License-Identifier: BSD-3-Clause */
/* launcher.h - whether processes were started by the launcher of their MPI library. No MPI here. */
#ifndef MH_LAUNCHER_H
#define MH_LAUNCHER_H

#include <stdbool.h>

enum { MH_LAUNCHER_MESSAGE = 256 };

/*
 * Whether a launcher of another MPI library started this process, whose world has so many processes: those do not know
 * of each other. library: what MPI_Get_library_version says. message: for the first of them, one line that says so;
 * for the others empty.
 */
bool mh_launcher_is_other(int world_size, const char *library, char message[MH_LAUNCHER_MESSAGE]);

#endif
