/* SPDX-License-Identifier: BSD-3-Clause */
/* paths.h - the place by which people know a call, of the path to it. */
#ifndef TRACE_PATHS_H
#define TRACE_PATHS_H

#include "trace/read/trace.h"

/* paths_choose - for each path, which of its sites trace_find_site finds. Again when their texts have changed. */
void paths_choose(trace *of);

#endif
