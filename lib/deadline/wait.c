/* SPDX-License-Identifier: BSD-3-Clause */
#include "deadline/wait.h"

#include "base/units.h"

#include <sched.h>

/* A yield among processes that yield as well takes some microseconds; one nearer to the deadline would overrun it. */
enum { NEAR_NS = 50 * 1000 };

int64_t mh_wait_until(const mh_base_clock *clock, int64_t from_ns, int64_t deadline_ns, bool yields)
{
    int64_t now_ns;
    if (yields)
        while ((now_ns = mh_base_clock_now_ns(clock)) < deadline_ns - NEAR_NS && now_ns >= from_ns)
            sched_yield();
    return mh_base_clock_wait_until(clock, from_ns, deadline_ns);
}
