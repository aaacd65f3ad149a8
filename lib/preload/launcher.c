/* SPDX-License-Identifier: BSD-3-Clause */
/* launcher.c - compare what launchers pass to each process in variables with what the MPI library knows. */
#include "preload/launcher.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

bool mh_launcher_is_other(int world_size, const char *program)
{
    static const char *const variables[][2] = {{"PMI_SIZE", "PMI_RANK"},
                                               {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}};
    const char *started = NULL, *rank = NULL;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *size = getenv(variables[i][0]);
        /* A job of one process may be within a job of another launcher, whose variables it sees as well. */
        if (size && atoi(size) == 1)
            return false;
        if (size && atoi(size) > 1 && !started) {
            started = size;
            rank = getenv(variables[i][1]);
        }
    }
    if (world_size != 1 || !started)
        return false;
    if (!rank || atoi(rank) == 0)
        fprintf(stderr,
                "%s: the launcher started %s processes, and each is alone in MPI_COMM_WORLD: "
                "use the launcher of the program's MPI library\n",
                program, started);
    return true;
}
