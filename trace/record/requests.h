/* SPDX-License-Identifier: BSD-3-Clause */
/* requests.h - requests under way. */
#ifndef RECORD_REQUESTS_H
#define RECORD_REQUESTS_H

#include "trace/shared/interposer.h"

/* Whom a request is for, by its handle in the program, for any thread that asks. Nothing if it is not known. */
void mh_trace_tell_request(uintptr_t handle, trace_now *now);

#endif
