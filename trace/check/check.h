/* SPDX-License-Identifier: BSD-3-Clause */
/* check.h - counts what violates the clock condition, by operation and by pair of processes. */
#ifndef TRACE_CHECK_H
#define TRACE_CHECK_H

#include "trace/read/conditions.h"

/* One relation: an event that must wait for another one, which is the last of its rule. */
typedef struct {
    uint16_t function; /* 0: a message */
    bool is_beyond;    /* by more than the bounds of both times */
    int from, to;      /* ranks */
    int64_t late_ns;   /* above 0: violated by this */
} check_relation;

typedef struct {
    size_t count;
    check_relation *list; /* to be freed */
} check_relations;

/* All relations by these times. has_bounds: violations are compared with those of the global clock. */
check_relations check_times(const conditions *of, const int64_t *time_ns, int64_t latency_ns, bool has_bounds);

/* What relations have in common that are alike: all of a function, all of a pair, or all. */
typedef enum { CHECK_ALL, CHECK_OPERATION, CHECK_PAIR } check_scope;
typedef struct {
    check_relation of; /* its function, or its from and to */
    size_t relations, violations, beyond;
    int64_t median_ns, max_ns; /* of violations */
} check_sum;

/*
 * Sums in the order of functions or pairs; one of all, even if there are no relations. `sums` has room for one more
 * than there are relations. Sorts these.
 */
size_t check_sums(check_relations *found, check_scope scope, check_sum *sums, int64_t *scratch_ns);

#endif
