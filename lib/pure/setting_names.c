/* SPDX-License-Identifier: BSD-3-Clause */
/* setting_names.c - the names of the settings, and the one that a misspelled variable is likest to. */
#include "pure/setting_names.h"

#include "pure/text.h"

#include <stdio.h>
#include <string.h>

enum { PREFIX_LENGTH = sizeof MH_VARIABLE_PREFIX - 1, NAME_SIZE = 64 };

#define NAME(number, name) name,

const char *const mh_setting_names[MH_SET_COUNT] = {MH_EACH_SETTING(NAME)};

int mh_setting_find(const char *name)
{
    for (int i = 0; i < MH_SET_COUNT; i++)
        if (mh_same_name(name, mh_setting_names[i]))
            return i;
    return -1;
}

/* What follows the prefix in an entry; a longer name names nothing. */
static void cut_name(const char *entry, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, "%.*s", (int)strcspn(entry, "=") - PREFIX_LENGTH, entry + PREFIX_LENGTH);
}

bool mh_variable_is_unknown(const char *entry)
{
    char name[NAME_SIZE];
    if (strncmp(entry, MH_VARIABLE_PREFIX, PREFIX_LENGTH) != 0)
        return false;
    cut_name(entry, name);
    return mh_setting_find(name) < 0 && strcmp(name, "ROOT") != 0 && strcmp(name, "DIR") != 0;
}

void mh_variable_describe(const char *entry, char *text, size_t size)
{
    char name[NAME_SIZE], meant[NAME_SIZE] = "";
    cut_name(entry, name);
    for (char *c = name; *c; c++)
        if (mh_is_control(*c))
            *c = ' ';
    const size_t likest = mh_likest(name, mh_setting_names, MH_SET_COUNT);
    if (likest < MH_SET_COUNT)
        strcpy(meant, mh_setting_names[likest]);
    for (char *c = meant; *c; c++)
        if (mh_is_letter(*c))
            *c = (char)(*c - 'a' + 'A');
    snprintf(text, size, "unknown variable " MH_VARIABLE_PREFIX "%s%s%s%s", name,
             meant[0] ? "; did you mean " MH_VARIABLE_PREFIX : "", meant, meant[0] ? "?" : "");
}
