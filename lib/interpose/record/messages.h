/* SPDX-License-Identifier: BSD-3-Clause */
/* messages.h - what is sent and received. */
#ifndef RECORD_MESSAGES_H
#define RECORD_MESSAGES_H

#include "interpose/interposer.h"

void mh_trace_learn_sizes(void); /* of types */
int64_t mh_trace_bytes(int64_t count, MPI_Datatype type);
void mh_trace_put_send(trace_call *call, const trace_request *message);
void mh_trace_put_post(trace_call *call, uint32_t request, uint16_t comm, int partner, int tag);
void mh_trace_put_receive(trace_call *call, uint16_t comm, uint32_t request, const MPI_Status *status);

#endif
