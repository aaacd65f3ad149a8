/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * refusal.c - end a job before MPI_Init.
 *
 * Hydra and srun let the others wait for ever if a process ends with a status other than 0 before MPI_Init, srun also
 * if a signal ends it. So they are told, in ways that need no library. Open MPI's launchers end the job for any status.
 */
#define _GNU_SOURCE
#include "trace/launcher/refusal.h"

#include "pure/launcher.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Launchers were seen to lose what a process wrote just before. */
enum { LINE = 128, FIRST_SPEAKS_S = 2, PATIENCE_S = 10, PAUSE_NS = 200 * 1000 * 1000 };

void mh_refusal_let_first_speak(void)
{
    if (!mh_launcher_is_first())
        sleep(FIRST_SPEAKS_S);
}

/* By version 1 of the protocol, which Hydra, srun --mpi=pmi2 and Flux know. A socket of the user's is no harm. */
static bool abort_by_pmi(int status)
{
    static const char hello[] = "cmd=init pmi_version=1 pmi_subversion=1\n";
    const char *value = getenv("PMI_FD");
    const int connection = value ? atoi(value) : -1;
    char line[LINE] = "";
    if (connection < 0 || send(connection, hello, strlen(hello), MSG_NOSIGNAL) < 0)
        return false;
    for (ssize_t length = 0, more = 1; more > 0 && length < LINE - 1 && !strchr(line, '\n'); length += more)
        more = recv(connection, line + length, (size_t)(LINE - 1 - length), 0);
    const int length = snprintf(line, sizeof line, "cmd=abort exitcode=%d\n", status);
    return send(connection, line, (size_t)length, MSG_NOSIGNAL) == length;
}

static bool cancel_step_of_slurm(void)
{
    const char *job = getenv("SLURM_JOB_ID"), *step = getenv("SLURM_STEP_ID");
    char id[LINE];
    int status = 1;
    if (!mh_launcher_is_slurm() || !job || !step)
        return false;
    snprintf(id, sizeof id, "%s.%s", job, step);
    pid_t child = fork();
    if (child == 0) {
        execlp("scancel", "scancel", id, NULL);
        _exit(1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

void mh_refusal_end_job(int status)
{
    sigset_t signals;
    if (mh_launcher_count() == 1 || getenv("OMPI_COMM_WORLD_SIZE"))
        exit(status);
    sigfillset(&signals);
    sigprocmask(SIG_UNBLOCK, &signals, NULL);
    signal(SIGALRM, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    alarm(PATIENCE_S);
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    if (abort_by_pmi(status) || cancel_step_of_slurm())
        for (;;)
            pause();
    kill(getpid(), SIGTERM); /* other launchers take a signal for a failure of the job */
    exit(status);
}
