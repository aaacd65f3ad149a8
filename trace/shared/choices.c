/* SPDX-License-Identifier: BSD-3-Clause */
/* choices.c - the choices as text: the numbers, then each text after its length; and messages about them. */
#define _GNU_SOURCE
#include "trace/shared/choices.h"

#include "trace/shared/descriptors.h"
#include "pure/launcher.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

interpose_choices mh_choices = {.from_ns = INT64_MIN, .to_ns = INT64_MAX, .limit_bytes = INT64_MAX};

static const char variable[] = "MPIX_INTERPOSE";

enum { NUMBERS = offsetof(interpose_choices, report) / sizeof(int64_t) };
static int64_t *const numbers = (int64_t *)&mh_choices;
static char *const texts = mh_choices.report, *const end_of_texts = (char *)(&mh_choices + 1);

bool mh_is_listed(const char *list, int rank, int *largest)
{
    bool is_in = false;
    *largest = -1;
    for (const char *next = list;; next++) {
        char *end;
        const long first = strtol(next, &end, 10);
        const bool is_number = *next >= '0' && *next <= '9', is_range = *end == '-' && end[1] >= '0' && end[1] <= '9';
        const long last = is_range ? strtol(end + 1, &end, 10) : first;
        if (!is_number || last < first || last >= INT_MAX || (*end != ',' && *end != '\0')) {
            *largest = -1;
            return false;
        }
        is_in = is_in || (rank >= first && rank <= last);
        *largest = last > *largest ? (int)last : *largest;
        if (*end == '\0')
            return is_in;
        next = end;
    }
}

bool mh_choices_export(void)
{
    char *value = NULL;
    size_t size;
    FILE *file = open_memstream(&value, &size);
    if (!file)
        return false;
    for (int i = 0; i < NUMBERS; i++)
        fprintf(file, "%" PRId64 " ", numbers[i]);
    for (const char *text = texts; text < end_of_texts; text += CHOICES_TEXT)
        fprintf(file, "%zu:%s", strlen(text), text);
    bool is_done = fclose(file) == 0 && setenv(variable, value, 1) == 0;
    free(value);
    return is_done;
}

bool mh_choices_import(void)
{
    const char *value = getenv(variable);
    char *end;
    if (!value)
        return false;
    for (int i = 0; i < NUMBERS; i++, value = end)
        numbers[i] = strtoll(value, &end, 10);
    for (char *text = texts; text < end_of_texts; text += CHOICES_TEXT, value = end) {
        size_t length = strtoul(value, &end, 10);
        if (*end != ':' || length >= CHOICES_TEXT || strlen(end + 1) < length)
            return false;
        memcpy(text, end + 1, length);
        text[length] = '\0';
        end += 1 + length;
    }
    return true;
}

const char *mh_choices_name(void)
{
    return mh_choices.harmonizes ? "mpix_preload" : "mpix_trace";
}

const char *mh_choices_without(void)
{
    return !mh_choices.records      ? "without the preload"
           : !mh_choices.harmonizes ? "without being recorded"
                                    : "without the preload and without being recorded";
}

void mh_choices_warn(const char *format, ...)
{
    char text[2 * PATH_MAX];
    va_list arguments;
    if (!mh_is_first_process())
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    mh_interpose_print("%s: %s; the program runs %s\n", mh_choices_name(), text, mh_choices_without());
}

int mh_stem_of(const char *path, const char *const *stems)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (int i = 0; stems[i]; i++)
        if (strncmp(name, stems[i], strlen(stems[i])) == 0)
            return i;
    return -1;
}

/* The program may change its environment later. */
bool mh_is_first_process(void)
{
    static int known = -1;
    if (known < 0)
        known = mh_launcher_is_first();
    return known;
}
