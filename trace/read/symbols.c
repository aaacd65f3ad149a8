/* SPDX-License-Identifier: BSD-3-Clause */
/* symbols.c - find the lines of call sites, and the names of their functions in C++. */
#define _GNU_SOURCE /* asprintf */
#include "trace/read/symbols.h"

#include "common/cli/memory.h"
#include "common/cli/text.h"
#include "trace/read/parse.h"
#include "trace/read/paths.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#ifdef MH_WITH_LIBDW
#include <elfutils/libdwfl.h>

/* ---- Lines */

/* An object of the traced program. */
typedef struct object {
    char *path;
    Dwfl *dwfl;          /* NULL: it cannot be used */
    Dwfl_Module *module; /* belongs to it */
    GElf_Addr bias;      /* of its addresses there */
} object_t;

typedef struct objects {
    object_t *list;
    size_t count;
    time_t youngest; /* that counts */
} objects_t;

static char *debug_path; /* NULL: where systems keep it */
static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
                                         .find_debuginfo = dwfl_standard_find_debuginfo,
                                         .section_address = dwfl_offline_section_address,
                                         .debuginfo_path = &debug_path};

/* What a trace names may be anything by now, a pipe even. */
static bool is_usable(const char *path, time_t youngest)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_mtime <= youngest;
}

static void open_object(object_t *object)
{
    GElf_Addr bias;
    object->dwfl = dwfl_begin(&callbacks);
    if (!object->dwfl)
        return;
    object->module = dwfl_report_offline(object->dwfl, object->path, object->path, -1);
    dwfl_report_end(object->dwfl, NULL, NULL);
    if (object->module && dwfl_module_getelf(object->module, &bias)) {
        object->bias = bias;
        return;
    }
    dwfl_end(object->dwfl);
    object->dwfl = NULL;
}

static const object_t *find_object(objects_t *objects, const char *path)
{
    for (size_t i = 0; i < objects->count; i++)
        if (strcmp(objects->list[i].path, path) == 0)
            return &objects->list[i];
    objects->list = or_exit(array_grow(objects->list, (int64_t)objects->count, sizeof *objects->list));
    object_t *object = &objects->list[objects->count++];
    *object = (object_t){.path = or_exit(strdup(path))};
    if (is_usable(path, objects->youngest))
        open_object(object);
    return object;
}

/* The parts of "FUNCTION+OFFSET (ADDRESS) in OBJECT" or "+ADDRESS in OBJECT". Returns whether it is one of these. */
static bool cut(const char *symbol, int *function_bytes, uint64_t *offset, uint64_t *address, const char **path)
{
    const char *in = strstr(symbol, " in "), *paren = strstr(symbol, " (0x"), *plus = strstr(symbol, "+0x");
    if (!in || !plus || plus > in || (plus != symbol && (!paren || paren > in)))
        return false;
    *function_bytes = (int)(plus - symbol);
    *offset = strtoull(plus + 1, NULL, 16);
    *address = plus == symbol ? *offset : strtoull(paren + 2, NULL, 16);
    *path = in + 4;
    return true;
}

/* A relative path may lead to another program here: only one that has the same function in the same place is taken. */
static bool is_the_one(const object_t *object, const char *function, int function_bytes, uint64_t offset,
                       uint64_t address)
{
    GElf_Off found;
    GElf_Sym symbol;
    if (object->path[0] == '/')
        return true;
    const char *name = dwfl_module_addrinfo(object->module, address + object->bias, &found, &symbol, NULL, NULL, NULL);
    return name && function_bytes > 0 && found == offset && strncmp(name, function, (size_t)function_bytes) == 0;
}

/* The site by its line, or NULL. The caller frees it. */
static char *name_line(objects_t *objects, const char *symbol)
{
    const char *path, *name, *function = symbol;
    uint64_t offset, address;
    int function_bytes, line;
    char *text = NULL;
    const object_t *object = cut(symbol, &function_bytes, &offset, &address, &path) ? find_object(objects, path) : NULL;
    if (!object || !object->dwfl || !is_the_one(object, function, function_bytes, offset, address))
        return NULL;
    Dwfl_Line *found = dwfl_module_getsrc(object->module, address + object->bias);
    const char *source = found ? dwfl_lineinfo(found, NULL, &line, NULL, NULL, NULL) : NULL;
    if (!source || line <= 0)
        return NULL;
    if (function_bytes == 0 && (name = dwfl_module_addrname(object->module, address + object->bias))) {
        function = name;
        function_bytes = (int)strlen(name);
    }
    const char *slash = strrchr(source, '/');
    if (asprintf(&text, "%s:%d%s%.*s (0x%" PRIx64 ") in %s", slash ? slash + 1 : source, line,
                 function_bytes > 0 ? " " : "", function_bytes, function, address, path) < 0)
        return NULL;
    return text;
}

static void free_objects(objects_t *objects)
{
    for (size_t i = 0; i < objects->count; i++) {
        if (objects->list[i].dwfl)
            dwfl_end(objects->list[i].dwfl);
        free(objects->list[i].path);
    }
    free(objects->list);
}

#else
typedef struct objects {
    time_t youngest;
} objects_t;

static char *name_line(objects_t *objects, const char *symbol)
{
    (void)objects, (void)symbol;
    return NULL;
}

static void free_objects(objects_t *objects)
{
    (void)objects;
}
#endif

/* ---- Names of C++: tools in C do not depend on the library for them */

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

/* ---- Both */

static void improve(trace_site *site, char *text)
{
    if (!text)
        return;
    free(site->symbol);
    text_one_line(text);
    site->symbol = text;
}

void symbols_improve(trace *of, const char *folder)
{
    struct stat status;
    char first[TRACE_PATH_SIZE];
    trace_path(first, folder, 0); /* the folder may have got other files since */
    objects_t objects = {.youngest = stat(first, &status) == 0 ? status.st_mtime : 0};
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY), *symbol = library ? dlsym(library, "__cxa_demangle") : NULL;
    demangler by;
    memcpy(&by, &symbol, sizeof by);
    for (int rank = 0; rank < of->size; rank++)
        for (size_t i = 0; i < of->processes[rank].site_count; i++) {
            trace_site *site = &of->processes[rank].sites[i];
            improve(site, name_line(&objects, site->symbol));
            improve(site, by ? demangle(by, site->symbol) : NULL);
        }
    free_objects(&objects);
    paths_choose(of);
    if (library)
        dlclose(library);
}
