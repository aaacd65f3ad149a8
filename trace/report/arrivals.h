/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arrivals.h - when processes came to the calls of one call site, and what this says. Pure: numbers, no trace, no MPI.
 */
#ifndef TRACE_ARRIVALS_H
#define TRACE_ARRIVALS_H

#include <stdint.h>

/* Element [call * ranks + rank] of each call and rank. Times are from the end of MPI_Init. */
typedef struct arrivals {
    int ranks;
    int64_t calls;
    double *enter_ns, *leave_ns;
    double *wait_from_ns; /* where it is after enter_ns: when a process came to wait for a call that it began before */
    double *bound_ns;     /* how far the time is from that of rank 0, at most; not finite: not known */
} arrivals_t;

enum { PATTERN_BYTES = 48 };

typedef struct arrivals_summary {
    /* From the first arrival to the last. */
    int64_t spread_median_ns, spread_p99_ns, spread_max_ns;
    /* By how much a spread may be wrong, the bounds of both processes: the median of calls. Negative: not known. */
    int64_t bound_ns;
    int64_t clear_calls; /* whose spread is above its bound */
    int last_rank;       /* who is last most often, of several the lowest */
    int64_t last_calls;  /* and how often */
    /*
     * From the own arrival to the last one, or to the own exit if that is earlier; of a call that does not wait, from
     * where it is waited for: sums of all calls and ranks. And how long all were in these calls.
     */
    double wait_ns, in_call_ns;
    char pattern[PATTERN_BYTES]; /* the closest shape, as mpix_bench --arrival takes it */
    double closeness;            /* from 0 to 1 */
} arrivals_summary_t;

/* arrivals_alloc - room for so many calls. */
arrivals_t arrivals_alloc(int ranks, int64_t calls);
void arrivals_free(arrivals_t *arrivals);

/* The ranks that are first and last in a call (of several the lowest), and how far apart they are. */
typedef struct call_spread {
    int first, last;
    double spread_ns;
    double bound_ns; /* of both together; not finite: not known */
} call_spread_t;
call_spread_t arrivals_spread(const arrivals_t *arrivals, int64_t call);

/* arrivals_summarize - of at least one call. */
arrivals_summary_t arrivals_summarize(const arrivals_t *arrivals);

/*
 * arrivals_closest - the shape of mpix_bench that is closest to the arrivals; part of the summary.
 *
 * In each call the delays of the ranks and the parts of the shape are correlated; how close they are is the mean of
 * all calls. A pattern that is another one in each call is random, and it is as close to random as the calls' delays
 * are far from a common direction. Where the median spread is not above the bound, it is together, as close as calls
 * are that. Of shapes that are equally close the first is taken: the one that says most in fewest words.
 *
 * summary   in: spreads and bounds; out: pattern, closeness
 */
void arrivals_closest(const arrivals_t *arrivals, arrivals_summary_t *summary);

#endif
