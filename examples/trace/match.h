/* SPDX-License-Identifier: BSD-3-Clause */
/* match.h - the parts of trace_match: messages.c and collectives.c. Each fills its own of the matches. */
#ifndef TRACE_MATCH_H
#define TRACE_MATCH_H

#include "trace/trace.h"

bool trace_match_messages(const trace *of, trace_matches *matches);
bool trace_match_calls(const trace *of, trace_matches *matches);

#endif
