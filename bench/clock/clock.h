/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.h - the commands of mpix_clock. Each is a program of its own but for the name of the file. */
#ifndef CLOCK_H
#define CLOCK_H

#include "common/cli/options.h"

typedef struct clock_command {
    const char *name;
    const program_spec_t *program;
    int (*run)(void *run, char **argv); /* argv[0] is the command; returns an exit status */
    void *state;                        /* begins with the world; zeroed */
    size_t settings_place;              /* in state */
    size_t settings_bytes;
} clock_command_t;

extern const clock_command_t clock_list, clock_drift, clock_check, clock_record;

/* A command of a static run of a type, which has settings; and of a function that takes it. */
#define CLOCK_COMMAND(command, run_type, run_state, function)                                          \
    {                                                                                                  \
        .name = (command), .program = &program, .run = (function), .state = &(run_state),              \
        .settings_place = offsetof(run_type, settings), .settings_bytes = sizeof((run_state).settings) \
    }

/* The exchanges of a burst, at an offset in the settings. */
#define EXCHANGES_OPTION(its_place)                                                                    \
    OPTION(0, "exchanges", "N", OPTION_INTEGER, its_place, .min = 1, .max = 1e6, .default_text = "20", \
           .doc = "round trips in a burst with a rank, without the discarded ones",                    \
           .more = "`drift` makes as many for each clock.")

#define RAW_DOC                                                                                                      \
    .doc = "write each single measurement to FILE",                                                                  \
    .more = "With `--format json` as JSON, otherwise as comma-separated values; see OUTPUT. "                        \
            "From JSON, mpix_report(1) draws the distribution of the intervals between successive readings of each " \
            "clock, which rises in steps at multiples of the resolution, the offsets and residuals of each clock "   \
            "over time, and the errors of each label over the age."

#endif
