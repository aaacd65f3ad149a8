/* SPDX-License-Identifier: BSD-3-Clause */
/* record.h - how a recording begins and ends. */
#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

#include "interpose/interposer.h"

/*
 * After MPI_Init, collectively over the world. functions: so many names, by their ids less 1; call: MPI_Init. Returns
 * false, the same on all processes, if nothing is recorded.
 */
bool mh_trace_begin(const char *const *functions, int count, int64_t entered_raw_ns, trace_call *call);

/* Before MPI_Finalize, collectively over the world. */
void mh_trace_end(trace_call *call);

#endif
