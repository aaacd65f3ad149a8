/* SPDX-License-Identifier: BSD-3-Clause */
/* terminal.c - look for a launcher among the processes above this one, and where its standard error goes. */
#include "common/cli/terminal.h"

#include "common/cli/output.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Launchers have a process or two between themselves and the processes that they start. */
enum { MAX_ABOVE = 6, PATH_BYTES = 256, NAME_BYTES = 32 };

/* A process's name, and the process that started it. */
static bool read_process(long process, char name[NAME_BYTES], long *parent)
{
    static const char name_title[] = "Name:\t", parent_title[] = "PPid:\t";
    char line[PATH_BYTES];
    snprintf(line, sizeof line, "/proc/%ld/status", process);
    FILE *file = fopen(line, "r");
    if (!file)
        return false;
    *parent = 0;
    name[0] = '\0';
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, name_title, strlen(name_title)) == 0)
            snprintf(name, NAME_BYTES, "%.*s", NAME_BYTES - 1, line + strlen(name_title));
        if (strncmp(line, parent_title, strlen(parent_title)) == 0)
            *parent = strtol(line + strlen(parent_title), NULL, 10);
    }
    fclose(file);
    return *parent > 0;
}

static bool is_launcher(const char *name)
{
    static const char *const names[] = {"mpiexec", "mpirun", "orterun", "prterun", "srun"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* 0: there is none. */
static long find_launcher(void)
{
    char name[NAME_BYTES];
    long process = getppid(), parent;
    for (int i = 0; i < MAX_ABOVE && process > 1 && read_process(process, name, &parent); i++, process = parent)
        if (is_launcher(name))
            return process;
    return 0;
}

/* Whether a launcher may read what this process writes. It does not read what goes to a file. */
static bool is_read(void)
{
    struct stat status;
    return fstat(STDERR_FILENO, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

static int columns_of_launcher(int usual)
{
    char link[PATH_BYTES], path[PATH_BYTES] = "";
    long launcher = find_launcher();
    snprintf(link, sizeof link, "/proc/%ld/fd/%d", launcher, STDERR_FILENO);
    if (launcher == 0 || readlink(link, path, sizeof path - 1) < 0 || strncmp(path, "/dev/", 5) != 0)
        return 0;
    const int its = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    FILE *file = its >= 0 ? fdopen(its, "w") : NULL;
    int columns = file && isatty(its) ? output_columns(file, usual) : 0;
    if (file)
        fclose(file);
    else if (its >= 0)
        close(its);
    return columns;
}

int terminal_columns(int usual)
{
    if (isatty(STDERR_FILENO))
        return output_columns(stderr, usual);
    return is_read() ? columns_of_launcher(usual) : 0;
}
