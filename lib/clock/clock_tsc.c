/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock_tsc.c - the time stamp counter of x86 processors, if it is invariant and the kernel uses it as its own
 * clocksource. It is read without a system call and has the rate of the hardware.
 */
#include "base/units.h"
#include "base/wide.h"
#include "clock/base_clock_private.h"

#include <stdio.h>
#include <string.h>

/* In a simulation, the counter shows the time of the machine that runs the simulator. */
#if defined(__x86_64__) && !defined(SMPI_H)

#include <cpuid.h>
#include <pthread.h>
#include <time.h>
#include <x86intrin.h>

/* On a virtual machine, the hypervisor answers, which takes long. So the processor is asked once. */
static int has_invariant_counter(void)
{
    enum { NOT_ASKED, NO, YES };
    static _Atomic int answer;
    unsigned a, b, c, d;
    if (answer != NOT_ASKED)
        return answer == YES;
    int has_rdtscp = __get_cpuid(0x80000001u, &a, &b, &c, &d) && (d & (1u << 27));
    int invariant = __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & (1u << 8));
    answer = has_rdtscp && invariant ? YES : NO;
    return answer == YES;
}

static int tsc_probe(char *why, size_t why_size)
{
    char source[32] = "unknown";
    if (!has_invariant_counter()) {
        snprintf(why, why_size, "the processor has no invariant time stamp counter");
        return -1;
    }
    FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "r");
    if (file) {
        if (fscanf(file, "%31s", source) != 1)
            strcpy(source, "unknown");
        fclose(file);
    }
    if (strcmp(source, "tsc") == 0)
        return 0;
    snprintf(why, why_size, "the kernel's clocksource is %s, not tsc", source);
    return -1;
}

/* rdtscp waits for earlier instructions, so the work that a user times is complete when the clock is read. */
static inline uint64_t read_ticks(void)
{
    unsigned processor;
    return __rdtscp(&processor);
}

static inline int64_t to_ns(uint64_t ticks, const mh_tick_scale *scale)
{
    return (int64_t)mh_multiply_shift(ticks, scale->ns_per_tick, MH_SCALE_BITS);
}

static int64_t tsc_now_ns(const mh_base_clock *clock)
{
    return to_ns(read_ticks(), &clock->scale);
}

static int64_t tsc_wait_until(const mh_base_clock *clock, int64_t deadline_ns)
{
    uint64_t first = __rdtsc(), ticks = first;
    int64_t left_ns = deadline_ns - to_ns(first, &clock->scale);
    if (left_ns > 0) {
        /*
         * 2 more ticks: scales and product are rounded down. If the counter goes back, the difference is huge: no wait.
         */
        uint64_t left_ticks = mh_multiply_shift((uint64_t)left_ns, clock->scale.ticks_per_ns, MH_SCALE_BITS) + 2;
        while ((ticks = __rdtsc()) - first < left_ticks)
            ;
    }
    return to_ns(ticks, &clock->scale);
}

/* Both clocks at one instant. */
typedef struct instant {
    uint64_t ticks;
    int64_t raw_ns;
    uint64_t bracket_ticks; /* ticks may be off by half of this */
} instant;

/* The shortest bracket of eight tries. */
static instant read_both(void)
{
    enum { TRIES = 8 };
    instant best = {.bracket_ticks = UINT64_MAX};
    for (int i = 0; i < TRIES; i++) {
        struct timespec now;
        uint64_t before = read_ticks();
        clock_gettime(CLOCK_MONOTONIC_RAW, &now);
        uint64_t bracket = read_ticks() - before;
        if (bracket < best.bracket_ticks)
            best = (instant){before + bracket / 2, (int64_t)now.tv_sec * MH_NS_PER_S + now.tv_nsec, bracket};
    }
    return best;
}

/*
 * The rate must be the same for all processes of a node, more than accurate: it may be off by 20 ppm. This is little
 * beside MH_RAW_RATE_LIMIT, by which the rates of two nodes, and of this clock and the one that it is watched by, may
 * differ. Brackets of 40 to 60 ns at both ends take 2 to 3 ms; the limit is for kernels without a fast path for
 * CLOCK_MONOTONIC_RAW.
 */
static mh_tick_scale measure_scale(void)
{
    enum { MIN_BRACKETS = 25000, MAX_NS = 10 * 1000 * 1000 };
    instant first = read_both(), last;
    do
        last = read_both();
    while (last.ticks - first.ticks < MIN_BRACKETS * (first.bracket_ticks + last.bracket_ticks) &&
           last.raw_ns - first.raw_ns < MAX_NS);
    double ns_per_tick = (double)(last.raw_ns - first.raw_ns) / (double)(last.ticks - first.ticks);
    double one = (double)(UINT64_C(1) << MH_SCALE_BITS);
    return (mh_tick_scale){(uint64_t)(ns_per_tick * one), (uint64_t)(one / ns_per_tick)};
}

/* Once in the life of a process: a second calibration would be a second clock. */
static mh_tick_scale tsc_calibrate(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static mh_tick_scale scale;
    pthread_mutex_lock(&lock);
    if (scale.ns_per_tick == 0)
        scale = measure_scale();
    pthread_mutex_unlock(&lock);
    return scale;
}

#else

static int tsc_probe(char *why, size_t why_size)
{
    snprintf(why, why_size, "this is not an x86-64 processor, or a simulated one");
    return -1;
}

static int64_t tsc_now_ns(const mh_base_clock *clock)
{
    (void)clock;
    return 0;
}

static int64_t tsc_wait_until(const mh_base_clock *clock, int64_t deadline_ns)
{
    (void)clock;
    return deadline_ns;
}

static mh_tick_scale tsc_calibrate(void)
{
    return (mh_tick_scale){0, 0};
}

#endif

const mh_clock_kind mh_clock_tsc = {
    .name = "tsc",
    .doc = "the time stamp counter of x86: the hardware's own rate, read without a system call",
    .is_raw = true,
    .probe = tsc_probe,
    .now_ns = tsc_now_ns,
    .wait_until = tsc_wait_until,
    .calibrate = tsc_calibrate,
};
