/* SPDX-License-Identifier: BSD-3-Clause */
/* busy.c - when processes are in calls that make progress. */
#include "trace/waits/busy.h"

#include "common/cli/memory.h"
#include "pure/order_statistics.h"
#include "trace/waits/waits.h"

#include <string.h>

/* Where only some functions are recorded, a process that calls others seems to compute. */
busy_facts busy_learn(const graph *in)
{
    busy_facts made = {
        .graph = in, .ranks = array_or_exit((size_t)in->of->size, sizeof *made.ranks), .has_all_ranks = true};
    for (int rank = 0; rank < in->of->size; rank++) {
        const trace_process *process = &in->of->processes[rank];
        busy_rank *its = &made.ranks[rank];
        char only[2];
        its->is_known = process->location_count == 1 && !*trace_text(process, "only", only, sizeof only);
        trace_text(process, "host", its->host, sizeof its->host);
        made.has_all_ranks = made.has_all_ranks && its->is_known;
    }
    return made;
}

bool busy_share_host(const busy_facts *from, int rank, int other)
{
    return strcmp(from->ranks[rank].host, from->ranks[other].host) == 0;
}

const graph_lane *busy_lane(const busy_facts *from, int rank)
{
    if (rank < 0 || !from->ranks[rank].is_known)
        return NULL;
    return &from->graph->lanes[from->graph->of->processes[rank].locations[0].index];
}

size_t busy_call_after(const graph *in, const graph_lane *lane, int64_t ns)
{
    size_t low = 0, high = lane->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (lane->calls[middle].leave_ns > ns)
            high = middle;
        else
            low = middle + 1;
    }
    while (low < lane->count && graph_means(in, &lane->calls[low], MEANS_LOCAL))
        low++;
    return low;
}

size_t busy_call_before(const graph *in, const graph_lane *lane, size_t next)
{
    while (next > 0 && graph_means(in, &lane->calls[next - 1], MEANS_LOCAL))
        next--;
    return next > 0 ? next - 1 : lane->count;
}

bool busy_has_left(const graph_lane *lane, size_t call, int64_t ns, double bound_ns)
{
    return call == lane->count || (double)(ns - lane->calls[call].leave_ns) > bound_ns;
}

bool busy_has_computed(const graph *in, const graph_lane *lane, size_t call)
{
    int64_t ns = graph_piece_ns(lane, call);
    for (; ns <= BUSY_LONG_NS && call > 0; ns += graph_piece_ns(lane, --call)) {
        const graph_call *before = &lane->calls[call - 1];
        if (!graph_is_recorder(in, before) && !graph_means(in, before, MEANS_LOCAL))
            return false;
    }
    return ns > BUSY_LONG_NS;
}

bool busy_may_lack_call(const graph *in, const graph_lane *lane, size_t next)
{
    return in->of->is_cut && (next == lane->count || (next == 0 && !in->of->has_start));
}

int64_t busy_known_until_ns(const graph *in, uint32_t lane, uint32_t call)
{
    const graph_lane *own = &in->lanes[lane];
    int64_t until_ns = own->calls[call].enter_ns;
    for (uint32_t i = own->calls[call].dependency; i != GRAPH_NONE; i = own->dependencies[i].next) {
        graph_wait one;
        if (own->dependencies[i].state != STATE_PROGRESS && graph_release(in, lane, &own->dependencies[i], &one))
            until_ns = greater(until_ns, one.end_ns);
    }
    return lesser(until_ns, own->calls[call].leave_ns);
}
