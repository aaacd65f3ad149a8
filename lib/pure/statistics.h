/* SPDX-License-Identifier: BSD-3-Clause */
/* statistics.h - pure statistics over arrays; no MPI. */
#ifndef MH_STATISTICS_H
#define MH_STATISTICS_H

#include <stdint.h>

/* Sort values in ascending order. */
void mh_sort(int64_t *values, int64_t count);

/* The median of count > 0 values (the lower one of an even count). Reorders values. */
int64_t mh_median(int64_t *values, int count);

/* The mean of count > 0 values. */
double mh_mean(const int64_t *values, int count);

#endif
