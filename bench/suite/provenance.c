/* SPDX-License-Identifier: BSD-3-Clause */
/* provenance.c - the program, the MPI library, the machine, and the library of this package. */
#define _GNU_SOURCE /* CPU_COUNT */
#include "bench/suite/provenance.h"

#include "bench/suite/algorithms.h"
#include "common/mpi/kernel.h"
#include "common/cli/output.h"
#include "common/cli/text.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define append(text, ...) text_append(text, HEAD_BYTES, __VA_ARGS__)

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
        strftime(text, HEAD_BYTES, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

/* ---- The MPI library */

static void add_library(head_t *head)
{
    char text[LIBRARY_BYTES];
    int version = 0, subversion = 0;
    world_library(text);
    head_add(head, "mpi_library", "%s", text);
    MPI_Get_version(&version, &subversion);
    head_add(head, "mpi_standard", "%d.%d", version, subversion);
}

static void write_processor(char *text, const char *machine)
{
    static const char *const words[] = {"model name", "cpu model", "Hardware", "cpu", "uarch"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (kernel_value("/proc/cpuinfo", words[i], text, HEAD_BYTES))
            return;
    append(text, "%s", machine);
}

static void add_machine(head_t *head)
{
    struct utsname names;
    cpu_set_t usable;
    if (uname(&names) != 0)
        memset(&names, 0, sizeof names);
    head_add(head, "host", "%s", names.nodename);
    head_add(head, "kernel", "%s %s %s", names.sysname, names.release, names.machine);
    write_processor(head_item(head, "processor"), names.machine);
    char *processors = head_item(head, "processors");
    append(processors, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    if (sched_getaffinity(0, sizeof usable, &usable) == 0)
        append(processors, ", of which rank 0 may use %d", CPU_COUNT(&usable));
    kernel_clocksource(head_item(head, "clocksource"));
}

/* ---- The library */

/* What MPIX_Harmonize_get_info returns on rank 0, by its keys without their beginning. */
static void add_statistics(head_t *head, const world_t *world)
{
    static const char *const statistics[] = {
        "clock_used",   "clock_reason",   "clock_read_cost_ns", "sync",          "sync_levels", "sync_duration_ns",
        "barrier_used", "barrier_reason", "tolerance_used_ns",  "oversubscribed"};
    char key[64];
    world_statistic(world, "mpix_harmonize_version", head_item(head, "library_version"), HEAD_BYTES);
    for (size_t i = 0; i < sizeof statistics / sizeof statistics[0]; i++) {
        snprintf(key, sizeof key, "mpix_harmonize_%s", statistics[i]);
        world_statistic(world, key, head_item(head, statistics[i]), HEAD_BYTES);
    }
}

void provenance_collect(head_t *head, const world_t *world, int argc, char **argv, int64_t seed)
{
    int64_t bound_ns = world_max(world, world_bound_ns(world));
    head->count = 0;
    if (world->rank != 0)
        return;
    head_add(head, "program", "%s %s", world->program, options_version());
    write_command(head_item(head, "command"), argc, argv);
    write_date(head_item(head, "date"));
    head_add(head, "seed", "%" PRId64, seed);
    add_library(head);
    algorithms_list(head_item(head, "mpi_algorithms"));
    head_add(head, "ranks", "%d", world->ranks);
    head_add(head, "nodes", "%d", world->nodes);
    add_machine(head);
    add_statistics(head, world);
    char *bound = head_item(head, "clock_bound_ns");
    if (bound_ns != INT64_MAX)
        append(bound, "%" PRId64, bound_ns);
    for (head_item_t *item = head->items; item < head->items + head->count; item++)
        if (item->value[0] == '\0')
            strcpy(item->value, "unknown");
}
