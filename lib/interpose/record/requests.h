/* SPDX-License-Identifier: BSD-3-Clause */
/* requests.h - requests until they are complete, and messages that were found until they are received. */
#ifndef RECORD_REQUESTS_H
#define RECORD_REQUESTS_H

#include "interpose/interposer.h"

bool mh_trace_open_requests(void);
void mh_trace_free_rooms(trace_thread *thread);

#endif
