/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile.h - calls of a thread, as ENTER and LEAVE tell them, and how much time each function took on each rank.
 */
#ifndef TRACE_PROFILE_H
#define TRACE_PROFILE_H

#include "trace/read/trace.h"

/* From an ENTER to its LEAVE: positions in the events. */
typedef struct span {
    uint16_t id;
    size_t enter, leave;
    int depth;    /* how many others it is within */
    bool is_open; /* it was never left: leave is the last event */
} span_t;

/* How far a location has been read: first, only the location is set. */
typedef struct span_walk {
    const trace_location *location;
    size_t next;
    int depth;
} span_walk_t;

/* span_next - the next call that begins; those within it come after it. False: there are no more. */
bool span_next(span_walk_t *walk, span_t *span);

/* A function on a rank, by all of its threads. */
typedef struct usage {
    const char *function;
    int rank;
    int64_t calls; /* unsuccessful ones of functions that test count, too */
    double total_ns, longest_ns;
    double sent_bytes, received_bytes; /* by messages, operations, windows and files, in the calls that know of them */
    double share; /* of the time from the first event of the rank to its last; of several threads, added up */
} usage_t;

/* Functions that took the most time come first, and of a function the ranks in their order. */
typedef struct profile {
    size_t count;
    usage_t *list;
} profile_t;

/* profile_make - of functions that were called and left. */
void profile_make(profile_t *profile, const trace *of);
void profile_free(profile_t *profile);

#endif
