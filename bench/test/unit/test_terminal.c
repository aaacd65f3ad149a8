/* SPDX-License-Identifier: BSD-3-Clause */
/* test_terminal.c - looking for the terminal of a launcher changes nothing. */
#define _GNU_SOURCE
#include "common/cli/terminal.h"

#include "unit/support.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { USUAL_WIDTH = 80 };

/* Its standard error is a file that was removed. It starts a process whose standard error is a pipe. */
static int run_launcher(const char *path)
{
    int ends[2], status;
    const int removed = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (removed < 0 || unlink(path) != 0 || dup2(removed, STDERR_FILENO) < 0 || pipe(ends) != 0 ||
        prctl(PR_SET_NAME, "mpiexec") != 0)
        return -1;
    const pid_t child = fork();
    if (child == 0)
        _exit(dup2(ends[1], STDERR_FILENO) < 0 ? -1 : terminal_columns(USUAL_WIDTH));
    return waitpid(child, &status, 0) == child ? WEXITSTATUS(status) : -1;
}

TEST(a_launcher_without_terminal_has_no_columns)
{
    char path[64], made[sizeof path + sizeof " (deleted)"];
    int status;
    snprintf(path, sizeof path, "/dev/shm/mpix-terminal-%d", (int)getpid());
    snprintf(made, sizeof made, "%s (deleted)", path);
    const pid_t launcher = fork();
    if (launcher == 0)
        _exit(run_launcher(path));
    ck_assert_int_eq(waitpid(launcher, &status, 0), launcher);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the launcher ends with %d", status);
    EXPECT(unlink(made) != 0, "there is a file %s", made);
}
