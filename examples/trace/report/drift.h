/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drift.h - a trace as if local clocks had drifted: what processes of one host need to look like those of several.
 */
#ifndef TRACE_DRIFT_H
#define TRACE_DRIFT_H

#include "trace/trace.h"

/*
 * drift_impose - let the local clock of each rank run fast by so many millionths. The drift swings by a fifth within
 * the run, as that of a processor that becomes warm and cold again. Global times of the clock records stay what they
 * are: the global clock is as good as it was, and events are as far from the records. Before trace_set_times.
 *
 * drifts_ppm   of the ranks, from 0 on, again and again
 */
void drift_impose(trace *of, const double *drifts_ppm, int count);

#endif /* TRACE_DRIFT_H */
