/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check.c - what mpix_preload and mpix_trace ask before a program starts: check-FLAVOR TOOL [LIST]. Whether the library
 * takes the settings of the environment, and whether each pattern in the list of --only fits a function of MPI. It says
 * in the name of the tool what is wrong, and returns 2 then. The library is in it; MPI is not started.
 */
#define _GNU_SOURCE
#include "pure/setting_names.h"
#include "pure/text.h"
#include "settings.h"
#include "trace/only.h"

#include <stdio.h>

/* clang-format off */
#include "trace/names.h"
/* clang-format on */

enum { BAD = 2, FUNCTIONS = sizeof function_names / sizeof *function_names };

extern char **environ;

static bool fits_any(const char *pattern)
{
    for (size_t i = 0; i < FUNCTIONS; i++)
        if (trace_fits(pattern, function_names[i]))
            return true;
    return false;
}

static int refuse_pattern(const char *tool, const char *pattern)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s", mh_has_prefix(pattern, "MPI_") ? "" : "MPI_", pattern);
    fprintf(stderr, "%s: option --only: \"%s\" matches no function of MPI; did you mean %s?\n", tool, pattern,
            function_names[mh_likest(name, function_names, FUNCTIONS)]);
    return BAD;
}

static int check_settings(const char *tool)
{
    mh_settings settings;
    mh_error error = MH_NO_ERROR;
    char text[256];
    for (char **entry = environ; *entry; entry++)
        if (mh_variable_is_unknown(*entry)) {
            mh_variable_describe(*entry, text, sizeof text);
            fprintf(stderr, "%s: %s\n", tool, text);
        }
    if (mh_settings_from_environment(&settings, &error) == MPI_SUCCESS)
        return 0;
    fprintf(stderr, "%s: %s\n", tool, error.message);
    return BAD;
}

int main(int argc, char **argv)
{
    const char *tool = argc > 1 ? argv[1] : "";
    char *rest = NULL;
    int status = check_settings(tool);
    for (char *pattern = argc > 2 ? strtok_r(argv[2], ",", &rest) : NULL; pattern && status == 0;
         pattern = strtok_r(NULL, ",", &rest))
        if (!fits_any(pattern))
            status = refuse_pattern(tool, pattern);
    return status;
}
