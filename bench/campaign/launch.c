/* SPDX-License-Identifier: BSD-3-Clause */
/* launch.c - start a command, copy its output to a file, and end it on signals and timeouts. */
#define _GNU_SOURCE /* ppoll, pipe2 */
#include "bench/campaign/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#define GRACE_NS INT64_C(5000000000)
enum { NOT_RUN = 127, BUFFER_BYTES = 1 << 16 };

/* What is known of a command while it runs. */
typedef struct child {
    pid_t pid; /* 0: it has ended */
    int status;
    int pipe; /* what it prints; -1: all was read */
    int output;
    int write_error; /* errno, or 0 */
    int64_t kill_ns; /* when it will be killed, as it was asked to end; 0: it was not */
} child_t;

static volatile sig_atomic_t signal_got;
static sigset_t mask_before, mask_within; /* the signals are let in only while this process waits */

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- Signals */

static void take_signal(int number)
{
    if (number != SIGCHLD && signal_got == 0)
        signal_got = number;
}

void launch_prepare(void)
{
    static const int numbers[] = {SIGHUP, SIGINT, SIGTERM, SIGCHLD};
    const struct sigaction action = {.sa_handler = take_signal};
    struct sigaction before;
    sigset_t held;
    sigemptyset(&held);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        sigaddset(&held, numbers[i]);
        sigaction(numbers[i], NULL, &before);
        if (before.sa_handler != SIG_IGN || numbers[i] == SIGCHLD) /* nohup has it ignored */
            sigaction(numbers[i], &action, NULL);
    }
    sigprocmask(SIG_BLOCK, &held, &mask_before);
    mask_within = mask_before;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigdelset(&mask_within, numbers[i]);
}

int launch_signal(void)
{
    const struct timespec no_time = {0};
    ppoll(NULL, 0, &no_time, &mask_within);
    return signal_got;
}

/* ---- Starting */

static bool open_as(int descriptor, const char *path, int flags)
{
    int opened = open(path, flags, 0666);
    return opened >= 0 && dup2(opened, descriptor) == descriptor && (opened == descriptor || close(opened) == 0);
}

/* In the child. Returns only if the command cannot be run. */
static void become(const json_t *variant, pid_t campaign, int output, const char *messages)
{
    const json_t *words = json_object_get(variant, "command");
    json_t *environment = json_object_get(variant, "environment");
    size_t count = json_array_size(words);
    char **arguments = calloc(count + 1, sizeof arguments[0]);
    if (!arguments)
        return;
    for (size_t i = 0; i < count; i++)
        arguments[i] = (char *)json_string_value(json_array_get(words, i));
    for (void *at = json_object_iter(environment); at; at = json_object_iter_next(environment, at))
        setenv(json_object_iter_key(at), json_string_value(json_object_iter_value(at)), 1);
    setpgid(0, 0);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != campaign) /* it ended before that */
        return;
#endif
    if (!open_as(STDIN_FILENO, "/dev/null", O_RDONLY) || dup2(output, STDOUT_FILENO) < 0 ||
        !open_as(STDERR_FILENO, messages, O_WRONLY | O_CREAT | O_TRUNC))
        return;
    sigprocmask(SIG_SETMASK, &mask_before, NULL);
    execvp(arguments[0], arguments);
}

/* Returns 0, or errno. */
static int start(child_t *child, const json_t *variant, const char *messages)
{
    int output[2], failure[2], why = 0;
    pid_t campaign = getpid();
    if (pipe2(output, O_CLOEXEC) != 0)
        return errno;
    if (pipe2(failure, O_CLOEXEC) != 0 || (child->pid = fork()) < 0)
        return errno;
    if (child->pid == 0) {
        become(variant, campaign, output[1], messages);
        why = errno;
        if (write(failure[1], &why, sizeof why) < 0)
            _exit(NOT_RUN + 1);
        _exit(NOT_RUN);
    }
    setpgid(child->pid, child->pid);
    close(output[1]);
    close(failure[1]);
    child->pipe = output[0];
    /* If the command runs, there is nothing to read, and the pipe closes. */
    while (read(failure[0], &why, sizeof why) < 0 && errno == EINTR)
        ;
    close(failure[0]);
    return why;
}

/* ---- Running */

static void write_all(child_t *child, const char *data, ssize_t bytes)
{
    while (bytes > 0 && child->write_error == 0) {
        ssize_t written = write(child->output, data, (size_t)bytes);
        if (written < 0 && errno != EINTR)
            child->write_error = errno;
        data += written > 0 ? written : 0;
        bytes -= written > 0 ? written : 0;
    }
}

/* Takes over what is in the pipe. Returns whether there may be more. */
static bool drain(child_t *child)
{
    static char buffer[BUFFER_BYTES];
    ssize_t bytes = read(child->pipe, buffer, sizeof buffer);
    if (bytes > 0)
        write_all(child, buffer, bytes);
    if (bytes == 0 || (bytes < 0 && errno != EINTR && errno != EAGAIN)) {
        close(child->pipe);
        child->pipe = -1;
    }
    return bytes > 0;
}

/* Waits until the command has printed something, has ended, or a signal or a time has come. */
static void wait_for_child(child_t *child, int64_t until_ns)
{
    struct pollfd poll = {.fd = child->pipe, .events = POLLIN};
    int64_t left_ns = until_ns - now_ns();
    const struct timespec left = {left_ns > 0 ? left_ns / 1000000000 : 0, left_ns > 0 ? left_ns % 1000000000 : 0};
    if (ppoll(&poll, 1, until_ns > 0 ? &left : NULL, &mask_within) > 0)
        drain(child);
    if (waitpid(child->pid, &child->status, WNOHANG) != child->pid)
        return;
    child->pid = 0;
    /* What the command printed is in the pipe, which something that it left behind may keep open. */
    if (child->pipe >= 0)
        fcntl(child->pipe, F_SETFL, O_NONBLOCK);
    while (child->pipe >= 0 && drain(child))
        ;
}

static void ask_to_end(child_t *child)
{
    if (child->kill_ns == 0 && child->pid > 0) {
        kill(-child->pid, SIGTERM);
        child->kill_ns = now_ns() + GRACE_NS;
    } else if (child->pid > 0 && now_ns() >= child->kill_ns) {
        kill(-child->pid, SIGKILL);
        child->kill_ns += GRACE_NS;
    }
}

/* Processes that the command left behind when it was asked to end have as long to end. */
static void end_group(pid_t group)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    int64_t kill_ns = now_ns() + GRACE_NS;
    while (kill(-group, 0) == 0 && now_ns() < kill_ns)
        nanosleep(&pause, NULL);
    kill(-group, SIGKILL);
}

/* Fills in how the command ended. One that has ended by itself is not interrupted, even if a signal came meanwhile. */
static void run_to_end(child_t *child, launch_t *launch, double timeout_s)
{
    pid_t group = child->pid;
    int64_t end_ns = timeout_s > 0 ? now_ns() + (int64_t)(timeout_s * 1e9) : 0;
    while (child->pid > 0) {
        wait_for_child(child, child->kill_ns > 0 ? child->kill_ns : end_ns);
        if (child->pid == 0 && child->write_error == 0)
            break;
        if (signal_got != 0)
            launch->end = LAUNCH_INTERRUPTED, launch->number = signal_got;
        else if (child->write_error != 0)
            launch->end = LAUNCH_NOT_WRITTEN, launch->number = child->write_error;
        else if (end_ns > 0 && now_ns() >= end_ns)
            launch->end = LAUNCH_TIMED_OUT;
        if (launch->end != LAUNCH_EXITED)
            ask_to_end(child);
    }
    if (group > 0 && launch->end != LAUNCH_EXITED && launch->end != LAUNCH_NOT_STARTED)
        end_group(group);
    if (launch->end == LAUNCH_EXITED && WIFSIGNALED(child->status))
        launch->end = LAUNCH_KILLED, launch->number = WTERMSIG(child->status);
    else if (launch->end == LAUNCH_EXITED)
        launch->number = WEXITSTATUS(child->status);
}

launch_t launch_run(const json_t *variant, const char *output, const char *messages, double timeout_s)
{
    launch_t launch = {.end = LAUNCH_EXITED, .started_s = (int64_t)time(NULL)};
    int64_t begin_ns = now_ns();
    child_t child = {.pipe = -1, .output = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
    if (child.output < 0)
        return (launch_t){.end = LAUNCH_NOT_WRITTEN, .number = errno};
    int why = start(&child, variant, messages);
    if (why != 0)
        launch.end = LAUNCH_NOT_STARTED, launch.number = why;
    run_to_end(&child, &launch, timeout_s);
    if (child.pipe >= 0)
        close(child.pipe);
    int written = child.write_error != 0 ? 0 : fsync(child.output);
    if ((close(child.output) != 0 || written != 0) && launch.end == LAUNCH_EXITED)
        launch.end = LAUNCH_NOT_WRITTEN, launch.number = errno;
    launch.duration_ns = now_ns() - begin_ns;
    return launch;
}
