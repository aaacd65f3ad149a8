/* SPDX-License-Identifier: BSD-3-Clause */
#include "samples.h"

#include <float.h>

void samples_clear(struct samples *samples)
{
    *samples = (struct samples){.least_us = DBL_MAX, .most_us = -DBL_MAX};
}

static void take(struct samples *samples, double latency_us)
{
    samples->valid++;
    samples->sum_us += latency_us;
    if (latency_us < samples->least_us)
        samples->least_us = latency_us;
    if (latency_us > samples->most_us)
        samples->most_us = latency_us;
}

int samples_add(struct samples *samples, struct batch *batch, const struct world *world)
{
    int code = MPI_Allreduce(MPI_IN_PLACE, batch->valid, batch->calls, MPI_INT, MPI_LAND, world->comm);

    for (int i = 0; i < batch->calls && code == MPI_SUCCESS; i++) {
        if (batch->valid[i])
            take(samples, batch->latency_us[i]);
        else
            samples->discarded++;
    }
    return code;
}

int samples_summarise(const struct samples *samples, const struct world *world, struct summary *summary)
{
    double mean_us = samples->sum_us / (double)samples->valid;
    double sum_us = 0;
    double greatest_us[3] = {-samples->least_us, samples->most_us, mean_us};
    double all_greatest_us[3] = {0};
    int code = MPI_Reduce(&mean_us, &sum_us, 1, MPI_DOUBLE, MPI_SUM, 0, world->comm);

    if (code == MPI_SUCCESS)
        code = MPI_Reduce(greatest_us, all_greatest_us, 3, MPI_DOUBLE, MPI_MAX, 0, world->comm);
    summary->mean_us = sum_us / world->ranks;
    summary->least_us = -all_greatest_us[0];
    summary->most_us = all_greatest_us[1];
    summary->most_mean_us = all_greatest_us[2];
    return code;
}
