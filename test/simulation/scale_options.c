/* SPDX-License-Identifier: BSD-3-Clause */
/* scale_options.c - the options of scale_model.c. */
#include "scale_options.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const link_names[] = {"plain", "lopsided", "slow", "one", "far", "lost", "wild", NULL};
const char *const clock_names[] = {"plain", "restless", NULL};
static const char *const simulate_names[] = {"first", "all", NULL};

/* A number from min to max, or one of names. */
typedef struct {
    const char *name;
    int64_t *integer;
    double *decimal;
    double min, max;
    const char *const *names;
} option;

static const char usage[] = "Usage: scale_model [NAME=VALUE]...\n\n"
                            "Synchronizes in virtual time. Status 1: a reading was outside its bound.\n\n"
                            "  processes=1024   a multiple of per_node\n"
                            "  per_node=16      processes that share a clock\n"
                            "  seconds=30       simulated\n"
                            "  links=plain      lopsided: messages to higher ranks take 0.5 us longer;\n"
                            "                   slow: each third host sends 20 us late; one: one host does;\n"
                            "                   far: messages to and from each third host take 20 us longer;\n"
                            "                   lost: one host is silent for three seconds, and then its clock\n"
                            "                   is ahead by a second; wild: the drift of one clock steps far\n"
                            "                   beyond the limit of wander\n"
                            "  clocks=plain     plain: drifts walk by 10 ppb in a second; restless: those of\n"
                            "                   each second host go up and down as fast as the limit of wander\n"
                            "                   allows, and the others stay\n"
                            "  label=track/skampi/20+prop   how to synchronize\n"
                            "  seed=3           of all that is random\n"
                            "  readings=10      a second of each clock, at random times\n"
                            "  calls=0          milliseconds between calls that synchronize and read, as a\n"
                            "                   program does; 0: there are none\n"
                            "  simulate=first   all processes, as always with a label of one level; or the\n"
                            "                   first of each node, which stands for the others: they copy its\n"
                            "                   estimate, so that error and bound are nearly the same. The\n"
                            "                   messages of a node's own level are not counted then\n";

void give_up(const char *why)
{
    fprintf(stderr, "scale_model: %s\n", why);
    exit(2);
}

static bool read_value(const option *of, const char *value)
{
    char *end;
    for (int i = 0; of->names && of->names[i]; i++)
        if (strcmp(of->names[i], value) == 0) {
            *of->integer = i;
            return true;
        }
    const double number = strtod(value, &end);
    if (of->names || end == value || *end != '\0' || !(number >= of->min && number <= of->max))
        return false;
    if (of->decimal)
        *of->decimal = number;
    else
        *of->integer = (int64_t)number;
    return of->decimal || (double)*of->integer == number;
}

static bool read_option(scale_options_t *read, char *text)
{
    const option options[] = {
        {"processes", &read->processes, .min = 1, .max = INT_MAX},
        {"per_node", &read->per_node, .min = 1, .max = INT_MAX},
        {"seconds", .decimal = &read->seconds, .min = 1e-9, .max = 1e9},
        {"links", &read->links, .names = link_names},
        {"clocks", &read->clocks, .names = clock_names},
        {"seed", &read->seed, .min = 0, .max = 1e15},
        {"readings", .decimal = &read->readings, .min = 1e-9, .max = 1e9},
        {"calls", &read->calls_ms, .min = 0, .max = INT_MAX},
        {"simulate", &read->all, .names = simulate_names},
    };
    char *value = strchr(text, '=');
    if (!value)
        return false;
    *value++ = '\0';
    if (strcmp(text, "label") == 0) {
        read->label_text = value;
        return true;
    }
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (strcmp(text, options[i].name) == 0)
            return read_value(&options[i], value);
    return false;
}

scale_options_t read_scale_options(int argc, char **argv)
{
    scale_options_t read = {.processes = 1024,
                            .per_node = 16,
                            .seconds = 30,
                            .seed = 3,
                            .readings = 10,
                            .label_text = "track/skampi/20+prop"};
    char why[256];
    if (argc == 2 && strcmp(argv[1], "help") == 0) {
        fputs(usage, stdout);
        exit(EXIT_SUCCESS);
    }
    for (int i = 1; i < argc; i++)
        if (!read_option(&read, argv[i])) {
            snprintf(why, sizeof why, "'%.40s' is no option with a possible value (scale_model help)", argv[i]);
            give_up(why);
        }
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
