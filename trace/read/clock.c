/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock.c - global times of events by the clock records of their process, and their bounds. Between two records the
 * clock is a line, which beats what could be predicted when the first of them was made.
 */
#include "trace/read/trace.h"

#include "common/cli/memory.h"
#include "mpix_clock_reader.h"
#include "pure/units.h"

#include <math.h>
#include <stdlib.h>

/* Global times are no further from the start, and this no further from the first event, so that they fit into
   integers. */
#define MAX_NS 4e18
#define MAX_SHIFT_NS 1e16

/* A process without records has its own clock, about which nothing is known. */
static int64_t first_offset_ns(const trace_process *process, trace_clock by)
{
    if (process->record_count == 0)
        return 0;
    const int64_t offset_ns = process->records[0].pair.ahead_ns, half_ns = MH_NS_PER_S / 2;
    if (by != TRACE_LOCAL)
        return offset_ns;
    return (offset_ns + (offset_ns < 0 ? -half_ns : half_ns)) / MH_NS_PER_S * MH_NS_PER_S;
}

/* What a process's clock is taken for: an offset, the line through the first and the last record, or all records. */
typedef struct {
    mpix_clock_line line;
    mpix_clock_pair offset; /* for one that is not among the records */
} clock_of_process;

static void take_clock(clock_of_process *to, const trace_process *process, trace_clock by)
{
    const size_t count = process->record_count, stride = by == TRACE_LINEAR && count > 1 ? count - 1 : 1;
    const bool has_records = count > 0 && by != TRACE_LOCAL;
    to->offset = (mpix_clock_pair){.ahead_ns = first_offset_ns(process, by),
                                   .ahead_ps = has_records ? process->records[0].pair.ahead_ps : 0};
    to->line = (mpix_clock_line){.pairs = &to->offset,
                                 .count = 1,
                                 .stride_bytes = stride * sizeof(trace_clock_record),
                                 .rate_limit = process->rate_limit,
                                 .wander_per_s = process->wander};
    if (has_records && by != TRACE_START && count > 1) {
        to->line.pairs = &process->records[0].pair;
        to->line.count = by == TRACE_LINEAR ? 2 : count;
    }
}

static double time_ns_by(const clock_of_process *its, int64_t time_ns, int64_t start_ns, size_t *place)
{
    const mpix_clock_reading read = mpix_clock_read_line(&its->line, time_ns, place);
    int64_t since_ns;
    if (__builtin_sub_overflow(read.time_ns, start_ns, &since_ns)) /* of a clock that was set */
        return (double)read.time_ns - (double)start_ns;
    return (double)since_ns + read.rest_ns;
}

/* ---- Times */

const char *const trace_clock_names[] = {
    [TRACE_LOCAL] = "local", [TRACE_START] = "start", [TRACE_LINEAR] = "linear", [TRACE_GLOBAL] = "global", NULL};

static int64_t first_time_ns(const trace_location *at)
{
    return at->events ? at->events[0].time_ns : at->first_ns;
}

static void set_location(trace_location *location, trace_clock by, int64_t start_ns)
{
    clock_of_process its;
    size_t place = 0;
    double latest_ns = 0;
    take_clock(&its, location->process, by);
    for (size_t i = 0; i < location->count; i++) {
        const double time_ns = time_ns_by(&its, location->events[i].time_ns, start_ns, &place);
        /* Only a clock that was set goes backward, or beyond all times. */
        latest_ns = fmin(fmax(time_ns, latest_ns), MAX_NS);
        location->global_ns[i] = latest_ns;
    }
}

/* With the first event of all: first by the offsets of the first records, then by the clocks. */
void trace_set_start(trace *of, trace_clock by)
{
    int64_t start_ns = INT64_MAX;
    double first_ns = INFINITY;
    for (const trace_location *at = NULL; (at = trace_next_location(of, at));)
        if (at->count > 0 && first_time_ns(at) + first_offset_ns(at->process, by) < start_ns)
            start_ns = first_time_ns(at) + first_offset_ns(at->process, by);
    start_ns = start_ns < INT64_MAX ? start_ns : 0;
    for (const trace_location *at = NULL; (at = trace_next_location(of, at));) {
        clock_of_process its;
        take_clock(&its, at->process, by);
        if (at->count > 0)
            first_ns = fmin(first_ns, floor(time_ns_by(&its, first_time_ns(at), start_ns, NULL)));
    }
    of->start_ns = start_ns + (isfinite(first_ns) ? (int64_t)fmin(fmax(first_ns, -MAX_SHIFT_NS), MAX_SHIFT_NS) : 0);
    /* By the clock records of rank 0, the times of the global clock begin at the end of MPI_Init. */
    const trace_process *first = &of->processes[0];
    of->zero_ns = 0;
    if (first->record_count > 0)
        of->zero_ns = (double)(first_offset_ns(first, by) - first->records[0].pair.ahead_ns - of->start_ns);
    of->last_ns = of->zero_ns;
}

void trace_set_times_of(trace *of, int rank, trace_clock by)
{
    trace_process *process = &of->processes[rank];
    for (size_t i = 0; i < process->location_count; i++) {
        trace_location *at = &process->locations[i];
        if (!at->global_ns)
            at->global_ns = array_or_exit(at->count, sizeof *at->global_ns);
        set_location(at, by, of->start_ns);
        of->last_ns = at->count > 0 ? fmax(of->last_ns, at->global_ns[at->count - 1]) : of->last_ns;
    }
}

void trace_set_times(trace *of, trace_clock by)
{
    trace_set_start(of, by);
    for (int rank = 0; rank < of->size; rank++)
        trace_set_times_of(of, rank, by);
}

double trace_bound_ns(const trace_process *process, int64_t time_ns)
{
    if (process->record_count == 0)
        return INFINITY;
    const mpix_clock_line line = {.pairs = &process->records[0].pair,
                                  .count = process->record_count,
                                  .stride_bytes = sizeof(trace_clock_record),
                                  .rate_limit = process->rate_limit,
                                  .wander_per_s = process->wander};
    return mpix_clock_line_bound_ns(&line, time_ns);
}

double trace_apart_ns(const trace_process *from, int64_t from_ns, const trace_process *to, int64_t to_ns)
{
    const int64_t start_ns = from_ns + first_offset_ns(from, TRACE_GLOBAL);
    clock_of_process of_from, of_to;
    take_clock(&of_from, from, TRACE_GLOBAL);
    take_clock(&of_to, to, TRACE_GLOBAL);
    return time_ns_by(&of_to, to_ns, start_ns, NULL) - time_ns_by(&of_from, from_ns, start_ns, NULL);
}
