/* SPDX-License-Identifier: BSD-3-Clause */
/* simulated.h - clocks and messages with known errors, for tests. See clock_simulated.c. */
#ifndef MH_SIMULATED_H
#define MH_SIMULATED_H

#include <stdint.h>

/* True time, nanoseconds: what the simulated clocks are derived from. */
int64_t mh_simulated_true_ns(void);

/* Sleep for a random time, as a message on a jittery link does. */
void mh_simulated_delay(void);

#endif
