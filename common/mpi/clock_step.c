/* SPDX-License-Identifier: BSD-3-Clause */
/* clock_step.c - read a clock, and see in which steps it rises. */
#include "common/mpi/clock_step.h"

#include "pure/order_statistics.h"

int64_t clock_step_of(int64_t *intervals, int64_t count)
{
    enum { ROUNDED = 2 };
    int64_t step = INT64_MAX, first = -1; /* of the values that rounding makes of one */
    mh_sort(intervals, count);
    for (int64_t i = 0; i < count; i++) {
        if (first >= 0 && intervals[i] - intervals[i - 1] <= ROUNDED) {
            if (intervals[i] - first > ROUNDED)
                return 1;
            continue;
        }
        if (first >= 0 && intervals[i] - first < step)
            step = intervals[i] - first;
        first = intervals[i];
    }
    return step < INT64_MAX ? step : 0;
}

int64_t clock_step(int64_t (*read)(const void *clock), const void *clock)
{
    enum { READINGS = 5000 };
    static int64_t intervals[READINGS];
    int64_t before = read(clock);
    for (int i = 0; i < READINGS; i++) {
        const int64_t now = read(clock);
        intervals[i] = now - before;
        before = now;
    }
    return clock_step_of(intervals, READINGS);
}
