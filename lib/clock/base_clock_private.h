/* SPDX-License-Identifier: BSD-3-Clause */
/* base_clock_private.h - what a base clock is made of; for base_clock.c and the members. */
#ifndef MH_BASE_CLOCK_PRIVATE_H
#define MH_BASE_CLOCK_PRIVATE_H

#include "clock/base_clock.h"

#include <stddef.h>

typedef struct mh_clock_kind {
    const char *name;
    const char *doc;
    bool is_raw;     /* runs at the hardware's own rate */
    bool may_be_set; /* an administrator may set it, ahead or back */
    bool is_foreign; /* of processors of another kind than this one */
    bool shifted_by_time_namespace;
    /* Whether this machine has the clock: 0, or -1 with the reason in why. */
    int (*probe)(char *why, size_t why_size);
    int64_t (*now_ns)(const mh_base_clock *clock);
    /* A quicker reading, which may come before that of earlier instructions; NULL: there is none. */
    int64_t (*glance_ns)(const mh_base_clock *clock);
    /* A quicker way to spin until deadline_ns, or until the clock goes back before from_ns, or NULL. Returns the last
       reading. */
    int64_t (*wait_until)(const mh_base_clock *clock, int64_t from_ns, int64_t deadline_ns);
    /* Measure the scale of a counter; NULL for clocks that count nanoseconds. */
    mh_tick_scale (*calibrate)(void);
} mh_clock_kind;

extern const mh_clock_kind mh_clock_tsc;
extern const mh_clock_kind mh_clock_cntvct;
extern const mh_clock_kind mh_clock_monotonic_raw;
extern const mh_clock_kind mh_clock_monotonic;
extern const mh_clock_kind mh_clock_realtime;
extern const mh_clock_kind mh_clock_wtime;
extern const mh_clock_kind mh_clock_simulated; /* in tests only */

/* The members, in the order in which auto prefers them; NULL past the last. */
const mh_clock_kind *mh_base_clock_kind(int index);

#endif
