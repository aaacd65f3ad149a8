/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * global_clock.h - the global clock as one process keeps it: a base clock and the estimate that maps it to global time.
 *
 * Any thread may read while one thread publishes a new estimate. Readings in a process never decrease, whatever is
 * published: if a new estimate is behind the old one, time stands still until the estimate has caught up.
 */
#ifndef MH_GLOBAL_CLOCK_H
#define MH_GLOBAL_CLOCK_H

#include "clock/base_clock.h"
#include "pure/model.h"

#include <stdatomic.h>
#include <stdint.h>

/* One of two copies of the published estimate; the fields are those of mh_estimate. */
typedef struct mh_published {
    _Atomic int64_t at_ns, offset_ns, bound_ns;
    _Atomic int64_t drift_fixed; /* the drift as a fixed-point number: integers make a reading cheaper */
    _Atomic double drift, drift_bound, wander_bound;
} mh_published;

typedef struct mh_global_clock {
    mh_base_clock base;
    /*
     * Even: copy (sequence / 2) % 2 is in force. Odd: that copy is being replaced by the other one. 0: never published.
     */
    _Atomic unsigned sequence;
    _Atomic bool is_wrong;    /* known to be, until the next synchronization; any thread may find that */
    _Atomic int64_t floor_ns; /* no reading may lie below */
    mh_published copies[2];
} mh_global_clock;

typedef struct mh_reading {
    int64_t time_ns;
    int64_t bound_ns; /* MH_TIME_UNKNOWN_NS: not known */
} mh_reading;

void mh_global_clock_init(mh_global_clock *clock);

/* Whether an estimate has been published. */
bool mh_global_clock_is_set(const mh_global_clock *clock);

/* Publish an estimate. One thread at a time. */
void mh_global_clock_publish(mh_global_clock *clock, const mh_estimate *estimate);

/* The published estimate, without its covariance. For the thread that publishes. */
mh_estimate mh_global_clock_estimate(const mh_global_clock *clock);

/*
 * The base clock was stepped by about step_ns: publish the estimate with which global time continues as before, with
 * an unknown bound. One thread at a time.
 */
void mh_global_clock_follow_step(mh_global_clock *clock, int64_t step_ns);

/* How far earlier readings may be ahead of the present time by an estimate; negative: they are not ahead. */
int64_t mh_global_clock_lead_ns(mh_global_clock *clock, const mh_estimate *estimate);

/* Read the clock, nanoseconds. The clock must be set. */
int64_t mh_global_clock_now_ns(mh_global_clock *clock);

/* Read the clock with its bound, which covers the cost of the read. The clock must be set. */
mh_reading mh_global_clock_read(mh_global_clock *clock);

/* A clock of the kernel and this clock at one instant. */
typedef struct mh_clock_pair {
    int64_t beside_ns;
    mh_reading reading;
} mh_clock_pair;

/*
 * Read the clock and one of the kernel at one instant. This reading may be less than an earlier one: it is what the
 * estimate says, even while time stands still. The bound covers how far the instants of the two readings may be apart.
 * The clock must be set.
 */
mh_clock_pair mh_global_clock_pair(mh_global_clock *clock, clockid_t beside);

/*
 * Wait for a global time, and sleep while it is far away. yields: as for mh_wait_until. late_ns: how long after that
 * time the wait ended. Returns false if the clock is known to be wrong or the base clock was found stepped, which ends
 * the wait, and is then known. The clock must be set. Any thread.
 */
bool mh_global_clock_wait_until(mh_global_clock *clock, int64_t instant_ns, bool yields, int64_t *late_ns);

#endif
