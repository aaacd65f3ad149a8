/* SPDX-License-Identifier: BSD-3-Clause */
/* meanings.c - look up functions by name. */
#include "trace/read/meanings.h"

#include <string.h>
#include <strings.h>

static const meaning meanings[] = {
#include "generated/meanings.h"
};
enum { MEANINGS = sizeof meanings / sizeof *meanings };

static bool is_named(const meaning *one, const char *name, size_t length)
{
    const size_t its_length = strlen(one->name);
    if (one->name[its_length - 1] == '*')
        return length >= its_length - 1 && strncmp(name, one->name, its_length - 1) == 0;
    return length == its_length && strncmp(name, one->name, length) == 0;
}

static const meaning *find(const char *name, size_t length)
{
    for (int i = 0; i < MEANINGS; i++)
        if (is_named(&meanings[i], name, length))
            return &meanings[i];
    return NULL;
}

/* MPI_Ibcast is MPI_Bcast. */
static const meaning *find_nonblocking(const char *name, size_t length)
{
    for (int i = 0; i < MEANINGS && name[0] == 'I'; i++)
        if (meanings[i].means & MEANS_OPERATION && length == strlen(meanings[i].name) + 1 &&
            strncasecmp(name + 1, meanings[i].name, length - 1) == 0)
            return &meanings[i];
    return NULL;
}

static size_t length_without(const char *name, size_t length, const char *ending)
{
    const size_t less = strlen(ending);
    return length > less && strncmp(name + length - less, ending, less) == 0 ? length - less : length;
}

const meaning *meaning_of(const char *name)
{
    if (strncmp(name, "MPI_", 4) != 0)
        return NULL;
    name += 4;
    const size_t plain = length_without(name, strlen(name), "_c"), made = length_without(name, plain, "_init");
    const meaning *found = find(name, plain);
    if (!found)
        found = find(name, made);
    return found ? found : find_nonblocking(name, made);
}
