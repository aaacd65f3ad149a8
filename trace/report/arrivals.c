/* SPDX-License-Identifier: BSD-3-Clause */
/* arrivals.c - the spread of each call, and statistics over all calls. */
#include "trace/report/arrivals.h"

#include "common/cli/memory.h"
#include "pure/order_statistics.h"

#include <math.h>
#include <stdbool.h>

arrivals_t arrivals_alloc(int ranks, int64_t calls)
{
    double *times_ns = zeros_or_exit((size_t)calls, 4 * (size_t)ranks * sizeof(double));
    return (arrivals_t){.ranks = ranks,
                        .calls = calls,
                        .enter_ns = times_ns,
                        .leave_ns = times_ns + calls * ranks,
                        .bound_ns = times_ns + 2 * calls * ranks,
                        .wait_from_ns = times_ns + 3 * calls * ranks};
}

void arrivals_free(arrivals_t *arrivals)
{
    free(arrivals->enter_ns);
    *arrivals = (arrivals_t){0};
}

call_spread_t arrivals_spread(const arrivals_t *arrivals, int64_t call)
{
    const double *enter_ns = &arrivals->enter_ns[call * arrivals->ranks];
    const double *bound_ns = &arrivals->bound_ns[call * arrivals->ranks];
    call_spread_t spread = {0};
    for (int rank = 1; rank < arrivals->ranks; rank++) {
        if (enter_ns[rank] < enter_ns[spread.first])
            spread.first = rank;
        if (enter_ns[rank] > enter_ns[spread.last])
            spread.last = rank;
    }
    spread.spread_ns = enter_ns[spread.last] - enter_ns[spread.first];
    /* Where all come at once, first and last are one rank, which is not to say that the others are without error. */
    for (int rank = 0; rank < arrivals->ranks && spread.first == spread.last; rank++)
        spread.bound_ns = fmax(spread.bound_ns, bound_ns[rank]);
    if (spread.first != spread.last)
        spread.bound_ns = bound_ns[spread.first] + bound_ns[spread.last];
    return spread;
}

/* ---- The summary */

static void add_waits(const arrivals_t *arrivals, int64_t call, int last, arrivals_summary_t *summary)
{
    double last_ns = arrivals->enter_ns[call * arrivals->ranks + last];
    for (int rank = 0; rank < arrivals->ranks; rank++) {
        int64_t place = call * arrivals->ranks + rank;
        double leave_ns = arrivals->leave_ns[place];
        double from_ns = fmax(arrivals->enter_ns[place], arrivals->wait_from_ns[place]);
        summary->wait_ns += fmax(0, fmin(last_ns, leave_ns) - from_ns);
        summary->in_call_ns += leave_ns - from_ns;
    }
}

static void find_last(const int64_t *last_calls, int ranks, arrivals_summary_t *summary)
{
    for (int rank = 0; rank < ranks; rank++)
        if (last_calls[rank] > summary->last_calls) {
            summary->last_calls = last_calls[rank];
            summary->last_rank = rank;
        }
}

arrivals_summary_t arrivals_summarize(const arrivals_t *arrivals)
{
    int64_t calls = arrivals->calls;
    int64_t *spreads_ns = or_exit(calloc(1, array_bytes(2 * calls + arrivals->ranks, sizeof(int64_t))));
    arrivals_summary_t summary = {.bound_ns = -1};
    int64_t *bounds_ns = spreads_ns + calls, *last_calls = bounds_ns + calls;
    bool is_bounded = true;
    for (int64_t call = 0; call < calls; call++) {
        call_spread_t spread = arrivals_spread(arrivals, call);
        spreads_ns[call] = llround(spread.spread_ns);
        is_bounded = is_bounded && isfinite(spread.bound_ns);
        bounds_ns[call] = is_bounded ? llround(spread.bound_ns) : 0;
        summary.clear_calls += is_bounded && spread.spread_ns > spread.bound_ns;
        last_calls[spread.last] += spread.first != spread.last;
        add_waits(arrivals, call, spread.last, &summary);
    }
    mh_sort(spreads_ns, calls);
    mh_sort(bounds_ns, calls);
    summary.spread_median_ns = quantile(spreads_ns, calls, 0.5);
    summary.spread_p99_ns = quantile(spreads_ns, calls, 0.99);
    summary.spread_max_ns = spreads_ns[calls - 1];
    if (is_bounded)
        summary.bound_ns = quantile(bounds_ns, calls, 0.5);
    else
        summary.clear_calls = 0;
    find_last(last_calls, arrivals->ranks, &summary);
    free(spreads_ns);
    arrivals_closest(arrivals, &summary);
    return summary;
}
