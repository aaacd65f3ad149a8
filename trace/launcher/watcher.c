/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watcher.c - a process beside the program, which says at its end that no call of MPI_Init was seen.
 *
 * The program itself cannot: it may have become another one, without the front. The watcher is no child of the program,
 * which may wait for its children, and nothing is left open in the program. It sleeps until one of two things happens:
 * in MPI_Init, the front of the program, or of one that the program started, sends a message, and the watcher leaves;
 * or the program ends. The name of its socket is not of a file system, so other namespaces of files, processes and
 * users have it too.
 */
#define _GNU_SOURCE
#include "trace/launcher/watcher.h"

#include "trace/shared/choices.h"
#include "trace/shared/descriptors.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int told = -1; /* the socket */

/* What the launcher of the job or the program may wait to be closed. Standard error is for the line. */
static void close_others(void)
{
    DIR *files = opendir("/proc/self/fd");
    const struct dirent *file;
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    while (files && (file = readdir(files))) {
        const int descriptor = atoi(file->d_name);
        if (descriptor > STDERR_FILENO && descriptor != told && descriptor != dirfd(files))
            close(descriptor);
    }
    if (files)
        closedir(files);
}

/* Returns whether the program has ended, and nobody has told of MPI_Init. */
static bool await_end(pid_t program)
{
    enum { POLL_MS = 1000 }; /* where the kernel does not tell */
    int process = -1;
#ifdef SYS_pidfd_open
    process = (int)syscall(SYS_pidfd_open, program, 0);
#endif
    struct pollfd events[] = {{.fd = told, .events = POLLIN}, {.fd = process, .events = POLLIN}};
    while (poll(events, 2, process < 0 ? POLL_MS : -1) == 0 && kill(program, 0) == 0)
        ;
    return !events[0].revents && poll(events, 1, 0) == 0;
}

static void say_unseen(void)
{
    mh_interpose_print("%s: no call of MPI_Init was seen on this host: nothing called it, or what did was started "
                       "without LD_PRELOAD, is static or set-user-id, has MPI within itself, or runs in a container; "
                       "the program ran here %s\n",
                       mh_choices_name(), mh_choices_without());
}

static _Noreturn void watch(pid_t program)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    close_others();
    if (!await_end(program))
        _exit(0);
    say_unseen();
    if (mh_choices.records)
        rmdir(mh_choices.folder);
    _exit(0);
}

/* The program would get the watcher as a child, for which it may wait. */
static bool adopts_orphans(void)
{
    int is_subreaper = 0;
    return getpid() == 1 || prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper) != 0 || is_subreaper;
}

void mh_watcher_start(void)
{
    const pid_t program = getpid();
    if (!mh_is_first_process() || adopts_orphans())
        return;
    if (getrandom(&mh_choices.watcher, sizeof mh_choices.watcher, 0) == sizeof mh_choices.watcher)
        told = mh_socket(mh_choices.watcher);
    const pid_t child = told >= 0 ? fork() : -1;
    if (child == 0) {
        if (fork() == 0)
            watch(program);
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
    if (told >= 0)
        close(told);
}
