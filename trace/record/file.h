/* SPDX-License-Identifier: BSD-3-Clause */
/* file.h - the file of a process. What fails is remembered; nothing is written from then on. */
#ifndef RECORD_FILE_H
#define RECORD_FILE_H

#include "trace/shared/trace_format.h"

#include <stdbool.h>
#include <sys/uio.h>

/* Returns 0 or an errno. */
int mh_trace_open_file(uint64_t job);
void mh_trace_write(uint32_t kind, uint32_t thread, const struct iovec *parts, int count);
void mh_trace_write_one(uint32_t kind, const void *payload, size_t bytes);
void mh_trace_write_name(uint32_t id, const char *name);
int mh_trace_file_error(void); /* 0; or an errno, perhaps with the other number */
enum { TRACE_FILE_WAS_CLOSED = 1 << 16 };
bool mh_trace_is_beside_first(void); /* false: the folder of rank 0 is another one, on another host */
void mh_trace_close_file(void);
void mh_trace_remove_file(void); /* if it is this process's own */

#endif
