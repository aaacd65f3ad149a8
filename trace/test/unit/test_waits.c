/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_waits.c - who waits for whom: programs of which one rank is late at a known place. They run in simulation with
 * this delay and without, so what the delay costs and what it would gain to remove it is known.
 */
#include "unit/support.h"
#include "common/cli/memory.h"
#include "trace/waits/analysis.h"
#include "trace/read/meanings.h"
#include "trace/report/answer.h"
#include "made_trace.h"
#ifdef HAS_FUNCTIONS
#include "generated/functions.h"
#endif

enum { LATENCY_NS = 2000, RESULT_NS = 50, MAX_RANKS = 1024, CLOCK_NS = 100 };

/* How long a run is, and what its clocks do: by the rates that clocks of unlike machines have, or nothing. */
typedef struct {
    int iterations;
    int64_t work_ns, noise_ns; /* of each phase */
    double drift, swing, record_ns;
    bool is_cut; /* calls of the recorder, which take no time, cut computations */
} extent;
enum { ITERATIONS = 12, WORK_NS = 100000 };
static const extent short_run = {ITERATIONS, WORK_NS, WORK_NS / 100, 0, 0, 0, false};
static const extent minute = {400, 75000000, 1000, 20e-6, 3e-6, 0.7e9, false};

/* Places: where the two phases of an iteration end, and the others. */
enum { FIRST = 0x100, SECOND = 0x200, OTHER = 0x300, LAST = 0x400 };

/* In which of the phases of which iterations a rank is late. */
typedef struct {
    int rank, phase, every;
    double ns;
} plant;

typedef struct {
    made_trace made;
    extent extent;
    plant late;
    int iteration;
    bool is_open;  /* the late rank has been late, and has called nothing since */
    uint64_t site; /* which it calls then */
    chance noise, cuts;
} run;

/* All draw the same with the delay and without. */
static void work(run *of, int rank, int phase)
{
    const plant *late = &of->late;
    const bool is_within = of->iteration > 0 && of->iteration + 1 < of->extent.iterations;
    const bool is_late = rank == late->rank && phase == late->phase && is_within && of->iteration % late->every == 0;
    of->is_open = of->is_open || is_late;
    const int64_t ns = of->extent.work_ns + chance_between(&of->noise, 0, of->extent.noise_ns);
    const int64_t whole_ns = ns + (is_late ? (int64_t)late->ns : 0);
    const int cuts = of->extent.is_cut && is_within ? (int)chance_between(&of->cuts, 0, 3) : 0;
    const int64_t piece_ns = whole_ns / (cuts + 1);
    made_work(&of->made, rank, (double)(whole_ns - cuts * piece_ns));
    for (int i = 0; i < cuts; i++) {
        made_enter(&of->made, rank, MADE_CLOCK);
        made_leave(&of->made, rank, MADE_CLOCK);
        made_work(&of->made, rank, (double)piece_ns);
    }
}

static void call_from(run *of, uint64_t site, int rank)
{
    of->made.site = site;
    if (rank != of->late.rank || !of->is_open)
        return;
    of->site = site;
    of->is_open = false;
}

static double send_from(run *of, uint64_t site, int rank, int to)
{
    call_from(of, site, rank);
    return made_send(&of->made, rank, to, of->iteration);
}

static void receive_at(run *of, uint64_t site, int rank, int from, double sent_ns)
{
    call_from(of, site, rank);
    made_receive(&of->made, rank, from, of->iteration, sent_ns, LATENCY_NS);
}

static void all_call(run *of, uint64_t site, made_name function, int root)
{
    call_from(of, site, of->late.rank);
    made_collective(&of->made, function, root, LATENCY_NS);
}

/* ---- Programs: one iteration */

static void ring(run *of, int ranks)
{
    double sent_ns[MAX_RANKS];
    for (int rank = 0; rank < ranks; rank++) {
        work(of, rank, 0);
        sent_ns[rank] = send_from(of, FIRST, rank, (rank + 1) % ranks);
    }
    for (int rank = 0; rank < ranks; rank++) {
        const int from = (rank + ranks - 1) % ranks;
        work(of, rank, 1);
        receive_at(of, SECOND, rank, from, sent_ns[from]);
    }
}

static void halo(run *of, int ranks)
{
    double left_ns[MAX_RANKS], right_ns[MAX_RANKS];
    for (int rank = 0; rank < ranks; rank++) {
        work(of, rank, 0);
        if (rank > 0)
            left_ns[rank] = send_from(of, FIRST, rank, rank - 1);
        if (rank + 1 < ranks)
            right_ns[rank] = send_from(of, rank > 0 ? OTHER : FIRST, rank, rank + 1);
    }
    for (int rank = 0; rank < ranks; rank++) {
        work(of, rank, 1);
        if (rank > 0)
            receive_at(of, SECOND, rank, rank - 1, right_ns[rank - 1]);
        if (rank + 1 < ranks)
            receive_at(of, rank > 0 ? LAST : SECOND, rank, rank + 1, left_ns[rank + 1]);
    }
}

static void pipeline(run *of, int ranks)
{
    double sent_ns = 0;
    for (int rank = 0; rank < ranks; rank++) {
        work(of, rank, 1);
        if (rank > 0)
            receive_at(of, SECOND, rank, rank - 1, sent_ns);
        work(of, rank, 0);
        if (rank + 1 < ranks)
            sent_ns = send_from(of, FIRST, rank, rank + 1);
    }
}

/* Sums go up a binary tree, and the result comes down. */
static void tree(run *of, int ranks)
{
    double up_ns[MAX_RANKS], down_ns[MAX_RANKS];
    for (int rank = ranks - 1; rank >= 0; rank--) {
        work(of, rank, 0);
        for (int child = 2 * rank + 1; child <= 2 * rank + 2 && child < ranks; child++)
            receive_at(of, FIRST, rank, child, up_ns[child]);
        if (rank > 0)
            up_ns[rank] = send_from(of, 2 * rank + 1 < ranks ? OTHER : FIRST, rank, (rank - 1) / 2);
    }
    for (int rank = 0; rank < ranks; rank++) {
        if (rank > 0)
            receive_at(of, LAST, rank, (rank - 1) / 2, down_ns[rank]);
        for (int child = 2 * rank + 1; child <= 2 * rank + 2 && child < ranks; child++)
            down_ns[child] = send_from(of, LAST, rank, child);
        work(of, rank, 1);
    }
}

/* Workers get work from rank 0, which works, too, and takes the results in their order. */
static void master(run *of, int ranks)
{
    double sent_ns[MAX_RANKS];
    for (int rank = 1; rank < ranks; rank++)
        sent_ns[rank] = send_from(of, OTHER, 0, rank);
    work(of, 0, 0);
    for (int rank = 1; rank < ranks; rank++) {
        receive_at(of, LAST, rank, 0, sent_ns[rank]);
        work(of, rank, 0);
        sent_ns[rank] = send_from(of, FIRST, rank, 0);
        work(of, rank, 1);
    }
    for (int rank = 1; rank < ranks; rank++) {
        receive_at(of, SECOND, 0, rank, sent_ns[rank]);
        made_work(&of->made, 0, RESULT_NS);
    }
    work(of, 0, 1);
}

static void collectives(run *of, int ranks)
{
    for (int rank = 0; rank < ranks; rank++)
        work(of, rank, 0);
    all_call(of, FIRST, MADE_ALLREDUCE, -1);
    for (int rank = 0; rank < ranks; rank++)
        work(of, rank, 1);
    all_call(of, SECOND, MADE_BARRIER, -1);
}

static void roots(run *of, int ranks)
{
    for (int rank = 0; rank < ranks; rank++)
        work(of, rank, 0);
    all_call(of, FIRST, MADE_REDUCE, 0);
    for (int rank = 0; rank < ranks; rank++)
        work(of, rank, 1);
    all_call(of, SECOND, MADE_BCAST, 0);
}

/*
 * Programs. is_even: all ranks do the same, so that hardly anyone waits without the delay. charged: at least this part
 * of what the delay costs is charged to it: all of it, if all ranks call from the same places in the same order. The
 * last rank of the pipeline computes both phases in one, so it cannot tell which phase of the rank before it is late.
 * Of hundreds of ranks, each one's noise takes a share, so the part is not judged.
 */
static const struct {
    const char *name;
    void (*iterate)(run *of, int ranks);
    double charged;
    int phases;       /* in which a rank may be late */
    int first, after; /* ranks that are not late: before the first one that may be, and after the last one */
    bool is_even;
} programs[] = {{"ring", ring, 0.85, 2, 0, 0, true},         {"halo", halo, 0.75, 2, 0, 0, false},
                {"pipeline", pipeline, 0.4, 2, 0, 2, false}, {"tree", tree, 0.5, 2, 0, 0, true},
                {"master", master, 0.85, 2, 0, 0, false},    {"collectives", collectives, 0.98, 2, 0, 0, true},
                {"roots", roots, 0.9, 2, 0, 0, true}};

/* ---- A run, and what is said of it */

static double end_ns(const made_trace *made)
{
    double end = 0;
    for (int rank = 0; rank < made->trace.size; rank++)
        end = fmax(end, made->now_ns[rank]);
    return end;
}

/* The clock of rank 0 is right. */
static made_clock draw_clock(const extent *by, int rank, chance *source)
{
    made_clock clock = {.offset_ns = INT64_C(1000000) * rank, .period_s = 60};
    if (rank > 0 && by->drift > 0) {
        clock.drift = by->drift * (2 * chance_unit(source) - 1);
        clock.swing = by->swing * (2 * chance_unit(source) - 1);
    }
    return clock;
}

/* Returns when it ends. */
static double simulate(run *of, const extent *by, int program, int ranks, plant late, uint64_t seed)
{
    made_clock clocks[MAX_RANKS] = {{0}};
    *of = (run){.extent = *by, .late = late, .noise = {seed}, .cuts = {seed}};
    for (int rank = 0; rank < ranks; rank++)
        clocks[rank] = draw_clock(by, rank, &of->noise);
    made_begin(&of->made, ranks, clocks, seed);
    for (int rank = 0; rank < ranks; rank++) {
        of->made.trace.processes[rank].rate_limit = 100e-6;
        of->made.trace.processes[rank].wander = 400e-9;
    }
    made_calls(&of->made, MADE_INIT);
    for (; of->iteration < by->iterations; of->iteration++)
        programs[program].iterate(of, ranks);
    const double end = end_ns(&of->made);
    made_calls(&of->made, MADE_FINALIZE);
    made_records(&of->made, by->record_ns, CLOCK_NS);
    return end;
}

static int64_t charged_ns(const wait_analysis *of)
{
    int64_t sum_ns = 0;
    for (size_t i = 0; i < of->causes.count; i++)
        sum_ns += of->causes.list[i].charged_ns;
    return sum_ns;
}

static int64_t path_ns(const wait_analysis *of)
{
    int64_t sum_ns = 0;
    for (size_t i = 0; i < of->causes.count; i++)
        sum_ns += of->causes.list[i].path_ns;
    return sum_ns;
}

static void analyze(wait_analysis *found, trace_matches *matches, made_trace *made, trace_clock by)
{
    trace_set_times(&made->trace, by);
    made_match(made, matches);
    analysis_make(found, &made->trace, matches);
}

/* What the delay costs by the analysis: more than without it. Of the planted cause, and of the greatest other one. */
typedef struct {
    double planted_ns, other_ns, bound_ns;
    double gain_ns; /* of the planted one; NAN: it was not replayed */
} verdict;

static double charged_to(const wait_analysis *of, const cause_key *key)
{
    for (size_t i = 0; i < of->causes.count; i++) {
        const cause *one = &of->causes.list[i];
        if (one->key.rank == key->rank && one->key.is_call == key->is_call && one->key.from == key->from &&
            one->key.to == key->to)
            return (double)one->charged_ns;
    }
    return 0;
}

static bool is_planted(const run *of, const wait_analysis *found, const cause_key *key)
{
    return !key->is_call && key->rank == of->late.rank && key->to != GRAPH_NONE &&
           found->graph.places.list[key->to].address == of->site;
}

static verdict judge(const run *of, const wait_analysis *found, const wait_analysis *base)
{
    verdict said = {.gain_ns = NAN};
    for (size_t i = 0; i < found->causes.count; i++) {
        const cause *one = found->order[i];
        const double more_ns = (double)one->charged_ns - charged_to(base, &one->key);
        if (!is_planted(of, found, &one->key)) {
            said.other_ns = fmax(said.other_ns, more_ns);
            continue;
        }
        said.planted_ns += more_ns;
        said.bound_ns += one->bound_ns;
        if (isnan(said.gain_ns) && one->is_replayed)
            said.gain_ns = (double)(found->run_ns - one->without_ns);
    }
    return said;
}

static void expect_sums(const wait_analysis *found, const char *name, int ranks)
{
    EXPECT(charged_ns(found) == found->causes.waited_ns, "%s of %d: charged %" PRId64 ", waited %" PRId64, name, ranks,
           charged_ns(found), found->causes.waited_ns);
    EXPECT(path_ns(found) == found->run_ns, "%s of %d: path %" PRId64 ", run %" PRId64, name, ranks, path_ns(found),
           found->run_ns);
    EXPECT(found->unseen_ns == 0, "%s of %d: %" PRId64 " ns are not attributed, with all ends of messages", name, ranks,
           found->unseen_ns);
}

/* All that is charged to the worst instance is waited in its chain, for its lane or for one that waited before. */
static void expect_chain(const wait_analysis *of, const cause *one, const char *name)
{
    size_t count;
    int64_t waited_ns = 0;
    size_t *chain = chain_find(&of->graph, &of->waits, one, INT64_MAX, &count);
    bool *has_waited = calloc(of->graph.lane_count, sizeof *has_waited);
    ck_assert(chain && has_waited);
    has_waited[one->worst_lane] = true;
    for (size_t i = 0; i < count; i++) {
        const graph_wait *wait = &of->waits.list[chain[i]];
        EXPECT(has_waited[wait->late_lane], "%s: a wait of the chain is for another rank", name);
        has_waited[wait->lane] = true;
        waited_ns += wait->end_ns - wait->begin_ns;
    }
    EXPECT(one->worst_ns <= waited_ns, "%s: %" PRId64 " are charged of a chain of %" PRId64 " ns", name, one->worst_ns,
           waited_ns);
    free(has_waited);
    free(chain);
}

static plant draw_plant(int program, int ranks, chance *source)
{
    const int last = ranks - 1 - programs[program].after;
    return (plant){.rank =
                       (int)chance_between(source, programs[program].first, last > 0 ? last : programs[program].first),
                   .phase = (int)chance_between(source, 0, programs[program].phases - 1),
                   .every = (int)chance_between(source, 1, ITERATIONS - 2),
                   .ns = (double)chance_between(source, WORK_NS / 2, INT64_C(4) * WORK_NS)};
}

/* The delay is the cause of what it costs, if this is more than three times the bound and than waits for messages. */
LOOP_TEST(planted_delays_are_named, COUNT_OF(programs))
{
    static const int sizes[] = {2, 3, 5, 8, 16, 33, 64};
    const char *name = programs[_i].name;
    const int draws = rounds_of(4 * COUNT_OF(sizes));
    int judged = 0;
    for (int i = 0; i < draws; i++) {
        const int ranks = i % 100 == 99 ? MAX_RANKS : i % 28 == 27 ? 256 : sizes[i % COUNT_OF(sizes)];
        chance source = chance_of_round(i);
        const plant late = draw_plant(_i, ranks, &source);
        const uint64_t seed = chance_bits(&source);
        run with, without;
        wait_analysis found, base;
        trace_matches matches, base_matches;
        extent by = short_run;
        by.noise_ns *= i % 2;
        const double each_ns = LATENCY_NS + 2.0 * (double)by.noise_ns; /* which a wait may hide, of both phases */
        const double hidden_ns = each_ns * (1 + (double)ITERATIONS / late.every);
        const double with_ns = simulate(&with, &by, _i, ranks, late, seed);
        const double gain_ns = with_ns - simulate(&without, &by, _i, ranks, (plant){.rank = -1, .every = 1}, seed);
        const double cost_ns = with.made.waited_ns - without.made.waited_ns;
        analyze(&found, &matches, &with.made, TRACE_GLOBAL);
        analyze(&base, &base_matches, &without.made, TRACE_GLOBAL);
        expect_sums(&found, name, ranks);
        for (size_t k = 0; k < found.causes.count && k < ANALYSIS_GAINS; k++)
            expect_chain(&found, found.order[k], name);
        const verdict said = judge(&with, &found, &base);
        if (cost_ns > 3 * said.bound_ns && cost_ns > 3 * LATENCY_NS) {
            judged++;
            EXPECT(said.planted_ns > said.other_ns && (ranks > 64 || said.planted_ns > programs[_i].charged * cost_ns),
                   "%s of %d: rank %d is late by %.0f ns in phase %d of each %d, which costs %.0f, but %.0f are "
                   "charged to that, %.0f to another cause",
                   name, ranks, late.rank, late.ns, late.phase, late.every, cost_ns, said.planted_ns, said.other_ns);
            EXPECT(!programs[_i].is_even || isnan(said.gain_ns) ||
                       fabs(said.gain_ns - gain_ns) < 0.01 * gain_ns + hidden_ns,
                   "%s of %d: rank %d is late by %.0f ns in phase %d of each %d, without which the run is "
                   "shorter by %.0f, not by %.0f",
                   name, ranks, late.rank, late.ns, late.phase, late.every, gain_ns, said.gain_ns);
        }
        analysis_free(&found);
        analysis_free(&base);
        trace_matches_free(&matches);
        trace_matches_free(&base_matches);
        made_free(&with.made);
        made_free(&without.made);
    }
    EXPECT(judged > draws / 2 || rounds_factor() < 1, "%s: %d of %d delays cost enough", name, judged, draws);
}

static bool is_same_place(const graph *a, size_t place, const graph *b, size_t other)
{
    if (place == GRAPH_NONE || other == GRAPH_NONE)
        return place == other;
    return a->places.list[place].function == b->places.list[other].function &&
           a->places.list[place].address == b->places.list[other].address;
}

/* The same cause in another analysis. */
static cause find_likewise(const wait_analysis *in, const wait_analysis *of, const cause_key *key)
{
    for (size_t i = 0; i < in->causes.count; i++) {
        const cause_key *other = &in->causes.list[i].key;
        if (other->rank == key->rank && other->is_call == key->is_call &&
            is_same_place(&in->graph, other->from, &of->graph, key->from) &&
            is_same_place(&in->graph, other->to, &of->graph, key->to))
            return in->causes.list[i];
    }
    return (cause){.charged_ns = 0};
}

/* Calls of the recorder that take no time change nothing, up to rounding. */
LOOP_TEST(the_recorder_cuts_nothing, COUNT_OF(programs))
{
    for (int i = 0; i < rounds_of(8); i++) {
        chance source = chance_of_round(i);
        const int ranks = (int)chance_between(&source, 2, 9);
        const plant late = draw_plant(_i, ranks, &source);
        const uint64_t seed = chance_bits(&source);
        run runs[2];
        wait_analysis found[2];
        trace_matches matches[2];
        extent by = short_run;
        for (int k = 0; k < 2; k++) {
            by.is_cut = k == 1;
            simulate(&runs[k], &by, _i, ranks, late, seed);
            analyze(&found[k], &matches[k], &runs[k].made, TRACE_GLOBAL);
        }
        expect_sums(&found[1], programs[_i].name, ranks);
        for (size_t k = 0; k < found[0].causes.count; k++) {
            const cause *one = found[0].order[k];
            const cause other = find_likewise(&found[1], &found[0], &one->key);
            const int64_t near_ns = 20 + found[0].causes.waited_ns / 10000;
            EXPECT(llabs(one->charged_ns - other.charged_ns) <= near_ns &&
                       llabs(one->worst_ns - other.worst_ns) <= near_ns,
                   "%s of %d: %" PRId64 " are charged to a cause, %" PRId64 " if computations are cut; to the worst "
                   "instance %" PRId64 ", %" PRId64,
                   programs[_i].name, ranks, one->charged_ns, other.charged_ns, one->worst_ns, other.worst_ns);
            EXPECT(llabs(one->late_ns - other.late_ns) <= near_ns,
                   "%s of %d: a cause is late by %" PRId64 ", by %" PRId64 " if computations are cut",
                   programs[_i].name, ranks, one->late_ns, other.late_ns);
            EXPECT(one->instances == other.instances || one->charged_ns <= near_ns,
                   "%s of %d: a cause has %" PRId64 " instances, %" PRId64 " if computations are cut",
                   programs[_i].name, ranks, one->instances, other.instances);
        }
        for (size_t k = 0; k < found[1].causes.count && k < ANALYSIS_GAINS; k++)
            expect_chain(&found[1], found[1].order[k], programs[_i].name);
        for (size_t k = 0; k < ANALYSIS_GAINS && k < found[0].causes.count; k++) {
            const cause *one = found[0].order[k];
            const cause other = find_likewise(&found[1], &found[0], &one->key);
            EXPECT(!one->is_replayed || !other.is_replayed ||
                       fabs((double)(one->without_ns - other.without_ns)) <= 1e-4 * (double)found[0].run_ns,
                   "%s of %d: without cause %zu, the run takes %" PRId64 ", or %" PRId64 " if computations are cut",
                   programs[_i].name, ranks, k, one->without_ns, other.without_ns);
        }
        for (int k = 0; k < 2; k++) {
            analysis_free(&found[k]);
            trace_matches_free(&matches[k]);
            made_free(&runs[k].made);
        }
    }
}

/* A torn trace may have an operation in which all get something and nobody gives it. Rank 1 waits for rank 0 later. */
TEST(nobody_gives)
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    const made_clock clocks[2] = {{0}};
    made_begin(&made, 2, clocks, 1);
    for (int rank = 0; rank < 2; rank++) {
        made_event(&made, rank, 100, (trace_event){.kind = TRACE_ENTER, .id = MADE_ALLREDUCE});
        made_event(&made, rank, 300, (trace_event){.kind = TRACE_COLLECTIVE, .partner = -1, .tag = 1});
        made_event(&made, rank, 300, (trace_event){.kind = TRACE_COLLECTIVE_OUT, .value = 8, .id = MADE_ALLREDUCE});
        made_event(&made, rank, 300, (trace_event){.kind = TRACE_LEAVE, .id = MADE_ALLREDUCE});
    }
    made_work(&made, 0, 5000);
    made_message(&made, 0, 1, 0, LATENCY_NS);
    made_message(&made, 0, 0, 0, LATENCY_NS);
    made_records(&made, 0, 0);
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    expect_sums(&found, "nobody gives", 2);
    EXPECT(found.waits.count == 1 && found.order[0]->charged_ns == 5000 && found.order[0]->late_ns == 5000, "%zu waits",
           found.waits.count);
    analysis_free(&found);
    trace_matches_free(&matches);
    made_free(&made);
}

/* Between two groups, what nobody gives is not known: each waits for the other one, or not. */
TEST(bytes_between_groups_are_not_known)
{
    static const struct {
        uint64_t bytes[2];
        int64_t unseen_ns;
    } given[] = {{{0, 0}, 800}, {{8, 0}, 0}, {{8, 8}, 0}};
    for (int i = 0; i < COUNT_OF(given); i++) {
        made_trace made;
        wait_analysis found;
        trace_matches matches;
        const made_clock clocks[2] = {{0}};
        made_begin(&made, 2, clocks, 1);
        made_bridge(&made);
        for (int rank = 0; rank < 2; rank++) {
            made_event(&made, rank, 100, (trace_event){.kind = TRACE_ENTER, .id = MADE_ALLREDUCE});
            made_event(&made, rank, 500,
                       (trace_event){
                           .kind = TRACE_COLLECTIVE, .partner = -1, .value = given[i].bytes[rank], .tag = 1, .id = 1});
            made_event(&made, rank, 500, (trace_event){.kind = TRACE_COLLECTIVE_OUT, .id = MADE_ALLREDUCE});
            made_event(&made, rank, 500, (trace_event){.kind = TRACE_LEAVE, .id = MADE_ALLREDUCE});
        }
        made_records(&made, 0, 0);
        analyze(&found, &matches, &made, TRACE_GLOBAL);
        EXPECT(found.unseen_ns == given[i].unseen_ns, "bytes %" PRIu64 " and %" PRIu64 ": %" PRId64, given[i].bytes[0],
               given[i].bytes[1], found.unseen_ns);
        analysis_free(&found);
        trace_matches_free(&matches);
        made_free(&made);
    }
}

/* ---- The edges of the run */

enum { INIT_NS = 5000000, SKEW_NS = 300000, STAY_NS = 200000, SLOW_NS = 50000, LAST_NS = 2000000 };

/* What the recorder does with all processes: until the last one has come, and some time. */
static void look(made_trace *made, int64_t rank_1_ns)
{
    const double last_ns = fmax(made->now_ns[0], made->now_ns[1]) + 70000;
    for (int rank = 0; rank < 2; rank++) {
        made_enter(made, rank, MADE_CLOCK);
        made->now_ns[rank] = last_ns + (rank == 1 ? (double)rank_1_ns : 0);
        made_leave(made, rank, MADE_CLOCK);
    }
}

/*
 * Rank 1 calls MPI_Init late, stays in it for longer, and the recorder holds it there. The clocks are looked after when
 * only one phase is left, in which rank 1 computes for longer.
 */
static void make_edges(made_trace *made)
{
    const made_clock clocks[2] = {{0}};
    made_begin(made, 2, clocks, 1);
    made_work(made, 1, SKEW_NS);
    made_enter(made, 0, MADE_INIT);
    made_enter(made, 1, MADE_INIT);
    made->now_ns[0] = made->now_ns[1] = INIT_NS;
    made_work(made, 1, STAY_NS);
    made_leave(made, 0, MADE_INIT);
    made_leave(made, 1, MADE_INIT);
    look(made, SLOW_NS);
    made_work(made, 0, WORK_NS);
    made_work(made, 1, WORK_NS);
    made_collective(made, MADE_ALLREDUCE, -1, LATENCY_NS);
    look(made, 0);
    made_work(made, 0, WORK_NS);
    made_work(made, 1, WORK_NS + LAST_NS);
    look(made, 0);
    made_enter(made, 0, MADE_FINALIZE);
    made_enter(made, 1, MADE_FINALIZE);
    made_leave(made, 0, MADE_FINALIZE);
    made_leave(made, 1, MADE_FINALIZE);
    made_records(made, 0, 0);
}

static int64_t charged_at(const wait_analysis *of, made_name to, bool is_call)
{
    int64_t ns = 0;
    for (size_t i = 0; i < of->causes.count; i++) {
        const cause_key *key = &of->causes.list[i].key;
        if (key->rank == 1 && key->is_call == is_call && key->to != GRAPH_NONE &&
            of->graph.places.list[key->to].function == to)
            ns += of->causes.list[i].charged_ns;
    }
    return ns;
}

/* All of it is in the answer, and what the recorder does with all processes at the edges is not. */
TEST(nothing_of_the_run_is_lost)
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    answer_t answer;
    make_edges(&made);
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    expect_sums(&found, "edges", 2);
    EXPECT(charged_at(&found, MADE_INIT, false) == SKEW_NS, "begins late by %" PRId64,
           charged_at(&found, MADE_INIT, false));
    EXPECT(charged_at(&found, MADE_INIT, true) == STAY_NS, "stays in MPI_Init for %" PRId64,
           charged_at(&found, MADE_INIT, true));
    EXPECT(charged_at(&found, MADE_CLOCK, true) == SLOW_NS, "the recorder keeps it for %" PRId64,
           charged_at(&found, MADE_CLOCK, true));
    EXPECT(charged_at(&found, MADE_FINALIZE, false) == LAST_NS, "ends late by %" PRId64,
           charged_at(&found, MADE_FINALIZE, false));
    const int64_t run_ns = SKEW_NS + STAY_NS + SLOW_NS + 2 * WORK_NS + LATENCY_NS + 70000 + LAST_NS;
    EXPECT(found.run_ns == run_ns, "the run takes %" PRId64 ", not %" PRId64, found.run_ns, run_ns);
    EXPECT(found.order[0]->without_ns == run_ns - LAST_NS && found.order[0]->taken_ns == LAST_NS,
           "without the first cause it takes %" PRId64, found.order[0]->without_ns);
    answer_make(&answer, &found);
    EXPECT(strncmp(answer.sentences[0].text, "Rank 1 ends late: ", 18) == 0, "%s", answer.sentences[0].text);
    EXPECT(strncmp(answer.sentences[1].text, "Rank 1 begins late, by ", 23) == 0, "%s", answer.sentences[1].text);
    analysis_free(&found);
    trace_matches_free(&matches);
    made_free(&made);
}

/* ---- Windows */

enum { HELD_NS = 1000000, BRIEF_NS = 30000, ACCESS_BYTES = 100 };

/* A call of one access of a window of all, which lasts until a time, or some time. */
static void call_window(made_trace *made, int rank, made_name function, trace_access mode, int target, double until_ns)
{
    trace_event event = {.kind = TRACE_ACCESS, .partner = target, .value = mode <= TRACE_UPDATE ? ACCESS_BYTES : 0};
    event.mode = mode;
    made_enter(made, rank, function);
    made->now_ns[rank] = fmax(made->now_ns[rank] + RESULT_NS, until_ns);
    made_put(made, rank, event);
    made_leave(made, rank, function);
}

/* Another call of MPI, which accesses nothing. */
static void stay_in_mpi(made_trace *made, int rank, double until_ns)
{
    made_enter(made, rank, MADE_SEND);
    made->now_ns[rank] = fmax(made->now_ns[rank], until_ns);
    made_leave(made, rank, MADE_SEND);
}

/* How long calls wait in a state, for rank 1. */
static int64_t waits_ns(const wait_analysis *of, wait_state state)
{
    int64_t sum_ns = 0;
    for (size_t i = 0; i < of->waits.count; i++) {
        const graph_wait *wait = &of->waits.list[i];
        if (wait->state == state && wait->lane == 0 && wait->late_lane == 1)
            sum_ns += wait->end_ns - wait->begin_ns;
    }
    return sum_ns;
}

static const struct {
    trace_access first, second;
    int target; /* of the second one; that of the first one is 0 */
    bool waits;
} lock_pairs[] = {
    {TRACE_LOCK_EXCLUSIVE, TRACE_LOCK_EXCLUSIVE, 0, true}, {TRACE_LOCK_SHARED, TRACE_LOCK_EXCLUSIVE, 0, true},
    {TRACE_LOCK_EXCLUSIVE, TRACE_LOCK_SHARED, 0, true},    {TRACE_LOCK_EXCLUSIVE, TRACE_LOCK_SHARED, -1, true},
    {TRACE_LOCK_SHARED, TRACE_LOCK_EXCLUSIVE, 1, false},   {TRACE_LOCK_SHARED, TRACE_LOCK_SHARED, 0, false}};

/* Rank 1 has a lock while rank 0 asks for one. It gets it in MPI_Win_unlock only. */
LOOP_TEST(the_holder_of_a_lock_is_waited_for, COUNT_OF(lock_pairs))
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    const made_clock clocks[2] = {{0}};
    made_begin(&made, 2, clocks, 1);
    made_calls(&made, MADE_INIT);
    call_window(&made, 1, MADE_WIN_LOCK, lock_pairs[_i].first, 0, 0);
    call_window(&made, 1, MADE_WIN_FLUSH, TRACE_FLUSH, 0, 0);
    made_work(&made, 1, HELD_NS);
    const double released_ns = made.now_ns[1];
    call_window(&made, 1, MADE_WIN_UNLOCK, TRACE_UNLOCK, 0, 0);
    made_work(&made, 0, WORK_NS);
    call_window(&made, 0, MADE_WIN_LOCK, lock_pairs[_i].second, lock_pairs[_i].target, 0);
    const double asked_ns = made.now_ns[0];
    call_window(&made, 0, MADE_WIN_UNLOCK, TRACE_UNLOCK, lock_pairs[_i].target, released_ns + LATENCY_NS);
    made_calls(&made, MADE_FINALIZE);
    made_records(&made, 0, 0);
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    const int64_t wanted_ns = lock_pairs[_i].waits ? (int64_t)(released_ns - asked_ns) : 0;
    EXPECT(waits_ns(&found, STATE_LOCK) == wanted_ns, "it waits for %" PRId64 " ns, not %" PRId64,
           waits_ns(&found, STATE_LOCK), wanted_ns);
    EXPECT(!lock_pairs[_i].waits || found.unseen_ns < LATENCY_NS,
           "of calls that wait, %" PRId64 " ns are not attributed", found.unseen_ns);
    analysis_free(&found);
    trace_matches_free(&matches);
    made_free(&made);
}

/* Without MPI_Win_flush, nothing tells who had the lock first but who asked first. */
static const struct {
    bool is_first;    /* rank 1 asks first */
    bool waits_there; /* rank 0 does, at the target of the lock, and not at another one */
} askers[] = {{true, true}, {false, true}, {true, false}};

LOOP_TEST(who_had_a_lock_before_is_known, COUNT_OF(askers))
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    const made_clock clocks[2] = {{0}};
    made_begin(&made, 2, clocks, 1);
    made_calls(&made, MADE_INIT);
    made_work(&made, askers[_i].is_first ? 0 : 1, WORK_NS);
    call_window(&made, 1, MADE_WIN_LOCK, TRACE_LOCK_EXCLUSIVE, 0, 0);
    call_window(&made, 0, MADE_WIN_LOCK, TRACE_LOCK_EXCLUSIVE, 0, 0);
    if (!askers[_i].waits_there)
        call_window(&made, 0, MADE_WIN_LOCK, TRACE_LOCK_SHARED, 1, 0);
    const double asked_ns = made.now_ns[0];
    made_work(&made, 1, HELD_NS);
    const double released_ns = made.now_ns[1];
    call_window(&made, 1, MADE_WIN_UNLOCK, TRACE_UNLOCK, 0, 0);
    if (!askers[_i].waits_there)
        call_window(&made, 0, MADE_WIN_UNLOCK, TRACE_UNLOCK, 1, released_ns + LATENCY_NS);
    call_window(&made, 0, MADE_WIN_UNLOCK, TRACE_UNLOCK, 0, released_ns + LATENCY_NS);
    made_calls(&made, MADE_FINALIZE);
    made_records(&made, 0, 0);
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    const bool waits = askers[_i].is_first && askers[_i].waits_there;
    EXPECT(waits_ns(&found, STATE_LOCK) == (waits ? (int64_t)(released_ns - asked_ns) : 0), "it waits for %" PRId64,
           waits_ns(&found, STATE_LOCK));
    EXPECT(!askers[_i].waits_there || (waits ? found.unseen_ns < LATENCY_NS : found.unseen_ns >= HELD_NS),
           "%" PRId64 " ns are not attributed", found.unseen_ns);
    analysis_free(&found);
    trace_matches_free(&matches);
    made_free(&made);
}

typedef struct {
    int64_t quick_ns;              /* so long a flush takes while the target is in MPI; 0: there is none */
    int64_t stays_ns, computes_ns; /* the target, in a call when the last flush begins, and then */
    trace_access earlier, later;   /* the former is complete while its target computes; FLUSH: nothing is to be done */
    int earlier_target;            /* rank 2 is on the host of rank 0, and rank 1 on another one; else all are on one */
    bool waits, is_known;
} busy_target;

static void set_text(made_trace *made, int rank, const char *text)
{
    free(made->trace.processes[rank].text);
    made->trace.processes[rank].text = strdup(text);
}

/* A flush of rank 0 lasts until rank 1 calls MPI. Returns for how long rank 1 lets it wait. */
static int64_t make_busy_target(made_trace *made, const busy_target *of)
{
    const made_clock clocks[3] = {{0}};
    made_begin(made, 3, clocks, 1);
    for (int rank = 0; rank < 3; rank++)
        set_text(made, rank, rank == 1 && of->earlier_target == 2 ? "host b\n" : "host a\n");
    made_calls(made, MADE_INIT);
    made_work(made, 0, LATENCY_NS);
    stay_in_mpi(made, 1, made->now_ns[0] + BRIEF_NS);
    call_window(made, 0, MADE_WIN_LOCK, TRACE_LOCK_SHARED, 1, 0);
    call_window(made, 0, MADE_WIN_FLUSH, TRACE_FLUSH, 1, 0);
    if (of->quick_ns > 0) {
        call_window(made, 0, MADE_PUT, of->later, 1, 0);
        call_window(made, 0, MADE_WIN_FLUSH, TRACE_FLUSH, 1, made->now_ns[0] + (double)of->quick_ns);
    }
    made_work(made, 0, BRIEF_NS + LATENCY_NS);
    call_window(made, 0, MADE_PUT, of->earlier, of->earlier_target, 0);
    call_window(made, 0, MADE_WIN_FLUSH, TRACE_FLUSH, of->earlier_target, 0);
    call_window(made, 0, MADE_PUT, of->later, 1, 0);
    const double flushed_ns = made->now_ns[0];
    if (of->stays_ns > 0)
        stay_in_mpi(made, 1, flushed_ns + (double)of->stays_ns);
    const double called_ns = flushed_ns + (double)(of->stays_ns + of->computes_ns);
    made->now_ns[1] = called_ns;
    call_window(made, 0, MADE_WIN_FLUSH, TRACE_FLUSH, 1, called_ns + LATENCY_NS);
    call_window(made, 1, MADE_WIN_LOCK, TRACE_LOCK_SHARED, 1, 0);
    call_window(made, 1, MADE_WIN_UNLOCK, TRACE_UNLOCK, 1, 0);
    call_window(made, 0, MADE_WIN_UNLOCK, TRACE_UNLOCK, 1, 0);
    made->now_ns[2] = made->now_ns[0];
    made_calls(made, MADE_FINALIZE);
    made_records(made, 0, 0);
    return (int64_t)(called_ns - flushed_ns);
}

static const busy_target busy_targets[] = {
    {RESULT_NS, 0, HELD_NS, TRACE_FLUSH, TRACE_PUT, 1, true, true},
    {RESULT_NS, 0, HELD_NS, TRACE_GET, TRACE_PUT, 1, true, true},
    {RESULT_NS, 0, HELD_NS, TRACE_PUT, TRACE_PUT, 1, false, true},
    {RESULT_NS, 0, HELD_NS, TRACE_PUT, TRACE_PUT, 2, true, true},
    {RESULT_NS, 0, BRIEF_NS, TRACE_FLUSH, TRACE_PUT, 1, false, true},
    {RESULT_NS, 0, HELD_NS, TRACE_FLUSH, TRACE_FLUSH, 1, false, false},
    {RESULT_NS, BRIEF_NS, HELD_NS, TRACE_FLUSH, TRACE_PUT, 1, true, true},
    {RESULT_NS, HELD_NS, HELD_NS, TRACE_FLUSH, TRACE_PUT, 1, false, true},
    {INT64_C(2) * LATENCY_NS, 0, HELD_NS, TRACE_FLUSH, TRACE_PUT, 1, false, false},
    {0, 0, HELD_NS, TRACE_FLUSH, TRACE_PUT, 1, false, false}};

LOOP_TEST(a_busy_target_is_waited_for, COUNT_OF(busy_targets))
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    const busy_target *of = &busy_targets[_i];
    const int64_t busy_ns = make_busy_target(&made, of);
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    EXPECT(waits_ns(&found, STATE_PROGRESS) == (of->waits ? busy_ns : 0), "it waits for %" PRId64 " ns, not %" PRId64,
           waits_ns(&found, STATE_PROGRESS), busy_ns);
    EXPECT(of->is_known ? found.unseen_ns < LATENCY_NS : found.unseen_ns >= HELD_NS,
           "%" PRId64 " ns are not attributed", found.unseen_ns);
    analysis_free(&found);
    trace_matches_free(&matches);
    made_free(&made);
}

/* Also of calls that are not long. */
LOOP_TEST(what_a_target_does_may_be_unknown, 2)
{
    static const busy_target brief = {RESULT_NS, 0, BRIEF_NS, TRACE_FLUSH, TRACE_PUT, 1, false, false};
    const busy_target *of = _i == 0 ? &busy_targets[0] : &brief;
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    make_busy_target(&made, of);
    if (_i == 0)
        for (int rank = 0; rank < 3; rank++)
            set_text(&made, rank, "only win_*\n");
    else
        made_leave_out(&made, 1);
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    EXPECT(waits_ns(&found, STATE_PROGRESS) == 0, "it waits for %" PRId64 " ns", waits_ns(&found, STATE_PROGRESS));
    EXPECT(found.unseen_ns >= of->computes_ns - LATENCY_NS, "%" PRId64 " ns are not attributed", found.unseen_ns);
    analysis_free(&found);
    trace_matches_free(&matches);
    made_free(&made);
}

/* A lock of all targets lasts until rank 1, which nobody accesses, calls MPI. Of two ranks, it may be no other. */
LOOP_TEST(a_lock_of_all_targets_is_of_those_that_are_accessed, 2)
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    const made_clock clocks[3] = {{0}};
    const int ranks = 2 + _i;
    made_begin(&made, ranks, clocks, 1);
    made_calls(&made, MADE_INIT);
    call_window(&made, 0, MADE_WIN_LOCK, TRACE_LOCK_SHARED, -1, 0);
    call_window(&made, 0, MADE_WIN_UNLOCK, TRACE_UNLOCK, -1, 0);
    made_work(&made, 1, HELD_NS);
    call_window(&made, 0, MADE_WIN_LOCK, TRACE_LOCK_SHARED, -1, made.now_ns[1] + LATENCY_NS);
    stay_in_mpi(&made, 1, 0);
    made_work(&made, 1, HELD_NS);
    call_window(&made, 0, MADE_WIN_UNLOCK, TRACE_UNLOCK, -1, made.now_ns[1] + LATENCY_NS);
    made_calls(&made, MADE_FINALIZE);
    made_records(&made, 0, 0);
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    const int64_t waited_ns = waits_ns(&found, STATE_PROGRESS), lasts_ns = (int64_t)2 * HELD_NS;
    EXPECT(ranks == 2 ? llabs(waited_ns - lasts_ns) / 2 <= LATENCY_NS : waited_ns == 0, "it waits for %" PRId64 " ns",
           waited_ns);
    EXPECT((found.unseen_ns >= lasts_ns - LATENCY_NS) == (ranks == 3), "%" PRId64 " ns are not attributed",
           found.unseen_ns);
    analysis_free(&found);
    trace_matches_free(&matches);
    made_free(&made);
}

/* Rank 0 asks rank 1 for a lock, which rank 2 may have, and gets it late, though rank 1 is in MPI. */
LOOP_TEST(a_process_that_is_not_recorded_may_have_a_lock, 2)
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    const made_clock clocks[3] = {{0}};
    made_begin(&made, 3, clocks, 1);
    made_calls(&made, MADE_INIT);
    stay_in_mpi(&made, 1, 2 * HELD_NS);
    call_window(&made, 0, MADE_WIN_LOCK, TRACE_LOCK_EXCLUSIVE, 1, 0);
    call_window(&made, 0, MADE_WIN_UNLOCK, TRACE_UNLOCK, 1, HELD_NS);
    made_calls(&made, MADE_FINALIZE);
    made_records(&made, 0, 0);
    if (_i == 1)
        made_leave_out(&made, 2);
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    EXPECT(_i == 0 ? found.unseen_ns < LATENCY_NS : found.unseen_ns >= HELD_NS - LATENCY_NS,
           "%" PRId64 " ns are not attributed", found.unseen_ns);
    analysis_free(&found);
    trace_matches_free(&matches);
    made_free(&made);
}

/* ---- What is not concluded */

TEST(threads_are_not_predicted)
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    make_edges(&made);
    made.trace.processes[1].locations[0].thread = 1;
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    for (size_t i = 0; i < found.causes.count; i++)
        EXPECT(!found.order[i]->is_replayed, "cause %zu", i);
    analysis_free(&found);
    trace_matches_free(&matches);
    made_free(&made);
}

/* Rank 1 computes for 10 us, and switches recording off for 90. Rank 0 computes for 50, and waits. */
TEST(what_is_not_recorded_is_no_cause)
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    answer_t answer;
    const made_clock clocks[2] = {{0}};
    made_begin(&made, 2, clocks, 1);
    made_calls(&made, MADE_INIT);
    made_work(&made, 0, 50000);
    made_work(&made, 1, 10000);
    made_enter(&made, 1, MADE_OFF);
    made_work(&made, 1, 90000);
    made_leave(&made, 1, MADE_OFF);
    made_collective(&made, MADE_ALLREDUCE, -1, LATENCY_NS);
    made_records(&made, 0, 0);
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    const int64_t off_ns = charged_at(&found, MADE_OFF, true);
    EXPECT(off_ns >= 40000 && found.unexplained_ns == off_ns, "%" PRId64 " of %" PRId64 " are not explained",
           found.unexplained_ns, off_ns);
    for (size_t i = 0; i < found.causes.count; i++) {
        const cause *one = found.order[i];
        EXPECT(!one->key.is_call || !one->is_replayed || found.graph.places.list[one->key.to].function != MADE_OFF,
               "cause %zu", i);
    }
    answer_make(&answer, &found);
    for (int i = 0; i < answer.count; i++)
        EXPECT(answer.sentences[i].kind != ANSWER_CAUSE || !strstr(answer.sentences[i].text, "late in unrecorded"),
               "%s", answer.sentences[i].text);
    /* Rank 0 computes for half of the time, rank 1 for all that is known of it. */
    EXPECT(fabs(found.load_balance - 0.75) < 0.02 && found.serialization > 0.98 && found.serialization <= 1 &&
               found.transfer > 0.97,
           "load balance %g, serialization %g, transfer %g", found.load_balance, found.serialization, found.transfer);
    analysis_free(&found);
    trace_matches_free(&matches);
    made_free(&made);
}

/* Of four ranks, two have events. */
TEST(percentages_are_of_ranks_with_events)
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    answer_t answer;
    const made_clock clocks[4] = {{0}};
    made_begin(&made, 4, clocks, 1);
    made_work(&made, 0, WORK_NS);
    made_message(&made, 0, 1, 0, LATENCY_NS);
    made_work(&made, 1, WORK_NS);
    made_message(&made, 1, 0, 0, LATENCY_NS);
    made_records(&made, 0, 0);
    made_leave_out(&made, 2);
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    const double percent = analysis_percent(&found, 2 * (double)found.run_ns);
    EXPECT(fabs(percent - 100) < 1e-9, "all of both ranks is %g %%", percent);
    answer_make(&answer, &found);
    const char *last = answer.sentences[answer.count - 1].text;
    EXPECT(strstr(last, "Only 2 of 4 ranks are in the trace"), "%s", last);
    analysis_free(&found);
    trace_matches_free(&matches);
    made_free(&made);
}

TEST(nothing_is_said_of_no_events)
{
    made_trace made;
    wait_analysis found;
    trace_matches matches;
    answer_t answer;
    const made_clock clocks[2] = {{0}};
    made_begin(&made, 2, clocks, 1);
    analyze(&found, &matches, &made, TRACE_GLOBAL);
    answer_make(&answer, &found);
    EXPECT(answer.count == 1 && answer.sentences[0].kind == ANSWER_NOTHING, "%s", answer.sentences[0].text);
    analysis_free(&found);
    trace_matches_free(&matches);
    made_free(&made);
}

/* ---- Functions */

TEST(forms_of_functions_mean_the_same)
{
    static const char *const forms[] = {"MPI_Bcast", "MPI_Ibcast", "MPI_Bcast_c", "MPI_Bcast_init", "MPI_Bcast_init_c"};
    for (int i = 0; i < COUNT_OF(forms); i++)
        EXPECT(meaning_of(forms[i]) && meaning_of(forms[i])->wait == WAIT_FROM_ROOT, "%s", forms[i]);
    EXPECT(meaning_of("MPI_File_iwrite_at_all")->means == MEANS_UNSEEN, "a collective write");
    EXPECT(meaning_of("MPI_Type_commit")->means == MEANS_LOCAL, "a local call");
    EXPECT(!meaning_of("MPI_Bcas") && !meaning_of("region 3"), "what is no function of MPI");
}

/* A function of MPI may wait, or not: one of which the table does not say it is new. */
TEST(all_functions_are_known)
{
#ifdef HAS_FUNCTIONS
#define NAME(name) "MPI_" #name,
    static const char *const names[] = {INTERPOSE_FUNCTIONS(NAME)};
    for (int i = 0; i < COUNT_OF(names); i++)
        EXPECT(meaning_of(names[i]), "%s is not in trace/front/meanings.txt", names[i]);
#endif
}

/* Whether the first cause is another one than the planted delay. */
static bool is_wrong(run *of, trace_clock by)
{
    wait_analysis found;
    trace_matches matches;
    analyze(&found, &matches, &of->made, by);
    const bool is_right = found.waits.count > 0 && is_planted(of, &found, &found.order[0]->key);
    analysis_free(&found);
    trace_matches_free(&matches);
    return !is_right;
}

/* A rank is late by 20 to 200 us in each iteration of a run of a minute: who is named by which clocks? */
TEST(clocks_name_the_cause)
{
    static const int even[] = {3, 5, 6}; /* programs in which nothing is overlapped */
    int wrong[TRACE_GLOBAL + 1] = {0}, runs = 0;
    for (int i = 0; i < rounds_of(6); i++) {
        chance source = chance_of_round(i);
        const int program = even[i % COUNT_OF(even)], ranks = (int)chance_between(&source, 2, 5);
        plant late = draw_plant(program, ranks, &source);
        late.every = 1;
        late.ns = (double)chance_between(&source, 20000, 200000);
        run of;
        simulate(&of, &minute, program, ranks, late, chance_bits(&source));
        for (trace_clock by = TRACE_START; by <= TRACE_GLOBAL; by++)
            wrong[by] += is_wrong(&of, by);
        runs++;
        made_free(&of.made);
    }
    printf("# of %d runs, another cause is named: start %d, linear %d, global %d\n", runs, wrong[TRACE_START],
           wrong[TRACE_LINEAR], wrong[TRACE_GLOBAL]);
    fflush(stdout);
    EXPECT(wrong[TRACE_GLOBAL] == 0 && (wrong[TRACE_START] > 0 || rounds_factor() < 1),
           "of %d runs, another cause is named: start %d, linear %d, global %d", runs, wrong[TRACE_START],
           wrong[TRACE_LINEAR], wrong[TRACE_GLOBAL]);
}
