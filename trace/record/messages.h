/* SPDX-License-Identifier: BSD-3-Clause */
/* messages.h - what is sent and received. */
#ifndef RECORD_MESSAGES_H
#define RECORD_MESSAGES_H

#include "trace/shared/interposer.h"

void mh_trace_learn_sizes(void); /* of types */
int64_t mh_trace_bytes(int64_t count, MPI_Datatype type);
void mh_trace_begin_send(trace_call *call, trace_request *its);
void mh_trace_begin_receive(trace_call *call, trace_request *its);
/* Whether the result of a receive says so. A message that is too long is cut, and has come. */
bool mh_trace_has_come(int result);
void mh_trace_put_receive(trace_call *call, uint32_t comm, uint32_t request, const MPI_Status *status);

#endif
