/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_trace_check.c - writes a trace of two processes that never ran, whose violations are known by each clock:
 * check_trace_check DIR. All calls are at the start, in the middle and at the end of a second. Each time there are
 * 10 messages each way, 5 barriers and 5 broadcasts from rank 0, whose messages take 3 us.
 *
 * The clock of rank 1 is 10 us late at first, loses 20 us in all, and runs ahead of that by up to 40 us in the middle.
 * What its times are off by in us, at the start, in the middle and at the end:
 *
 *     local   -10   20  -30
 *     start     0   30  -20
 *     linear    0   40    0
 *     global    0    0    0
 */
#include "trace/test/unit/made_trace.h"

enum { RANKS = 2, MESSAGES = 10, CALLS = 5, LATENCY_NS = 3000, CLOCK_NS = 100 };
static const double step_ns = 20000, middle_ns = 0.5e9, last_ns = 1e9 - 20000.0 * (2 * MESSAGES + 2 * CALLS);

static void begin_step(made_trace *made, double *at_ns)
{
    for (int rank = 0; rank < RANKS; rank++)
        made->now_ns[rank] = *at_ns;
    *at_ns += step_ns;
}

static void call_all(made_trace *made, double at_ns)
{
    for (int i = 0; i < 2 * MESSAGES; i++) {
        begin_step(made, &at_ns);
        made_message(made, i % 2, 1 - i % 2, i, LATENCY_NS);
    }
    for (int i = 0; i < CALLS; i++) {
        begin_step(made, &at_ns);
        made_collective(made, MADE_BARRIER, -1, LATENCY_NS);
        begin_step(made, &at_ns);
        made_collective(made, MADE_BCAST, 0, LATENCY_NS);
    }
}

int main(int argc, char **argv)
{
    const double turn = 6.283185307179586;
    const made_clock clocks[RANKS] = {
        {.offset_ns = INT64_C(1000000000000)},
        {.offset_ns = INT64_C(1999999990000), .drift = -20e-6, .swing = 20e-6 * turn, .period_s = 1},
    };
    made_trace made;
    made_begin(&made, RANKS, clocks, 7);
    call_all(&made, 0);
    call_all(&made, middle_ns);
    call_all(&made, last_ns);
    made_records(&made, 10e6, CLOCK_NS);
    return made_write(&made, argc > 1 ? argv[1] : ".");
}
