/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page.h - a trace as a page of HTML, and what is drawn there: intervals as Gantt charts, with a lane for each thread,
 * a bar for each call, and a line for each message; and a picture of the whole run.
 */
#ifndef TRACE_PAGE_H
#define TRACE_PAGE_H

#include "trace/report/tables.h"

#include <jansson.h>

/* Global times, less trace.start_ns. */
typedef struct interval {
    double from_ns, to_ns;
} interval_t;

/* Which threads are drawn. */
typedef struct gantt_lanes {
    size_t count;
    int *rows; /* by index of a location; -1: not drawn */
} gantt_lanes_t;

/*
 * gantt_choose_lanes - all, or if there are too many, some that are wanted and others, evenly.
 *
 * wanted   indexes of locations, the most wanted first; one may be there several times
 */
gantt_lanes_t gantt_choose_lanes(const trace *of, const size_t *wanted, size_t wanted_count);

/* gantt_usual - the first interval with a few dozen calls, without those that set up MPI. False: there are no calls. */
bool gantt_usual(const trace *of, const gantt_lanes_t *lanes, interval_t *interval);

/* gantt_fit - make an interval so short that a page can hold its calls. False: it is as it was. */
bool gantt_fit(const trace *of, const gantt_lanes_t *lanes, interval_t *interval);

/* gantt_lane_name - the rank of a thread, and which of its threads it is if there are several. */
json_t *gantt_lane_name(const trace_location *at);

/*
 * gantt_data - what report.js draws as a timeline.
 *
 * message_step   out: one of so many messages is drawn
 */
json_t *gantt_data(const trace *of, const trace_matches *matches, const gantt_lanes_t *lanes, interval_t interval,
                   size_t *message_step);

/*
 * worst_data - likewise, the worst instance of a cause: it is marked, and all waits, and which are charged to it.
 *
 * place   of the cause in the order of causes, from 0
 */
json_t *worst_data(const wait_analysis *of, const trace_matches *matches, size_t place, size_t *message_step);

/*
 * overview_data - what report.js draws of the whole run: how much of each of some hundred spans of time threads wait or
 * are late. NULL: nothing was recorded.
 *
 * linked   so many of the greatest causes have a time line of their own, to which the picture leads
 */
json_t *overview_data(const wait_analysis *of, int linked);

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
