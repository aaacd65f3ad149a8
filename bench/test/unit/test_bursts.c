/* SPDX-License-Identifier: BSD-3-Clause */
/* test_bursts.c - what exchanges tell about the offset of the peer's clock. */
#include "common/mpi/burst.h"
#include "unit/support.h"

/* The peer's clock is 1000 ns ahead and has ticks of 2 ns. Each exchange leaves one limit of the offset. */
TEST(exchanges_narrow_the_offset)
{
    const exchange_t exchanges[] = {{100, 1140 / 2, 200, 1}, {1000, 2070 / 2, 1090, 2}, {2000, 3050 / 2, 2200, 3}};
    burst_window_t window = burst_window(exchanges, COUNT_OF(exchanges), 1, 2);
    EXPECT(window.limits.min_ns == 980 && window.limits.max_ns == 1040, "from %" PRId64 " to %" PRId64,
           window.limits.min_ns, window.limits.max_ns);
    EXPECT(window.min_at_ns == 2 && window.max_at_ns == 1, "found at %" PRId64 " and %" PRId64, window.min_at_ns,
           window.max_at_ns);
    EXPECT(burst_offset_ns(&window) == 1010 && burst_half_width_ns(&window) == 30, "%" PRId64 " +- %" PRId64,
           burst_offset_ns(&window), burst_half_width_ns(&window));
}

TEST(exchanges_with_a_clock_that_was_set_leave_a_width)
{
    const exchange_t exchanges[] = {{100, 1150, 200, 1}, {1000, 1550, 1100, 2}};
    burst_window_t window = burst_window(exchanges, COUNT_OF(exchanges), 1, 1);
    EXPECT(burst_half_width_ns(&window) > 0, "%" PRId64, burst_half_width_ns(&window));
}
