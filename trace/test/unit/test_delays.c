/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_delays.c - who waits for whom: programs of which one rank is late at a known place. They run in simulation with
 * this delay and without, so what the delay costs and what it would gain to remove it is known.
 */
#include "unit/support.h"
#include "analyzed.h"

enum { MAX_RANKS = 1024, CLOCK_NS = 100 };

/* How long a run is, and what its clocks do: by the rates that clocks of unlike machines have, or nothing. */
typedef struct {
    int iterations;
    int64_t work_ns, noise_ns; /* of each phase */
    double drift, swing, record_ns;
    bool is_cut; /* calls of the recorder, which take no time, cut computations */
} extent;
enum { ITERATIONS = 12 };
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
