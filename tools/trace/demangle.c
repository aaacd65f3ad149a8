/* SPDX-License-Identifier: BSD-3-Clause */
/* demangle.c - by a function of the C++ runtime library, if it is there: tools in C do not depend on it. */
#define _GNU_SOURCE /* asprintf */
#include "trace/demangle.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A longer name is cut off in the trace. */
enum { NAME_BYTES = 1024 };

typedef char *(*demangler)(const char *name, char *buffer, size_t *bytes, int *status);

/*
 * A symbol is "FUNCTION+OFFSET (ADDRESS) in OBJECT" or "FILE:LINE FUNCTION (ADDRESS) in OBJECT". NULL: its function has
 * no name of C++. The caller frees it.
 */
static char *demangle(demangler by, const char *symbol)
{
    char name[NAME_BYTES], *text = NULL;
    const char *space = strchr(symbol, ' '), *begin = space && space[1] == '_' ? space + 1 : symbol;
    const size_t length = strcspn(begin, "+ ");
    int status = -1;
    if (strncmp(begin, "_Z", 2) != 0 || begin[length] == '\0' || length >= sizeof name)
        return NULL;
    snprintf(name, sizeof name, "%.*s", (int)length, begin);
    char *function = by(name, NULL, NULL, &status);
    if (status != 0 || asprintf(&text, "%.*s%s%s", (int)(begin - symbol), symbol, function, begin + length) < 0)
        text = NULL;
    free(function);
    return text;
}

void demangle_sites(trace *of)
{
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY), *symbol = library ? dlsym(library, "__cxa_demangle") : NULL;
    demangler by;
    memcpy(&by, &symbol, sizeof by);
    for (int rank = 0; by && rank < of->size; rank++)
        for (size_t i = 0; i < of->processes[rank].site_count; i++) {
            trace_site *site = &of->processes[rank].sites[i];
            char *text = demangle(by, site->symbol);
            if (!text)
                continue;
            free(site->symbol);
            site->symbol = text;
        }
    if (library)
        dlclose(library);
}
