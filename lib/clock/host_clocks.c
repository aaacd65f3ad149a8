/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_clocks.c - the clocks of a host by their numbers. Those of one process or thread are not among them, and not the
 * coarse ones, which two readings around another clock do not confine.
 */
#define _GNU_SOURCE /* CLOCK_TAI */
#include "clock/host_clocks.h"

typedef struct mh_host_clock {
    mpix_clock_id id;
    clockid_t posix;
} mh_host_clock;

static const mh_host_clock host_clocks[] = {
    {MPIX_CLOCK_REALTIME, CLOCK_REALTIME},
    {MPIX_CLOCK_MONOTONIC, CLOCK_MONOTONIC},
#ifdef CLOCK_MONOTONIC_RAW
    {MPIX_CLOCK_MONOTONIC_RAW, CLOCK_MONOTONIC_RAW},
#endif
#ifdef CLOCK_BOOTTIME
    {MPIX_CLOCK_BOOTTIME, CLOCK_BOOTTIME},
#endif
#ifdef CLOCK_TAI
    {MPIX_CLOCK_TAI, CLOCK_TAI},
#endif
};

enum { HOST_CLOCKS = sizeof host_clocks / sizeof *host_clocks };

bool mh_host_clock_is_there(mpix_clock_id id)
{
    struct timespec now;
    for (int i = 0; i < HOST_CLOCKS; i++)
        if (host_clocks[i].id == id)
            return clock_gettime(host_clocks[i].posix, &now) == 0;
    return false;
}

bool mh_host_clock_find(int64_t posix, mpix_clock_id *id)
{
    for (int i = 0; i < HOST_CLOCKS; i++)
        if (host_clocks[i].posix == posix) {
            *id = host_clocks[i].id;
            return mh_host_clock_is_there(*id);
        }
    return false;
}

clockid_t mh_host_clock_posix(mpix_clock_id id)
{
    for (int i = 0; i < HOST_CLOCKS; i++)
        if (host_clocks[i].id == id)
            return host_clocks[i].posix;
    return CLOCK_MONOTONIC;
}
