/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scale_options.h - what scale_model.c is told: NAME=VALUE...
 *
 *   processes=N   1024; a multiple of
 *   per_node=N    16, which share a clock
 *   seconds=S     30, simulated
 *   links=KIND    plain; lopsided: messages to higher ranks take 0.5 us longer; slow: each third host sends 20 us late;
 *                 one: one host does; far: messages to and from each third host take 20 us longer;
 *                 lost: one host is silent for three seconds, and then its clock is ahead by a second;
 *                 wild: the drift of one clock steps far beyond the limit of wander
 *   clocks=KIND   plain: drifts walk by 10 ppb in a second; restless: those of each second host go up and down as fast
 *                 as the limit of wander allows, and the others stay
 *   label=LABEL   track/skampi/20+prop
 *   seed=N        3
 *   readings=N    10 a second of each clock, at random times
 *   calls=MS      0; else synchronize and read by calls that are so far apart, as a program does
 *   simulate=all  all processes, as always with a label of one level; else the first of each node, which stands for
 *                 the others: they copy its estimate, so that error and bound are nearly the same. The messages of a
 *                 node's own level are not counted then
 */
#ifndef MH_SCALE_OPTIONS_H
#define MH_SCALE_OPTIONS_H

#include "sync/sync_label.h"

#include <stdint.h>

typedef enum links { LINKS_PLAIN, LINKS_LOPSIDED, LINKS_SLOW, LINKS_ONE, LINKS_FAR, LINKS_LOST, LINKS_WILD } links_t;
typedef enum clocks { CLOCKS_PLAIN, CLOCKS_RESTLESS } clocks_t;

typedef struct scale_options {
    int processes, per_node, calls_ms;
    int64_t seed;
    double seconds, readings;
    links_t links;
    clocks_t clocks;
    bool all;
    mh_label label; /* its outer level only, unless all are simulated */
} scale_options_t;

/* Ends the program if one is not possible. */
scale_options_t read_scale_options(int argc, char **argv);

const char *links_name(links_t links);
const char *clocks_name(clocks_t clocks);

/* Ends the program. */
_Noreturn void give_up(const char *why);

#endif
