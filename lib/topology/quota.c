/* SPDX-License-Identifier: BSD-3-Clause */
/* quota.c - the CPU quotas in /sys/fs/cgroup, along the control groups that /proc/self/cgroup names. */
#include "topology/quota.h"

#include "pure/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { LINE_SIZE = 1024, PATH_SIZE = 2 * LINE_SIZE };

/* Where hierarchies with the CPU controller are mounted. In a hybrid system, version 2 has no such files. */
static const char *const mounts_v1[] = {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct", NULL};
static const char *const mounts_v2[] = {"/sys/fs/cgroup", NULL};

static bool read_line(const char *folder, const char *name, char line[LINE_SIZE])
{
    char path[PATH_SIZE + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    bool good = file && fgets(line, LINE_SIZE, file);
    if (file)
        fclose(file);
    if (good)
        line[strcspn(line, "\n")] = '\0';
    return good;
}

/* Version 2: "QUOTA PERIOD" in microseconds, or "max PERIOD". Version 1 has a file for each, and -1 for no limit. */
static bool read_quota(const char *folder, char quota[LINE_SIZE], char period[LINE_SIZE])
{
    if (!read_line(folder, "cpu.max", quota))
        return read_line(folder, "cpu.cfs_quota_us", quota) && read_line(folder, "cpu.cfs_period_us", period);
    size_t length = strcspn(quota, " ");
    snprintf(period, LINE_SIZE, "%s", quota[length] ? quota + length + 1 : "");
    quota[length] = '\0';
    return true;
}

static void tighten(mh_quota *tightest, const char *folder)
{
    char quota[LINE_SIZE], period[LINE_SIZE];
    int64_t quota_us, period_us;
    struct stat status;
    if (!read_quota(folder, quota, period) || mh_parse_whole(quota, &quota_us) || mh_parse_whole(period, &period_us) ||
        quota_us < 1 || period_us < 1)
        return;
    int64_t processors = quota_us / period_us + (quota_us % period_us != 0);
    /* Of equal quotas, the outer one counts: more processes may share it. */
    if (processors <= tightest->processors && stat(folder, &status) == 0)
        *tightest = (mh_quota){processors, (uint64_t)status.st_dev << 48 ^ (uint64_t)status.st_ino};
}

/* From a control group up to the root. A container may see its own control group as the root. */
static void walk(mh_quota *tightest, const char *root, const char *mount, const char *group)
{
    char folder[PATH_SIZE];
    int used = snprintf(folder, sizeof folder, "%s%s", root, mount);
    if (used < 0 || used + strlen(group) >= sizeof folder)
        return;
    char *end = folder + used;
    strcpy(end, group);
    for (char *slash = end + strlen(end); slash; slash = strrchr(end, '/')) {
        *slash = '\0';
        tighten(tightest, folder);
    }
}

static bool lists_cpu(const char *controllers)
{
    for (const char *name = controllers; *name; name += strcspn(name, ",") + (name[strcspn(name, ",")] == ','))
        if (strcspn(name, ",") == 3 && strncmp(name, "cpu", 3) == 0)
            return true;
    return false;
}

/* A line of /proc/self/cgroup: "NUMBER:CONTROLLERS:GROUP", without controllers for version 2. */
static void look_at_hierarchy(mh_quota *tightest, const char *root, char *line)
{
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group)
        return;
    *group++ = '\0';
    bool is_v2 = controllers[1] == '\0';
    if (!is_v2 && !lists_cpu(controllers + 1))
        return;
    for (const char *const *mount = is_v2 ? mounts_v2 : mounts_v1; *mount; mount++)
        walk(tightest, root, *mount, group);
}

mh_quota mh_quota_find(const char *root)
{
    mh_quota tightest = {INT64_MAX, 0};
    char path[PATH_SIZE], line[LINE_SIZE];
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "r");
    if (!file)
        return tightest;
    while (fgets(line, sizeof line, file))
        look_at_hierarchy(&tightest, root, line);
    fclose(file);
    return tightest;
}
