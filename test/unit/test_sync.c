/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_sync.c - synchronization of simulated processes: each one's error against the truth, which must stay within the
 * bound that it claims, at once and with age.
 */
#include "pure/units.h"
#include "virtual_processes.h"
#include "support.h"
#include "virtual_world.h"

/* ---- Synchronized worlds */

/* Near: processes of a node that are apart by less than a message between them can show. */
typedef enum sharing { OWN_CLOCKS, NODE_CLOCKS, NEAR_CLOCKS, ONE_CLOCK } sharing;

enum { NEAR_NS = 400 };

/* What a row does not state is as in full(). */
typedef struct scene {
    const char *name;
    const char *label;
    int nodes, per_node;
    sharing sharing;
    bool clocks_are_corrected;
    double drift_spread; /* drifts are within this of zero */
    double later_spread; /* and change by at most this after the synchronization */
    simulated_network network;
    int64_t bound_limit_ns;     /* of the bound at once; 0: no limit, as below */
    double error_limit_ns;      /* of the error at once */
    double aged_error_limit_ns; /* of the error ten seconds later, where drift has been learned */
} scene;

#define LOPSIDED                                                         \
    {                                                                    \
        .near_ns = 500, .far_ns = 10000, .jitter_ns = 300, .lopsided = 5 \
    }
#define ROUGH                                                                            \
    {                                                                                    \
        .near_ns = 500, .far_ns = 10000, .jitter_ns = 5000, .lopsided = 1, .stalls = 0.1 \
    }
#define ROUGH_AND_LOPSIDED                                                               \
    {                                                                                    \
        .near_ns = 500, .far_ns = 10000, .jitter_ns = 5000, .lopsided = 5, .stalls = 0.1 \
    }

static const simulated_network quiet = {.near_ns = 500, .far_ns = 10000, .jitter_ns = 300, .lopsided = 1};

/* Eight nodes of one process each, with raw clocks of their own that drift by some ppm, on a quiet network. */
static scene full(const scene *row)
{
    scene full = *row;
    full.nodes = row->nodes ? row->nodes : 8;
    full.per_node = row->per_node ? row->per_node : 1;
    full.drift_spread = row->drift_spread > 0 ? row->drift_spread : 20 * MH_PPM;
    if (row->network.near_ns == 0)
        full.network = quiet;
    return full;
}

#define HCA3 "hca3/20/skampi/10"

/* The kernel may slew a corrected clock by a tenth at any time, so the bound grows by more than that with age. */
#define SLEW 0.1

#define LIMITS(bound, error, aged_error) \
    .bound_limit_ns = bound, .error_limit_ns = error, .aged_error_limit_ns = aged_error

static const scene scenes[] = {
    {"hca3", HCA3, LIMITS(50000, 1000, 200000)},
    {"hca3, drifts at the limit", HCA3, .nodes = 4, .drift_spread = 250 * MH_PPM, LIMITS(45000, 2000, 200000)},
    {"hca3, lopsided", HCA3, .network = LOPSIDED, LIMITS(200000, 0, 0)},
    {"hca3, rough", HCA3, .network = ROUGH, LIMITS(0, 50000, 0)},
    {"hca3, wandering clocks", HCA3, .later_spread = 0.49 * MH_PPM, LIMITS(50000, 1000, 200000)},
    {"hca3, corrected clocks", HCA3, .later_spread = SLEW, .clocks_are_corrected = true, LIMITS(10000000, 1000, 0)},
    {"hca3, few points", "hca3/2/skampi/2", LIMITS(60000, 2000, 0)},
    {"hca3, one exchange", "hca3/2/skampi/1", .drift_spread = 100 * MH_PPM, .network = ROUGH},
    {"hca3, mean round trips", "hca3/20/meanrtt/10", LIMITS(50000, 1000, 0)},
    {"hca3, mean round trips, rough", "hca3/20/meanrtt/10", .network = ROUGH},
    {"hca3, not a power of two", "hca3/5/skampi/5", .nodes = 13, LIMITS(60000, 2000, 0)},
    {"hca3o", "hca3o", LIMITS(45000, 1500, 0)},
    {"hca3o, corrected clocks", "hca3o", .later_spread = SLEW, .clocks_are_corrected = true, LIMITS(500000, 1500, 0)},
    {"hca3o, rough and lopsided", "hca3o", .drift_spread = 250 * MH_PPM, .network = ROUGH_AND_LOPSIDED},
    {"nodes of one clock", HCA3 "+prop", .nodes = 4, .per_node = 4, .sharing = NODE_CLOCKS,
     LIMITS(40000, 1000, 200000)},
    {"nodes of nearly one clock", "hca3o+prop", .nodes = 2, .per_node = 6, .sharing = NEAR_CLOCKS,
     LIMITS(40000, 1500, 0)},
    {"nodes, clocks of their own", HCA3 "+prop", .nodes = 4, .per_node = 4, LIMITS(40000, 1500, 0)},
    {"two levels of trees", "hca3/10+hca3o/skampi/5", .nodes = 4, .per_node = 4, LIMITS(40000, 2000, 0)},
    {"one node of one clock", "prop", .nodes = 1, .per_node = 8, .sharing = ONE_CLOCK, LIMITS(2000, 1, 1)},
    {"one node of nearly one clock", "prop", .nodes = 1, .per_node = 6, .sharing = NEAR_CLOCKS,
     LIMITS(3000, NEAR_NS, 0)},
    {"prop between nodes", "prop", LIMITS(15000, 1500, 0)},
    {"skampi", "skampi", LIMITS(15000, 3000, 0)},
    {"skampi, rough and lopsided", "skampi", .drift_spread = 250 * MH_PPM, .network = ROUGH_AND_LOPSIDED},
    {"jk", "jk/20/skampi/10", LIMITS(20000, 5000, 0)},
    {"hca", "hca/20/skampi/10", LIMITS(20000, 5000, 0)},
    {"hca, rough and lopsided", "hca/20/skampi/10", .drift_spread = 250 * MH_PPM, .network = ROUGH_AND_LOPSIDED},
    {"hca2", "hca2/20/skampi/10", LIMITS(60000, 5000, 0)},
    {"hca2, not a power of two", "hca2/5/skampi/5", .nodes = 13, LIMITS(70000, 9000, 0)},
    {"hca2, rough and lopsided", "hca2/20/skampi/10", .drift_spread = 250 * MH_PPM, .network = ROUGH_AND_LOPSIDED},
    {"hca3, offset measured again", "hca3/recompute/20/skampi/10", LIMITS(45000, 1500, 200000)},
    {"track", "track", LIMITS(45000, 400, 30000)},
    {"track, drifts at the limit", "track", .nodes = 4, .drift_spread = 250 * MH_PPM, LIMITS(45000, 400, 30000)},
    {"track, lopsided", "track", .network = LOPSIDED, LIMITS(200000, 0, 0)},
    {"track, rough", "track", .network = ROUGH, LIMITS(0, 20000, 0)},
    {"track, rough and lopsided", "track", .drift_spread = 250 * MH_PPM, .network = ROUGH_AND_LOPSIDED},
    {"track, corrected clocks", "track", .later_spread = SLEW, .clocks_are_corrected = true, LIMITS(500000, 400, 0)},
    {"track, not a power of two", "track/skampi/5", .nodes = 13, LIMITS(70000, 800, 0)},
    {"track above nodes of one clock", "track+prop", .nodes = 4, .per_node = 4, .sharing = NODE_CLOCKS,
     LIMITS(40000, 400, 30000)},
};

typedef struct outcome {
    int64_t zero_ns; /* the local time of rank 0 at which global time is zero */
    int64_t end_ns[SIMULATED_MOST];
    mh_estimate estimates[SIMULATED_MOST];
    mh_sharing sharing[SIMULATED_MOST];
    bool disrupted[SIMULATED_MOST];
    const char *label;
} outcome;

static const int64_t later_ns = 50 * MH_NS_PER_S; /* after all synchronization */

static simulation make_world(const scene *scene, int round)
{
    chance dice = chance_of_round(5000 + round);
    simulation world = {.processes = scene->nodes * scene->per_node,
                        .clocks_are_raw = !scene->clocks_are_corrected,
                        .network = scene->network,
                        .round = round};
    for (int rank = 0; rank < world.processes; rank++) {
        world.node[rank] = rank / scene->per_node;
        simulated_clock clock = simulated_random_clock(&dice, scene->drift_spread);
        clock.later_drift += (2 * chance_unit(&dice) - 1) * scene->later_spread;
        clock.later_ns = later_ns;
        bool is_copy =
            scene->sharing == ONE_CLOCK ? rank > 0 : scene->sharing != OWN_CLOCKS && rank % scene->per_node > 0;
        world.clocks[rank] = is_copy ? world.clocks[rank - 1] : clock;
        if (is_copy && scene->sharing == NEAR_CLOCKS)
            world.clocks[rank].offset_ns += rank % 2 ? NEAR_NS : -NEAR_NS;
    }
    return world;
}

static void synchronize(const simulation *world, const mh_channel *channel, const mh_base_clock *clock, void *argument)
{
    outcome *outcome = argument;
    int rank = channel->rank;
    mh_sync_plan plan = simulated_plan(world, NULL, world->processes, rank, outcome->label, clock);
    mh_error error = MH_NO_ERROR;
    mh_estimate reference = mh_estimate_exact(rank == 0 ? mh_base_clock_now_ns(clock) : 0);
    if (rank == 0)
        outcome->zero_ns = reference.model.at_ns;
    /* Twice: the second time, those that share a clock know it. */
    for (int i = 0; i < 2; i++) {
        outcome->estimates[rank] = reference;
        int code = mh_sync_run(&plan, channel, clock, false, &outcome->estimates[rank], &error);
        EXPECT(code == MPI_SUCCESS, "%s: rank %d fails", outcome->label, rank);
        outcome->disrupted[rank] |= plan.disrupted;
    }
    outcome->end_ns[rank] = simulated_now_ns();
    outcome->sharing[rank] = plan.level[plan.levels - 1].sharing;
    mh_sync_plan_free(&plan);
}

static outcome run_scene(const scene *scene, const simulation *world)
{
    outcome outcome;
    memset(&outcome, 0, sizeof outcome);
    outcome.label = scene->label;
    simulate(world, synchronize, &outcome);
    for (int rank = 0; rank < world->processes; rank++)
        EXPECT(!outcome.disrupted[rank], "%s: rank %d finds a step of a clock where there was none", scene->name, rank);
    return outcome;
}

typedef struct accuracy {
    double error_ns;
    int64_t bound_ns;
} accuracy;

/* Of a process at a virtual time. */
static accuracy accuracy_at(const simulation *world, const outcome *outcome, int rank, int64_t true_ns)
{
    int64_t local_ns = simulated_clock_ns(world, rank, true_ns);
    int64_t truth_ns = simulated_clock_ns(world, 0, true_ns) - outcome->zero_ns;
    const mh_estimate *estimate = &outcome->estimates[rank];
    return (accuracy){(double)(mh_model_apply(&estimate->model, local_ns) - truth_ns),
                      mh_estimate_bound(estimate, local_ns)};
}

/* Clocks, models and exchanges are rounded to nanoseconds. */
enum { ROUNDING_NS = 5, ROUNDS = 4 };

static const int64_t ages_ns[] = {
    0, MH_NS_PER_MS, MH_NS_PER_S, 10 * MH_NS_PER_S, 100 * MH_NS_PER_S, 1000 * MH_NS_PER_S};

static void expect_bound_to_hold(const scene *scene, const simulation *world, const outcome *outcome, int rank,
                                 int64_t age_ns)
{
    accuracy accuracy = accuracy_at(world, outcome, rank, outcome->end_ns[rank] + age_ns);
    EXPECT(fabs(accuracy.error_ns) <= (double)accuracy.bound_ns + ROUNDING_NS,
           "%s, round %d, rank %d: off by %.0f ns after %.3f s, beyond the bound of %" PRId64 " ns", scene->name,
           world->round, rank, accuracy.error_ns, (double)age_ns * 1e-9, accuracy.bound_ns);
}

static void expect_within(const scene *scene, const simulation *world, const char *what, double value, double limit)
{
    EXPECT(limit == 0 || fabs(value) <= limit + ROUNDING_NS, "%s, round %d: the %s is %.0f ns", scene->name,
           world->round, what, value);
}

static void check_scene(const scene *scene, const simulation *world)
{
    outcome outcome = run_scene(scene, world);
    for (int rank = 0; rank < world->processes; rank++) {
        for (int i = 0; i < COUNT_OF(ages_ns); i++)
            expect_bound_to_hold(scene, world, &outcome, rank, ages_ns[i]);
        accuracy fresh = accuracy_at(world, &outcome, rank, outcome.end_ns[rank]);
        accuracy aged = accuracy_at(world, &outcome, rank, outcome.end_ns[rank] + 10 * MH_NS_PER_S);
        expect_within(scene, world, "bound", (double)fresh.bound_ns, (double)scene->bound_limit_ns);
        expect_within(scene, world, "error", fresh.error_ns, scene->error_limit_ns);
        expect_within(scene, world, "error after 10 s", aged.error_ns, scene->aged_error_limit_ns);
    }
}

LOOP_TEST(errors_stay_within_bounds, COUNT_OF(scenes))
{
    scene scene = full(&scenes[_i]);
    for (int round = 0; round < rounds_of(ROUNDS); round++) {
        simulation world = make_world(&scene, round);
        check_scene(&scene, &world);
    }
}

/* ---- Each algorithm at each number of processes */

static const scene each_algorithm[] = {
    {"none", "none", .nodes = 1},
    {"skampi", "skampi/skampi/5", LIMITS(60000, 9000, 0)},
    {"jk", "jk/5/skampi/5", LIMITS(60000, 9000, 0)},
    {"hca", "hca/5/skampi/5", LIMITS(60000, 9000, 0)},
    {"hca2", "hca2/5/skampi/5", LIMITS(80000, 9000, 0)},
    {"hca3", "hca3/5/skampi/5", LIMITS(80000, 9000, 0)},
    {"hca3, offset measured again", "hca3/recompute/5/skampi/5", LIMITS(80000, 9000, 0)},
    {"hca3o", "hca3o/skampi/5", LIMITS(80000, 9000, 0)},
    {"track", "track/skampi/5", LIMITS(80000, 2000, 0)},
    {"prop, one clock", "prop", .per_node = 17, .sharing = ONE_CLOCK, LIMITS(2000, 1, 1)},
    {"prop, clocks of their own", "prop", .per_node = 17, LIMITS(5000, 9000, 0)},
    {"track above prop", "track/skampi/5+prop", .per_node = 4, .sharing = NODE_CLOCKS, LIMITS(80000, 2000, 0)},
    {"hca3 above prop", "hca3/5/skampi/5+prop", .per_node = 3, .sharing = NODE_CLOCKS, LIMITS(80000, 9000, 0)},
    {"jk above hca2", "jk/5/skampi/5+hca2/5/skampi/5", .per_node = 5, LIMITS(80000, 9000, 0)},
    {"skampi above hca", "skampi/skampi/5+hca/5/skampi/5", .per_node = 2, LIMITS(80000, 9000, 0)},
    {"hca3o above skampi", "hca3o/skampi/5+skampi", .per_node = 4, LIMITS(80000, 9000, 0)},
    {"none above prop", "none+prop", .per_node = 4, .sharing = NODE_CLOCKS},
};

enum { MAX_PROCESSES = 17 };

/* The last node may have fewer processes than the others. */
static simulation make_world_of(int processes, const scene *row, int round)
{
    scene rounded_up = *row;
    rounded_up.nodes = (processes + row->per_node - 1) / row->per_node;
    simulation world = make_world(&rounded_up, round);
    world.processes = processes;
    return world;
}

LOOP_TEST(each_number_of_processes_will_do, COUNT_OF(each_algorithm))
{
    scene scene = full(&each_algorithm[_i]);
    for (int processes = 1; processes <= MAX_PROCESSES; processes++) {
        char name[80];
        snprintf(name, sizeof name, "%s, %d processes", each_algorithm[_i].name, processes);
        scene.name = name;
        simulation world = make_world_of(processes, &scene, processes);
        check_scene(&scene, &world);
    }
}

/* ---- Messages fail */

static void fail_to_synchronize(const simulation *world, const mh_channel *channel, const mh_base_clock *clock,
                                void *argument)
{
    outcome *outcome = argument;
    mh_sync_plan plan = simulated_plan(world, NULL, world->processes, channel->rank, outcome->label, clock);
    mh_error error = MH_NO_ERROR;
    int code = MPI_SUCCESS;
    for (int i = 0; i < 2 && code == MPI_SUCCESS; i++) {
        outcome->estimates[channel->rank] = mh_estimate_exact(0);
        code = mh_sync_run(&plan, channel, clock, true, &outcome->estimates[channel->rank], &error);
    }
    int failures = virtual_self()->failures;
    EXPECT(failures <= 1, "%s: %d operations begin after one has failed", outcome->label, failures - 1);
    EXPECT((code != MPI_SUCCESS) == (failures > 0), "%s: the code is %d, and %d operations failed", outcome->label,
           code, failures);
    outcome->disrupted[channel->rank] = code != MPI_SUCCESS;
    mh_sync_plan_free(&plan);
}

LOOP_TEST(no_failure_is_lost, COUNT_OF(each_algorithm))
{
    scene scene = full(&each_algorithm[_i]);
    simulation world = make_world_of(5, &scene, 0);
    bool any_failed = true;
    for (world.fails_from = 1; any_failed; world.fails_from += 1 + world.fails_from / 30) {
        outcome outcome = {.label = scene.label};
        simulate(&world, fail_to_synchronize, &outcome);
        any_failed = false;
        for (int rank = 0; rank < world.processes; rank++)
            any_failed = any_failed || outcome.disrupted[rank];
    }
}

TEST(same_seed_gives_the_same_estimates)
{
    scene scene = full(&scenes[0]);
    simulation world = make_world(&scene, 0);
    outcome first = run_scene(&scene, &world), second = run_scene(&scene, &world);
    for (int rank = 0; rank < world.processes; rank++)
        EXPECT(first.end_ns[rank] == second.end_ns[rank] &&
                   first.estimates[rank].model.offset_ns == second.estimates[rank].model.offset_ns,
               "rank %d: the simulation depends on more than the seed", rank);
}

/* ---- Who shares a clock */

static const struct {
    scene scene;
    mh_sharing found; /* by all but the first of a node */
    bool drifts;      /* the bound of a process that does not share the clock of rank 0 grows */
} families[] = {
    {{"one node, one clock", "prop", 1, 6, .sharing = ONE_CLOCK}, MH_SHARING_VERIFIED, false},
    {{"one node, clocks of their own", "prop", 1, 6, .sharing = OWN_CLOCKS}, MH_SHARING_REFUTED, true},
    {{"nodes of one clock", "hca3o+prop", 3, 4, .sharing = NODE_CLOCKS}, MH_SHARING_VERIFIED, true},
    {{"nodes, clocks of their own", "hca3o+prop", 3, 4, .sharing = OWN_CLOCKS}, MH_SHARING_REFUTED, true},
    {{"one level above one node", "hca3o+prop", 1, 4, .sharing = ONE_CLOCK}, MH_SHARING_VERIFIED, false},
    {{"nobody else", "hca3", 1, 1, .sharing = ONE_CLOCK}, MH_SHARING_UNKNOWN, false},
    {{"none", "none", 4, 1, .sharing = OWN_CLOCKS}, MH_SHARING_UNKNOWN, false},
};

LOOP_TEST(sharing_is_found_out, COUNT_OF(families))
{
    scene scene = full(&families[_i].scene);
    simulation world = make_world(&scene, _i);
    outcome outcome = run_scene(&scene, &world);
    for (int rank = 0; rank < world.processes; rank++) {
        bool shares = rank == 0 || (rank < scene.per_node && families[_i].found == MH_SHARING_VERIFIED);
        EXPECT(mh_estimate_grows(&outcome.estimates[rank]) == (families[_i].drifts && !shares),
               "%s: the bound of rank %d grows, or should", scene.name, rank);
        if (rank % scene.per_node > 0)
            EXPECT(outcome.sharing[rank] == families[_i].found, "%s: rank %d finds %d instead of %d", scene.name, rank,
                   (int)outcome.sharing[rank], (int)families[_i].found);
    }
}

/* From this rank on, nobody knows a bound. */
static const struct {
    scene scene;
    int first_unknown;
} unknowns[] = {
    {{"none", "none", 5, 1, .sharing = OWN_CLOCKS}, 1},
    {{"below, by offsets", "none+hca3o", 2, 4, .sharing = OWN_CLOCKS}, 4},
    {{"below, by lines", "none+hca3/5", 2, 4, .sharing = OWN_CLOCKS}, 4},
    {{"below, copied", "none+prop", 2, 4, .sharing = NODE_CLOCKS}, 4},
    {{"below, not to be copied", "none+prop", 2, 4, .sharing = OWN_CLOCKS}, 4},
};

LOOP_TEST(unknown_bounds_are_passed_on, COUNT_OF(unknowns))
{
    scene scene = full(&unknowns[_i].scene);
    simulation world = make_world(&scene, 0);
    outcome outcome = run_scene(&scene, &world);
    for (int rank = unknowns[_i].first_unknown; rank < world.processes; rank++) {
        const mh_estimate *estimate = &outcome.estimates[rank];
        EXPECT(estimate->bound_ns == MH_TIME_UNKNOWN_NS, "%s: rank %d claims a bound of %" PRId64 " ns", scene.name,
               rank, estimate->bound_ns);
        if (scene.per_node == 1)
            EXPECT(estimate->model.offset_ns == outcome.zero_ns && estimate->model.drift == 0,
                   "rank %d has a model of its own", rank);
    }
}

/* ---- Bounds of a shared clock that were measured on a busy machine */

enum { NARROWING_RUNS = 60 };

typedef struct narrowing {
    bool is_thorough;
    int64_t bounds_ns[NARROWING_RUNS], intervals_ns[NARROWING_RUNS]; /* of rank 1, after each run */
} narrowing;

static void narrow(const simulation *world, const mh_channel *channel, const mh_base_clock *clock, void *argument)
{
    narrowing *narrowing = argument;
    mh_sync_plan plan = simulated_plan(world, NULL, world->processes, channel->rank, "prop", clock);
    mh_error error = MH_NO_ERROR;
    for (int run = 0; run < NARROWING_RUNS; run++) {
        mh_estimate estimate = mh_estimate_exact(0);
        mh_sync_run(&plan, channel, clock, narrowing->is_thorough, &estimate, &error);
        if (channel->rank == 1) {
            narrowing->bounds_ns[run] = estimate.bound_ns;
            narrowing->intervals_ns[run] = mh_sync_interval_ns(&plan, 100);
        }
    }
    mh_sync_plan_free(&plan);
}

/* Messages within the node take half a microsecond at best, and mostly a hundred. */
static narrowing narrow_beside_others(bool is_thorough)
{
    simulation world = {.processes = 2, .clocks_are_raw = true, .network = {500, 500, 100000, 1, 0}};
    narrowing result = {.is_thorough = is_thorough};
    simulate(&world, narrow, &result);
    return result;
}

TEST(wide_bounds_are_narrowed)
{
    enum { NARROW_NS = 2000 };
    narrowing seldom = narrow_beside_others(false), thorough = narrow_beside_others(true);
    EXPECT(seldom.bounds_ns[0] > NARROW_NS, "the first bound is %" PRId64 " ns: it has to be wide here",
           seldom.bounds_ns[0]);
    EXPECT(seldom.intervals_ns[0] < MH_NS_PER_S, "a bound of %" PRId64 " ns is not measured again",
           seldom.bounds_ns[0]);
    for (int run = 1; run < NARROWING_RUNS; run++)
        EXPECT(seldom.bounds_ns[run] <= seldom.bounds_ns[run - 1], "run %d widens the bound to %" PRId64 " ns", run,
               seldom.bounds_ns[run]);
    EXPECT(seldom.bounds_ns[NARROWING_RUNS - 1] < NARROW_NS, "after %d runs the bound is still %" PRId64 " ns",
           NARROWING_RUNS, seldom.bounds_ns[NARROWING_RUNS - 1]);
    EXPECT(thorough.bounds_ns[0] < NARROW_NS, "a thorough run leaves a bound of %" PRId64 " ns", thorough.bounds_ns[0]);
    EXPECT(thorough.intervals_ns[NARROWING_RUNS - 1] == INT64_MAX, "a bound of %" PRId64 " ns is measured for ever",
           thorough.bounds_ns[NARROWING_RUNS - 1]);
}
