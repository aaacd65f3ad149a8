/* SPDX-License-Identifier: BSD-3-Clause */
/* provenance.c - collect what is known about the machine, the MPI library and the clock. */
#define _GNU_SOURCE /* CPU_COUNT */
#include "bench/provenance.h"

#include "bench/algorithms.h"
#include "common/kernel.h"
#include "common/output.h"
#include "common/text.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { VALUE_BYTES = PROVENANCE_BYTES };

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
    algorithms_list(add(provenance, "mpi_algorithms"));
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
