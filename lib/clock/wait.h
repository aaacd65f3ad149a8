/* SPDX-License-Identifier: BSD-3-Clause */
/* wait.h - wait for a time on a base clock. */
#ifndef MH_WAIT_H
#define MH_WAIT_H

#include "clock/base_clock.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Wait until the clock reads deadline_ns or more. Returns the last reading. from_ns is an earlier reading: if the clock
 * goes back before it, the clock was set back. This ends the wait, which could otherwise take hours. With yields, other
 * processes get the processor while the deadline is far away.
 */
int64_t mh_wait_until(const mh_base_clock *clock, int64_t from_ns, int64_t deadline_ns, bool yields);

#endif
