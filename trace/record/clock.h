/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.h - the clock records. */
#ifndef RECORD_CLOCK_H
#define RECORD_CLOCK_H

#include "trace/shared/interposer.h"

/* Collective. Returns false on all processes if the clocks cannot be synchronized. */
bool mh_trace_start_clock(void);

/* A record of what is known now. began_ns: when the synchronization did that ends here. */
void mh_trace_write_clock(int64_t began_ns);

/* After a collective call of all processes, of which all make the same in the same order. */
void mh_trace_look_after_clock(trace_call *call);

/* When the limit of the trace was met, in global time; INT64_MAX: it is not. */
int64_t mh_trace_limit_ns(void);

/* The same into the trace, once: if it is met, before the program may be ended. */
void mh_trace_write_limit(void);

/* The last record. Collective. */
void mh_trace_end_clock(trace_call *call);

#endif
