/* SPDX-License-Identifier: BSD-3-Clause */
/* wait.c - wait for a time: sleep or yield the processor while the time is far away; then spin. */
#include "clock/wait.h"

#include "pure/units.h"
#include "clock/base_clock_private.h"
#include "clock/watch.h"

#include <sched.h>
#include <time.h>

/* If other processes yield too, a yield takes some microseconds. Later yields could miss the deadline. */
enum { LAST_YIELD_NS = 50 * 1000 };

enum { PROGRESS_NS = 10 * 1000 }; /* between calls that let MPI make progress */

enum {
    AWAKE_NS = 1000 * 1000,   /* a sleeping process may wake up late by less than this, unless the machine is busy */
    NAP_NS = 10 * 1000 * 1000 /* a step of the clock shows after a nap */
};

static void nap(int64_t nap_ns)
{
    struct timespec wait = {nap_ns / MH_NS_PER_S, nap_ns % MH_NS_PER_S};
    if (nap_ns > 0)
        nanosleep(&wait, NULL);
}

int64_t mh_sleep_towards(const mh_base_clock *clock, int64_t deadline_ns)
{
    mh_clock_watch watch;
    int64_t step_ns = 0, left_ns = deadline_ns - mh_base_clock_now_ns(clock);
    if (left_ns <= 2 * (int64_t)AWAKE_NS)
        return 0;
    mh_clock_watch_start(&watch, clock);
    while (step_ns == 0 && left_ns > AWAKE_NS) {
        nap(left_ns < NAP_NS + AWAKE_NS ? left_ns - AWAKE_NS : NAP_NS);
        step_ns = mh_clock_watch_look(&watch, clock);
        left_ns = deadline_ns - mh_base_clock_now_ns(clock);
    }
    return step_ns;
}

#ifdef SMPI_H
/*
 * A simulated clock advances only by calls of the simulator, 10 ns for each reading. Sleep for most of the wait
 * instead.
 */
static void sleep_simulated(const mh_base_clock *clock, int64_t deadline_ns)
{
    nap(deadline_ns - mh_base_clock_now_ns(clock));
}
#else
static inline void sleep_simulated(const mh_base_clock *clock, int64_t deadline_ns)
{
    (void)clock;
    (void)deadline_ns;
}
#endif

/* Returns the last reading. */
static int64_t yield_towards(const mh_base_clock *clock, int64_t from_ns, int64_t deadline_ns)
{
    int64_t now_ns;
    while ((now_ns = mh_base_clock_now_ns(clock)) < deadline_ns - LAST_YIELD_NS && now_ns >= from_ns)
        sched_yield();
    return now_ns;
}

static int64_t spin_until_or_set_back(const mh_base_clock *clock, int64_t from_ns, int64_t deadline_ns)
{
    int64_t now_ns;
    do
        now_ns = mh_base_clock_now_ns(clock);
    while (now_ns >= from_ns && now_ns < deadline_ns);
    return now_ns;
}

int64_t mh_wait_until(const mh_base_clock *clock, int64_t from_ns, int64_t deadline_ns, bool yields)
{
    sleep_simulated(clock, deadline_ns);
    if (yields) {
        int64_t now_ns = yield_towards(clock, from_ns, deadline_ns);
        if (now_ns < from_ns)
            return now_ns;
    }
    if (clock->kind->wait_until)
        return clock->kind->wait_until(clock, from_ns, deadline_ns);
    return spin_until_or_set_back(clock, from_ns, deadline_ns);
}

int mh_progress_towards(const mh_base_clock *clock, int64_t *from_ns, int64_t deadline_ns, const mh_channel *channel,
                        bool yields, mh_error *error)
{
    int64_t now_ns = *from_ns;
#ifdef SMPI_H
    deadline_ns = now_ns; /* the simulator makes progress by itself, and each look for messages takes simulated time */
#endif
    while (now_ns >= *from_ns && deadline_ns - now_ns > LAST_YIELD_NS) {
        *from_ns = now_ns;
        int code = mh_make_progress(channel, error);
        if (code != MPI_SUCCESS)
            return code;
        if (yields)
            sched_yield();
        now_ns = yields ? mh_base_clock_now_ns(clock) : mh_wait_until(clock, now_ns, now_ns + PROGRESS_NS, false);
    }
    return MPI_SUCCESS;
}
