/* SPDX-License-Identifier: BSD-3-Clause */
/* provenance.c - collect what is known about the machine, the MPI library and the clock. */
#define _GNU_SOURCE /* CPU_COUNT */
#include "bench/provenance.h"

#include "common/kernel.h"
#include "common/output.h"
#include "common/text.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { VALUE_BYTES = PROVENANCE_BYTES, NAME_BYTES = 256 };

#define append(text, ...) text_append(text, VALUE_BYTES, __VA_ARGS__)

/* Returns where the value of another item is to be written, which is empty. */
static char *add(provenance_t *provenance, const char *key)
{
    provenance_item_t *item = &provenance->items[provenance->count++];
    item->key = key;
    item->value[0] = '\0';
    return item->value;
}

/* ---- The program */

/* In single quotes if a shell would see more than a word. */
static void append_word(char *text, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+@%-";
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        append(text, "%s", word);
        return;
    }
    append(text, "'");
    for (; *word != '\0'; word++)
        append(text, *word == '\'' ? "'\\''" : "%c", *word);
    append(text, "'");
}

static void write_command(char *text, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        append(text, "%s", i > 0 ? " " : "");
        append_word(text, argv[i]);
    }
}

static void write_date(char *text)
{
    time_t now = time(NULL);
    struct tm parts;
    if (gmtime_r(&now, &parts))
        strftime(text, VALUE_BYTES, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

/* ---- The MPI library */

static void add_library(provenance_t *provenance)
{
    char text[LIBRARY_BYTES];
    int version = 0, subversion = 0;
    world_library(text);
    append(add(provenance, "mpi_library"), "%s", text);
    MPI_Get_version(&version, &subversion);
    append(add(provenance, "mpi_standard"), "%d.%d", version, subversion);
}

#ifdef MPI_T_ENUM_NULL

/* Control variables that choose an algorithm, and how the value reads that chooses none. The first match counts. */
static const struct {
    const char *pattern;
    const char *usual[2];
} choices[] = {
    {"MPIR_CVAR_?*_ALGORITHM", {"", "auto"}},
    {"MPIR_CVAR_?*_COMPOSITION", {"", "0"}},
    {"MPIR_CVAR_?*SELECTION_TUNING_JSON_FILE", {"", ""}},
    {"coll", {"", ""}},
    {"coll_tuned_use_dynamic_rules", {"0", "false"}},
    {"coll_tuned_dynamic_rules_filename", {"", ""}},
    {"coll_tuned_?*_algorithm", {"0", "ignore"}},
    {"coll_tuned_?*_algorithm_segmentsize", {"0", "0"}},
    {"coll_libnbc_?*_algorithm", {"0", "ignore"}},
};

enum { CHOICES = sizeof choices / sizeof choices[0] };

static int find_choice(const char *name)
{
    int choice = 0;
    while (choice < CHOICES && fnmatch(choices[choice].pattern, name, 0) != 0)
        choice++;
    return choice;
}

/* Writes the name of a value. Returns whether the enumeration, if there is one, has it. */
static bool name_value(MPI_T_enum enumeration, int value, char text[VALUE_BYTES])
{
    int count = 0, bytes = VALUE_BYTES;
    if (enumeration != MPI_T_ENUM_NULL)
        MPI_T_enum_get_info(enumeration, &count, text, &bytes);
    for (int i = 0, item; i < count; i++) {
        bytes = VALUE_BYTES;
        if (MPI_T_enum_get_item(enumeration, i, &item, text, &bytes) == MPI_SUCCESS && item == value)
            return true;
    }
    return false;
}

/* Writes a value of one of the types that such variables have. */
static bool write_value(const void *value, MPI_Datatype datatype, MPI_T_enum enumeration, char text[VALUE_BYTES])
{
    if (datatype == MPI_CHAR)
        snprintf(text, VALUE_BYTES, "%s", (const char *)value);
    else if (datatype == MPI_INT && !name_value(enumeration, *(const int *)value, text))
        snprintf(text, VALUE_BYTES, "%d", *(const int *)value);
    else if (datatype == MPI_UNSIGNED)
        snprintf(text, VALUE_BYTES, "%u", *(const unsigned *)value);
    else if (datatype == MPI_UNSIGNED_LONG)
        snprintf(text, VALUE_BYTES, "%lu", *(const unsigned long *)value);
    else if (datatype == MPI_C_BOOL)
        snprintf(text, VALUE_BYTES, "%s", *(const unsigned char *)value != 0 ? "true" : "false");
    else
        return datatype == MPI_INT;
    return true;
}

/* Reads a variable as text. Returns false if that cannot be. */
static bool read_variable(int index, MPI_Datatype datatype, MPI_T_enum enumeration, char text[VALUE_BYTES])
{
    MPI_T_cvar_handle handle;
    int count = 0;
    if (MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS)
        return false;
    /* Eight bytes an element suffice for all types; one more element ends a text. */
    void *value = calloc((size_t)(count > 0 ? count : 0) + 1, 8);
    bool good = value && count >= 1 && MPI_T_cvar_read(handle, value) == MPI_SUCCESS &&
                write_value(value, datatype, enumeration, text);
    free(value);
    MPI_T_cvar_handle_free(&handle);
    return good;
}

/*
 * MPICH's variables are numbers without names, and which number stands for the usual choice differs between versions.
 * What chose is in the environment, by one of these beginnings. Returns NULL if it is not a variable of MPICH.
 */
static const char *chosen_by_environment(const char *name)
{
    static const char *const beginnings[] = {"MPIR_CVAR_", "MPIR_PARAM_", "MPICH_"};
    size_t length = strlen(beginnings[0]);
    if (strncmp(name, beginnings[0], length) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
        char variable[2 * NAME_BYTES];
        snprintf(variable, sizeof variable, "%s%s", beginnings[i], name + length);
        const char *value = getenv(variable);
        if (value)
            return value;
    }
    return "";
}

/* Appends NAME=VALUE if a variable chooses an algorithm. */
static void append_choice(char *list, int index)
{
    char name[NAME_BYTES] = "", text[VALUE_BYTES] = "";
    int bytes = sizeof name, verbosity, bind = -1, scope;
    MPI_Datatype datatype;
    MPI_T_enum enumeration = MPI_T_ENUM_NULL;
    /* Some indices may be out of use. */
    if (MPI_T_cvar_get_info(index, name, &bytes, &verbosity, &datatype, &enumeration, NULL, NULL, &bind, &scope) !=
        MPI_SUCCESS)
        return;
    int choice = find_choice(name);
    if (choice == CHOICES || bind != MPI_T_BIND_NO_OBJECT || !read_variable(index, datatype, enumeration, text))
        return;
    const char *given = chosen_by_environment(name), *value = given ? given : text;
    if (strcmp(value, choices[choice].usual[0]) != 0 && strcmp(value, choices[choice].usual[1]) != 0)
        append(list, "%s%s=%s", list[0] != '\0' ? " " : "", name, value);
}

static void list_choices(char list[VALUE_BYTES])
{
    int provided, count = 0;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS)
        return;
    MPI_T_cvar_get_num(&count);
    for (int index = 0; index < count; index++)
        append_choice(list, index);
    if (count > 0 && list[0] == '\0')
        strcpy(list, "default");
    MPI_T_finalize();
}

#else

static void list_choices(char list[VALUE_BYTES])
{
    (void)list;
}

#endif

static void write_processor(char *text, const char *machine)
{
    static const char *const words[] = {"model name", "cpu model", "Hardware", "cpu", "uarch"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (kernel_value("/proc/cpuinfo", words[i], text, VALUE_BYTES))
            return;
    append(text, "%s", machine);
}

static void add_machine(provenance_t *provenance)
{
    struct utsname names;
    cpu_set_t usable;
    if (uname(&names) != 0)
        memset(&names, 0, sizeof names);
    append(add(provenance, "host"), "%s", names.nodename);
    append(add(provenance, "kernel"), "%s %s %s", names.sysname, names.release, names.machine);
    write_processor(add(provenance, "processor"), names.machine);
    char *processors = add(provenance, "processors");
    append(processors, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    if (sched_getaffinity(0, sizeof usable, &usable) == 0)
        append(processors, ", of which rank 0 may use %d", CPU_COUNT(&usable));
    kernel_clocksource(add(provenance, "clocksource"));
}

/* ---- The library */

/* What MPIX_Harmonize_get_info returns on rank 0. */
static void add_statistics(provenance_t *provenance, const world_t *world)
{
    static const struct {
        const char *key;
        const char *statistic;
    } statistics[] = {
        {"library_version", "mpix_harmonize_version"},
        {"clock_used", "mpix_harmonize_clock_used"},
        {"clock_reason", "mpix_harmonize_clock_reason"},
        {"clock_read_cost_ns", "mpix_harmonize_clock_read_cost_ns"},
        {"sync", "mpix_harmonize_sync"},
        {"sync_levels", "mpix_harmonize_sync_levels"},
        {"sync_duration_ns", "mpix_harmonize_sync_duration_ns"},
        {"barrier_used", "mpix_harmonize_barrier_used"},
        {"barrier_reason", "mpix_harmonize_barrier_reason"},
        {"tolerance_used_ns", "mpix_harmonize_tolerance_used_ns"},
        {"oversubscribed", "mpix_harmonize_oversubscribed"},
    };
    for (size_t i = 0; i < sizeof statistics / sizeof statistics[0]; i++)
        world_statistic(world, statistics[i].statistic, add(provenance, statistics[i].key), VALUE_BYTES);
}

void provenance_collect(provenance_t *provenance, const world_t *world, int argc, char **argv, int64_t seed)
{
    int64_t bound_ns = world_max(world, world_bound_ns(world));
    provenance->count = 0;
    if (world->rank != 0)
        return;
    append(add(provenance, "program"), "%s %s", world->program, options_version());
    write_command(add(provenance, "command"), argc, argv);
    write_date(add(provenance, "date"));
    append(add(provenance, "seed"), "%" PRId64, seed);
    add_library(provenance);
    list_choices(add(provenance, "mpi_algorithms"));
    append(add(provenance, "ranks"), "%d", world->ranks);
    append(add(provenance, "nodes"), "%d", world->nodes);
    add_machine(provenance);
    add_statistics(provenance, world);
    char *bound = add(provenance, "clock_bound_ns");
    if (bound_ns != INT64_MAX)
        append(bound, "%" PRId64, bound_ns);
    for (provenance_item_t *item = provenance->items; item < provenance->items + provenance->count; item++)
        if (item->value[0] == '\0')
            strcpy(item->value, "unknown");
}
