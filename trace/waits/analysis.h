/* SPDX-License-Identifier: BSD-3-Clause */
/* analysis.h - all that is known of the waits of a trace: states, causes, critical path, efficiencies, gains. */
#ifndef TRACE_ANALYSIS_H
#define TRACE_ANALYSIS_H

#include "trace/waits/causes.h"

/* So many of the causes to which most is charged are replayed, of those that the trace shows. */
enum { ANALYSIS_GAINS = 3 };

/* Waits of one state at one place, by all ranks. */
typedef struct {
    wait_state state;
    size_t place;
    int64_t count, waited_ns, longest_ns;
    double bound_ns;
} wait_sum;

/* What is not attributed, of a function. */
typedef struct {
    size_t name; /* in the trace */
    int64_t ns;
} unseen_sum;

typedef struct {
    graph graph;
    graph_waits waits;
    causes causes;
    /* Causes: those that are worth a sentence, then others that the trace shows, then the others; of these, first those
     * that were replayed, by what is gained without them, then by what is charged to them. */
    const cause **order;
    size_t sum_count;
    wait_sum *sums; /* those with the longest waits first */
    int64_t run_ns;
    int ranks;        /* of which there are events */
    int threads;      /* of these ranks, that call MPI: at least one of each */
    bool has_threads; /* ranks have several: nothing is replayed, as the trace does not show who waits for whom there */
    /*
     * Efficiencies, from 0 to 1, after the POP project: how evenly computation is spread over ranks, what waits for
     * each other cost on a network that costs nothing, and what the network costs. Their product is the part of the
     * time in which ranks compute.
     */
    double load_balance, serialization, transfer;
    double compute_ns;  /* what all ranks compute */
    int64_t unseen_ns;  /* what all ranks together spent, beside waits, in calls of which waits cannot be seen */
    unseen_sum *unseen; /* the same of each function, the most first: so many as the trace has names */
    int64_t polled_ns;  /* what all ranks compute between tests that find nothing, too long for a wait */
    size_t polled_lane, polled_place; /* where a rank has the most of it */
    int64_t unexplained_ns;           /* waits that are charged to causes that the trace does not show */
    int64_t recorder_ns;              /* what all ranks together spent, beside waits, in what mpix_trace itself did */
    double recording_ns; /* what recording took of all ranks, as far as these measured it; 0: they did not */
    double bound_ns;     /* of all waits together */
} wait_analysis;

/* Analyze a trace, whose global times are set. */
void analysis_make(wait_analysis *made, const trace *of, const trace_matches *matches);

/* Of this only graph, waits and causes, without their order, critical path, and gains. */
void analysis_charge(wait_analysis *made, const trace *of, const trace_matches *matches);
void analysis_free(wait_analysis *made);

/*
 * Whether a cause is worth a sentence: it costs so much of the run, and the trace shows it, as others do not wait for
 * it longer than twice as long as it is late, each. It does not where a late process did nothing for longer than the
 * one that waits.
 */
#define ANALYSIS_WORTH_PERCENT 1.0
bool analysis_is_worth(const wait_analysis *of, const cause *one);

/* A time of all threads together, in percent of the time of the run on all of them. */
double analysis_percent(const wait_analysis *of, double ns);

#endif
