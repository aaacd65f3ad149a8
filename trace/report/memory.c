/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c - compare what a report takes with what the machine, the process and its control groups may have. */
#include "trace/report/memory.h"

#include "common/cli/memory.h"
#include "trace/read/parse.h"

#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* What an event takes, with all that is found about it: the peak, measured with reports of 0.6 to 63 million events. */
enum { EVENT_BYTES = 100 };

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t limit_of(int resource)
{
    struct rlimit limit;
    return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : UINT64_MAX;
}

/* The least limit of a control group and those around it, up to the root. */
static uint64_t limit_of_groups(const char *root, char *group, const char *name)
{
    uint64_t bytes = UINT64_MAX;
    for (;;) {
        char path[TRACE_PATH_SIZE];
        uint64_t limit;
        snprintf(path, sizeof path, "%s%s/%s", root, group, name);
        FILE *file = fopen(path, "r");
        if (file && fscanf(file, "%" SCNu64, &limit) == 1) /* else "max" */
            bytes = least(bytes, limit);
        if (file)
            fclose(file);
        char *slash = strrchr(group, '/');
        if (!slash)
            return bytes;
        *slash = '\0';
    }
}

/* Lines are NUMBER:CONTROLLERS:GROUP; version 2 of control groups names no controllers. */
static uint64_t limit_of_all_groups(void)
{
    uint64_t bytes = UINT64_MAX;
    char line[TRACE_PATH_SIZE];
    FILE *file = fopen("/proc/self/cgroup", "r");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        if (controllers[1] == '\0')
            bytes = least(bytes, limit_of_groups("/sys/fs/cgroup", group, "memory.max"));
        else if (strcmp(controllers + 1, "memory") == 0)
            bytes = least(bytes, limit_of_groups("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
    }
    if (file)
        fclose(file);
    return bytes;
}

static uint64_t available_bytes(void)
{
    const uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    return least(least(machine, limit_of_all_groups()), least(limit_of(RLIMIT_AS), limit_of(RLIMIT_DATA)));
}

bool memory_suffices(const char *what, uint64_t events, const char *part, char message[TRACE_MESSAGE_SIZE])
{
    static char hint[256];
    const uint64_t bytes = available_bytes();
    snprintf(hint, sizeof hint,
             ": %s has %" PRIu64 " events, which take about %" PRIu64
             " MiB; report %s of the run by --from-s and --to-s",
             what, events, (events * EVENT_BYTES >> 20) + 1, part);
    memory_hint = hint;
    return events <= bytes / EVENT_BYTES ||
           trace_fail(message, "there are %" PRIu64 " MiB of memory%s", bytes >> 20, hint);
}
