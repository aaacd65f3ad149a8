/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usual.h - how long a rank usually computes between two places: the median of the other ranks, of each its own median;
 * if no other rank computes between these places, its own median.
 */
#ifndef TRACE_USUAL_H
#define TRACE_USUAL_H

#include "trace/waits/graph.h"

/* Of a rank and two places. */
typedef struct {
    int rank;
    uint64_t places;
    int64_t own_ns, usual_ns;
} usual_length;

typedef struct {
    bool is_made;
    size_t count;
    usual_length *list; /* by rank and places */
} usual;

/* By how much the computation before a call is longer than usual, or 0. What is usual is found by the first call. */
int64_t usual_more_ns(usual *known, const graph *of, size_t lane, size_t call);
void usual_free(usual *known);

#endif
