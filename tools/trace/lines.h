/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lines.h - call sites by the lines of the program's source, where it has debugging information. By libdw of elfutils.
 */
#ifndef TRACE_LINES_H
#define TRACE_LINES_H

#include "trace/trace.h"

/*
 * lines_name_sites - write "FILE:LINE FUNCTION (ADDRESS) in OBJECT" in the place of "FUNCTION+OFFSET (ADDRESS) in
 * OBJECT", for each site whose object is still there as it was and knows its lines. Others stay as they are. Does
 * nothing without libdw.
 *
 * folder   of the trace: an object that is younger is another one
 */
void lines_name_sites(trace *of, const char *folder);

#endif
