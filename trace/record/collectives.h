/* SPDX-License-Identifier: BSD-3-Clause */
/* collectives.h - collective operations. */
#ifndef RECORD_COLLECTIVES_H
#define RECORD_COLLECTIVES_H

#include "trace/shared/interposer.h"

/* Of a persistent request; it is counted, recorded or not. */
void mh_trace_start_collective(trace_call *call, trace_request *its);

#endif
