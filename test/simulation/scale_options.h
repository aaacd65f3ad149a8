/* SPDX-License-Identifier: BSD-3-Clause */
/* scale_options.h - what scale_model.c is told: NAME=VALUE..., which scale_options.c describes. */
#ifndef MH_SCALE_OPTIONS_H
#define MH_SCALE_OPTIONS_H

#include "sync/sync_label.h"

#include <stdint.h>

typedef enum links { LINKS_PLAIN, LINKS_LOPSIDED, LINKS_SLOW, LINKS_ONE, LINKS_FAR, LINKS_LOST, LINKS_WILD } links_t;
typedef enum clocks { CLOCKS_PLAIN, CLOCKS_RESTLESS } clocks_t;
extern const char *const link_names[], *const clock_names[];

typedef struct scale_options {
    int64_t processes, per_node, calls_ms, seed, links, clocks;
    int64_t all; /* of the processes are simulated, as always with a label of one level */
    double seconds, readings;
    const char *label_text;
    mh_label label; /* its outer level only, unless all are simulated */
} scale_options_t;

/* Ends the program if one is not possible. */
scale_options_t read_scale_options(int argc, char **argv);

/* Ends the program. */
_Noreturn void give_up(const char *why);

#endif
