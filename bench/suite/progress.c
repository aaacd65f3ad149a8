/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.c - what is left, by what was done. */
#include "bench/suite/progress.h"

#include <math.h>

/* Messages of so many bytes take about twice as long as short ones. */
#define DOUBLE_BYTES 8192.0
/* By less than a second of measuring, nothing can be told. */
#define MIN_DONE_NS 1e9

double progress_samples(double count, int64_t size_bytes)
{
    return count * (1 + (double)size_bytes / DOUBLE_BYTES);
}

int64_t progress_left_ns(const progress_t *progress, int64_t now_ns)
{
    double spent_ns = (double)(now_ns - progress->begun_ns);
    if (spent_ns < MIN_DONE_NS || progress->done <= 0 || progress->all <= 0)
        return -1;
    double left_ns = fmax(spent_ns * (progress->all / progress->done - 1), 0);
    return (int64_t)(progress->longest_ns > 0 ? fmin(left_ns, fmax(progress->longest_ns - spent_ns, 0)) : left_ns);
}
