/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * offset_window.h - what round trips leave of the offset of a remote clock, remote - own: no message arrives before it
 * was sent, so each round trip bounds the offset from both sides. The middle of the window is the estimator of the
 * SKaMPI benchmark.
 */
#ifndef OFFSET_WINDOW_H
#define OFFSET_WINDOW_H

#include <stdint.h>
#include <stdlib.h>

typedef struct offset_window {
    int64_t min_ns, max_ns;
    int64_t min_at_ns, max_at_ns; /* when the limits were found */
} offset_window_t;

static inline offset_window_t offset_window_unknown(void)
{
    return (offset_window_t){INT64_MIN, INT64_MAX, 0, 0};
}

/* Takes in a round trip: sent and received by the own clock, in between the reading of the remote one. */
static inline void offset_window_narrow(offset_window_t *window, int64_t sent_ns, int64_t remote_ns,
                                        int64_t received_ns, int64_t at_ns)
{
    if (remote_ns - received_ns > window->min_ns) {
        window->min_ns = remote_ns - received_ns;
        window->min_at_ns = at_ns;
    }
    if (remote_ns - sent_ns < window->max_ns) {
        window->max_ns = remote_ns - sent_ns;
        window->max_at_ns = at_ns;
    }
}

static inline int64_t offset_window_middle_ns(const offset_window_t *window)
{
    return window->min_ns + (window->max_ns - window->min_ns) / 2;
}

/* What the middle may be off by. Coarse clocks, and clocks that were set, may leave less than nothing. */
static inline int64_t offset_window_half_width_ns(const offset_window_t *window)
{
    return (llabs(window->max_ns - window->min_ns) + 1) / 2;
}

#endif /* OFFSET_WINDOW_H */
