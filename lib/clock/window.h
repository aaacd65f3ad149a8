/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * window.h - what exchanged messages leave for the offset of two clocks. Pure; no MPI.
 *
 * From "no message arrives before it was sent" the true offset lies between the maximum of sent - remote and the
 * minimum of received - remote, whatever the paths' asymmetry.
 */
#ifndef MH_WINDOW_H
#define MH_WINDOW_H

#include "clock/model.h"

#include <stdbool.h>
#include <stdint.h>

/* The true offset lies within. */
typedef struct mh_window {
    int64_t min_ns, max_ns;
} mh_window;

/* Nothing is known. For narrowing and intersecting only: differences of its ends overflow. */
mh_window mh_window_unknown(void);

/* What an offset and its bound say. */
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

/* What is left where two windows are of the same offset. */
mh_window mh_window_intersect(mh_window a, mh_window b);

/* The middle of a window, which may be inverted by little. */
int64_t mh_window_middle_ns(mh_window window);

/* How far an offset may be off. The limits may cross by as much as clock readings cost, or clocks drift. */
int64_t mh_window_bound_ns(mh_window window, int64_t offset_ns);

/* Whether an offset is outside by more than a doubt. */
bool mh_window_excludes(mh_window window, int64_t offset_ns, int64_t doubt_ns);

/*
 * Whether a window is inverted, though the rates of the clocks, which differ by at most rate_limit, have changed the
 * offset in the time that it took, and readings are uncertain: then a clock was stepped in this time.
 */
bool mh_window_is_inverted(mh_window window, double rate_limit, int64_t span_ns, int64_t doubt_ns);

#endif
