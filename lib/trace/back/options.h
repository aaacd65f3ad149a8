/* SPDX-License-Identifier: BSD-3-Clause */
/* options.h - the options of mpix_trace, the same on all processes. */
#ifndef TRACE_BACK_OPTIONS_H
#define TRACE_BACK_OPTIONS_H

#include <stdint.h>

typedef struct {
    char folder[4096];
    char only[4096]; /* patterns of names; empty: all but MPI_Wtime and MPI_Wtick */
    int64_t buffer_bytes;
    int64_t from_ns, to_ns; /* global time */
} trace_options;

void mh_trace_read_options(trace_options *options);

#endif
