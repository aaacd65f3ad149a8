/* SPDX-License-Identifier: BSD-3-Clause */
/* cut.h - a part of the run. */
#ifndef TRACE_CUT_H
#define TRACE_CUT_H

#include "trace/trace.h"

/*
 * Leave out what is not between two global times, less trace.start_ns: calls that are not wholly between them, messages
 * and collective operations that are not with all their ends, and ends of regions. Global times are set, and all is
 * matched, so what is left has the times and the matches that it has in the whole trace.
 */
void trace_cut(trace *of, trace_matches *matches, double from_ns, double to_ns);

#endif
