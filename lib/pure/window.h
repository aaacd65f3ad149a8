/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window.h - the offsets of two clocks that exchanged messages allow. Pure; no MPI.
 *
 * No message arrives before it was sent. So the true offset lies between the maximum of sent - remote and the minimum
 * of received - remote, for any delays in the two directions.
 */
#ifndef MH_WINDOW_H
#define MH_WINDOW_H

#include "pure/model.h"

#include <stdbool.h>
#include <stdint.h>

/* The true offset is within min_ns and max_ns. */
typedef struct mh_window {
    int64_t min_ns, max_ns;
} mh_window;

/* The window of all offsets. For narrowing and intersecting only: the difference of its ends overflows. */
mh_window mh_window_unknown(void);

/* The window of an offset and its bound. */
mh_window mh_window_of_offset(const mh_offset *offset);

/*
 * Narrow a window by a round trip: the client sent at sent_ns, the reference stamped remote_ns, the client received at
 * received_ns.
 */
static inline void mh_window_narrow(mh_window *window, int64_t sent_ns, int64_t remote_ns, int64_t received_ns)
{
    int64_t min_ns = sent_ns - remote_ns, max_ns = received_ns - remote_ns;
    window->min_ns = min_ns > window->min_ns ? min_ns : window->min_ns;
    window->max_ns = max_ns < window->max_ns ? max_ns : window->max_ns;
}

/* The intersection of two windows of the same offset. */
mh_window mh_window_intersect(mh_window a, mh_window b);

/* The middle of a window, which may be slightly inverted. */
int64_t mh_window_middle_ns(mh_window window);

/* The maximum error of an offset, at least 0: the limits may cross slightly, by the cost of a reading or by drift. */
int64_t mh_window_bound_ns(mh_window window, int64_t offset_ns);

/* Whether an offset is outside by more than doubt_ns. */
bool mh_window_excludes(mh_window window, int64_t offset_ns, int64_t doubt_ns);

/*
 * Whether a window is inverted by more than drift and the uncertainty of readings explain: a clock was then stepped
 * within span_ns, the time that the measurement took. rate_limit: the maximum difference of the rates of the clocks.
 */
bool mh_window_is_inverted(mh_window window, double rate_limit, int64_t span_ns, int64_t doubt_ns);

#endif
