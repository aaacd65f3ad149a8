/* SPDX-License-Identifier: BSD-3-Clause */
/* warn.c - what users of a trace have to know of it, though it can be read. */
#include "trace/trace.h"

#include "base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* A straight line describes a clock for so long. */
#define LONGEST_GAP_NS (2 * MH_NS_PER_S)

static void warn_of_loss(const trace_process *process, int rank, const char *program)
{
    if (process->is_torn)
        fprintf(stderr, "%s: rank %d: its file ends within a block, which is left out\n", program, rank);
    else if (!process->is_finished)
        fprintf(stderr, "%s: rank %d did not call MPI_Finalize: its trace may lack the end\n", program, rank);
    if (process->end.dropped > 0)
        fprintf(stderr, "%s: rank %d: %" PRIu64 " events did not fit and are lost\n", program, rank,
                process->end.dropped);
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

void trace_warn(const trace *of, const char *program)
{
    gap longest = {0, 0, false};
    if (trace_is_partial(of))
        fprintf(stderr,
                "%s: only a part was recorded (--from-s or --only): where it has one end of a message alone, those of "
                "the same ranks and tag may be matched wrongly\n",
                program);
    for (int rank = 0; rank < of->size; rank++) {
        const trace_process *process = &of->processes[rank];
        warn_of_loss(process, rank, program);
        if (process->record_count == 0)
            fprintf(stderr,
                    "%s: rank %d has no clock records: its times cannot be compared with those of other ranks\n",
                    program, rank);
        const gap found = longest_gap(process, rank);
        if (found.is_set)
            fprintf(stderr, "%s: rank %d: its clock was set, or was not synchronized; times there have no bound\n",
                    program, rank);
        if (found.gap_ns > longest.gap_ns)
            longest = found;
    }
    if (longest.gap_ns > LONGEST_GAP_NS)
        fprintf(stderr,
                "%s: the clock of rank %d was not recorded for %.1f s: beyond %g s a straight line may not describe "
                "it\n",
                program, longest.rank, (double)longest.gap_ns * MH_S_PER_NS, LONGEST_GAP_NS * MH_S_PER_NS);
}
