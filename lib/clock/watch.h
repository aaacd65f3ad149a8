/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watch.h - detects steps of a base clock by comparing it with a clock of the kernel that cannot be set, the steady
 * clock. So a process detects a step by itself, even if all processes share the clock.
 */
#ifndef MH_WATCH_H
#define MH_WATCH_H

#include "clock/base_clock.h"

#include <stdbool.h>
#include <stdint.h>

/* CLOCK_MONOTONIC as of the last tick of the kernel, a few milliseconds ago at most. Reading it is much cheaper. */
static inline int64_t mh_clock_watch_coarse_ns(void)
{
#ifdef CLOCK_MONOTONIC_COARSE
    return mh_kernel_clock_ns(CLOCK_MONOTONIC_COARSE);
#else
    return mh_kernel_clock_ns(CLOCK_MONOTONIC);
#endif
}

/* Both clocks at one instant. */
typedef struct mh_clock_watch {
    int64_t base_ns;
    int64_t steady_ns;
    int64_t coarse_ns;   /* CLOCK_MONOTONIC then, as of the last tick */
    int64_t doubt_ns;    /* the instants of the two readings differ by at most this */
    int64_t every_ns;    /* time between two looks; 0: a look in each call */
    clockid_t steady;    /* the steady clock */
    double steady_limit; /* how far the rates of the two clocks may differ */
} mh_clock_watch;

/* Start to watch a base clock that is open. */
void mh_clock_watch_start(mh_clock_watch *watch, const mh_base_clock *base);

/*
 * Whether a look is due when the base clock reads local_ns: after every_ns by the base clock, after every_ns plus at
 * most one tick of the kernel by CLOCK_MONOTONIC, or if the base clock went back. The base clock alone is not enough:
 * set back by about the time since the last look, it would show that no time has passed.
 */
static inline bool mh_clock_watch_is_due(const mh_clock_watch *watch, int64_t local_ns)
{
    return (uint64_t)(local_ns - watch->base_ns) >= (uint64_t)watch->every_ns ||
           mh_clock_watch_coarse_ns() - watch->coarse_ns >= watch->every_ns;
}

/*
 * Look at both clocks. Returns by how much the base clock was stepped since the last look, or 0. A step that any watch
 * of this process found counts for all. Any thread, if no other one uses this watch.
 */
int64_t mh_clock_watch_look(mh_clock_watch *watch, const mh_base_clock *base);

#endif
