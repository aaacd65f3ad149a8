/* SPDX-License-Identifier: BSD-3-Clause */
/* forks.c - processes that sleep until they are killed. */
#include "bench/suite/forks.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

/* In the child, which takes nothing to its end that the parent has begun. */
static void sleep_on(pid_t parent)
{
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    signal(SIGTERM, SIG_DFL);
    while (getppid() == parent)
        pause();
    _exit(EXIT_SUCCESS);
}

forks_t forks_open(const world_t *span, int count)
{
    const pid_t parent = getpid();
    forks_t forks = {.ids = world_allocate(span, count, sizeof forks.ids[0], "")};
    fflush(NULL);
    while (forks.count < count) {
        pid_t id = fork();
        if (id == 0)
            sleep_on(parent);
        if (id < 0) {
            forks_close(&forks);
            world_abort(span, "the system forks no further process: give less for --send-threads or --receive-threads");
        }
        forks.ids[forks.count++] = id;
    }
    return forks;
}

void forks_close(forks_t *forks)
{
    for (int i = 0; i < forks->count; i++)
        kill(forks->ids[i], SIGKILL);
    for (int i = 0; i < forks->count; i++)
        waitpid(forks->ids[i], NULL, 0);
    free(forks->ids);
    *forks = (forks_t){.count = 0};
}
