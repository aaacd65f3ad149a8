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

typedef struct trace_view {
    const trace *of;
    const trace_matches *matches;
    const profile_t *profile;
    const sites_t *sites;
    const wait_analysis *waits;
    const char *title; /* NULL: what ran, where, and when */
    const char *clock; /* by which times are, in a few words */
    bool has_bounds;   /* times are of the global clock */
    bool has_interval; /* there are calls for a Gantt chart */
    interval_t interval;
    gantt_lanes_t lanes;
} trace_view_t;

/* trace_page_print - print the page. */
void trace_page_print(FILE *file, const trace_view_t *view);

#endif
