/* SPDX-License-Identifier: BSD-3-Clause */
/* crowd.c - a timer looks at the number of processes that run. */
#include "bench/suite/crowd.h"

#include <fcntl.h>
#include <mpi.h> /* SMPI_H, if it is SimGrid's */
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Who waits for longer wonders. Processes that run for a moment are not to count, so the smallest of some readings. */
enum { PATIENCE_S = 4, READINGS = 3, PAUSE_NS = 100 * 1000 * 1000 };
/* As many ranks as processors and one other process in passing are no crowd. */
#define CROWD 1.5

/* What the handler of the signal takes. */
static char message[400];
static int processors, readings;
static long least_running;
static timer_t timer;
static bool is_watching;

/*
 * The fourth word of the file is the number of processes and threads that run or would like to, a slash, and the number
 * of all. Returns 0 if the kernel does not say.
 */
static long count_running(void)
{
    char text[128] = "";
    const char *at = text;
    long count = 0;
    int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    ssize_t bytes = read(file, text, sizeof text - 1);
    close(file);
    if (bytes <= 0)
        return 0;
    for (int word = 1; word < 4 && *at != '\0'; at++)
        word += *at == ' ';
    while (*at >= '0' && *at <= '9')
        count = 10 * count + *at++ - '0';
    return count;
}

static void set_timer(long seconds, long nanoseconds)
{
    const struct itimerspec time = {.it_value = {.tv_sec = seconds, .tv_nsec = nanoseconds}};
    timer_settime(timer, 0, &time, NULL);
}

static void look(int number)
{
    (void)number;
    long running = count_running();
    if (readings == 0 || running < least_running)
        least_running = running;
    if (++readings < READINGS)
        set_timer(0, PAUSE_NS);
    else if ((double)least_running > CROWD * processors)
        (void)!write(STDERR_FILENO, message, strlen(message));
}

void crowd_watch(const char *program)
{
    struct sigaction other, own = {.sa_handler = look, .sa_flags = SA_RESTART};
#ifdef SMPI_H
    return; /* the processors of the simulated machine are another matter */
#endif
    /* Somebody else may use the signal. */
    if (sigaction(SIGALRM, NULL, &other) != 0 || other.sa_handler != SIG_DFL)
        return;
    processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
    snprintf(message, sizeof message,
             "%s: not done after %d s: more processes run on this node than its %d %s at once, so each call "
             "waits until all ranks have had a turn: end other processes, or give less for --iterations, or "
             "--release barrier\n",
             program, PATIENCE_S, processors, processors == 1 ? "processor takes" : "processors take");
    readings = 0;
    is_watching = sigaction(SIGALRM, &own, NULL) == 0 && timer_create(CLOCK_MONOTONIC, NULL, &timer) == 0;
    if (is_watching)
        set_timer(PATIENCE_S, 0);
}

void crowd_leave(void)
{
    if (!is_watching)
        return;
    timer_delete(timer);
    signal(SIGALRM, SIG_DFL);
    is_watching = false;
}
