/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * offset_mean_rtt.c - the median of the offsets of single exchanges, each for half a mean round trip before its
 * arrival. From T. Jones and G. Koenig, "Clock Synchronization in High-end Computing Environments", 2013; algorithm 8
 * of Hunold and Carpen-Amarie, Cluster 2018. One slow round trip moves the mean, and with it the estimate.
 */
#include "pure/statistics.h"
#include "sync/offset_private.h"

static int64_t estimate(const mh_exchange *exchanges, int count, mh_window window, int64_t *workspace)
{
    (void)window;
    for (int i = 0; i < count; i++)
        workspace[i] = exchanges[i].received_ns - exchanges[i].sent_ns;
    int64_t half_rtt_ns = (int64_t)(mh_mean(workspace, count) / 2);
    for (int i = 0; i < count; i++)
        workspace[i] = exchanges[i].received_ns - exchanges[i].remote_ns - half_rtt_ns;
    return mh_median(workspace, count);
}

const mh_offset_kind mh_offset_mean_rtt = {
    .name = "meanrtt",
    .doc = "the median of offsets taken half a mean round trip before each arrival",
    .estimate = estimate,
};
