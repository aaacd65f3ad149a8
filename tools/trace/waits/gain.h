/* SPDX-License-Identifier: BSD-3-Clause */
/* gain.h - how long the run would take without a cause of waits. */
#ifndef TRACE_GAIN_H
#define TRACE_GAIN_H

#include "trace/waits/causes.h"

/*
 * The run time by replay, if a rank did not take longer than the others: each instance of the cause is shorter by as
 * much as it was longer than with those that waited for it. If the other ranks compute as often between these places,
 * an instance for which nobody waited is no longer than the median of theirs.
 */
int64_t gain_run_ns(const graph *of, const causes *known, size_t which);

#endif
