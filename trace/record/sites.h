/* SPDX-License-Identifier: BSD-3-Clause */
/* sites.h - the places from which the program calls MPI. */
#ifndef RECORD_SITES_H
#define RECORD_SITES_H

#include <stdbool.h>

/* What was noted by mh_trace_note_path since the last time. Under the lock of the flush. */
void mh_trace_write_sites(void);

/* There were more paths than RECORD_PATHS, or than there is room for: calls by these have no place. */
enum { RECORD_PATHS = 8192 };
bool mh_trace_lacks_paths(void);

/* There were more places in paths than there is room for: they have no names. */
bool mh_trace_lacks_places(void);

#endif
