/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock_posix.c - the clocks of clock_gettime: monotonic_raw (the rate of the hardware), monotonic (slewed by NTP) and
 * realtime (slewed and stepped).
 */
#include "clock/base_clock_private.h"

#include <stdio.h>

static int probe(clockid_t id, char *why, size_t why_size)
{
    struct timespec now;
    if (clock_gettime(id, &now) == 0)
        return 0;
    snprintf(why, why_size, "the system does not have it");
    return -1;
}

#define POSIX_CLOCK(NAME, ID, RAW, SHIFTED, DOC)             \
    static int NAME##_probe(char *why, size_t why_size)      \
    {                                                        \
        return probe(ID, why, why_size);                     \
    }                                                        \
    static int64_t NAME##_now_ns(const mh_base_clock *clock) \
    {                                                        \
        (void)clock;                                         \
        return mh_kernel_clock_ns(ID);                       \
    }                                                        \
    const mh_clock_kind mh_clock_##NAME = {                  \
        .name = #NAME,                                       \
        .doc = DOC,                                          \
        .is_raw = RAW,                                       \
        .may_be_set = (ID) == CLOCK_REALTIME,                \
        .shifted_by_time_namespace = SHIFTED,                \
        .probe = NAME##_probe,                               \
        .now_ns = NAME##_now_ns,                             \
    };

POSIX_CLOCK(monotonic_raw, CLOCK_MONOTONIC_RAW, true, true, "CLOCK_MONOTONIC_RAW: drifts, but smoothly")
POSIX_CLOCK(monotonic, CLOCK_MONOTONIC, false, true, "CLOCK_MONOTONIC: its rate is corrected by NTP")
POSIX_CLOCK(realtime, CLOCK_REALTIME, false, false, "CLOCK_REALTIME: corrected by NTP, and may be set")
