/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page.h - a trace as a page of HTML.
 */
#ifndef TRACE_PAGE_H
#define TRACE_PAGE_H

#include "trace/report/gantt.h"
#include "trace/report/tables.h"

#include <stdio.h>

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
