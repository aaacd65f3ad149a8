/* SPDX-License-Identifier: BSD-3-Clause */
/* analyzed.h - the analysis of traces that are made up, and what holds for each. */
#ifndef ANALYZED_H
#define ANALYZED_H

#include "unit/support.h"
#include "trace/waits/analysis.h"
#include "made_trace.h"

enum { LATENCY_NS = 2000, RESULT_NS = 50, WORK_NS = 100000 };

/* Clocks are right. */
static inline void begin(made_trace *made, int ranks)
{
    static const made_clock clocks[4] = {{0}};
    made_begin(made, ranks, clocks, 1);
}

static inline void analyze(wait_analysis *found, trace_matches *matches, made_trace *made, trace_clock by)
{
    trace_set_times(&made->trace, by);
    made_match(made, matches);
    analysis_make(found, &made->trace, matches);
}

static inline void forget(wait_analysis *found, trace_matches *matches, made_trace *made)
{
    analysis_free(found);
    trace_matches_free(matches);
    made_free(made);
}

static inline void expect_sums(const wait_analysis *found, const char *name, int ranks)
{
    int64_t charged_ns = 0, path_ns = 0;
    for (size_t i = 0; i < found->causes.count; i++) {
        charged_ns += found->causes.list[i].charged_ns;
        path_ns += found->causes.list[i].path_ns;
    }
    EXPECT(charged_ns == found->causes.waited_ns, "%s of %d: charged %" PRId64 ", waited %" PRId64, name, ranks,
           charged_ns, found->causes.waited_ns);
    EXPECT(path_ns == found->run_ns, "%s of %d: path %" PRId64 ", run %" PRId64, name, ranks, path_ns, found->run_ns);
    EXPECT(found->unseen_ns == 0, "%s of %d: %" PRId64 " ns are not attributed, with all ends of messages", name, ranks,
           found->unseen_ns);
}

#endif
