/* SPDX-License-Identifier: BSD-3-Clause */
/* scale_options.c - read the options of scale_model.c, and refuse what is none. */
#include "simulation/scale_options.h"

#include "unit/support.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const link_names[] = {"plain", "lopsided", "slow", "one", "far", "lost", "wild"};
static const char *const clock_names[] = {"plain", "restless"};
static const char *const simulate_names[] = {"all"};

void give_up(const char *why)
{
    fprintf(stderr, "scale_model: %s\n", why);
    exit(2);
}

const char *links_name(links_t links)
{
    return link_names[links];
}

const char *clocks_name(clocks_t clocks)
{
    return clock_names[clocks];
}

static void refuse(const char *name, const char *value)
{
    char why[256];
    snprintf(why, sizeof why, "%s=%s is not possible; see scale_options.h", name, value);
    give_up(why);
}

static int64_t whole_number(const char *name, const char *value, int64_t least, int64_t most)
{
    char *end;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (end == value || *end || errno || number < least || number > most)
        refuse(name, value);
    return number;
}

static double positive_number(const char *name, const char *value)
{
    char *end;
    double number = strtod(value, &end);
    if (end == value || *end || !(number > 0 && number < 1e9))
        refuse(name, value);
    return number;
}

static int one_of(const char *name, const char *value, const char *const *names, int count)
{
    int place = 0;
    while (place < count && strcmp(names[place], value) != 0)
        place++;
    if (place == count)
        refuse(name, value);
    return place;
}

static void set_option(scale_options_t *options, const char *name, const char *value)
{
    char why[256];
    if (strcmp(name, "processes") == 0)
        options->processes = (int)whole_number(name, value, 1, INT_MAX);
    else if (strcmp(name, "per_node") == 0)
        options->per_node = (int)whole_number(name, value, 1, INT_MAX);
    else if (strcmp(name, "seconds") == 0)
        options->seconds = positive_number(name, value);
    else if (strcmp(name, "readings") == 0)
        options->readings = positive_number(name, value);
    else if (strcmp(name, "calls") == 0)
        options->calls_ms = (int)whole_number(name, value, 0, INT_MAX);
    else if (strcmp(name, "seed") == 0)
        options->seed = whole_number(name, value, 0, INT64_MAX);
    else if (strcmp(name, "simulate") == 0)
        options->all = one_of(name, value, simulate_names, COUNT_OF(simulate_names)) == 0;
    else if (strcmp(name, "links") == 0)
        options->links = (links_t)one_of(name, value, link_names, COUNT_OF(link_names));
    else if (strcmp(name, "clocks") == 0)
        options->clocks = (clocks_t)one_of(name, value, clock_names, COUNT_OF(clock_names));
    else if (strcmp(name, "label") != 0)
        refuse(name, value);
    else if (mh_label_parse(value, &options->label, why, sizeof why))
        give_up(why);
}

scale_options_t read_scale_options(int argc, char **argv)
{
    scale_options_t options = {.processes = 1024, .per_node = 16, .seconds = 30, .readings = 10, .seed = 3};
    set_option(&options, "label", "track/skampi/20+prop");
    for (int i = 1; i < argc; i++) {
        char *equals = strchr(argv[i], '=');
        if (!equals)
            give_up("an option is NAME=VALUE; see scale_options.h");
        *equals = '\0';
        set_option(&options, argv[i], equals + 1);
    }
    if (options.processes % options.per_node != 0)
        give_up("processes is no multiple of per_node");
    if (options.label.levels > 2)
        give_up("the label has more than two levels");
    if (options.label.levels == 1)
        options.all = true;
    if (!options.all)
        options.label.levels = 1;
    return options;
}
