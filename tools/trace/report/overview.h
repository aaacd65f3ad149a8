/* SPDX-License-Identifier: BSD-3-Clause */
/* overview.h - a picture of the whole run: how much of each of some hundred spans of time threads wait, or are late. */
#ifndef TRACE_OVERVIEW_H
#define TRACE_OVERVIEW_H

#include "trace/waits/analysis.h"

#include <jansson.h>

/*
 * overview_data - what report.js draws. NULL: nothing was recorded.
 *
 * clock      by which times are, in a few words
 * linked     so many of the greatest causes have a time line of their own, to which the picture leads
 */
json_t *overview_data(const wait_analysis *of, const char *clock, int linked);

#endif
