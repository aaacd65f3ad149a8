/* SPDX-License-Identifier: BSD-3-Clause */
/* launcher.c - compare what launchers pass to each process in variables with what the MPI library knows. */
#include "pure/launcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION_SIZE = 64 };

/* The first words of what an MPI library says of its version, with one blank between them. */
static void cut_version(const char *text, char version[VERSION_SIZE])
{
    size_t length = 0;
    for (; *text && !strchr(",\n", *text) && length < VERSION_SIZE - 1; text++) {
        char c = *text;
        if (c == '\t')
            c = ' ';
        if (c != ' ' || (length > 0 && version[length - 1] != ' '))
            version[length++] = c;
    }
    version[length] = '\0';
}

bool mh_launcher_is_other(int world_size, const char *library, char message[MH_LAUNCHER_MESSAGE])
{
    static const struct {
        const char *size, *rank, *name;
    } launchers[] = {{"PMI_SIZE", "PMI_RANK", "MPICH"}, {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "Open MPI"}};
    const char *started = NULL, *rank = NULL, *launcher = NULL;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const char *size = getenv(launchers[i].size);
        /* A job of one process may be within a job of another launcher, whose variables it sees as well. */
        if (size && atoi(size) == 1)
            return false;
        if (size && atoi(size) > 1 && !started) {
            started = size;
            rank = getenv(launchers[i].rank);
            launcher = launchers[i].name;
        }
    }
    if (world_size != 1 || !started)
        return false;
    char version[VERSION_SIZE];
    cut_version(library, version);
    *message = '\0';
    if (!rank || atoi(rank) == 0)
        snprintf(message, MH_LAUNCHER_MESSAGE,
                 "a launcher for %s started %s processes, and each is alone in MPI_COMM_WORLD: "
                 "use the launcher of the program's MPI library, which is %s",
                 launcher, started, version);
    return true;
}
