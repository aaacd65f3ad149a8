/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watcher.c - a process beside the program, which says at its end that no call of MPI_Init was seen.
 *
 * The program itself cannot: it may have become another one, without the front. The watcher is no child of the program,
 * which may wait for its children, and nothing is left open in the program. It sleeps until one of two things happens:
 * in MPI_Init, the front of the program, or of one that the program started, writes into the pipe, and the watcher
 * leaves; or the program ends.
 */
#define _GNU_SOURCE
#include "interpose/watcher.h"

#include "interpose/choices.h"
#include "interpose/descriptors.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int told[2] = {-1, -1}; /* the pipe */

/* What the launcher of the job or the program may wait to be closed. Standard error is for the line. */
static void close_others(void)
{
    DIR *files = opendir("/proc/self/fd");
    const struct dirent *file;
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    while (files && (file = readdir(files))) {
        const int descriptor = atoi(file->d_name);
        if (descriptor > STDERR_FILENO && descriptor != told[0] && descriptor != told[1] && descriptor != dirfd(files))
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
    struct pollfd events[] = {{.fd = told[0], .events = POLLIN}, {.fd = process, .events = POLLIN}};
    while (poll(events, 2, process < 0 ? POLL_MS : -1) == 0 && kill(program, 0) == 0)
        ;
    return !events[0].revents && poll(events, 1, 0) == 0;
}

static void say_unseen(void)
{
    mh_interpose_print(
        "%s: no call of MPI_Init was seen: nothing called it, or what did was started without LD_PRELOAD, is static "
        "or set-user-id, or in a container; the program ran %s\n",
        mh_choices_name(), mh_choices_without());
}

static _Noreturn void watch(pid_t program, int birth, bool is_said)
{
    const pid_t self = getpid();
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    const bool is_known = write(birth, &self, sizeof self) == sizeof self;
    close_others();
    if (!is_known || !await_end(program))
        _exit(0);
    if (!is_said)
        say_unseen();
    if (mh_choices.records)
        rmdir(mh_choices.folder);
    _exit(0);
}

void mh_watcher_start(bool is_said)
{
    const pid_t program = getpid();
    pid_t watcher;
    int birth[2];
    if (!mh_is_first_process() || pipe2(birth, O_CLOEXEC) != 0)
        return;
    const pid_t child = pipe2(told, O_CLOEXEC) == 0 ? fork() : -1;
    if (child == 0) {
        if (fork() == 0)
            watch(program, birth[1], is_said);
        _exit(0);
    }
    close(birth[1]);
    if (child > 0)
        waitpid(child, NULL, 0);
    if (read(birth[0], &watcher, sizeof watcher) == sizeof watcher) {
        const interpose_file file = mh_file_of(told[1]);
        mh_choices.watcher = watcher;
        mh_choices.told = told[1];
        mh_choices.told_device = file.device;
        mh_choices.told_inode = file.inode;
    }
    close(birth[0]);
}

void mh_watcher_dismiss(void)
{
    if (told[1] >= 0 && write(told[1], "", 1) != 1)
        errno = 0; /* it says a line too much */
}
