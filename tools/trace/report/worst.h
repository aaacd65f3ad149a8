/* SPDX-License-Identifier: BSD-3-Clause */
/* worst.h - the worst instance of a cause as a time line: it is marked, and all waits, and which are charged to it. */
#ifndef TRACE_WORST_H
#define TRACE_WORST_H

#include "trace/report/gantt.h"
#include "trace/waits/analysis.h"

/*
 * worst_data - what report.js draws.
 *
 * place          of the cause in the order of causes, from 0
 * clock          by which times are, in a few words
 * message_step   out: one of so many messages is drawn
 */
json_t *worst_data(const wait_analysis *of, const trace_matches *matches, size_t place, const char *clock,
                   size_t *message_step);

#endif
