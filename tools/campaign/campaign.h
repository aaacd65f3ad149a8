/* SPDX-License-Identifier: BSD-3-Clause */
/* campaign.h - make the launches of a campaign. No MPI. */
#ifndef CAMPAIGN_H
#define CAMPAIGN_H

#include "campaign/manifest.h"

typedef struct campaign {
    manifest_t manifest; /* open */
    int64_t retries;     /* of a launch that fails */
    double timeout_s;    /* of a launch; not above 0: none */
    bool is_terminal;    /* standard error, where progress is shown then */
} campaign_t;

/*
 * campaign_run - make the launches that are not done, after launch_prepare, until one fails or a signal comes. Tells on
 * standard error what failed.
 *
 * Returns whether all are done.
 */
bool campaign_run(campaign_t *campaign);

#endif
