/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock_step.h - the step in which a clock rises: the smallest distance of two intervals between readings, where values
 * that differ by a rounding are one. 1 if it is less than 5, 0 if nothing is known.
 */
#ifndef CLOCK_STEP_H
#define CLOCK_STEP_H

#include <stdint.h>

/* clock_step - of a clock, by readings one after the other, in its unit. Local. */
int64_t clock_step(int64_t (*read)(const void *clock), const void *clock);

/* clock_step_of - by intervals between successive readings; they are sorted then. */
int64_t clock_step_of(int64_t *intervals, int64_t count);

#endif
