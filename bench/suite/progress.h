/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * progress.h - how much of all rows was measured, and how long the rest takes. For rank 0. No MPI.
 *
 * A sample is taken to need the time of a short message, and more in proportion to its length from some kilobytes on.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdint.h>

typedef struct progress {
    int64_t begun_ns;
    double all; /* in samples of short messages, likewise the next one; 0: nobody knows how many will do */
    double done;
    double longest_ns; /* all takes at most; 0: there is no limit */
} progress_t;

/* progress_samples - so many samples of a size, in samples of short messages. */
double progress_samples(double count, int64_t size_bytes);

/* progress_left_ns - until all is done, if the rest is as fast as what was done until now; -1: nothing is known yet. */
int64_t progress_left_ns(const progress_t *progress, int64_t now_ns);

#endif
