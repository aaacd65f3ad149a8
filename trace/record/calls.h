/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.h - calls that are entered and left, and regions of the program. */
#ifndef RECORD_CALLS_H
#define RECORD_CALLS_H

#include "trace/record/buffer.h"

/* Record that the call was entered, if that was left open. */
void mh_trace_record_enter(trace_call *call);
/* Write what was kept back: runs of unsuccessful calls, and the ends of all open calls but so many, which were left by
 * a jump before now_ns. */
void mh_trace_settle(trace_thread *thread, int open_count, int64_t now_ns);
void mh_trace_put_region(trace_call *call, uint16_t id, bool enters);
bool mh_trace_lacks_regions(void);                  /* there were more than there is room for */
void mh_trace_switch(trace_call *call, bool is_on); /* MPI_Pcontrol; once more changes nothing */
trace_thread *mh_trace_thread_of(trace_call *call);
bool mh_trace_is_of_class(int error, int class);

/* For a request that a call begins: a number, unless it has one. */
void mh_trace_number(const trace_call *call, trace_request *its);

#endif
