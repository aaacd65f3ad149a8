/* SPDX-License-Identifier: BSD-3-Clause */
/* tune.c - what all other parts of mpix_tune ask of a tuning, and tell it. */
#define _GNU_SOURCE /* strsep */
#include "bench/tune/tune.h"

#include <fnmatch.h>
#include <stdarg.h>

const char tune_name[] = "mpix_tune";

void tune_tell(const tune_t *tune, const char *format, ...)
{
    va_list values;
    if (!tune->is_terminal)
        return;
    va_start(values, format);
    fprintf(stderr, "%s: ", tune_name);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
}

void tune_path(const tune_t *tune, char path[TUNE_PATH_BYTES], const char *format, ...)
{
    char name[TUNE_PATH_BYTES];
    va_list values;
    va_start(values, format);
    vsnprintf(name, sizeof name, format, values);
    va_end(values);
    snprintf(path, TUNE_PATH_BYTES, "%.*s/%.*s", TUNE_PATH_BYTES / 2, tune->directory, TUNE_PATH_BYTES / 2 - 2, name);
}

bool tune_has_nodes(const tune_t *tune)
{
    return json_integer_value(json_object_get(tune->listing, "nodes")) > 1;
}

bool tune_is_chosen(const char *chosen)
{
    char words[HEAD_BYTES], *rest = words;
    snprintf(words, sizeof words, "%s", strcmp(chosen, "default") == 0 ? "" : chosen);
    for (const char *word; (word = strsep(&rest, " "));)
        if (word[0] != '\0' && fnmatch("coll=*", word, 0) != 0 && fnmatch("coll_?*_priority=*", word, 0) != 0)
            return true;
    return false;
}

candidate_t *tune_add_candidate(tune_t *tune, const char *name)
{
    candidate_t *candidate = tune->candidates, *end = candidate + tune->candidate_count;
    while (candidate < end && strcmp(candidate->name, name) != 0)
        candidate++;
    if (candidate < end || tune->candidate_count == MAX_CANDIDATES || strlen(name) >= sizeof candidate->name)
        return NULL;
    *candidate = (candidate_t){0};
    strcpy(candidate->name, name);
    tune->candidate_count++;
    return candidate;
}
