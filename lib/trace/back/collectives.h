/* SPDX-License-Identifier: BSD-3-Clause */
/* collectives.h - collective operations. */
#ifndef TRACE_BACK_COLLECTIVES_H
#define TRACE_BACK_COLLECTIVES_H

#include "trace/recorder.h"

/* Of a request: which is counted, recorded or not. */
void mh_trace_put_collective(trace_call *call, const trace_request *its);

#endif
