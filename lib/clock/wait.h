/* SPDX-License-Identifier: BSD-3-Clause */
/* wait.h - wait for a time on a base clock. */
#ifndef MH_WAIT_H
#define MH_WAIT_H

#include "clock/base_clock.h"
#include "transport/message.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Wait until the clock reads deadline_ns or more. Returns the last reading. from_ns is an earlier reading: if the clock
 * goes back before it, the clock was set back. This ends the wait, which could otherwise take hours. With yields, other
 * processes get the processor while the deadline is far away.
 */
int64_t mh_wait_until(const mh_base_clock *clock, int64_t from_ns, int64_t deadline_ns, bool yields);

/*
 * While deadline_ns is far away, let MPI make progress, and with yields other processes run; what is left of the wait
 * is for mh_wait_until. from_ns: as there; out, a later reading.
 */
int mh_progress_towards(const mh_base_clock *clock, int64_t *from_ns, int64_t deadline_ns, const mh_channel *channel,
                        bool yields, mh_error *error);

/*
 * Sleep while the clock reads well below deadline_ns; what is left of the wait is for mh_wait_until. Returns by how
 * much the clock was stepped meanwhile, which ends the sleep, or 0.
 */
int64_t mh_sleep_towards(const mh_base_clock *clock, int64_t deadline_ns);

#endif
