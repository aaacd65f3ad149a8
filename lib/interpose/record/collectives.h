/* SPDX-License-Identifier: BSD-3-Clause */
/* collectives.h - collective operations. */
#ifndef RECORD_COLLECTIVES_H
#define RECORD_COLLECTIVES_H

#include "interpose/interposer.h"

/* Of a request: which is counted, recorded or not. */
void mh_trace_put_collective(trace_call *call, const trace_request *its);

#endif
