/* SPDX-License-Identifier: BSD-3-Clause */
/* choices.c - the choices as text: the numbers, then each text after its length. */
#include "interpose/choices.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char variable[] = "MPIX_INTERPOSE";

/* clang-format off */
#define PLACE(field) offsetof(interpose_choices, field)
static const size_t numbers[] = {
    PLACE(harmonizes), PLACE(records), PLACE(barrier), PLACE(wtime), PLACE(all), PLACE(quiet), PLACE(buffer_bytes),
    PLACE(from_ns), PLACE(to_ns), PLACE(pid), PLACE(mark),
};
static const size_t texts[] = {PLACE(report), PLACE(folder), PLACE(only)};
/* clang-format on */
enum { NUMBERS = sizeof numbers / sizeof *numbers, TEXTS = sizeof texts / sizeof *texts };

bool mh_choices_export(const interpose_choices *choices)
{
    char *value = NULL;
    size_t size;
    FILE *file = open_memstream(&value, &size);
    if (!file)
        return false;
    for (int i = 0; i < NUMBERS; i++)
        fprintf(file, "%" PRId64 " ", *(const int64_t *)((const char *)choices + numbers[i]));
    for (int i = 0; i < TEXTS; i++) {
        const char *text = (const char *)choices + texts[i];
        fprintf(file, "%zu:%s", strlen(text), text);
    }
    bool is_done = fclose(file) == 0 && setenv(variable, value, 1) == 0;
    free(value);
    return is_done;
}

bool mh_choices_import(interpose_choices *choices)
{
    const char *value = getenv(variable);
    char *end;
    if (!value)
        return false;
    for (int i = 0; i < NUMBERS; i++, value = end)
        *(int64_t *)((char *)choices + numbers[i]) = strtoll(value, &end, 10);
    for (int i = 0; i < TEXTS; i++, value = end) {
        size_t length = strtoul(value, &end, 10);
        if (*end != ':' || length >= CHOICES_TEXT || strlen(end + 1) < length)
            return false;
        char *text = (char *)choices + texts[i];
        memcpy(text, end + 1, length);
        text[length] = '\0';
        end += 1 + length;
    }
    return true;
}

const char *mh_choices_name(const interpose_choices *choices)
{
    return choices->harmonizes ? "mpix_preload" : "mpix_trace";
}

const char *mh_choices_without(const interpose_choices *choices)
{
    return !choices->records      ? "without the preload"
           : !choices->harmonizes ? "without being recorded"
                                  : "without the preload and without being recorded";
}

int mh_stem_of(const char *path, const char *const *stems)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (int i = 0; stems[i]; i++)
        if (strncmp(name, stems[i], strlen(stems[i])) == 0)
            return i;
    return -1;
}

bool mh_is_first_process(void)
{
    static const char *const ranks[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        const char *rank = getenv(ranks[i]);
        if (rank)
            return strcmp(rank, "0") == 0;
    }
    return true;
}
