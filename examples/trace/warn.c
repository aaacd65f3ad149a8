/* SPDX-License-Identifier: BSD-3-Clause */
/* warn.c - what users of a trace have to know of it, though it can be read. */
#include "trace/trace.h"

#include "base/units.h"

#include <math.h>
#include <stdio.h>

/* A straight line describes a clock for so long. */
#define LONGEST_GAP_NS (2 * MH_NS_PER_S)

/* What several ranks have is said once. */
typedef struct {
    int first, count;
} ranks_with;

static void add(ranks_with *ranks, int rank, bool has)
{
    if (has && ranks->count++ == 0)
        ranks->first = rank;
}

static void say(ranks_with ranks, const char *what, const char *program)
{
    if (ranks.count == 1)
        fprintf(stderr, "%s: rank %d: %s\n", program, ranks.first, what);
    else if (ranks.count > 1)
        fprintf(stderr, "%s: %d ranks, of which rank %d is the first: %s\n", program, ranks.count, ranks.first, what);
}

/* It is the last event of a thread, also where the end of the program is not there. */
static bool has_dropped(const trace_process *process)
{
    bool has = process->end.dropped > 0;
    for (size_t i = 0; i < process->location_count; i++) {
        const trace_location *location = &process->locations[i];
        has = has || (location->count > 0 && location->events[location->count - 1].kind == TRACE_DROPPED);
    }
    return has;
}

static void warn_of_losses(const trace *of, const char *program)
{
    ranks_with torn = {0, 0}, unfinished = {0, 0}, dropped = {0, 0};
    for (int rank = 0; rank < of->size; rank++) {
        const trace_process *process = &of->processes[rank];
        add(&torn, rank, process->is_torn);
        add(&unfinished, rank, !process->is_torn && !process->is_finished);
        add(&dropped, rank, has_dropped(process));
    }
    say(torn, "the file ends within a block, which is left out", program);
    say(unfinished, "MPI_Finalize was not called: the end of the trace may be missing", program);
    say(dropped, "the buffer was full: events are missing from there on", program);
}

/* The longest time between two records next to each other, and whether any two contradict each other. */
typedef struct {
    int rank;
    int64_t gap_ns;
    bool is_set;
} gap;

static gap longest_gap(const trace_process *process, int rank)
{
    gap longest = {rank, 0, false};
    for (size_t i = 1; i < process->record_count; i++) {
        const int64_t from_ns = process->records[i - 1].time_ns, gap_ns = process->records[i].time_ns - from_ns;
        longest.gap_ns = gap_ns > longest.gap_ns ? gap_ns : longest.gap_ns;
        longest.is_set = longest.is_set || isinf(trace_bound_ns(process, from_ns + gap_ns / 2));
    }
    return longest;
}

static void warn_of_clocks(const trace *of, const char *program)
{
    gap longest = {0, 0, false};
    ranks_with unknown = {0, 0}, set = {0, 0};
    for (int rank = 0; rank < of->size; rank++) {
        const gap found = longest_gap(&of->processes[rank], rank);
        add(&unknown, rank, of->processes[rank].record_count == 0);
        add(&set, rank, found.is_set);
        if (found.gap_ns > longest.gap_ns)
            longest = found;
    }
    say(unknown, "no clock records: times cannot be compared with those of other ranks", program);
    say(set, "the clock was set, or was not synchronized; times there have no bound", program);
    if (longest.gap_ns > LONGEST_GAP_NS)
        fprintf(stderr,
                "%s: the clock of rank %d was not recorded for %.1f s: beyond %g s a straight line may not describe "
                "it\n",
                program, longest.rank, (double)longest.gap_ns * MH_S_PER_NS, LONGEST_GAP_NS * MH_S_PER_NS);
}

void trace_warn(const trace *of, const char *program)
{
    if (trace_is_partial(of))
        fprintf(stderr,
                "%s: only a part was recorded (--from or --only): where it has one end of a message alone, those of "
                "the same ranks and tag may be matched wrongly\n",
                program);
    warn_of_losses(of, program);
    warn_of_clocks(of, program);
}
