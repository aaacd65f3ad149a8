/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.h - the commands of mpix_clock. Each is a program of its own but for the name of the file. */
#ifndef CLOCK_H
#define CLOCK_H

#include "common/cli/options.h"

typedef struct clock_command {
    const char *name;
    const program_spec_t *program;
    int (*run)(void *run); /* returns an exit status */
    void *state;           /* begins with the world; zeroed */
    size_t settings_place; /* in state */
    size_t settings_bytes;
} clock_command_t;

extern const clock_command_t clock_list, clock_drift, clock_check;

/* A command of a static run of a type, which has settings; and of a function that takes it. */
#define CLOCK_COMMAND(command, run_type, run_state, function)                                          \
    {                                                                                                  \
        .name = (command), .program = &program, .run = (function), .state = &(run_state),              \
        .settings_place = offsetof(run_type, settings), .settings_bytes = sizeof((run_state).settings) \
    }

/* The exchanges of a burst, at an offset in the settings. */
#define EXCHANGES_OPTION(place)                                              \
    OPTION(0, "exchanges", "N", OPTION_INTEGER, (place), 1, 1e6, NULL, "20", \
           "round trips in a burst with a rank, without the\ndiscarded ones")

#endif
