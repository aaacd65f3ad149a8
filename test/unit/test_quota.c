/* SPDX-License-Identifier: BSD-3-Clause */
/* test_quota.c - CPU quotas of control groups, from files that look like those of Linux. */
#define _GNU_SOURCE
#include "topology/quota.h"
#include "support.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#define V1 "/sys/fs/cgroup/cpu"
#define V2 "/sys/fs/cgroup"

typedef struct file {
    const char *path, *text;
} file;

#define GROUP "/proc/self/cgroup"
#define CPU V1 "/a/cpu.cfs_quota_us"
#define PERIOD V1 "/a/cpu.cfs_period_us"

/* What a process is told of its group, the files of groups, and how many processors it may use: 0: no limit. */
static const struct {
    const char *name, *group;
    file files[4];
    int64_t processors;
} cases[] = {
    {"no files", NULL, {{NULL, NULL}}, 0},
    {"version 2 without a quota", "0::/a\n", {{V2 "/a/cpu.max", "max 100000\n"}}, 0},
    {"version 2", "0::/a\n", {{V2 "/a/cpu.max", "200000 100000\n"}}, 2},
    {"rounded up", "0::/a\n", {{V2 "/a/cpu.max", "200001 100000\n"}}, 3},
    {"a part of a processor", "0::/a\n", {{V2 "/a/cpu.max", "1000 100000\n"}}, 1},
    {"further up", "0::/a/b/c\n", {{V2 "/a/cpu.max", "300000 100000\n"}, {V2 "/a/b/c/cpu.max", "max 100000\n"}}, 3},
    {"the tightest, above",
     "0::/a/b\n",
     {{V2 "/a/cpu.max", "300000 100000\n"}, {V2 "/a/b/cpu.max", "800000 100000\n"}},
     3},
    {"the tightest, below",
     "0::/a/b\n",
     {{V2 "/a/cpu.max", "800000 100000\n"}, {V2 "/a/b/cpu.max", "300000 100000\n"}},
     3},
    {"not a neighbor's", "0::/a/b\n", {{V2 "/a/b/cpu.max", "max 100000\n"}, {V2 "/a/c/cpu.max", "100000 100000\n"}}, 0},
    {"the root of a container", "0::/\n", {{V2 "/cpu.max", "400000 100000\n"}}, 4},
    {"a group that the container does not see", "0::/docker/0123\n", {{V2 "/cpu.max", "400000 100000\n"}}, 4},
    {"version 1 without a quota", "4:cpu,cpuacct:/a\n", {{CPU, "-1\n"}, {PERIOD, "100000\n"}}, 0},
    {"version 1",
     "9:memory:/m\n4:cpuacct,cpu:/a\n1:name=systemd:/s\n",
     {{CPU, "50000\n"},
      {PERIOD, "20000\n"},
      {V1 "/m/cpu.cfs_quota_us", "10000\n"},
      {V1 "/m/cpu.cfs_period_us", "10000\n"}},
     3},
    {"version 1, not cpuset", "4:cpuset:/a\n", {{CPU, "50000\n"}, {PERIOD, "20000\n"}}, 0},
    {"hybrid", "4:cpu:/a\n0::/b\n", {{CPU, "50000\n"}, {PERIOD, "50000\n"}}, 1},
    {"nonsense", "nonsense\n\n:\n0::/a\n", {{V2 "/a/cpu.max", "many 100000\n"}, {V2 "/cpu.max", "100000\n"}}, 0},
    {"a period of 0", "0::/a\n", {{V2 "/a/cpu.max", "100000 0\n"}}, 0},
    {"an empty file", "0::/a\n", {{V2 "/a/cpu.max", ""}}, 0},
};

static char root[64];

static void begin(void)
{
    strcpy(root, "/tmp/test_quota.XXXXXX");
    EXPECT(mkdtemp(root), "no temporary folder");
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status;
    (void)type;
    (void)where;
    return remove(path);
}

static void end(void)
{
    nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

FIXTURE(begin, end)

static void write_file(const file *wanted)
{
    char path[256];
    snprintf(path, sizeof path, "%s%s", root, wanted->path);
    for (char *slash = strchr(path + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *stream = fopen(path, "w");
    EXPECT(stream, "cannot write %s", path);
    fputs(wanted->text, stream);
    fclose(stream);
}

LOOP_TEST(quota_is_found, COUNT_OF(cases))
{
    if (cases[_i].group)
        write_file(&(file){GROUP, cases[_i].group});
    for (int i = 0; i < COUNT_OF(cases[_i].files) && cases[_i].files[i].path; i++)
        write_file(&cases[_i].files[i]);
    mh_quota quota = mh_quota_find(root);
    int64_t expected = cases[_i].processors ? cases[_i].processors : INT64_MAX;
    EXPECT(quota.processors == expected, "%s: %" PRId64 " processors, not %" PRId64, cases[_i].name, quota.processors,
           expected);
    EXPECT((quota.group != 0) == (expected != INT64_MAX), "%s: group %" PRIu64, cases[_i].name, quota.group);
}

TEST(processes_share_the_group_that_limits_them)
{
    static const file files[] = {{V2 "/a/cpu.max", "200000 100000\n"},
                                 {V2 "/a/b/cpu.max", "max 100000\n"},
                                 {V2 "/a/c/cpu.max", "200000 100000\n"},
                                 {V2 "/a/e/cpu.max", "300000 100000\n"},
                                 {V2 "/d/cpu.max", "200000 100000\n"}};
    static const char *const groups[] = {"0::/a/b\n", "0::/a/c\n", "0::/d\n", "0::/a/e\n"};
    mh_quota found[COUNT_OF(groups)];
    for (int i = 0; i < COUNT_OF(files); i++)
        write_file(&files[i]);
    for (int i = 0; i < COUNT_OF(groups); i++) {
        write_file(&(file){GROUP, groups[i]});
        found[i] = mh_quota_find(root);
    }
    ck_assert_uint_eq(found[0].group, found[1].group);
    ck_assert_uint_eq(found[0].group, found[3].group);
    ck_assert_uint_ne(found[0].group, found[2].group);
}

TEST(overlong_group_is_no_harm)
{
    static char line[5000] = "0::/";
    memset(line + 4, 'x', sizeof line - 5);
    write_file(&(file){GROUP, line});
    EXPECT(mh_quota_find(root).processors == INT64_MAX, "a quota out of nowhere");
}
