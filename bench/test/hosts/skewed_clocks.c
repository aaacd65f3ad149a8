/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * skewed_clocks.c - to be preloaded: the clocks of each host but host1 drift, are slewed, and its real-time clock is
 * set, by known amounts. With -DSTAMP, a program that takes timestamps beside true time, which is the kernel's
 * MONOTONIC_RAW without the offset of the time namespace.
 *
 * Usage: stamp                 prints true time
 *        stamp FILE SECONDS    writes lines CLOCK,READING,TRUE_NS,HALF_NS to FILE.HOST, until FILE.end is there
 *        stamp --skew CLOCK    reads timestamps of the kernel, which cannot be preloaded, in nanoseconds, one a line;
 *                              prints what they would be by the clocks of the host
 *
 * Environment: MH_SKEW_BEGAN_NS, true time at which all begins; MH_SKEW_PPB, the drift; MH_SKEW_ONLY=drift: no clock is
 * slewed or set, and REALTIME is off by a constant; =slews: no clock is set. MH_STOP_S=SECONDS: for so long, at most
 * 0.5, stamp stops its parent, the recorder, on host2. MH_SLEEP_S=SECONDS: so long after stamp began, host2 is
 * suspended for 3 s, as stamp stops its parent and itself; MH_SLEEP_FILE, which is empty at first, tells the others
 * when that was. MH_UTC_US=US: the kernel of host1 is synchronized with UTC, within this.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#define NS INT64_C(1000000000)
/* The drift swings by 400 ppb to either side in 100 s, which is within the limit of 100 ppb a second. */
#define SWING_NS 6400.0
#define SWING_S 100.0
/* All that is done to clocks comes again after this time. */
#define PERIOD_S 8.0

static int64_t real_ns(clockid_t id)
{
    struct timespec now;
    syscall(SYS_clock_gettime, id, &now);
    return (int64_t)now.tv_sec * NS + now.tv_nsec;
}

static int64_t true_ns(void)
{
    static int64_t namespace_ns;
    static int is_known;
    char line[100];
    long long seconds, ns;
    FILE *offsets = is_known ? NULL : fopen("/proc/self/timens_offsets", "r");
    while (offsets && fgets(line, sizeof line, offsets))
        if (sscanf(line, "monotonic %lld %lld", &seconds, &ns) == 2)
            namespace_ns = seconds * NS + ns;
    if (offsets)
        fclose(offsets);
    is_known = 1;
    return real_ns(CLOCK_MONOTONIC_RAW) - namespace_ns;
}

/* 500 ppm more in the first two of four seconds, 300 ppm less in the next one. */
static double slewed_ns(double s)
{
    const double periods = floor(s / 4), rest = s - 4 * periods;
    return 1e3 * (periods * (2 * 500 - 300) + 500 * fmin(rest, 2) - 300 * fmin(fmax(rest - 2, 0), 1));
}

/* Ahead by a quarter of a second, and back by more, in each period. Not when a slew begins or ends. */
static double set_ns(double s)
{
    const double periods = floor(s / PERIOD_S), rest = s - PERIOD_S * periods;
    return -1.5e8 * periods + (rest >= 4.7 ? 2.5e8 : 0) - (rest >= 6.6 ? 4e8 : 0);
}

#define CONSTANT_NS 3.5e9
#define ASLEEP_S 3.0

static double setting(const char *name)
{
    const char *text = getenv(name);
    return text ? atof(text) : 0;
}

/* True time when host2 is suspended, in the memory of all its processes; 0: not yet. NULL: it never is. */
static volatile int64_t *suspended_ns(void)
{
    const char *path = getenv("MH_SLEEP_FILE");
    const int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0 || ftruncate(file, sizeof(int64_t)) != 0)
        return NULL;
    void *shared = mmap(NULL, sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    /* cppcheck-suppress memleak ; it is mapped as long as the process lives */
    return shared == MAP_FAILED ? NULL : shared;
}

static int64_t ahead_ns(clockid_t id, int64_t now_ns)
{
    static int skewed = -1, is_slewed, is_set;
    static int64_t began_ns;
    static double ppb;
    static volatile int64_t *asleep_ns;
    if (skewed < 0) {
        char host[64] = "";
        const char *began = getenv("MH_SKEW_BEGAN_NS");
        gethostname(host, sizeof host - 1);
        began_ns = began ? atoll(began) : 0;
        ppb = setting("MH_SKEW_PPB") * (strcmp(host, "host2") == 0 ? 1 : -2.5);
        skewed = strcmp(host, "host1") != 0;
        const char *only = getenv("MH_SKEW_ONLY");
        is_slewed = !only || strcmp(only, "drift") != 0;
        is_set = !only;
        asleep_ns = strcmp(host, "host2") == 0 ? suspended_ns() : NULL;
    }
    if (!skewed)
        return 0;
    const double s = (double)(now_ns - began_ns) * 1e-9;
    double ahead = ppb * s + SWING_NS * sin(2 * M_PI * s / SWING_S);
    if (id != CLOCK_MONOTONIC_RAW && is_slewed)
        ahead += slewed_ns(s);
    if (id == CLOCK_REALTIME || id == CLOCK_TAI)
        ahead += is_set ? set_ns(s) : CONSTANT_NS;
    if (asleep_ns && *asleep_ns > 0 && (id == CLOCK_MONOTONIC_RAW || id == CLOCK_MONOTONIC))
        ahead -= fmin(fmax((double)(now_ns - *asleep_ns), 0), 1e9 * ASLEEP_S);
    return (int64_t)ahead;
}

#ifndef STAMP

int clock_gettime(clockid_t id, struct timespec *time)
{
    const int64_t now_ns = true_ns(), at_ns = real_ns(id) + ahead_ns(id, now_ns);
    *time = (struct timespec){at_ns / NS, at_ns % NS};
    return 0;
}

int adjtimex(struct timex *says)
{
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    if (setting("MH_UTC_US") > 0 && strcmp(host, "host1") == 0) {
        *says = (struct timex){.maxerror = (long)setting("MH_UTC_US"), .esterror = 10, .tai = 37};
        return TIME_OK;
    }
    return (int)syscall(SYS_adjtimex, says);
}

#else

static const struct {
    clockid_t id;
    const char *name;
} clocks[] = {{CLOCK_MONOTONIC_RAW, "monotonic_raw"},
              {CLOCK_MONOTONIC, "monotonic"},
              {CLOCK_BOOTTIME, "boottime"},
              {CLOCK_REALTIME, "realtime"},
              {CLOCK_TAI, "tai"}};

static void stamp(FILE *to, clockid_t id, const char *name)
{
    int64_t half_ns = INT64_MAX, at_ns = 0, middle_ns = 0;
    for (int i = 0; i < 3; i++) {
        struct timespec time;
        const int64_t before_ns = true_ns();
        clock_gettime(id, &time);
        const int64_t width_ns = true_ns() - before_ns;
        if (width_ns / 2 >= half_ns)
            continue;
        half_ns = width_ns / 2 + 1;
        middle_ns = before_ns + width_ns / 2;
        at_ns = (int64_t)time.tv_sec * NS + time.tv_nsec;
    }
    fprintf(to, "%s,%lld,%lld,%lld\n", name, (long long)at_ns, (long long)middle_ns, (long long)half_ns);
}

/* A clock of the kernel as the first namespace has it, beside true time. */
typedef struct pair {
    int64_t true_ns, at_ns;
} pair;

static pair kernel_pair(clockid_t id)
{
    pair best = {0, 0};
    for (int64_t i = 0, least_ns = INT64_MAX; i < 20; i++) {
        const int64_t before_ns = true_ns(), raw_ns = real_ns(CLOCK_MONOTONIC_RAW), at_ns = real_ns(id);
        const int64_t after_ns = true_ns(), namespace_ns = raw_ns - before_ns;
        if (after_ns - before_ns >= least_ns)
            continue;
        least_ns = after_ns - before_ns;
        /* The namespace's offset is whole seconds. */
        const int64_t added_ns = id == CLOCK_REALTIME ? 0 : (namespace_ns + NS / 2) / NS * NS;
        best = (pair){before_ns + least_ns / 2, at_ns - added_ns};
    }
    return best;
}

static int skew_lines(const char *name)
{
    const clockid_t id = strcmp(name, "realtime") == 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    const struct timespec pause = {0, 300000000};
    const pair one = kernel_pair(id);
    nanosleep(&pause, NULL);
    const pair other = kernel_pair(id);
    const double rate = (double)(other.true_ns - one.true_ns) / (double)(other.at_ns - one.at_ns);
    long long at_ns;
    while (scanf("%lld", &at_ns) == 1)
        printf("%lld\n", at_ns + (long long)ahead_ns(id, one.true_ns + (int64_t)(rate * (double)(at_ns - one.at_ns))));
    return 0;
}

int main(int argc, char **argv)
{
    char host[64] = "", path[500], end[500];
    if (argc < 3)
        return printf("%lld\n", (long long)true_ns()), 0;
    if (strcmp(argv[1], "--skew") == 0)
        return skew_lines(argv[2]);
    gethostname(host, sizeof host - 1);
    snprintf(path, sizeof path, "%s.%s", argv[1], host);
    snprintf(end, sizeof end, "%s.end", argv[1]);
    FILE *to = fopen(path, "w");
    const int64_t began_ns = true_ns(), seconds = atoll(argv[2]);
    const char *origin = getenv("MH_SKEW_BEGAN_NS");
    const int64_t origin_ns = origin ? atoll(origin) : 0;
    const int is_host2 = strcmp(host, "host2") == 0;
    const double stop_s = is_host2 ? setting("MH_STOP_S") : 0, sleep_s = is_host2 ? setting("MH_SLEEP_S") : 0;
    volatile int64_t *asleep_ns = sleep_s > 0 ? suspended_ns() : NULL;
    int64_t stopped_ns = 0;
    int may_stop = stop_s > 0;
    while (to && true_ns() - began_ns < seconds * NS && access(end, F_OK) != 0) {
        const struct timespec pause = {0, 7000000};
        for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++)
            stamp(to, clocks[i].id, clocks[i].name);
        /* Where for so long no clock is set, and no slew begins or ends, which would not be found. */
        const double rest_s = fmod((double)(true_ns() - origin_ns) * 1e-9, PERIOD_S);
        const int is_calm = (rest_s > 0.1 && rest_s < 1.4) || (rest_s > 5.1 && rest_s < 5.4);
        if (may_stop && !stopped_ns && is_calm && true_ns() - began_ns > NS) {
            kill(getppid(), SIGSTOP);
            stopped_ns = true_ns();
        }
        if (may_stop && stopped_ns && (double)(true_ns() - stopped_ns) > 1e9 * stop_s) {
            kill(getppid(), SIGCONT);
            may_stop = 0;
        }
        if (asleep_ns && *asleep_ns == 0 && (double)(true_ns() - began_ns) > 1e9 * sleep_s) {
            const struct timespec asleep = {(time_t)ASLEEP_S, 100000000};
            kill(getppid(), SIGSTOP);
            *asleep_ns = true_ns() + NS / 20;
            nanosleep(&asleep, NULL);
            kill(getppid(), SIGCONT);
        }
        nanosleep(&pause, NULL);
    }
    return to && fclose(to) == 0 ? 0 : 1;
}

#endif
