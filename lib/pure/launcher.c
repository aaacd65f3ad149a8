/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launcher.c - read what launchers pass to each process in variables.
 *
 * A launcher of an MPI library tells its processes how many they are. A manager of resources starts any program several
 * times, and a program of MPI learns of the others only if the manager serves its MPI library. Launchers use managers
 * to start daemons, so processes of a launcher see variables of both.
 */
#define _GNU_SOURCE
#include "pure/launcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VERSION_SIZE = 64 };

typedef struct {
    const char *name, *size, *rank;
    const char *for_mpich, *for_open_mpi; /* of a manager: by which option it serves them */
} launcher;
static const launcher mpich = {.name = "MPICH", .size = "PMI_SIZE", .rank = "PMI_RANK"};
static const launcher open_mpi = {.name = "Open MPI", .size = "OMPI_COMM_WORLD_SIZE", .rank = "OMPI_COMM_WORLD_RANK"};
static const launcher slurm = {"srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "--mpi=pmi2", "--mpi=pmix"};
static const launcher flux = {"flux run", "FLUX_JOB_SIZE", "FLUX_TASK_RANK", "-o pmi=simple", "-o pmi=pmix"};

/*
 * The value of a variable in the environment with which this process was started, or NULL: the caller frees it. Open
 * MPI sets the variables of its launcher in a process that is alone.
 */
static char *find(const char *variable)
{
    FILE *file = fopen("/proc/self/environ", "r");
    const size_t length = strlen(variable);
    const char *later = getenv(variable);
    char *entry = NULL, *value = NULL;
    size_t size = 0;
    if (!file)
        return later ? strdup(later) : NULL;
    while (!value && getdelim(&entry, &size, '\0', file) > 0)
        if (strncmp(entry, variable, length) == 0 && entry[length] == '=')
            value = strdup(entry + length + 1);
    free(entry);
    fclose(file);
    return value;
}

static int number_of(const char *variable)
{
    char *value = find(variable);
    const int number = value ? atoi(value) : -1;
    free(value);
    return number;
}

static bool has(const char *variable)
{
    return number_of(variable) >= 0;
}

/* PMIx serves processes of Slurm, too, and Hydra and Slurm have the variables of PMI in common. */
static bool is_of_mpi_launcher(void)
{
    char *served = find("PMIX_NAMESPACE");
    const bool is_by_other = served && strncmp(served, "slurm.", strlen("slurm.")) != 0 && !has(flux.size);
    free(served);
    return is_by_other || has("MPI_LOCALNRANKS") || has(open_mpi.size);
}

/*
 * srun --pty starts a shell as a task of a step, and what runs in the shell has its variables: it is not a task. Steps
 * that are started in the shell have the port of the terminal, too, and tasks of their own.
 */
static bool is_in_shell_of_slurm(void)
{
    return has("SLURM_PTY_PORT") && number_of("SLURM_TASK_PID") != (int)getpid() && !is_of_mpi_launcher();
}

/* What started this process several times, without a launcher in between; or NULL. */
static const launcher *find_manager(void)
{
    if (is_of_mpi_launcher())
        return NULL;
    return number_of(slurm.size) > 1 && has(slurm.rank) ? &slurm
           : number_of(flux.size) > 1 && has(flux.rank) ? &flux
                                                        : NULL;
}

bool mh_launcher_is_first(void)
{
    const char *const ranks[] = {mpich.rank, open_mpi.rank, "PMIX_RANK", "PALS_RANKID", slurm.rank, flux.rank};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        if (has(ranks[i]))
            return number_of(ranks[i]) == 0;
    return true;
}

/* A job of one process may be within a job of another launcher, whose variables it sees as well. */
static const launcher *find_launcher(void)
{
    const launcher *manager = find_manager();
    const int of_mpich = number_of(mpich.size), of_open_mpi = number_of(open_mpi.size);
    if (of_mpich == 1 || of_open_mpi == 1 || is_in_shell_of_slurm())
        return NULL;
    return manager ? manager : of_mpich > 1 ? &mpich : of_open_mpi > 1 ? &open_mpi : NULL;
}

bool mh_launcher_is_slurm(void)
{
    return find_launcher() == &slurm;
}

int mh_launcher_count(void)
{
    const launcher *by = find_launcher();
    return by ? number_of(by->size) : 1;
}

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

/* If the usual one was given already, also with a version as in pmix_v4, the MPI library is built for the other one. */
static const char *option_for(const launcher *manager, const char *library)
{
    const bool is_open_mpi = strncmp(library, "Open MPI", strlen("Open MPI")) == 0;
    const char *usual = is_open_mpi ? manager->for_open_mpi : manager->for_mpich, *given = getenv("SLURM_MPI_TYPE");
    const char *type = strchr(usual, '=') + 1;
    const bool is_given = manager == &slurm && given && strncmp(given, type, strlen(type)) == 0;
    return is_given == is_open_mpi ? manager->for_mpich : manager->for_open_mpi;
}

bool mh_launcher_leaves_alone(int world_size, const char *library, char message[MH_LAUNCHER_MESSAGE])
{
    const launcher *by = find_launcher();
    const char *allowed = getenv("MPIX_SINGLETONS");
    char version[VERSION_SIZE];
    if (world_size != 1 || !by || (allowed && *allowed))
        return false;
    cut_version(library, version);
    *message = '\0';
    if (!mh_launcher_is_first())
        return true;
    int length =
        snprintf(message, MH_LAUNCHER_MESSAGE, "%s%s started %d processes, and each is alone in MPI_COMM_WORLD: ",
                 by->for_mpich ? "" : "a launcher for ", by->name, number_of(by->size));
    char *rest = message + length;
    const size_t room = MH_LAUNCHER_MESSAGE - (size_t)length;
    if (by->for_mpich)
        snprintf(rest, room, "give %s %s, which %s needs (MPIX_SINGLETONS=yes allows it)", by->name,
                 option_for(by, library), version);
    else
        snprintf(rest, room,
                 "use the launcher of the program's MPI library, which is %s (MPIX_SINGLETONS=yes allows it)", version);
    return true;
}

void mh_launcher_warn_alone(int world_size, const char *library)
{
    static bool is_said;
    char message[MH_LAUNCHER_MESSAGE];
    if (!__atomic_exchange_n(&is_said, true, __ATOMIC_RELAXED) &&
        mh_launcher_leaves_alone(world_size, library, message) && *message)
        fprintf(stderr, "libmpix_harmonize: %s\n", message);
}
