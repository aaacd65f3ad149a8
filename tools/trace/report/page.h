/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page.h - a trace as a page of HTML.
 */
#ifndef TRACE_PAGE_H
#define TRACE_PAGE_H

#include "trace/report/gantt.h"
#include "trace/report/profile.h"
#include "trace/report/sites.h"
#include "trace/waits/analysis.h"

#include <stdio.h>

/* A trace, and what was found in it. */
typedef struct findings {
    trace of;
    trace_matches matches;
    profile_t profile;
    sites_t sites;
    wait_analysis waits;
    trace_clock clock; /* by which times are */
} findings_t;

/*
 * trace_page_print - print the page.
 *
 * title      NULL: what ran, where, and when
 * interval   of the Gantt chart; NULL: there are no calls
 * lanes      of the Gantt chart
 */
void trace_page_print(FILE *file, const findings_t *found, const char *title, const interval_t *interval,
                      const gantt_lanes_t *lanes);

#endif
