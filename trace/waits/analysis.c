/* SPDX-License-Identifier: BSD-3-Clause */
/* analysis.c - all steps of the analysis, and sums over what they found. */
#include "trace/waits/analysis.h"

#include "common/cli/memory.h"
#include "pure/text.h"
#include "trace/waits/dependencies.h"
#include "trace/waits/replay.h"

/* ---- Order */

double analysis_percent(const wait_analysis *of, double ns)
{
    const double whole_ns = (double)of->run_ns * of->threads;
    return whole_ns > 0 ? 100 * ns / whole_ns : 0;
}

/* A time of which nothing was recorded. */
static bool is_off(const wait_analysis *of, const cause *one)
{
    return one->key.is_call && of->graph.kinds[of->graph.places.list[one->key.from].function] == NAME_OFF;
}

/* One delay may make another process wait twice: for the late one, and for one that waited for it. */
static bool shows(const wait_analysis *of, const cause *one)
{
    const double most = 2 * (double)(one->late_ns + one->instances) * ((double)of->graph.lane_count - 1);
    return !is_off(of, one) && one->charged_ns > 0 && (double)one->charged_ns <= most + one->bound_ns;
}

bool analysis_is_worth(const wait_analysis *of, const cause *one)
{
    return shows(of, one) && analysis_percent(of, (double)one->charged_ns) >= ANALYSIS_WORTH_PERCENT;
}

/* level: 0 if it is worth a sentence, 1 if the trace shows it, else 2. */
typedef struct {
    cause *one;
    int level;
} ranked;

static int compare_causes(const void *left, const void *right)
{
    const ranked *x = left, *y = right;
    const cause *a = x->one, *b = y->one;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    if (a->is_replayed != b->is_replayed)
        return a->is_replayed ? -1 : 1;
    if (a->is_replayed && a->without_ns != b->without_ns)
        return a->without_ns < b->without_ns ? -1 : 1;
    if (a->charged_ns != b->charged_ns)
        return a->charged_ns > b->charged_ns ? -1 : 1;
    if (a->path_ns != b->path_ns)
        return a->path_ns > b->path_ns ? -1 : 1;
    return (a > b) - (a < b);
}

static void sort_causes(wait_analysis *to)
{
    const size_t count = to->causes.count;
    ranked *all = array_or_exit(count, sizeof *all);
    to->order = array_or_exit(count, sizeof(const cause *));
    for (size_t i = 0; i < count; i++) {
        cause *one = &to->causes.list[i];
        all[i] = (ranked){one, analysis_is_worth(to, one) ? 0 : shows(to, one) ? 1 : 2};
        to->unexplained_ns += all[i].level == 2 ? one->charged_ns : 0;
    }
    qsort(all, count, sizeof *all, compare_causes);
    for (size_t i = 0; i < ANALYSIS_GAINS && i < count && all[i].level < 2 && !to->has_threads; i++)
        replay_without(&to->graph, all[i].one, (size_t)(all[i].one - to->causes.list));
    qsort(all, count, sizeof *all, compare_causes);
    for (size_t i = 0; i < count; i++)
        to->order[i] = all[i].one;
    free(all);
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

/*
 * A call with a message or an operation of which no other end is in the trace, or that may have waited for progress;
 * one of a function of which the trace does not tell for whom it waits, or nobody knows whether it waits; one that
 * completes requests that are of no message and no operation.
 */
static bool is_unseen(const graph *of, const graph_call *call)
{
    const graph_name_kind kind = of->kinds[of->places.list[call->place].function];
    if ((call->is_matched && !call->is_unclear) || (kind != NAME_CALL && kind != NAME_OFF))
        return false;
    return call->is_unclear || call->has_partners || !of->meanings[of->places.list[call->place].function] ||
           graph_means(of, call, MEANS_UNSEEN) || (graph_means(of, call, MEANS_COMPLETES) && !call->has_completions);
}

static int compare_unseen(const void *left, const void *right)
{
    const unseen_sum *a = left, *b = right;
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    return (a->name > b->name) - (a->name < b->name);
}

static void sum_unseen(wait_analysis *to)
{
    const graph *of = &to->graph;
    to->unseen = zeros_or_exit(of->of->name_count, sizeof *to->unseen);
    for (size_t i = 0; i < of->of->name_count; i++)
        to->unseen[i].name = i;
    for (size_t lane = 0; lane < of->lane_count; lane++)
        for (size_t i = 0; i < of->lanes[lane].count; i++) {
            const graph_call *call = &of->lanes[lane].calls[i];
            const int64_t ns = is_unseen(of, call) ? call->leave_ns - waits_end_ns(&to->waits, call) : 0;
            if (ns > 0 && call->delay_in != GRAPH_NONE)
                to->causes.list[of->delays[call->delay_in].cause].may_wait = true;
            to->unseen[of->places.list[call->place].function].ns += ns;
            to->unseen_ns += ns;
        }
    if (of->of->name_count > 1)
        qsort(to->unseen, of->of->name_count, sizeof *to->unseen, compare_unseen);
}

/* Of calls of MPI. Tests that find nothing read the clock, too. */
static double recording_ns(const graph *of, const trace_location *location)
{
    char text[32];
    int64_t call_ps = 0;
    double calls = 0;
    if (mh_parse_whole(trace_text(location->process, "call_ps", text, sizeof text), &call_ps) != 0)
        return 0;
    for (size_t k = 0; k < location->count; k++) {
        const trace_event *event = &location->events[k];
        if (event->kind == TRACE_LEAVE && of->kinds[event->id] == NAME_CALL)
            calls += event->value > 0 ? (double)event->value : 1;
    }
    return calls * (double)call_ps / 1000;
}

static void sum_recorder(wait_analysis *to)
{
    const graph *of = &to->graph;
    for (size_t lane = 0; lane < of->lane_count; lane++)
        for (size_t i = 0; i < of->lanes[lane].count; i++) {
            const graph_call *call = &of->lanes[lane].calls[i];
            if (graph_is_recorder(of, call))
                to->recorder_ns += call->leave_ns - waits_end_ns(&to->waits, call);
        }
    for (size_t lane = 0; lane < of->lane_count; lane++)
        to->recording_ns += recording_ns(of, of->lanes[lane].location);
}

static void sum_polls(wait_analysis *to)
{
    const graph *of = &to->graph;
    int64_t *place_ns = zeros_or_exit(of->places.count, sizeof *place_ns), most_ns = 0; /* of a lane */
    for (size_t lane = 0; lane < of->lane_count; lane++) {
        const graph_lane *its = &of->lanes[lane];
        for (size_t i = 0; i < its->count; i++) {
            const size_t place = its->calls[i].place;
            const int64_t ns = graph_polled_ns(of, its, i);
            to->polled_ns += ns;
            place_ns[place] += ns;
            if (place_ns[place] <= most_ns)
                continue;
            most_ns = place_ns[place];
            to->polled_lane = lane;
            to->polled_place = place;
        }
        for (size_t i = 0; i < its->count; i++)
            place_ns[its->calls[i].place] = 0;
    }
    free(place_ns);
}

/* ---- Efficiencies */

/* Of the first thread of a rank: others do not tell what they do between calls. */
typedef struct {
    double compute_ns, off_ns;
} activity;

static activity activity_of(const graph *of, const graph_lane *lane)
{
    activity its = {.off_ns = 0};
    its.compute_ns = (double)(lane->end_ns - (lane->has_init ? lane->calls[0].enter_ns : lane->begin_ns));
    for (size_t i = 0; i < lane->count; i++) {
        const double ns = (double)(lane->calls[i].leave_ns - lane->calls[i].enter_ns);
        its.compute_ns -= ns;
        its.off_ns += graph_is_off(of, &lane->calls[i]) ? ns : 0;
    }
    return its;
}

/* While nothing is recorded, a rank is taken to compute for the same part of the time as it does else. */
static void find_efficiencies(wait_analysis *to)
{
    const int64_t ideal_ns = replay_ns(&to->graph, &(replay_change){.without = GRAPH_NONE, .is_instant = true});
    double sum_ns = 0, most_ns = 0, ranks = 0;
    for (size_t lane = 0; lane < to->graph.lane_count; lane++) {
        const graph_lane *at = &to->graph.lanes[lane];
        if (at->location->thread != 0 || !(graph_runs(at) || to->graph.of->is_cut))
            continue;
        const activity its = activity_of(&to->graph, at);
        const double left_ns = (double)ideal_ns - its.off_ns;
        const double ns = left_ns > 0 ? its.compute_ns * (double)ideal_ns / left_ns : its.compute_ns;
        to->compute_ns += its.compute_ns;
        sum_ns += ns;
        most_ns = ns > most_ns ? ns : most_ns;
        ranks++;
    }
    to->load_balance = most_ns > 0 ? sum_ns / ranks / most_ns : 1;
    to->serialization = ideal_ns > 0 ? most_ns / (double)ideal_ns : 1;
    to->transfer = to->run_ns > 0 ? (double)ideal_ns / (double)to->run_ns : 1;
}

static void count_threads(wait_analysis *to)
{
    for (int rank = 0; rank < to->graph.of->size; rank++) {
        const trace_process *process = &to->graph.of->processes[rank];
        int threads = 0;
        for (size_t i = 0; i < process->location_count; i++) {
            const trace_location *at = &process->locations[i];
            const bool calls = to->graph.lanes[at->index].count > 0;
            threads += calls;
            to->has_threads |= at->thread != 0 && calls;
        }
        to->ranks += process->location_count > 0;
        to->threads += process->location_count > 0 && threads == 0 ? 1 : threads;
    }
}

void analysis_charge(wait_analysis *made, const trace *of, const trace_matches *matches)
{
    *made = (wait_analysis){.run_ns = 0};
    graph_make(&made->graph, of);
    dependencies_add(&made->graph, matches);
    waits_find(&made->waits, &made->graph);
    causes_find(&made->causes, &made->graph, &made->waits);
}

void analysis_make(wait_analysis *made, const trace *of, const trace_matches *matches)
{
    analysis_charge(made, of, matches);
    made->run_ns = made->graph.end_ns - made->graph.begin_ns;
    count_threads(made);
    sum_unseen(made);
    sum_recorder(made);
    sum_polls(made);
    path_add(&made->causes, &made->graph, &made->waits);
    sort_causes(made);
    sum_waits(made);
    find_efficiencies(made);
}

void analysis_free(wait_analysis *made)
{
    graph_free(&made->graph);
    waits_free(&made->waits);
    causes_free(&made->causes);
    free(made->order);
    free(made->sums);
    free(made->unseen);
    *made = (wait_analysis){.run_ns = 0};
}
