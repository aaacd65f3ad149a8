/* SPDX-License-Identifier: BSD-3-Clause */
/* counter.c - read the counter of the processor, wait by it, and measure its rate. */
#include "clock/counter.h"

#include "pure/units.h"
#include "pure/wide.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#if MH_COUNTER_IS_TSC
#include <x86intrin.h>

/* rdtscp waits for earlier instructions, so the work that a user times is complete when the clock is read. */
static inline uint64_t read_ticks(void)
{
    unsigned processor;
    return __rdtscp(&processor);
}

static inline uint64_t glance_at_ticks(void)
{
    return __rdtsc();
}

/* The rate that the processor states; 0: it states none that is exact. */
static inline uint64_t stated_ticks_per_s(void)
{
    return 0;
}

#elif MH_COUNTER_IS_CNTVCT

static inline uint64_t glance_at_ticks(void)
{
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks)::"memory");
    return ticks;
}

/* The barrier waits for earlier instructions, as rdtscp does on x86. */
static inline uint64_t read_ticks(void)
{
    __asm__ volatile("isb" ::: "memory");
    return glance_at_ticks();
}

static inline uint64_t stated_ticks_per_s(void)
{
    uint64_t ticks_per_s;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(ticks_per_s));
    return ticks_per_s;
}

#else

static inline uint64_t read_ticks(void)
{
    return 0;
}

static inline uint64_t glance_at_ticks(void)
{
    return 0;
}

static inline uint64_t stated_ticks_per_s(void)
{
    return 0;
}

#endif

int mh_counter_probe(const char *clocksource, char *why, size_t why_size)
{
    char source[32] = "unknown";
    FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "r");
    if (file) {
        if (fscanf(file, "%31s", source) != 1)
            strcpy(source, "unknown");
        fclose(file);
    }
    if (strcmp(source, clocksource) == 0)
        return 0;
    snprintf(why, why_size, "the kernel's clocksource is %s, not %s", source, clocksource);
    return -1;
}

static inline int64_t to_ns(uint64_t ticks, const mh_tick_scale *scale)
{
    return (int64_t)mh_multiply_shift(ticks, scale->ns_per_tick, MH_SCALE_BITS);
}

int64_t mh_counter_now_ns(const mh_base_clock *clock)
{
    return to_ns(read_ticks(), &clock->scale);
}

int64_t mh_counter_glance_ns(const mh_base_clock *clock)
{
    return to_ns(glance_at_ticks(), &clock->scale);
}

int64_t mh_counter_wait_until(const mh_base_clock *clock, int64_t from_ns, int64_t deadline_ns)
{
    uint64_t first = glance_at_ticks(), ticks = first;
    int64_t first_ns = to_ns(first, &clock->scale), left_ns = deadline_ns - first_ns;
    bool was_set_back = first_ns + MH_NS_PER_US < from_ns; /* a glance is early by less */
    if (left_ns > 0 && !was_set_back) {
        /*
         * 2 more ticks: scales and product are rounded down. If the counter goes back, the difference is huge: no wait.
         */
        uint64_t left_ticks = mh_multiply_shift((uint64_t)left_ns, clock->scale.ticks_per_ns, MH_SCALE_BITS) + 2;
        while ((ticks = glance_at_ticks()) - first < left_ticks)
            ;
    }
    return to_ns(ticks, &clock->scale);
}

/* Both clocks at one instant. */
typedef struct mh_instant {
    uint64_t ticks;
    int64_t raw_ns;
    uint64_t bracket_ticks; /* ticks may be off by half of this */
} mh_instant;

/* The shortest bracket of eight tries. A reading may be one tick old: some counters tick at 24 MHz. */
static mh_instant read_both(void)
{
    enum { TRIES = 8 };
    mh_instant best = {.bracket_ticks = UINT64_MAX};
    for (int i = 0; i < TRIES; i++) {
        uint64_t before = read_ticks();
        int64_t raw_ns = mh_kernel_clock_ns(CLOCK_MONOTONIC_RAW);
        uint64_t bracket = read_ticks() - before + 1;
        if (bracket < best.bracket_ticks)
            best = (mh_instant){before + bracket / 2, raw_ns, bracket};
    }
    return best;
}

/*
 * That the rate is the same for all processes of a node matters more than its accuracy: it may be off by 20 ppm. This
 * is little compared to MH_RAW_RATE_LIMIT, by which the rates of two nodes may differ, and those of this clock and the
 * clock that watches it. Brackets of 40 to 60 ns at both ends take 2 to 3 ms; the limit is for kernels without a fast
 * path for CLOCK_MONOTONIC_RAW.
 */
static double measure_ns_per_tick(void)
{
    enum { MIN_BRACKETS = 25000, MAX_NS = 10 * 1000 * 1000 };
    mh_instant first = read_both(), last;
    do
        last = read_both();
    while (last.ticks - first.ticks < MIN_BRACKETS * (first.bracket_ticks + last.bracket_ticks) &&
           last.raw_ns - first.raw_ns < MAX_NS);
    return (double)(last.raw_ns - first.raw_ns) / (double)(last.ticks - first.ticks);
}

/* A stated rate is exact, but some firmware states a wrong one: it has to agree with what is measured. */
static mh_tick_scale find_scale(void)
{
    double ns_per_tick = measure_ns_per_tick(), stated = (double)stated_ticks_per_s();
    if (fabs(stated * ns_per_tick - (double)MH_NS_PER_S) <= MH_RAW_RATE_LIMIT * (double)MH_NS_PER_S)
        ns_per_tick = (double)MH_NS_PER_S / stated;
    double one = (double)(UINT64_C(1) << MH_SCALE_BITS);
    return (mh_tick_scale){(uint64_t)(ns_per_tick * one), (uint64_t)(one / ns_per_tick)};
}

mh_tick_scale mh_counter_calibrate(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static mh_tick_scale scale;
    pthread_mutex_lock(&lock);
    if (scale.ns_per_tick == 0)
        scale = find_scale();
    pthread_mutex_unlock(&lock);
    return scale;
}
