/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Returns 0 or an error. Warnings of gnuplot about ranges of one value are of no use. */
static int start(pid_t *child, FILE *script, int output_descriptor)
{
    char *arguments[] = {"gnuplot", "-d", NULL};
    posix_spawn_file_actions_t actions;
    if (ferror(script) || fflush(script) != 0 || fseek(script, 0, SEEK_SET) != 0)
        return errno != 0 ? errno : EIO;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0)
        return error;
    error = posix_spawn_file_actions_adddup2(&actions, fileno(script), STDIN_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, output_descriptor, STDOUT_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (error == 0)
        error = posix_spawnp(child, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static bool has_succeeded(pid_t child)
{
    int status;
    pid_t ended;
    do
        ended = waitpid(child, &status, 0);
    while (ended < 0 && errno == EINTR);
    return ended == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Copies all that comes, to nowhere if to is negative. Returns 0, ECHILD if a picture did not come, or the error. */
static int copy(int from, int to)
{
    char data[65536];
    int error = to < 0 ? 0 : ECHILD;
    for (;;) {
        ssize_t bytes = read(from, data, sizeof(data));
        if (bytes < 0 && errno == EINTR)
            continue;
        if (bytes <= 0)
            return bytes < 0 ? errno : error;
        for (ssize_t done = 0, written; to >= 0 && done<bytes; done += written> 0 ? written : 0) {
            written = write(to, data + done, (size_t)(bytes - done));
            if (written < 0 && errno != EINTR)
                return errno;
        }
        error = 0;
    }
}

int gnuplot_run(FILE *script, int picture_descriptor)
{
    int ends[2];
    pid_t child = -1;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    int error = start(&child, script, ends[1]);
    close(ends[1]);
    if (error != 0) {
        close(ends[0]);
        return error;
    }
    error = copy(ends[0], picture_descriptor);
    close(ends[0]); /* gnuplot ends, if there is no more to be done with what it draws */
    return has_succeeded(child) || error != 0 ? error : ECHILD;
}
