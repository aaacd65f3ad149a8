/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * path.h - the critical path: what the run would have to be shorter at to be shorter. From the end of the run it goes
 * back in time; where a process waited it goes on at the process that was waited for. It is as long as the run.
 */
#ifndef TRACE_PATH_H
#define TRACE_PATH_H

#include "trace/waits/causes.h"

/* Add to each cause its part of the path. */
void path_add(causes *to, const graph *of, const graph_waits *waits);

#endif
