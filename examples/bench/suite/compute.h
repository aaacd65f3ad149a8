/* SPDX-License-Identifier: BSD-3-Clause */
/* compute.h - computing beside an operation, to see how much of it passes meanwhile. */
#ifndef COMPUTE_H
#define COMPUTE_H

#include "suite/measure.h"

#include <stdint.h>

/* compute_calibrate - the rounds of the loop that computes, per nanosecond. Local. */
double compute_calibrate(const measure_t *measure);

/*
 * compute_call_overlapped - start the operation, compute, with tests in equal distances, and finish it.
 *
 * Returns the time of computation alone.
 */
int64_t compute_call_overlapped(const measure_t *measure, int64_t compute_ns);

#endif /* COMPUTE_H */
