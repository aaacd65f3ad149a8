/* SPDX-License-Identifier: BSD-3-Clause */
/* wait.h - wait for a deadline on a base clock. */
#ifndef MH_WAIT_H
#define MH_WAIT_H

#include "clock/base_clock.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Wait until the clock reads deadline_ns; returns what it read last: less than that where the clock was set back since
 * it read from_ns. With yields set, other processes get the processor while the deadline is far.
 */
int64_t mh_wait_until(const mh_base_clock *clock, int64_t from_ns, int64_t deadline_ns, bool yields);

#endif
