/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * without.c - what the kernel tells of the other processes of the job on this host.
 *
 * A process that is late, and may come in minutes, is told from one that will never come: this one has an MPI library
 * in its memory, and no front. Its rank is in the environment with which the launcher has started it, and the launcher
 * is above it. Whatever a launcher has started for a rank has this environment, such as a script and its program.
 */
#define _GNU_SOURCE
#include "trace/front/without.h"

#include "trace/shared/choices.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ENTRY_BYTES = 32, PATH_BYTES = 64 };

/* How a variable of the launcher begins the entry of a rank. */
static void make_entry(char entry[ENTRY_BYTES], int rank)
{
    const char *variable = strcmp(FLAVOR, "openmpi") != 0 && getenv("PMI_RANK") ? "PMI_RANK" : "PMIX_RANK";
    snprintf(entry, ENTRY_BYTES, "%s=%d", variable, rank);
}

/* NULL: the process has ended, or is another user's. */
static FILE *open_file(int process, const char *name)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "/proc/%d/%s", process, name);
    return fopen(path, "re");
}

/* Whether a process was started with this in its environment. */
static bool has_entry(int process, const char *entry)
{
    FILE *file = open_file(process, "environ");
    char *text = NULL;
    size_t size = 0;
    bool is_found = false;
    while (file && !is_found && getdelim(&text, &size, '\0', file) > 0)
        is_found = strcmp(text, entry) == 0;
    free(text);
    if (file)
        fclose(file);
    return is_found;
}

/* 0: nobody, as far as is known here. */
static int parent_of(int process)
{
    static const char title[] = "PPid:\t";
    FILE *file = open_file(process, "status");
    char *line = NULL;
    size_t size = 0;
    int parent = 0;
    while (file && parent == 0 && getline(&line, &size, file) > 0)
        if (strncmp(line, title, strlen(title)) == 0)
            parent = (int)strtol(line + strlen(title), NULL, 10);
    free(line);
    if (file)
        fclose(file);
    return parent;
}

/* The first process above this one that was not started for its rank. 0 or 1: it is not known. */
static int launcher_of(int process, const char *entry)
{
    while (process > 1 && has_entry(process, entry))
        process = parent_of(process);
    return process;
}

static bool is_below(int process, int launcher)
{
    while (process > 1 && process != launcher)
        process = parent_of(process);
    return process == launcher;
}

/* What a process has in its memory. One that cannot be looked into may have the front. */
typedef struct {
    bool mpi, front;
} libraries;

static libraries libraries_of(int process)
{
    static const char *const stems[] = {"libmpix_interpose-", "libmpix", "libmpi", NULL};
    enum { FRONT, OTHER, MPI };
    FILE *file = open_file(process, "maps");
    libraries found = {.front = !file};
    char *line = NULL;
    size_t size = 0;
    while (file && getline(&line, &size, file) > 0) {
        const int stem = mh_stem_of(line, stems);
        found.front = found.front || stem == FRONT;
        found.mpi = found.mpi || stem == MPI;
    }
    free(line);
    if (file)
        fclose(file);
    return found;
}

bool mh_interpose_is_without(int rank, int own)
{
    char entry[ENTRY_BYTES], own_entry[ENTRY_BYTES];
    make_entry(entry, rank);
    make_entry(own_entry, own);
    const int launcher = launcher_of(getpid(), own_entry);
    DIR *processes = launcher > 1 && launcher != getpid() ? opendir("/proc") : NULL;
    const struct dirent *file;
    libraries all = {false};
    while (processes && (file = readdir(processes))) {
        const int process = (int)strtol(file->d_name, NULL, 10);
        if (process <= 1 || !has_entry(process, entry) || !is_below(process, launcher))
            continue;
        /* Jobs within the job have ranks, too. */
        const libraries its = libraries_of(process);
        all.front = all.front || its.front;
        all.mpi = all.mpi || (its.mpi && launcher_of(process, entry) == launcher);
    }
    if (processes)
        closedir(processes);
    return all.mpi && !all.front && libraries_of(getpid()).front;
}
