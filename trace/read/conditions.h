/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * conditions.h - the order that the matches of a trace require: a receive is not before its send, and nobody leaves a
 * collective operation before those whom it must wait for enter. A request of two threads does not end before it began.
 * Events are counted through all locations.
 */
#ifndef TRACE_CONDITIONS_H
#define TRACE_CONDITIONS_H

#include "trace/read/logical_clock.h"
#include "trace/read/trace.h"

typedef struct {
    size_t location_count, event_count, rule_count, member_count;
    trace_location **locations;
    size_t *first;       /* event of each location, and the count of all */
    logical_rule *rules; /* whose nodes are events */
    uint16_t *functions; /* of each rule: an operation, or 0: a message, or a request */
    logical_member *members;
} conditions;

void conditions_find(const trace *of, const trace_matches *matches, conditions *found);
void conditions_free(conditions *found);

/* The event that is the node of a rule. */
trace_point conditions_event(const conditions *of, size_t node);

/* The global times of all events, in whole nanoseconds, rounded down. */
void conditions_times(const conditions *of, int64_t *time_ns);

/* Correct such times by the controlled logical clock. What is of one time in a call stays so. Returns as that does. */
bool conditions_correct(const conditions *of, int64_t latency_ns, int64_t *time_ns);

#endif
