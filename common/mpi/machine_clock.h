/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * machine_clock.h - the clocks that a process can read, under the names that the library gives them.
 *
 * Clocks are read here without the library, so that the library's statements about them can be checked.
 */
#ifndef MACHINE_CLOCK_H
#define MACHINE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* The counter that processors of this kind have; and the one that is read, which may be none. */
#if defined(__x86_64__) || defined(__i386__)
#define MACHINE_KIND_COUNTER MACHINE_CLOCK_TSC
#elif defined(__aarch64__)
#define MACHINE_KIND_COUNTER MACHINE_CLOCK_CNTVCT
#else
#define MACHINE_KIND_COUNTER MACHINE_CLOCKS
#endif
#ifdef MPIX_NO_COUNTER
#define MACHINE_COUNTER MACHINE_CLOCKS
#else
#define MACHINE_COUNTER MACHINE_KIND_COUNTER
#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#define MACHINE_HAS_TSC
#elif defined(__aarch64__)
#define MACHINE_HAS_CNTVCT
#endif
#endif
typedef enum machine_clock_index {
    MACHINE_CLOCK_TSC,
    MACHINE_CLOCK_CNTVCT,
    MACHINE_CLOCK_MONOTONIC_RAW,
    MACHINE_CLOCK_MONOTONIC,
    MACHINE_CLOCK_REALTIME,
    MACHINE_CLOCK_WTIME,
    MACHINE_CLOCKS
} machine_clock_index_t;

typedef struct machine_clock {
    const char *name;
    clockid_t id; /* of those of the system */
} machine_clock_t;

extern const machine_clock_t machine_clocks[MACHINE_CLOCKS + 1]; /* the last has no name */

/* machine_clock_is_counter - whether a clock counts ticks of the processor instead of nanoseconds. */
static inline bool machine_clock_is_counter(int index)
{
    return index == MACHINE_CLOCK_TSC || index == MACHINE_CLOCK_CNTVCT;
}

/* machine_clock_ticks - read a clock. A tick is 1 ns, but for counters; see counter_rate_ns. */
int64_t machine_clock_ticks(int index);

/* machine_clock_stated_ns - the resolution that the system states; 0: it states none. */
double machine_clock_stated_ns(int index);

/* machine_clock_lack - why this process cannot use a clock; NULL if it can. Local. */
const char *machine_clock_lack(int index);

/*
 * machine_counter_ticks - read the counter of this processor, MACHINE_COUNTER, after all earlier instructions, as the
 * library does; 0: none.
 */
static inline int64_t machine_counter_ticks(void)
{
#if defined(MACHINE_HAS_TSC)
    unsigned int processor;
    return (int64_t)__rdtscp(&processor);
#elif defined(MACHINE_HAS_CNTVCT)
    int64_t ticks;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks)::"memory");
    return ticks;
#else
    return 0;
#endif
}

/* machine_counter_is_invariant - whether the counter runs at one rate, whatever the processor's frequency and sleep. */
bool machine_counter_is_invariant(void);

/* system_time_ns - the system's monotonic clock, for durations on one rank. */
int64_t system_time_ns(void);

/* system_sleep_ns - sleep; returns at once if the time is not above 0. */
void system_sleep_ns(int64_t time_ns);

/* The counter and another clock, read at one instant, as nearly as may be. */
typedef struct clock_pair {
    int64_t ticks;
    int64_t width_ticks; /* from the reading of the counter before to that after */
    int64_t time_ns;
} clock_pair_t;

/* clock_pair_read - of several pairs of readings, the one least disturbed. Local. */
clock_pair_t clock_pair_read(int64_t (*read_ns)(const void *clock), const void *clock);

/* The beginning of a measurement of the counter's rate. */
typedef struct counter_rate {
    int64_t begin_ticks;
    int64_t begin_ns; /* the same instant on monotonic_raw */
} counter_rate_t;

/* counter_rate_begin - begin to measure. Local. */
void counter_rate_begin(counter_rate_t *rate);

/*
 * counter_rate_ns - the length of a tick of the counter in ns, from all the time since the beginning; waits if that is
 * too short. 1 if there is no counter. Local.
 */
double counter_rate_ns(const counter_rate_t *rate);

#endif
