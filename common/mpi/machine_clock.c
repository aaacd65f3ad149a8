/* SPDX-License-Identifier: BSD-3-Clause */
/* machine_clock.c - read the clocks of this machine without the library, and measure the rate of the counter. */
#include "common/mpi/machine_clock.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef MACHINE_HAS_TSC
#include <cpuid.h>
#endif
#define MIN_CALIBRATION_NS INT64_C(20000000)

/* The least disturbed of so many readings of both clocks is kept. */
enum { PAIR_READINGS = 8 };

static int64_t read_system(clockid_t id)
{
    struct timespec now = {0, 0};
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
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

const machine_clock_t machine_clocks[MACHINE_CLOCKS + 1] = {
    [MACHINE_CLOCK_TSC] = {"tsc", 0},
    [MACHINE_CLOCK_CNTVCT] = {"cntvct", 0},
    [MACHINE_CLOCK_MONOTONIC_RAW] = {"monotonic_raw", CLOCK_MONOTONIC_RAW},
    [MACHINE_CLOCK_MONOTONIC] = {"monotonic", CLOCK_MONOTONIC},
    [MACHINE_CLOCK_REALTIME] = {"realtime", CLOCK_REALTIME},
    [MACHINE_CLOCK_WTIME] = {"wtime", 0},
};

int64_t machine_clock_ticks(int index)
{
    if (machine_clock_is_counter(index))
        return machine_counter_ticks();
    return index == MACHINE_CLOCK_WTIME ? (int64_t)(MPI_Wtime() * 1e9) : read_system(machine_clocks[index].id);
}

double machine_clock_stated_ns(int index)
{
    struct timespec step = {0, 0};
    if (index == MACHINE_CLOCK_WTIME)
        return MPI_Wtick() * 1e9;
    if (!machine_clock_is_counter(index))
        clock_getres(machine_clocks[index].id, &step);
    return (double)step.tv_sec * 1e9 + (double)step.tv_nsec;
}

#ifdef MACHINE_HAS_TSC

/* One bit of what the processor says in edx of a leaf. */
static bool has_feature(unsigned int leaf, int bit)
{
    unsigned int eax, ebx, ecx, edx = 0;

    return __get_cpuid(leaf, &eax, &ebx, &ecx, &edx) && (edx >> bit & 1) != 0;
}

/* With the instruction that waits for those before it. */
static bool has_counter(void)
{
    return has_feature(0x80000001U, 27);
}

bool machine_counter_is_invariant(void)
{
    return has_counter() && has_feature(0x80000007U, 8);
}

#else

static bool has_counter(void)
{
    return MACHINE_COUNTER != MACHINE_CLOCKS;
}

/* That of ARM is so by its architecture. */
bool machine_counter_is_invariant(void)
{
    return has_counter();
}

#endif

const char *machine_clock_lack(int index)
{
    if (!machine_clock_is_counter(index) || (index == MACHINE_COUNTER && machine_counter_is_invariant()))
        return NULL;
    return index == MACHINE_COUNTER     ? "the processor has no invariant time stamp counter, or no rdtscp to read it"
           : index == MACHINE_CLOCK_TSC ? "the program reads no time stamp counter on this processor"
                                        : "the program reads no generic timer on this processor";
}

clock_pair_t clock_pair_read(int64_t (*read_ns)(const void *clock), const void *clock)
{
    clock_pair_t best = {0, INT64_MAX, 0};
    for (int i = 0; i < PAIR_READINGS; i++) {
        int64_t before_ticks = machine_counter_ticks();
        int64_t now_ns = read_ns(clock);
        int64_t width_ticks = machine_counter_ticks() - before_ticks;
        if (width_ticks < best.width_ticks)
            best = (clock_pair_t){before_ticks + width_ticks / 2, width_ticks, now_ns};
    }
    return best;
}

static int64_t read_raw(const void *clock)
{
    (void)clock;
    return read_system(CLOCK_MONOTONIC_RAW);
}

void counter_rate_begin(counter_rate_t *rate)
{
    clock_pair_t pair = {0};
    if (has_counter())
        pair = clock_pair_read(read_raw, NULL);
    *rate = (counter_rate_t){pair.ticks, pair.time_ns};
}

double counter_rate_ns(const counter_rate_t *rate)
{
    if (!has_counter())
        return 1;
    while (read_system(CLOCK_MONOTONIC_RAW) - rate->begin_ns < MIN_CALIBRATION_NS) {
    }
    clock_pair_t now = clock_pair_read(read_raw, NULL);
    return (double)(now.time_ns - rate->begin_ns) / (double)(now.ticks - rate->begin_ticks);
}
