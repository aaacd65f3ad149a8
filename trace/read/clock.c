/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock.c - global times of events by the clock records of their process, and their bounds. Between two records the
 * clock is a line, which beats what could be predicted when the first of them was made.
 */
#include "trace/read/trace.h"

#include "pure/units.h"
#include "common/cli/memory.h"

#include <math.h>
#include <stdlib.h>

/* Times and offsets are whole nanoseconds and picoseconds: readings are off by this, whatever the clocks do. */
#define RESOLUTION_NS 1

/* Global times are no further from the start, and this no further from the first event, so that they fit into
   integers. */
#define MAX_NS 4e18
#define MAX_SHIFT_NS 1e16

/* The records that a clock is interpolated between, each stride-th. If there are none, it has an offset. */
typedef struct {
    const trace_clock_record *records;
    size_t count, stride;
    int64_t offset_ns, rest_ps;
} knots;

/* A process without records has its own clock, about which nothing is known. */
static int64_t first_offset_ns(const trace_process *process, trace_clock by)
{
    if (process->record_count == 0)
        return 0;
    const int64_t offset_ns = process->records[0].global_less_local_ns, half_ns = MH_NS_PER_S / 2;
    if (by != TRACE_LOCAL)
        return offset_ns;
    return (offset_ns + (offset_ns < 0 ? -half_ns : half_ns)) / MH_NS_PER_S * MH_NS_PER_S;
}

static knots knots_of(const trace_process *process, trace_clock by)
{
    const size_t count = process->record_count;
    knots of = {.records = process->records, .stride = 1, .offset_ns = first_offset_ns(process, by)};
    if (count > 0 && by != TRACE_LOCAL)
        of.rest_ps = process->records[0].global_less_local_ps;
    if (count > 1 && by == TRACE_GLOBAL)
        of.count = count;
    if (count > 1 && by == TRACE_LINEAR) {
        of.count = 2;
        of.stride = count - 1;
    }
    return of;
}

static const trace_clock_record *knot(const knots *of, size_t i)
{
    return &of->records[i * of->stride];
}

static double offset_growth_ns(const trace_clock_record *from, const trace_clock_record *to)
{
    return (double)(to->global_less_local_ns - from->global_less_local_ns) +
           (double)(to->global_less_local_ps - from->global_less_local_ps) / 1000;
}

static double slope(const trace_clock_record *from, const trace_clock_record *to)
{
    const int64_t apart_ns = to->time_ns - from->time_ns;
    return apart_ns > 0 ? offset_growth_ns(from, to) / (double)apart_ns : 0;
}

/* ---- Times */

const char *const trace_clock_names[] = {
    [TRACE_LOCAL] = "local", [TRACE_START] = "start", [TRACE_LINEAR] = "linear", [TRACE_GLOBAL] = "global", NULL};

static int64_t first_time_ns(const trace_location *at)
{
    return at->events ? at->events[0].time_ns : at->first_ns;
}

/* By the line that ends at a knot; beyond all knots it goes on from the last one, at a rate that clocks may have. */
static double line_ns(const trace_process *process, const knots *of, size_t end, int64_t time_ns, int64_t start_ns)
{
    if (of->count == 0)
        return (double)(time_ns + of->offset_ns - start_ns) + (double)of->rest_ps / 1000;
    const trace_clock_record *from = knot(of, end - 1), *to = knot(of, end), *near = time_ns > to->time_ns ? to : from;
    double ratio = slope(from, to);
    if (time_ns < from->time_ns || time_ns > to->time_ns)
        ratio = fmin(fmax(ratio, -process->rate_limit), process->rate_limit);
    return (double)(time_ns + near->global_less_local_ns - start_ns) + (double)near->global_less_local_ps / 1000 +
           ratio * (double)(time_ns - near->time_ns);
}

static void set_location(trace_location *location, trace_clock by, int64_t start_ns)
{
    const knots of = knots_of(location->process, by);
    size_t end = 1;
    double latest_ns = 0;
    for (size_t i = 0; i < location->count; i++) {
        const int64_t time_ns = location->events[i].time_ns;
        while (end + 1 < of.count && time_ns > knot(&of, end)->time_ns)
            end++;
        /* Only a clock that was set goes backward, or beyond all times. */
        latest_ns = fmin(fmax(line_ns(location->process, &of, end, time_ns, start_ns), latest_ns), MAX_NS);
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
        const knots its = knots_of(at->process, by);
        if (at->count > 0)
            first_ns = fmin(first_ns, floor(line_ns(at->process, &its, 1, first_time_ns(at), start_ns)));
    }
    of->start_ns = start_ns + (isfinite(first_ns) ? (int64_t)fmin(fmax(first_ns, -MAX_SHIFT_NS), MAX_SHIFT_NS) : 0);
    /* By the clock records of rank 0, the times of the global clock begin at the end of MPI_Init. */
    const trace_process *first = &of->processes[0];
    of->zero_ns = 0;
    if (first->record_count > 0)
        of->zero_ns = (double)(first_offset_ns(first, by) - first->records[0].global_less_local_ns - of->start_ns);
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

/* ---- Bounds */

/* Whether the clock was set between two records: no rate explains both. */
static bool contradict(const trace_process *process, const trace_clock_record *from, const trace_clock_record *to)
{
    const double apart_ns = (double)(to->time_ns - from->time_ns);
    return fabs(offset_growth_ns(from, to)) >
           from->bound_ns + to->bound_ns + process->rate_limit * apart_ns + 2 * RESOLUTION_NS;
}

/*
 * The mean drifts before and after a time between two records differ by as much as the clock may wander, which was
 * half the time between these records ago on average; and by no more than the rates of two clocks may.
 */
static double bound_between_ns(const trace_process *process, const trace_clock_record *from,
                               const trace_clock_record *to, int64_t time_ns)
{
    if (contradict(process, from, to) || isinf(from->bound_ns) || isinf(to->bound_ns))
        return INFINITY;
    const double apart_ns = (double)(to->time_ns - from->time_ns), age_ns = (double)(time_ns - from->time_ns);
    if (apart_ns <= 0)
        return fmin(from->bound_ns, to->bound_ns);
    const double part = age_ns / apart_ns, apart_s = apart_ns * MH_S_PER_NS;
    const double change = fmin(process->wander * (1 + apart_s / 2), 2 * process->rate_limit);
    return from->bound_ns + part * (to->bound_ns - from->bound_ns) + change * part * (apart_ns - age_ns);
}

/* Beyond the records, from the nearest one, `end`, by the mean drift since another. */
static double bound_beyond_ns(const trace_process *process, const trace_clock_record *other,
                              const trace_clock_record *end, int64_t time_ns)
{
    const double age_ns = fabs((double)(time_ns - end->time_ns));
    if (!other || other->time_ns == end->time_ns)
        return end->bound_ns + (age_ns > 0 ? process->rate_limit * age_ns : 0);
    const double apart_ns = fabs((double)(end->time_ns - other->time_ns));
    if (other->time_ns < end->time_ns ? contradict(process, other, end) : contradict(process, end, other))
        return INFINITY;
    const double wandered = process->wander * (1 + (apart_ns + age_ns) / 2 * MH_S_PER_NS);
    const double drift_bound = (end->bound_ns + other->bound_ns) / apart_ns + wandered;
    return end->bound_ns + fmin(drift_bound, 2 * process->rate_limit) * age_ns;
}

/* Of the records on both sides of a time, or of those nearest to it, the second; there are two at least. */
static size_t find_end(const trace_process *process, int64_t time_ns)
{
    size_t before = 0, after = process->record_count - 1;
    while (after - before > 1) {
        const size_t middle = before + (after - before) / 2;
        if (process->records[middle].time_ns <= time_ns)
            before = middle;
        else
            after = middle;
    }
    return after;
}

double trace_bound_ns(const trace_process *process, int64_t time_ns)
{
    const trace_clock_record *records = process->records;
    const size_t count = process->record_count;
    if (count == 0)
        return INFINITY;
    if (time_ns <= records[0].time_ns)
        return RESOLUTION_NS + bound_beyond_ns(process, count > 1 ? &records[1] : NULL, &records[0], time_ns);
    if (time_ns >= records[count - 1].time_ns)
        return RESOLUTION_NS +
               bound_beyond_ns(process, count > 1 ? &records[count - 2] : NULL, &records[count - 1], time_ns);
    const size_t after = find_end(process, time_ns);
    return RESOLUTION_NS + bound_between_ns(process, &records[after - 1], &records[after], time_ns);
}

/* ---- Single times */

static double global_ns(const trace_process *process, int64_t time_ns, int64_t start_ns)
{
    const knots of = knots_of(process, TRACE_GLOBAL);
    return line_ns(process, &of, of.count > 0 ? find_end(process, time_ns) : 0, time_ns, start_ns);
}

double trace_apart_ns(const trace_process *from, int64_t from_ns, const trace_process *to, int64_t to_ns)
{
    const int64_t start_ns = from_ns + first_offset_ns(from, TRACE_GLOBAL);
    return global_ns(to, to_ns, start_ns) - global_ns(from, from_ns, start_ns);
}
