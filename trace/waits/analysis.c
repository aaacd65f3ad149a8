/* SPDX-License-Identifier: BSD-3-Clause */
/* analysis.c - all steps of the analysis, and sums over what they found. */
#include "trace/waits/analysis.h"

#include "common/cli/memory.h"
#include "trace/waits/replay.h"

#include <string.h>

/* ---- Order */

double analysis_percent(const wait_analysis *of, double ns)
{
    const double whole_ns = (double)of->run_ns * of->graph.of->size;
    return whole_ns > 0 ? 100 * ns / whole_ns : 0;
}

static int compare_causes(const void *left, const void *right)
{
    const cause *a = *(const cause *const *)left, *b = *(const cause *const *)right;
    if (a->charged_ns != b->charged_ns)
        return a->charged_ns > b->charged_ns ? -1 : 1;
    if (a->path_ns != b->path_ns)
        return a->path_ns > b->path_ns ? -1 : 1;
    return (a > b) - (a < b);
}

static void sort_causes(wait_analysis *to)
{
    to->order = or_exit(malloc((to->causes.count + 1) * sizeof *to->order));
    for (size_t i = 0; i < to->causes.count; i++)
        to->order[i] = &to->causes.list[i];
    qsort(to->order, to->causes.count, sizeof *to->order, compare_causes);
}

/* ---- Waits by state and place */

static int compare_sums(const void *left, const void *right)
{
    const wait_sum *a = left, *b = right;
    if (a->waited_ns != b->waited_ns)
        return a->waited_ns > b->waited_ns ? -1 : 1;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return (a->state > b->state) - (a->state < b->state);
}

static void add_wait(wait_sum *sum, const graph_wait *wait)
{
    const int64_t waited_ns = wait->end_ns - wait->begin_ns;
    sum->count++;
    sum->waited_ns += waited_ns;
    sum->bound_ns += wait->bound_ns;
    sum->longest_ns = waited_ns > sum->longest_ns ? waited_ns : sum->longest_ns;
}

static void sum_waits(wait_analysis *to)
{
    const graph *of = &to->graph;
    to->sums = or_exit(calloc(of->places.count * STATE_COUNT + 1, sizeof *to->sums));
    for (size_t i = 0; i < to->waits.count; i++) {
        const graph_wait *wait = &to->waits.list[i];
        const size_t place = of->lanes[wait->lane].calls[wait->call].place;
        wait_sum *sum = &to->sums[place * STATE_COUNT + wait->state];
        sum->state = wait->state;
        sum->place = place;
        add_wait(sum, wait);
        to->bound_ns += wait->bound_ns;
    }
    for (size_t i = 0; i < of->places.count * STATE_COUNT; i++)
        if (to->sums[i].count > 0)
            to->sums[to->sum_count++] = to->sums[i];
    qsort(to->sums, to->sum_count, sizeof *to->sums, compare_sums);
}

/* ---- Calls whose waits cannot be seen */

/* Windows, files and what makes communicators may wait, and the trace does not tell for whom. */
static bool may_wait(const char *name)
{
    static const char *const families[] = {
        "MPI_Win_",           "MPI_File_",        "MPI_Neighbor_",         "MPI_Comm_split",
        "MPI_Comm_dup",       "MPI_Comm_create",  "MPI_Comm_free",         "MPI_Cart_create",
        "MPI_Cart_sub",       "MPI_Graph_create", "MPI_Dist_graph_create", "MPI_Intercomm_",
        "MPI_Comm_accept",    "MPI_Comm_connect", "MPI_Comm_spawn",        "MPI_Comm_join",
        "MPI_Comm_disconnect"};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strncmp(name, families[i], strlen(families[i])) == 0)
            return true;
    return false;
}

static void sum_unseen(wait_analysis *to)
{
    const graph *of = &to->graph;
    bool *may = or_exit(calloc(of->of->name_count + 1, sizeof *may));
    for (size_t i = 0; i < of->of->name_count; i++)
        may[i] = of->of->names[i] && may_wait(of->of->names[i]);
    for (size_t lane = 0; lane < of->lane_count; lane++)
        for (size_t i = 0; i < of->lanes[lane].count; i++) {
            const graph_call *call = &of->lanes[lane].calls[i];
            if (!call->is_matched && (call->has_partners || may[of->places.list[call->place].function]))
                to->unseen_ns += call->leave_ns - waits_end_ns(&to->waits, call);
        }
    free(may);
}

/* ---- Efficiencies and gains */

/* Of the first thread of a rank: others do not tell what they do between calls. */
static double computation_ns(const graph_lane *lane)
{
    double ns = (double)(lane->end_ns - lane->begin_ns);
    for (size_t i = 0; i < lane->count; i++)
        ns -= (double)(lane->calls[i].leave_ns - lane->calls[i].enter_ns);
    return ns;
}

static void find_efficiencies(wait_analysis *to)
{
    double sum_ns = 0, most_ns = 0, ranks = 0;
    for (size_t lane = 0; lane < to->graph.lane_count; lane++) {
        const graph_lane *at = &to->graph.lanes[lane];
        if (at->location->thread != 0 || !(graph_runs(at) || to->graph.of->is_cut))
            continue;
        const double ns = computation_ns(at);
        sum_ns += ns;
        most_ns = ns > most_ns ? ns : most_ns;
        ranks++;
    }
    const int64_t ideal_ns = replay_ns(&to->graph, &(replay_change){.without = GRAPH_NONE, .is_instant = true});
    to->load_balance = most_ns > 0 ? sum_ns / ranks / most_ns : 1;
    to->serialization = ideal_ns > 0 ? most_ns / (double)ideal_ns : 1;
    to->transfer = to->run_ns > 0 ? (double)ideal_ns / (double)to->run_ns : 1;
}

void analysis_charge(wait_analysis *made, const trace *of, const trace_matches *matches)
{
    *made = (wait_analysis){.run_ns = 0};
    graph_make(&made->graph, of, matches);
    waits_find(&made->waits, &made->graph);
    causes_find(&made->causes, &made->graph, &made->waits);
}

void analysis_make(wait_analysis *made, const trace *of, const trace_matches *matches)
{
    analysis_charge(made, of, matches);
    made->run_ns = made->graph.end_ns - made->graph.begin_ns;
    sum_unseen(made);
    path_add(&made->causes, &made->graph, &made->waits);
    sort_causes(made);
    sum_waits(made);
    find_efficiencies(made);
    for (size_t i = 0; i < ANALYSIS_GAINS && i < made->causes.count; i++)
        made->without_ns[i] =
            replay_without_ns(&made->graph, made->order[i], (size_t)(made->order[i] - made->causes.list));
}

void analysis_free(wait_analysis *made)
{
    graph_free(&made->graph);
    waits_free(&made->waits);
    causes_free(&made->causes);
    free(made->order);
    free(made->sums);
    *made = (wait_analysis){.run_ns = 0};
}
