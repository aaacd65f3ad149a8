/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * samples.h - latencies of one operation at one size: which are valid, and what they come to.
 */
#ifndef SAMPLES_H
#define SAMPLES_H

#include "world.h"

#include <stdint.h>

/* Calls between two agreements on which samples are valid. More disturb the measurement less; fewer bring repeats
 * sooner. */
enum { BATCH_CALLS = 64 };

/* A few calls on this rank. */
struct batch {
    int calls;
    int valid[BATCH_CALLS]; /* this rank's flags; after samples_add those of all ranks together */
    double latency_us[BATCH_CALLS];
};

/* All valid calls on this rank so far. The counts are the same on all ranks. */
struct samples {
    int64_t valid;
    int64_t discarded;
    double sum_us;
    double least_us;
    double most_us;
};

/* Of all ranks. */
struct summary {
    double mean_us; /* the mean over ranks of their means */
    double least_us;
    double most_us;
    double most_mean_us; /* the greatest of the ranks' means */
};

/* samples_clear - no samples yet. */
void samples_clear(struct samples *samples);

/*
 * samples_add - agree on the flags of a batch and take in its valid samples. Collective.
 *
 * A sample is valid when the flags of all ranks are 1.
 *
 * Returns an MPI error code.
 */
int samples_add(struct samples *samples, struct batch *batch, const struct world *world);

/*
 * samples_summarise - combine the ranks' samples on rank 0. Collective. At least one sample is valid.
 *
 * Returns an MPI error code.
 */
int samples_summarise(const struct samples *samples, const struct world *world, struct summary *summary);

#endif /* SAMPLES_H */
