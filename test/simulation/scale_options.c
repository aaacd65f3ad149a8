/* SPDX-License-Identifier: BSD-3-Clause */
/* scale_options.c - the options of scale_model.c. */
#define _GNU_SOURCE /* asprintf */
#include "simulation/scale_options.h"

#include "common/options.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

const char *const link_names[] = {"plain", "lopsided", "slow", "one", "far", "lost", "wild", NULL};
const char *const clock_names[] = {"plain", "restless", NULL};
static const char *const simulate_names[] = {"first", "all", NULL};

#define FIELD(field) offsetof(scale_options_t, field)

static const option_spec_t options[] = {
    {0, "processes", "N", OPTION_INTEGER, FIELD(processes), 1, INT_MAX, NULL, "1024", "a multiple of"},
    {0, "per_node", "N", OPTION_INTEGER, FIELD(per_node), 1, INT_MAX, NULL, "16", "which share a clock"},
    {0, "seconds", "S", OPTION_DECIMAL, FIELD(seconds), 1e-9, 1e9, NULL, "30", "simulated"},
    {0, "links", "KIND", OPTION_CHOICE, FIELD(links), 0, 0, NAMES(link_names), "plain",
     "lopsided: messages to higher ranks take 0.5 us longer;\n"
     "slow: each third host sends 20 us late; one: one host does;\n"
     "far: messages to and from each third host take 20 us\n"
     "longer; lost: one host is silent for three seconds, and\n"
     "then its clock is ahead by a second; wild: the drift of\n"
     "one clock steps far beyond the limit of wander"},
    {0, "clocks", "KIND", OPTION_CHOICE, FIELD(clocks), 0, 0, NAMES(clock_names), "plain",
     "plain: drifts walk by 10 ppb in a second; restless: those\n"
     "of each second host go up and down as fast as the limit\n"
     "of wander allows, and the others stay"},
    {0, "label", "LABEL", OPTION_TEXT, FIELD(label_text), 0, 0, NULL, "track/skampi/20+prop", "how to synchronize"},
    {0, "seed", "N", OPTION_INTEGER, FIELD(seed), 0, 1e15, NULL, "3", "of all that is random"},
    {0, "readings", "N", OPTION_DECIMAL, FIELD(readings), 1e-9, 1e9, NULL, "10",
     "a second of each clock, at random times"},
    {0, "calls", "MS", OPTION_INTEGER, FIELD(calls_ms), 0, INT_MAX, NULL, "0",
     "synchronize and read by calls that are so far apart, as a\n"
     "program does; 0: do not"},
    {0, "simulate", "WHICH", OPTION_CHOICE, FIELD(all), 0, 0, NAMES(simulate_names), "first",
     "all processes, as always with a label of one level; or the\n"
     "first of each node, which stands for the others: they copy\n"
     "its estimate, so that error and bound are nearly the same.\n"
     "The messages of a node's own level are not counted then"},
};
static const char notes[] = "Status 1: a reading was outside its bound.\n";

void give_up(const char *why)
{
    fprintf(stderr, "scale_model: %s\n", why);
    exit(STATUS_BAD_OPTION);
}

scale_options_t read_scale_options(int argc, char **argv)
{
    static const program_spec_t spec =
        PROGRAM_SPEC("scale_model", "Synchronizes in virtual time.", .usage = "scale_model [NAME=VALUE]...");
    scale_options_t read;
    char why[256];
    for (int i = 1; i < argc; i++)
        if (asprintf(&argv[i], "--%s", argv[i]) < 0)
            give_up("out of memory");
    options_outcome_t outcome = options_parse(&spec, argc, argv, &read);
    if (outcome != OPTIONS_RUN)
        exit(outcome == OPTIONS_ANSWERED ? STATUS_GOOD : STATUS_BAD_OPTION);
    if (mh_label_parse(read.label_text, &read.label, why, sizeof why))
        give_up(why);
    if (read.processes % read.per_node != 0)
        give_up("processes is no multiple of per_node");
    if (read.label.levels > 2)
        give_up("the label has more than two levels");
    if (read.label.levels == 1)
        read.all = true;
    if (!read.all)
        read.label.levels = 1;
    return read;
}
