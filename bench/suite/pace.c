/* SPDX-License-Identifier: BSD-3-Clause */
/* pace.c - learn from the times of batches how far ahead the next starts are set. */
#include "bench/suite/pace.h"

#include "pure/statistics.h"

#include <string.h>

/*
 * A window is this many times as long as the usual cycle. Calls that take longer fit into it, and ranks that were
 * interrupted are soon in time again.
 */
#define WINDOW_ROOM 1.5
/* What grows and shrinks: quickly by a quarter, slowly by a thirtieth. */
#define GROWTH 1.25
#define SHRINKAGE (29.0 / 30)
/* Windows shrink only while even the longest cycle leaves so much of them. */
#define UNUSED_PART 0.2
/* A window that grew while other programs took the processors is halved as long as the longest cycle takes less of it.
 * */
#define TINY_PART 0.25

void pace_learn(pace_t *pace, int64_t need_ns)
{
    pace->recent_ns[pace->count++ % PACE_BATCHES] = need_ns;
}

int64_t pace_typical(const pace_t *pace)
{
    int64_t sorted_ns[PACE_BATCHES];
    int count = pace->count < PACE_BATCHES ? (int)pace->count : PACE_BATCHES;
    if (count == 0)
        return 0;
    memcpy(sorted_ns, pace->recent_ns, sizeof sorted_ns);
    return mh_median(sorted_ns, count);
}

int64_t window_next(int64_t length_ns, const cycles_t *cycles, int64_t calls, int64_t invalid)
{
    double length = (double)length_ns;
    if (length_ns == 0)
        return (int64_t)(WINDOW_ROOM * (double)cycles->usual_ns) + 1;
    if (4 * invalid > calls && WINDOW_ROOM * (double)cycles->usual_ns > length)
        return (int64_t)(GROWTH * (double)(cycles->usual_ns > length_ns ? cycles->usual_ns : length_ns)) + 1;
    if ((double)cycles->max_ns < TINY_PART * length)
        return length_ns / 2 + 1;
    if ((double)cycles->max_ns < (1 - UNUSED_PART) * length)
        return (int64_t)(SHRINKAGE * length) + 1;
    return length_ns;
}
