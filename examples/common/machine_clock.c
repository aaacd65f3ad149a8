/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine_clock.h"

#include <mpi.h>
#include <stddef.h>
#include <time.h>

#if MACHINE_HAS_TSC
#include <cpuid.h>
#endif

/* The bracket of a pair of readings is some 20 ns: over this time 1 ppm. */
#define MIN_CALIBRATION_NS INT64_C(20000000)

/* Of so many readings of both clocks, the one least disturbed is kept. */
enum { PAIR_READINGS = 8 };

static int64_t read_system(clockid_t id)
{
    struct timespec now = {0, 0};
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t read_tsc(void)
{
#if MACHINE_HAS_TSC
    unsigned int processor;

    /* Not before what stands before it is done, as the library reads it. */
    return (int64_t)__rdtscp(&processor);
#else
    return 0;
#endif
}

static int64_t read_monotonic_raw(void)
{
    return read_system(CLOCK_MONOTONIC_RAW);
}

static int64_t read_realtime(void)
{
    return read_system(CLOCK_REALTIME);
}

static int64_t read_wtime(void)
{
    return (int64_t)(MPI_Wtime() * 1e9);
}

int64_t system_time_ns(void)
{
    return read_system(CLOCK_MONOTONIC);
}

void system_sleep_ns(int64_t time_ns)
{
    const struct timespec time = {(time_t)(time_ns / 1000000000), (long)(time_ns % 1000000000)};
    if (time_ns > 0)
        nanosleep(&time, NULL);
}

const machine_clock_t machine_clocks[MACHINE_CLOCKS] = {
    [MACHINE_CLOCK_TSC] = {"tsc", read_tsc, 0},
    [MACHINE_CLOCK_MONOTONIC_RAW] = {"monotonic_raw", read_monotonic_raw, CLOCK_MONOTONIC_RAW},
    [MACHINE_CLOCK_MONOTONIC] = {"monotonic", system_time_ns, CLOCK_MONOTONIC},
    [MACHINE_CLOCK_REALTIME] = {"realtime", read_realtime, CLOCK_REALTIME},
    [MACHINE_CLOCK_WTIME] = {"wtime", read_wtime, 0},
};

double machine_clock_stated_ns(int index)
{
    struct timespec step = {0, 0};
    if (index == MACHINE_CLOCK_WTIME)
        return MPI_Wtick() * 1e9;
    if (index != MACHINE_CLOCK_TSC)
        clock_getres(machine_clocks[index].id, &step);
    return (double)step.tv_sec * 1e9 + (double)step.tv_nsec;
}

const char *machine_clock_name(int index)
{
    return index < MACHINE_CLOCKS ? machine_clocks[index].name : NULL;
}

/* One bit of what the processor says in edx of a leaf. */
static bool has_feature(unsigned int leaf, int bit)
{
#if MACHINE_HAS_TSC
    unsigned int eax, ebx, ecx, edx = 0;

    return __get_cpuid(leaf, &eax, &ebx, &ecx, &edx) && (edx >> bit & 1) != 0;
#else
    (void)leaf, (void)bit;
    return false;
#endif
}

/* With the instruction that waits for those before it. */
static bool has_tsc(void)
{
    return has_feature(0x80000001U, 27);
}

bool machine_tsc_is_invariant(void)
{
    return has_tsc() && has_feature(0x80000007U, 8);
}

const char *machine_clock_lack(int index)
{
    return index == MACHINE_CLOCK_TSC && !machine_tsc_is_invariant()
               ? "the processor has no invariant time stamp counter"
               : NULL;
}

/* Reads both clocks at one instant, as nearly as may be. */
static tsc_rate_t read_pair(void)
{
    tsc_rate_t pair = {0, 0};
    int64_t min_width_ticks = INT64_MAX;
    for (int i = 0; i < PAIR_READINGS; i++) {
        int64_t before_ticks = read_tsc();
        int64_t now_ns = read_monotonic_raw();
        int64_t width_ticks = read_tsc() - before_ticks;
        if (width_ticks < min_width_ticks) {
            min_width_ticks = width_ticks;
            pair = (tsc_rate_t){before_ticks + width_ticks / 2, now_ns};
        }
    }
    return pair;
}

void tsc_rate_begin(tsc_rate_t *rate)
{
    *rate = (tsc_rate_t){0, 0};
    if (has_tsc())
        *rate = read_pair();
}

double tsc_rate_ns(const tsc_rate_t *rate)
{
    if (!has_tsc())
        return 1;
    while (read_monotonic_raw() - rate->begin_ns < MIN_CALIBRATION_NS) {
    }
    tsc_rate_t now = read_pair();
    return (double)(now.begin_ns - rate->begin_ns) / (double)(now.begin_ticks - rate->begin_ticks);
}
