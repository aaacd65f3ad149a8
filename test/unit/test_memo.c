/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_memo.c - a communicator that begins with what another one knows: the list of what is remembered, and the first
 * synchronization of some of the processes, in any order, against the truth; and what is recorded of a clock.
 */
#include "pure/units.h"
#include "clock/base_clock_private.h"
#include "support.h"
#include "memo.h"
#include "virtual_processes.h"

/* ---- The list */

static mh_memo new_memo(void)
{
    return (mh_memo){.lock = PTHREAD_MUTEX_INITIALIZER};
}

static mh_memory known_now(uint64_t id)
{
    mh_memory memory = {.clock = {.id = id,
                                  .generation = 7,
                                  .wander = 1e-7,
                                  .base = {.kind = &mh_clock_monotonic, .now_ns = mh_clock_monotonic.now_ns}}};
    mh_clock_watch_start(&memory.clock.watch, &memory.clock.base);
    memory.clock.synced_ns = mh_base_clock_now_ns(&memory.clock.base);
    return memory;
}

static void expect_ids(mh_memo *memo, const char *expected)
{
    mh_memory_name names[MH_MEMORIES];
    char found[100] = "";
    mh_memo_names(memo, names);
    for (int i = 0; i < MH_MEMORIES; i++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s%" PRIu64, i ? " " : "", names[i].id);
    EXPECT(strcmp(found, expected) == 0, "known are %s instead of %s", found, expected);
}

TEST(the_latest_comes_first_and_the_oldest_goes)
{
    mh_memo memo = new_memo();
    for (uint64_t id = 1; id <= MH_MEMORIES + 2; id++) {
        mh_memory memory = known_now(id);
        mh_memo_add(&memo, &memory);
    }
    expect_ids(&memo, "10 9 8 7 6 5 4 3");
    mh_memory again = known_now(6), gone = known_now(1);
    mh_memo_add(&memo, &again);
    expect_ids(&memo, "6 10 9 8 7 5 4 3");
    mh_memo_forget(&memo, 9);
    mh_memo_forget(&memo, 3);
    expect_ids(&memo, "6 10 8 7 5 4 0 0");
    mh_memo_forget(&memo, 77);
    mh_memo_add(&memo, &gone);
    expect_ids(&memo, "1 6 10 8 7 5 4 0");
}

/* The world, and many busy parts of it. */
TEST(the_one_with_the_fewest_processes_goes)
{
    mh_memo memo = new_memo();
    for (uint64_t id = 1; id <= MH_MEMORIES + 2; id++) {
        mh_memory memory = known_now(id);
        memory.clock.size = id <= 2 ? 64 : 4;
        mh_memo_add(&memo, &memory);
    }
    expect_ids(&memo, "10 9 8 7 6 5 2 1");
}

TEST(one_that_is_of_no_use_goes_before_others)
{
    mh_memo memo = new_memo();
    for (uint64_t id = 1; id <= MH_MEMORIES + 1; id++) {
        mh_memory memory = known_now(id);
        memory.clock.size = id == 3 ? 64 : 4;
        memory.clock.synced_ns -= id == 3 ? 1800 * MH_NS_PER_S : 0;
        memory.clock.known.estimate.drift_bound = 1e-9;
        mh_memo_add(&memo, &memory);
    }
    expect_ids(&memo, "9 8 7 6 5 4 2 1");
}

/* What happened to a clock since it was added, what is asked for, and whether it is of use then. */
static const struct {
    const char *what;
    int64_t older_ns, stepped_ns;
    mh_memory_name name;
    double wander;
    bool is_fixed; /* its estimate does not grow: this process shares the clock of rank 0 */
    bool is_one_node;
    bool is_found;
} cases[] = {
    {"nothing", .is_found = true},
    {"a minute", .older_ns = 60 * MH_NS_PER_S, .is_found = true},
    {"a lower limit of wander", .wander = 1e-8, .is_found = true},
    {"half an hour", .older_ns = 1800 * MH_NS_PER_S},
    {"half an hour of a node", .older_ns = 1800 * MH_NS_PER_S, .is_one_node = true},
    {"half an hour of a shared clock", 1800 * MH_NS_PER_S, .is_fixed = true, .is_one_node = true, .is_found = true},
    {"half an hour of a clock that others do not share", .older_ns = 1800 * MH_NS_PER_S, .is_fixed = true},
    {"a step ahead of a shared clock", .stepped_ns = MH_NS_PER_MS, .is_fixed = true},
    {"a step ahead", .stepped_ns = MH_NS_PER_MS},
    {"a step back", .stepped_ns = -MH_NS_PER_MS},
    {"a step to before the synchronization", .stepped_ns = -MH_NS_PER_S},
    {"another synchronization", .name = {5, 8, 0}},
    {"a question for another communicator", .name = {6, 7, 0}},
    {"a question for none", .name = {0, 7, 0}},
    {"a higher limit of wander", .wander = 2e-7},
};

LOOP_TEST(a_clock_that_does_not_run_as_before_is_of_no_use, COUNT_OF(cases))
{
    mh_memo memo = new_memo();
    mh_memory memory = known_now(5), copy;
    mh_known_clock *clock = &memory.clock;
    mh_memory_name name = cases[_i].name.generation ? cases[_i].name : (mh_memory_name){5, clock->generation, 0};
    double wander = cases[_i].wander > 0 ? cases[_i].wander : clock->wander;
    /* The base clock has not been stepped: what is known of it was. */
    clock->known.estimate.drift_bound = cases[_i].is_fixed ? 0 : 1e-9;
    clock->is_one_node = cases[_i].is_one_node;
    clock->synced_ns -= cases[_i].older_ns + cases[_i].stepped_ns;
    clock->watch.base_ns -= cases[_i].stepped_ns;
    mh_memo_add(&memo, &memory);
    EXPECT(mh_memo_get(&memo, &name, wander, &copy) == cases[_i].is_found, "after %s", cases[_i].what);
}

/* ---- The first synchronization of a further communicator */

enum { NODES = 5, PER_NODE = 4, ALL = NODES * PER_NODE, EARLIER_RUNS = 6, ROUNDS = 5 };

/* Which processes the further communicator has, in its order of ranks. */
typedef struct further {
    const char *name;
    int first, step, count; /* the i-th is process (first + i * step) of all, modulo their number */
} further;

static const further furthers[] = {
    {"duplicate", 0, 1, ALL},
    {"reversed", ALL - 1, ALL - 1, ALL},
    {"scattered", 7, 3, ALL},
    {"one of each node", 2, PER_NODE, NODES},
    {"every other one", 1, 2, ALL / 2},
    {"the last node", ALL - PER_NODE, 1, PER_NODE},
    {"two", 3, 9, 2},
};

static int member(const further *comm, int index)
{
    return (comm->first + index * comm->step) % ALL;
}

static mh_sync_plan make_plan(const simulation *world, const further *comm, const mh_base_clock *clock, int self)
{
    int members[ALL];
    for (int i = 0; i < comm->count; i++)
        members[i] = member(comm, i);
    return simulated_plan(world, members, comm->count, self, "track/skampi/20+prop", clock);
}

typedef struct story {
    further comm;
    int64_t pause_ns;          /* before the further communicator begins */
    int64_t zero_ns;           /* by the clock of the first process of comm */
    int64_t took_ns[ALL];      /* the first synchronization */
    int64_t end_ns[ALL];       /* virtual time */
    bool disrupted[ALL];       /* it found a contradiction */
    bool leads[ALL];           /* its node */
    mh_sharing sharing[ALL];   /* before it ran */
    mh_estimate estimate[ALL]; /* and after it */
} story;

static mh_known_estimate synchronize_all(const simulation *world, const mh_channel *channel, const mh_base_clock *clock)
{
    static const further all = {"all", 0, 1, ALL};
    mh_sync_plan plan = make_plan(world, &all, clock, channel->rank);
    mh_error error = MH_NO_ERROR;
    mh_known_estimate known;
    for (int i = 0; i < EARLIER_RUNS; i++) {
        mh_estimate estimate = mh_estimate_exact(0);
        ck_assert_int_eq(mh_sync_run(&plan, channel, clock, false, &estimate, &error), MPI_SUCCESS);
        ck_assert(mh_sync_pass_on(&plan, channel, &estimate, &known));
        simulated_pass_ns(50 * MH_NS_PER_MS);
    }
    mh_sync_plan_free(&plan);
    return known;
}

static void live(const simulation *world, const mh_channel *channel, const mh_base_clock *clock, void *argument)
{
    story *story = argument;
    int self = channel->rank;
    bool takes_part = false;
    mh_known_estimate known = synchronize_all(world, channel, clock);
    for (int i = 0; i < story->comm.count; i++)
        takes_part |= member(&story->comm, i) == self;
    if (!takes_part)
        return;
    simulated_pass_ns(story->pause_ns);
    mh_sync_plan plan = make_plan(world, &story->comm, clock, self);
    mh_error error = MH_NO_ERROR;
    ck_assert_int_eq(mh_sync_take_up(&plan, channel, clock, &known, &error), MPI_SUCCESS);
    story->leads[self] = plan.level[0].group.size > 0;
    story->sharing[self] = plan.level[1].sharing;
    int64_t began_ns = simulated_now_ns(), zero_ns = mh_base_clock_now_ns(clock);
    if (self == story->comm.first)
        story->zero_ns = zero_ns;
    story->estimate[self] = mh_estimate_exact(zero_ns);
    ck_assert_int_eq(mh_sync_run(&plan, channel, clock, false, &story->estimate[self], &error), MPI_SUCCESS);
    story->end_ns[self] = simulated_now_ns();
    story->took_ns[self] = story->end_ns[self] - began_ns;
    story->disrupted[self] = plan.disrupted;
    mh_sync_plan_free(&plan);
}

static simulation make_world(int round)
{
    chance dice = chance_of_round(7000 + round);
    simulation world = {.processes = ALL,
                        .clocks_are_raw = true,
                        .network = {.near_ns = 500, .far_ns = 10000, .jitter_ns = 1000, .lopsided = 1},
                        .round = round};
    for (int i = 0; i < ALL; i++) {
        world.node[i] = i / PER_NODE;
        world.clocks[i] = i % PER_NODE ? world.clocks[i - 1] : simulated_random_clock(&dice, 20 * MH_PPM);
    }
    return world;
}

static double error_at(const simulation *world, const story *story, int process, int64_t true_ns)
{
    int64_t truth_ns = simulated_clock_ns(world, story->comm.first, true_ns) - story->zero_ns;
    int64_t local_ns = simulated_clock_ns(world, process, true_ns);
    return (double)(mh_model_apply(&story->estimate[process].model, local_ns) - truth_ns);
}

static void expect_right(const simulation *world, const story *story, int process)
{
    enum { ROUNDING_NS = 5, MAX_ERROR_NS = 1500, MAX_AGED_ERROR_NS = 5000 };
    const char *name = story->comm.name;
    for (int64_t age_ns = 0; age_ns <= 10 * MH_NS_PER_S; age_ns += MH_NS_PER_S) {
        int64_t true_ns = story->end_ns[process] + age_ns;
        double error_ns = error_at(world, story, process, true_ns);
        int64_t bound_ns = mh_estimate_bound(&story->estimate[process], simulated_clock_ns(world, process, true_ns));
        EXPECT(fabs(error_ns) <= (double)bound_ns + ROUNDING_NS,
               "%s, round %d, process %d: off by %.0f ns, beyond the bound of %" PRId64 " ns", name, world->round,
               process, error_ns, bound_ns);
        EXPECT(fabs(error_ns) <= (age_ns ? MAX_AGED_ERROR_NS : MAX_ERROR_NS),
               "%s, round %d, process %d: off by %.0f ns after %.0f s", name, world->round, process, error_ns,
               (double)age_ns * MH_S_PER_NS);
    }
}

/* It takes no more than a later synchronization would, and the drift is known. */
LOOP_TEST(a_further_communicator_need_not_start_again, COUNT_OF(furthers))
{
    enum { MAX_TOOK_NS = 4 * 1000 * 1000 };
    for (int round = 0; round < rounds_of(ROUNDS); round++) {
        simulation world = make_world(round);
        story story = {.comm = furthers[_i], .pause_ns = 300 * MH_NS_PER_MS};
        simulate(&world, live, &story);
        for (int i = 0; i < story.comm.count; i++) {
            int process = member(&story.comm, i);
            EXPECT(!story.disrupted[process], "%s, round %d, process %d: disrupted", story.comm.name, round, process);
            EXPECT(story.took_ns[process] < MAX_TOOK_NS, "%s, round %d, process %d: it took %" PRId64 " ns",
                   story.comm.name, round, process, story.took_ns[process]);
            EXPECT(story.leads[process] || story.sharing[process] == MH_SHARING_VERIFIED,
                   "%s, process %d: it does not know who shares its clock", story.comm.name, process);
            expect_right(&world, &story, process);
        }
    }
}

/* What is known is checked against the first measurement. */
TEST(a_clock_that_was_stepped_meanwhile_is_found)
{
    simulation world = make_world(0);
    story story = {.comm = furthers[0], .pause_ns = 300 * MH_NS_PER_MS};
    enum { STEPPED = 2 * PER_NODE };
    bool found = false;
    for (int i = 0; i < PER_NODE; i++) {
        world.clocks[STEPPED + i].step_ns = MH_NS_PER_MS;
        world.clocks[STEPPED + i].step_at_ns = 600 * MH_NS_PER_MS;
    }
    simulate(&world, live, &story);
    for (int i = 0; i < ALL; i++)
        found |= story.disrupted[i];
    EXPECT(found, "no process finds that a clock was stepped");
}

/* ---- A record of what is known, of a clock that stands still */

static const int64_t standing_ns = 12 * MH_NS_PER_S;

static int64_t standing_now_ns(const mh_base_clock *clock)
{
    (void)clock;
    return standing_ns;
}

/* A second after the estimate, and two after the tracker stated its errors. */
static const struct {
    double drift;
    int64_t bound_ns;
    mh_covariance errors;
    int64_t less_ns, less_ps; /* global less local time, but for the offset */
    double deviation_ns;
    int64_t recorded_bound_ns;
} records[] = {
    {0, 0, {0}, 0, 0, 0, 2},
    {1.5e-9, 100, {.p00 = 9}, -2, 500, 3, 102},
    {-1.25e-9, 100, {.p00 = 9, .p01 = 0.75, .p11 = 1}, 1, 250, 4, 102},
    {-3.5e-9, MH_TIME_UNKNOWN_NS, {.p00 = -1}, 3, 500, 0, MH_TIME_UNKNOWN_NS},
};

LOOP_TEST(a_record_states_what_is_known_now, COUNT_OF(records))
{
    static const mh_clock_kind standing = {.name = "standing", .now_ns = standing_now_ns};
    const int64_t offset_ns = -5 * MH_NS_PER_S;
    const mh_estimate estimate = {.model = {standing_ns - MH_NS_PER_S, offset_ns, records[_i].drift},
                                  .bound_ns = records[_i].bound_ns,
                                  .drift_bound = 2e-9};
    mh_comm_clock clock = {0};
    mh_comm_clock_init(&clock, NULL);
    clock.global.base = (mh_base_clock){.kind = &standing, .now_ns = standing_now_ns};
    mh_global_clock_publish(&clock.global, &estimate);
    clock.errors = records[_i].errors;
    clock.errors_at_ns = standing_ns - 2 * MH_NS_PER_S;
    mh_clock_record record = mh_comm_clock_record(&clock);
    ck_assert_int_eq(record.local_ns, standing_ns);
    ck_assert_int_eq(record.global_less_local_ns, -offset_ns + records[_i].less_ns);
    EXPECT(llabs(record.global_less_local_ps - records[_i].less_ps) <= 1, "%" PRId64 " ps instead of %" PRId64,
           record.global_less_local_ps, records[_i].less_ps);
    ck_assert_double_eq_tol(record.deviation_ns, records[_i].deviation_ns, 1e-9);
    ck_assert_int_eq(record.bound_ns, records[_i].recorded_bound_ns);
}
