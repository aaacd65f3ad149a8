/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.c - looking after the clock of the world: MPIX_Harmonize synchronizes it as often as it must. */
#include "interpose/harmonize/clock.h"

#include "interpose/twin.h"

#include <math.h>
#include <stdlib.h>

preload_care mh_preload_care;

/* The clocks are checked once in this time, after at most so many calls, but not in the first calls after a barrier. */
static const double look_interval_s = 0.01;
static const double s_per_ns = 1e-9;
enum { MAX_STRIDE = 64, MAX_EARLY_LOOKS = 1024, CALLS_AFTER_BARRIER = 16 };

bool mh_preload_statistic(MPI_Comm comm, const char *key, int64_t *value)
{
    char text[32];
    if (!mh_interpose_statistic(comm, key, text, sizeof text))
        return false;
    *value = strtoll(text, NULL, 10);
    return true;
}

/* All processes make the same collective calls of all processes in the same order, so these are the same on all. */
static int calls_since_look, calls_until_look = 1, early_looks;
static bool cannot_look;

/* The time since the last release of all processes, which was the last check of the clocks. */
static double since_look_s(void)
{
    int64_t instant_ns, now_ns, bound_ns;
    if (PMPIX_Harmonize_instant(mh_twin_of_world, &instant_ns) != MPI_SUCCESS ||
        PMPIX_Global_time_ns(mh_twin_of_world, &now_ns, &bound_ns) != MPI_SUCCESS)
        return HUGE_VAL;
    return (double)(now_ns - instant_ns) * s_per_ns;
}

/*
 * In between, rank 0, whose clock is the reference, tells all processes how long it has been; so they agree. If its
 * clock was set back, global time stands still until somebody looks, so the clock is not asked forever.
 */
static void look(void)
{
    double since_s = since_look_s();
    int flag;
    if (PMPI_Bcast(&since_s, 1, MPI_DOUBLE, 0, mh_twin_of_world) != MPI_SUCCESS) {
        cannot_look = true;
    } else if (since_s < look_interval_s && early_looks++ < MAX_EARLY_LOOKS) {
        calls_until_look = calls_since_look < MAX_STRIDE ? calls_since_look : MAX_STRIDE;
    } else {
        double calls = calls_since_look * look_interval_s / since_s;
        calls_until_look = calls < 1 ? 1 : calls > MAX_STRIDE ? MAX_STRIDE : (int)calls;
        calls_since_look = early_looks = 0;
        mh_preload_care.looks++;
        cannot_look = PMPIX_Harmonize(mh_twin_of_world, &flag) != MPI_SUCCESS;
    }
}

/* This follows the call: one that MPI refuses on a process is not made, and others need not make it. */
void mh_preload_after_call(void)
{
    mh_preload_care.calls++;
    if (cannot_look)
        return;
    calls_since_look++;
    if (--calls_until_look <= 0)
        look();
}

/* So measurements after a barrier are not disturbed. */
void mh_preload_before_harmonize(void)
{
    mh_preload_care.calls++;
    mh_preload_care.looks++;
    calls_since_look = 0;
    calls_until_look = CALLS_AFTER_BARRIER + 1;
}
