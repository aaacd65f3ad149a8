/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counter.h - what the base clocks tsc and cntvct have in common: a counter in the processor that ticks at one rate and
 * is read without a system call. A processor has at most one of the two.
 */
#ifndef MH_COUNTER_H
#define MH_COUNTER_H

#include "clock/base_clock_private.h"

#if defined(__x86_64__) || defined(__i386__)
#define MH_PROCESSOR_IS_X86 1
#else
#define MH_PROCESSOR_IS_X86 0
#endif

#ifdef __aarch64__
#define MH_PROCESSOR_IS_ARM64 1
#else
#define MH_PROCESSOR_IS_ARM64 0
#endif

/* In a simulation, a counter would show the time of the machine that runs the simulator. */
#ifdef SMPI_H
#define MH_COUNTER_LEFT_OUT "time is simulated"
#define MH_HAS_COUNTER 0
#elif defined(MPIX_NO_COUNTER)
#define MH_COUNTER_LEFT_OUT "the library was configured with --disable-tsc"
#define MH_HAS_COUNTER 0
#else
#define MH_COUNTER_LEFT_OUT ""
#define MH_HAS_COUNTER 1
#endif

#define MH_COUNTER_IS_TSC (MH_HAS_COUNTER && MH_PROCESSOR_IS_X86)
#define MH_COUNTER_IS_CNTVCT (MH_HAS_COUNTER && MH_PROCESSOR_IS_ARM64)

/*
 * Whether the kernel uses the counter for its own clocks, by the name that it has there: 0, or -1 with the reason. The
 * kernel checks a counter against other clocks all the time, and drops one that is wrong.
 */
int mh_counter_probe(const char *clocksource, char *why, size_t why_size);

/* The functions of a clock kind. They must not be called if no counter is compiled in: then no probe succeeds. */
int64_t mh_counter_now_ns(const mh_base_clock *clock);
int64_t mh_counter_glance_ns(const mh_base_clock *clock);
int64_t mh_counter_wait_until(const mh_base_clock *clock, int64_t from_ns, int64_t deadline_ns);

/* The same for each call in the life of a process: a second calibration would be a second clock. */
mh_tick_scale mh_counter_calibrate(void);

#endif
