/* SPDX-License-Identifier: BSD-3-Clause */
/* launcher.h - whether processes were started by the launcher of their MPI library. Tools ask this too; no MPI here. */
#ifndef PRELOAD_LAUNCHER_H
#define PRELOAD_LAUNCHER_H

#include <stdbool.h>

/*
 * Whether a launcher of another MPI library started this process, whose world has so many processes: those do not know
 * of each other. The first of them says so, in the name of program. library: what MPI_Get_library_version says.
 */
bool mh_launcher_is_other(int world_size, const char *library, const char *program);

#endif
