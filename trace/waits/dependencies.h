/* SPDX-License-Identifier: BSD-3-Clause */
/* dependencies.h - on which calls of other threads calls depend, by what the trace shows and by what MPI says. */
#ifndef TRACE_DEPENDENCIES_H
#define TRACE_DEPENDENCIES_H

#include "trace/waits/graph.h"

/* Add all dependencies to the calls of a graph. */
void dependencies_add(graph *to, const trace_matches *matches);

#endif
