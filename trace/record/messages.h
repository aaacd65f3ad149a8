/* SPDX-License-Identifier: BSD-3-Clause */
/* messages.h - what is sent and received. */
#ifndef RECORD_MESSAGES_H
#define RECORD_MESSAGES_H

#include "trace/shared/interposer.h"

void mh_trace_learn_sizes(void); /* of types */
int64_t mh_trace_bytes(int64_t count, MPI_Datatype type);
/*
 * A message that is not recorded, by partner, tag and communicator: so that the next one that is tells how many came
 * before. request: of the receive that is recorded, or 0.
 */
void mh_trace_skip(const trace_call *call, trace_way way, int partner, int tag, uint32_t comm);
void mh_trace_put_skipped(trace_call *call, int64_t time_ns, trace_way way, int partner, int tag, uint32_t comm,
                          uint32_t request);
void mh_trace_begin_send(trace_call *call, trace_request *its);
void mh_trace_begin_receive(trace_call *call, trace_request *its);
/* Whether only the message tells of which kind it is. */
bool mh_trace_takes_any(const trace_request *its);
/* Whether the result of a receive says so. A message that is too long is cut, and has come. */
bool mh_trace_has_come(int result);
void mh_trace_put_receive(trace_call *call, uint32_t comm, uint32_t request, const MPI_Status *status);

#endif
