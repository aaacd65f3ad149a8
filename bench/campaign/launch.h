/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch.h - one launch of a command, whose output goes to a file under a temporary name. No MPI.
 *
 * The command is the leader of a process group of its own, with nothing to read, and is ended with the campaign. Its
 * output comes through a pipe, so that a full disk is detected here, even if the command ignores it.
 */
#ifndef LAUNCH_H
#define LAUNCH_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum launch_end {
    LAUNCH_EXITED,      /* number: the exit status */
    LAUNCH_KILLED,      /* number: the signal */
    LAUNCH_NOT_STARTED, /* number: errno; likewise the next */
    LAUNCH_NOT_WRITTEN,
    LAUNCH_TIMED_OUT,
    LAUNCH_INTERRUPTED /* number: the signal that this process got */
} launch_end_t;

typedef struct launch {
    launch_end_t end;
    int number;
    int64_t started_s; /* since 1970 */
    int64_t duration_ns;
} launch_t;

/* launch_prepare - from here on, signals that end programs are kept for launch_run. */
void launch_prepare(void);

/* launch_signal - the first of these signals that came, or 0. */
int launch_signal(void);

/*
 * launch_run - run a command to its end.
 *
 * variant           its keys command and environment, which is added to the present one
 * output, messages  files for standard output and standard error
 * timeout_s         when it is ended; not above 0: never
 */
launch_t launch_run(const json_t *variant, const char *output, const char *messages, double timeout_s);

#endif
