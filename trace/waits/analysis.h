/* SPDX-License-Identifier: BSD-3-Clause */
/* analysis.h - all that is known of the waits of a trace: states, causes, critical path, efficiencies, gains. */
#ifndef TRACE_ANALYSIS_H
#define TRACE_ANALYSIS_H

#include "trace/waits/causes.h"

/* So many of the greatest causes are replayed. */
enum { ANALYSIS_GAINS = 3 };

/* Waits of one state at one place, by all ranks. */
typedef struct {
    wait_state state;
    size_t place;
    int64_t count, waited_ns, longest_ns;
    double bound_ns;
} wait_sum;

typedef struct {
    graph graph;
    graph_waits waits;
    causes causes;
    const cause **order; /* the causes by what is charged to them, the greatest first */
    size_t sum_count;
    wait_sum *sums; /* those with the longest waits first */
    int64_t run_ns;
    int64_t without_ns[ANALYSIS_GAINS]; /* the run time, if the first causes were gone */
    /*
     * Efficiencies, from 0 to 1, after the POP project: how evenly computation is spread over ranks, what waits for
     * each other cost on a network that costs nothing, and what the network costs. Their product is the part of the
     * time in which ranks compute.
     */
    double load_balance, serialization, transfer;
    int64_t unseen_ns; /* what all ranks together spent, beside waits, in calls of which waits cannot be seen */
    double bound_ns;   /* of all waits together */
} wait_analysis;

/* Analyze a trace, whose global times are set. */
void analysis_make(wait_analysis *made, const trace *of, const trace_matches *matches);

/* Of this only graph, waits and causes, without their order, critical path, and gains. */
void analysis_charge(wait_analysis *made, const trace *of, const trace_matches *matches);
void analysis_free(wait_analysis *made);

/* A time of all ranks together, in percent of the time of the run on all of them. */
double analysis_percent(const wait_analysis *of, double ns);

#endif
