/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sites.h - call sites: the calls of a collective function from one place in the program, on one communicator.
 */
#ifndef TRACE_SITES_H
#define TRACE_SITES_H

#include "trace/report/arrivals.h"
#include "trace/read/trace.h"

enum { COMM_TEXT_BYTES = 48 };

typedef struct site {
    const char *function;
    char *place;                /* of rank 0 of the communicator: as trace/format.h says, or its address */
    char comm[COMM_TEXT_BYTES]; /* "world", or ranks of MPI_COMM_WORLD: "0-3,8" */
    const trace_call **calls;   /* by time */
    arrivals_t arrivals;        /* of these calls */
    arrivals_summary_t summary;
} site_t;

/* By the time that processes waited, the longest first. */
typedef struct sites {
    int count;
    site_t *list;
} sites_t;

/* sites_find - find all call sites. matches must outlive them. */
void sites_find(sites_t *sites, const trace *of, const trace_matches *matches);
void sites_free(sites_t *sites);

#endif
