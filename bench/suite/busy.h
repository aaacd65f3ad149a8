/* SPDX-License-Identifier: BSD-3-Clause */
/* busy.h - from when on a machine is said to be busy, or launches to differ. bench/doc/results-good.md has the same. */
#ifndef BUSY_H
#define BUSY_H

#define BUSY_OTHERS_PERCENT 5.0 /* what other programs take of the processors' time */
#define BUSY_STEAL_PERCENT 1.0  /* what the hypervisor takes of it */
#define BUSY_SPREAD_PERCENT 5.0 /* deviation of a row between launches of one variant */

#endif
