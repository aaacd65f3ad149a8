/* SPDX-License-Identifier: BSD-3-Clause */
/* simulated.h - clocks and messages with known errors, for tests. See clock_simulated.c. */
#ifndef MH_SIMULATED_H
#define MH_SIMULATED_H

#include <stdint.h>

/* True time, nanoseconds: what the simulated clocks are derived from. */
int64_t mh_simulated_true_ns(void);

/*
 * The true time at which the clock that is described showed a time, by another process that knows its origin. Asked for
 * ascending times, of a clock that does not jump.
 */
int64_t mh_simulated_true_from_local_ns(int64_t local_ns);

/* How often the clock of this process has jumped until now, and by how much altogether. */
int64_t mh_simulated_jumps(int64_t *sum_ns);

/* Messages of this process so far. */
int64_t mh_simulated_messages(void);

#endif
