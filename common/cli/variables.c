/* SPDX-License-Identifier: BSD-3-Clause */
/* variables.c - a misspelled variable changes nothing, and the library prints nothing: so the programs tell. */
#include "common/cli/variables.h"

#include "pure/setting_names.h"

#include <stdio.h>

extern char **environ;

void variables_check_one(const char *program, const char *variable)
{
    char text[256];
    if (!mh_variable_is_unknown(variable))
        return;
    mh_variable_describe(variable, text, sizeof text);
    fprintf(stderr, "%s: %s\n", program, text);
}

void variables_check(const char *program)
{
    for (char **entry = environ; entry && *entry; entry++)
        variables_check_one(program, *entry);
}
