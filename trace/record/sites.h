/* SPDX-License-Identifier: BSD-3-Clause */
/* sites.h - the places from which the program calls MPI. */
#ifndef RECORD_SITES_H
#define RECORD_SITES_H

#include "trace/shared/trace_format.h"

#include <stddef.h>

/* Under the lock of the flush. */
void mh_trace_note_sites(const trace_event *events, size_t count);
void mh_trace_note_site(uint64_t address);
void mh_trace_write_sites(void);

#endif
