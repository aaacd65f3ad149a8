/* SPDX-License-Identifier: BSD-3-Clause */
/* warn.c - what users of a trace have to know of it, though it can be read. */
#include "trace/read/trace.h"

#include "pure/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
        has = has || location->last.kind == TRACE_DROPPED;
    }
    return has;
}

/* A list that is too long ends with a whole rank. */
static void warn_of_ranks(const trace *of, const char *program)
{
    char list[128];
    if (of->size == 0 || !trace_text(of->processes, "ranks", list, sizeof list)[0])
        return;
    char *last = strlen(list) == sizeof list - 1 ? strrchr(list, ',') : NULL;
    if (last)
        *last = '\0';
    fprintf(stderr, "%s: only ranks %s%s were recorded: what others do is outside of the trace\n", program, list,
            last ? ", ..." : "");
}

static void warn_of_losses(const trace *of, const char *program)
{
    ranks_with torn = {0, 0}, unfinished = {0, 0}, dropped = {0, 0}, uncounted = {0, 0}, limited = {0, 0};
    char value[64];
    for (int rank = 0; rank < of->size; rank++) {
        const trace_process *process = &of->processes[rank];
        add(&torn, rank, process->is_torn);
        add(&unfinished, rank, !process->is_torn && !process->is_finished);
        add(&dropped, rank, has_dropped(process));
        add(&limited, rank, trace_text(process, "limit_ns", value, sizeof value)[0]);
        add(&uncounted, rank, trace_text(process, "lost_count", value, sizeof value)[0]);
    }
    say(torn, "the file ends within a block, which is left out", program);
    say(unfinished, "MPI_Finalize was not called: the end of the trace may be missing", program);
    say(limited, "the limit of the trace was met: nothing is recorded from there on", program);
    warn_of_ranks(of, program);
    say(uncounted, "messages of too many kinds were not recorded: those that were may be matched wrongly", program);
    say(dropped, "the buffer was full: events are missing from there on", program);
}

/* A time without clock records, how far times in it may be off, and whether any have no bound. */
typedef struct {
    int rank;
    int64_t gap_ns;
    double bound_ns;
    bool is_set;
} gap;

/* Of the gaps that are too long, the one with the widest bound counts. */
static void look(gap *worst, const trace_process *process, int64_t gap_ns, int64_t time_ns)
{
    const double bound_ns = trace_bound_ns(process, time_ns);
    if (isinf(bound_ns)) {
        worst->is_set = true;
    } else if (gap_ns > LONGEST_GAP_NS && bound_ns > worst->bound_ns) {
        worst->gap_ns = gap_ns;
        worst->bound_ns = bound_ns;
    }
}

/* Between records, and from the last one to the end of each thread. */
static gap worst_gap(const trace_process *process, int rank)
{
    gap worst = {.rank = rank};
    const trace_clock_record *records = process->records;
    if (process->record_count == 0)
        return worst;
    for (size_t i = 1; i < process->record_count; i++) {
        const int64_t gap_ns = records[i].pair.at_ns - records[i - 1].pair.at_ns;
        look(&worst, process, gap_ns, records[i - 1].pair.at_ns + gap_ns / 2);
    }
    for (size_t i = 0; i < process->location_count; i++) {
        const trace_location *location = &process->locations[i];
        if (location->last.kind != 0)
            look(&worst, process, location->last.time_ns - records[process->record_count - 1].pair.at_ns,
                 location->last.time_ns);
    }
    return worst;
}

static void warn_of_clocks(const trace *of, const char *program)
{
    gap worst = {.rank = 0};
    ranks_with unknown = {0, 0}, set = {0, 0};
    for (int rank = 0; rank < of->size; rank++) {
        const gap found = worst_gap(&of->processes[rank], rank);
        add(&unknown, rank, of->processes[rank].record_count == 0);
        add(&set, rank, found.is_set);
        if (found.bound_ns > worst.bound_ns)
            worst = found;
    }
    say(unknown, "no clock records: times cannot be compared with those of other ranks", program);
    say(set, "the clock was set, or was not synchronized; times there have no bound", program);
    if (worst.gap_ns > LONGEST_GAP_NS)
        fprintf(stderr, "%s: the clock of rank %d was not recorded for %.1f s: times there may be off by %.1f us\n",
                program, worst.rank, (double)worst.gap_ns * MH_S_PER_NS, worst.bound_ns / MH_NS_PER_US);
}

void trace_warn(const trace *of, const char *program)
{
    warn_of_losses(of, program);
    warn_of_clocks(of, program);
}
