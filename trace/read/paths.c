/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * paths.c - which frame of a path people know as the place of the call: the innermost one outside of functions that
 * only call MPI for others.
 *
 * A frame is passed over if its function has MPI and the name of the called function in its own name, as
 * hypre_MPI_Waitall; if all calls of the function come through it, but from different places; and if all calls of the
 * program are in its source file, and come there from other files. The last two never make one place of two.
 *
 * Where a process comes to a place from several callers, it is a place of its own for each: for the first of their
 * callers, from the inside, that differ.
 */
#define _GNU_SOURCE /* strcasestr, asprintf */
#include "trace/read/paths.h"

#include "common/cli/memory.h"
#include "trace/read/calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 512, FEWEST_FUNCTIONS = 4 };

typedef struct {
    trace_process *process;
    trace_call_path *path;
} known_path;

static const trace_site *site_at(const known_path *of, uint32_t frame)
{
    return trace_find_address(of->process, of->path->frames[frame]);
}

/* The text of the frame that is shown now; "": there is none. */
static const char *shown(const known_path *of)
{
    const trace_site *site = site_at(of, of->path->shown);
    return site ? site->symbol : "";
}

/* Its frames are the same for all scripts. */
static bool is_of_interpreter(const char *symbol)
{
    static const char *const names[] = {"python", "libpython", "libR.so", "libjulia"};
    const char *in = strstr(symbol, " in "), *slash = in ? strrchr(in, '/') : NULL;
    const char *object = slash ? slash + 1 : in ? in + strlen(" in ") : "";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(object, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* The text of the frame so many above that; NULL: it is no place. */
static const char *caller_of(const known_path *of, uint32_t up)
{
    const uint32_t frame = of->path->shown + up;
    const trace_site *site = frame < of->path->count ? site_at(of, frame) : NULL;
    return site && site->symbol[0] != '\0' && !is_of_interpreter(site->symbol) ? site->symbol : NULL;
}

static bool has_next(const known_path *of)
{
    return caller_of(of, 1) != NULL;
}

/* Bytes of FILE in "FILE:LINE ..."; 0: there is none. */
static size_t file_bytes(const char *symbol)
{
    return trace_line_bytes(symbol) > 0 ? (size_t)(strchr(symbol, ':') - symbol) : 0;
}

/* ---- By the name of the function */

/* Of "FILE:LINE FUNCTION (ADDRESS) in OBJECT" or "FUNCTION+OFFSET (ADDRESS) in OBJECT"; without parameters, whose types
 * may be those of MPI. Empty if it has none. */
static void name_function(char name[NAME_BYTES], const char *symbol)
{
    const size_t bytes = file_bytes(symbol);
    const char *begin = bytes > 0 ? strchr(symbol + bytes, ' ') + 1 : symbol;
    const char *in = strstr(begin, " in ");
    const size_t most = in ? (size_t)(in - begin) : strlen(begin), length = strcspn(begin, "+(");
    const bool is_mangled = strncmp(begin, "_Z", 2) == 0;
    snprintf(name, NAME_BYTES, "%.*s", is_mangled ? 0 : (int)(length < most ? length : most), begin);
}

static bool is_named_after(const char *symbol, const char *function)
{
    char name[NAME_BYTES], called[NAME_BYTES];
    if (strncmp(function, "MPI_", 4) != 0)
        return false;
    name_function(name, symbol);
    snprintf(called, sizeof called, "%.*s", (int)call_name_length(function) - 4, function + 4);
    return strcasestr(name, "mpi") && strcasestr(name, called);
}

/* ---- By who calls */

/* Of paths of one function: go up while all are the same, if that tells them apart. */
static void pass_shared(known_path *list, size_t count)
{
    uint32_t steps = 0;
    bool are_same = count > 1;
    while (are_same) {
        bool can_go = true;
        for (size_t i = 0; i < count; i++) {
            are_same = are_same && strcmp(shown(&list[i]), shown(&list[0])) == 0;
            can_go = can_go && has_next(&list[i]);
        }
        if (!are_same || !can_go)
            break;
        for (size_t i = 0; i < count; i++)
            list[i].path->shown++;
        steps++;
    }
    for (size_t i = 0; i < count && are_same; i++)
        list[i].path->shown -= steps;
}

/* ---- By the source file */

static bool is_in(const char *symbol, const char *file, size_t bytes)
{
    return file_bytes(symbol) == bytes && strncmp(symbol, file, bytes) == 0;
}

static bool begins_or_ends(const char *function)
{
    return strncmp(function, "MPI_Init", strlen("MPI_Init")) == 0 || strcmp(function, "MPI_Finalize") == 0;
}

/* Where a path is known, before and after it has left a file. */
typedef struct {
    const char *inside, *outside;
    uint16_t function;
} moved;

static int by_outside(const void *a, const void *b)
{
    const moved *x = a, *y = b;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    const int order = strcmp(x->outside, y->outside);
    return order != 0 ? order : strcmp(x->inside, y->inside);
}

/* If two places in the file have one caller, this tells less than they do, and nothing is changed. */
static void leave_file(known_path *list, size_t count, const char *file)
{
    const size_t bytes = strlen(file);
    moved *all = array_or_exit(count, sizeof *all);
    uint32_t *before = array_or_exit(count, sizeof *before);
    bool is_clear = true;
    for (size_t i = 0; i < count; i++) {
        trace_call_path *path = list[i].path;
        before[i] = path->shown;
        all[i].inside = shown(&list[i]);
        while (is_in(shown(&list[i]), file, bytes) && has_next(&list[i]) &&
               file_bytes(site_at(&list[i], path->shown + 1)->symbol) > 0)
            path->shown++;
        all[i].outside = shown(&list[i]);
        all[i].function = path->function;
    }
    qsort(all, count, sizeof *all, by_outside);
    for (size_t i = 1; i < count; i++)
        is_clear =
            is_clear && (all[i].function != all[i - 1].function || strcmp(all[i].outside, all[i - 1].outside) != 0 ||
                         strcmp(all[i].inside, all[i - 1].inside) == 0);
    for (size_t i = 0; i < count && !is_clear; i++)
        list[i].path->shown = before[i];
    free(before);
    free(all);
}

static void pass_file(const trace *of, known_path *list, size_t count)
{
    const char *file = NULL;
    size_t bytes = 0, functions = 0, outside = 0;
    for (size_t i = 0; i < count; i++) {
        const char *function = of->names[list[i].path->function], *symbol = shown(&list[i]);
        if (begins_or_ends(function))
            continue;
        if (!file) {
            file = symbol;
            bytes = file_bytes(symbol);
        }
        if (bytes == 0 || !is_in(symbol, file, bytes))
            return;
        functions += i == 0 || list[i - 1].path->function != list[i].path->function;
        for (uint32_t k = list[i].path->shown + 1; k < list[i].path->count; k++) {
            const trace_site *caller = site_at(&list[i], k);
            const bool is_known = caller && file_bytes(caller->symbol) > 0;
            outside += is_known && !is_in(caller->symbol, file, bytes);
            if (is_known)
                break;
        }
    }
    if (functions < FEWEST_FUNCTIONS || outside < functions)
        return;
    char *name = or_exit(strndup(file, bytes));
    leave_file(list, count, name);
    free(name);
}

/* ---- By several callers */

/* FILE:LINE FUNCTION, or FUNCTION+OFFSET: addresses of one line are several if a compiler repeats it. */
static int brief_bytes(const char *symbol)
{
    const char *paren = strstr(symbol, " (0x");
    return paren ? (int)(paren - symbol) : (int)strlen(symbol);
}

static bool are_brief_same(const char *a, const char *b)
{
    return brief_bytes(a) == brief_bytes(b) && strncmp(a, b, (size_t)brief_bytes(a)) == 0;
}

/* By function and text, so that those of one process follow each other. */
static int by_place(const void *a, const void *b)
{
    const known_path *x = a, *y = b;
    if (x->path->function != y->path->function)
        return x->path->function < y->path->function ? -1 : 1;
    const int order = strcmp(shown(x), shown(y));
    return order != 0 ? order : (x->process > y->process) - (x->process < y->process);
}

/* How far up the callers of one place differ; 0: they do not, or not all are known up to there. */
static uint32_t find_callers(const known_path *list, size_t count)
{
    for (uint32_t up = 1;; up++) {
        bool are_same = true;
        for (size_t i = 0; i < count; i++) {
            if (!caller_of(&list[i], up))
                return 0;
            are_same = are_same && (i == 0 || list[i - 1].process != list[i].process ||
                                    are_brief_same(caller_of(&list[i - 1], up), caller_of(&list[i], up)));
        }
        if (!are_same)
            return up;
    }
}

static void name_callers(const known_path *list, size_t count)
{
    const uint32_t up = count > 1 ? find_callers(list, count) : 0;
    for (size_t i = 0; i < count && up > 0; i++) {
        trace_process *process = list[i].process;
        trace_called_site *made = &process->called[process->called_count++];
        const char *caller = caller_of(&list[i], up);
        const int bytes = brief_bytes(caller);
        made->site.address = list[i].path->site->address;
        if (asprintf(&made->site.symbol, "%s from %.*s", shown(&list[i]), bytes, caller) < 0)
            or_exit(NULL);
        made->caller = made->site.symbol + strlen(made->site.symbol) - bytes;
        list[i].path->site = &made->site;
    }
}

static void forget_callers(trace_process *process)
{
    for (size_t i = 0; i < process->called_count; i++)
        free(process->called[i].site.symbol);
    free(process->called);
    process->called = process->path_count > 0 ? array_or_exit(process->path_count, sizeof *process->called) : NULL;
    process->called_count = 0;
}

/* ---- All */

static int by_function(const void *a, const void *b)
{
    const known_path *x = a, *y = b;
    return (x->path->function > y->path->function) - (x->path->function < y->path->function);
}

void paths_choose(trace *of)
{
    size_t count = 0;
    for (int rank = 0; rank < of->size; rank++)
        count += of->processes[rank].path_count;
    known_path *list = array_or_exit(count, sizeof *list);
    count = 0;
    for (int rank = 0; rank < of->size; rank++) {
        forget_callers(&of->processes[rank]);
        for (size_t i = 0; i < of->processes[rank].path_count; i++) {
            known_path *its = &list[count++];
            *its = (known_path){&of->processes[rank], &of->processes[rank].paths[i]};
            its->path->shown = 0;
            while (is_named_after(shown(its), of->names[its->path->function]) && has_next(its))
                its->path->shown++;
        }
    }
    if (count > 0)
        qsort(list, count, sizeof *list, by_function);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && by_function(&list[first], &list[end]) == 0;)
            end++;
        pass_shared(list + first, end - first);
    }
    pass_file(of, list, count);
    for (size_t i = 0; i < count; i++)
        list[i].path->site = site_at(&list[i], list[i].path->shown);
    if (count > 0)
        qsort(list, count, sizeof *list, by_place);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && list[first].path->function == list[end].path->function &&
                              strcmp(shown(&list[first]), shown(&list[end])) == 0;)
            end++;
        if (*shown(&list[first]) != '\0')
            name_callers(list + first, end - first);
    }
    free(list);
}
