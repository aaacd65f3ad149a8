/* SPDX-License-Identifier: BSD-3-Clause */
/* campaign.h - make the launches of a campaign. No MPI. */
#ifndef CAMPAIGN_H
#define CAMPAIGN_H

#include "bench/campaign/manifest.h"

typedef struct campaign {
    manifest_t manifest; /* open */
    int64_t retries;     /* of a launch that fails */
    double timeout_s;    /* of a launch; not above 0: none; likewise the next one */
    double left_s;    /* for all launches; what each takes is taken off, down to CAMPAIGN_LEAST_S: there are no more */
    bool is_terminal; /* standard error, where progress is shown then */
    bool has_told;    /* what a good launch said, which may hold for all: ranks that are not bound, for example */
} campaign_t;

#define CAMPAIGN_LEAST_S 0.001

/*
 * campaign_run - make the launches that are not done, after launch_prepare, until one fails or a signal comes. Tells on
 * standard error what failed, and of the good launches what the first of them said that said something.
 *
 * Returns whether all are done.
 */
bool campaign_run(campaign_t *campaign);

#endif
