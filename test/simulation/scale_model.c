/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scale_model.c - the library's own synchronization at any number of processes, in one thread and in virtual time, with
 * the truth known.
 *
 * Usage: scale_model [NAME=VALUE]...; see scale_options.c.
 *
 * The first of a node runs the library from the clock of a communicator downward: exchanges, estimator, tracker,
 * composition, schedule. What replaces MPI and the machine are virtual_world.c and the clocks here, which are those of
 * clock_simulated.c: within 20 ppm, with a random walk of the drift. The delay of a message and the time of a reading
 * are those that SimGrid's SMPI has for the hosts of simgrid.sh. Prints one line NAME=VALUE...: times in us, errors and
 * bounds in ns, of all readings. Status 1: a reading was outside its bound.
 */
#include "pure/units.h"
#include "clock/base_clock_private.h"
#include "sync/comm_clock.h"
#include "pure/tree.h"
#include "scale_options.h"
#include "scale_tally.h"
#include "unit/wander.h"

#include <sys/resource.h>
#include <time.h>

/* A message takes its way, and before that the jitter, for which the sender waits. */
enum { FAR_NS = 2017, NEAR_NS = 404, JITTER_NS = 1000, LOPSIDED_NS = 500, SLOWNESS_NS = 20 * 1000 };
enum { FURTHER_NS = 20 * 1000, SLOW_NODES = 3 };

enum { READ_COST_NS = 10, START_NS = 1000 * 1000 };

/* Of clocks. Drifts are constant within a segment. Two of them wander by at most the limit of the library. */
enum { SPREAD_PPB = 20 * 1000, WALK_PPB = 10, SEGMENT_NS = 10 * 1000 * 1000 };
enum { WANDER_PPB_PER_S = MH_WANDER_PPB_PER_S / 2 };

/* Restless ones go up for so long, and down again. */
#define PERIOD_NS (2 * MH_NS_PER_S)

/* The first drifts are uncertain, and bounds therefore wide. */
#define YOUNG_NS (10 * MH_NS_PER_S)

/* Of a lost host, or one with a wild clock: from when, in parts of the run, for how long, and what its clock does. */
enum { LOST_PART = 3, WILD_PPB = 20 * 1000 };
#define SILENCE_NS (3 * MH_NS_PER_S)
#define STEP_NS MH_NS_PER_S

/* The clock as a process of the node sees it: each has the same walk. */
typedef struct node_clock {
    chance walk;
    int64_t segment_ns; /* true time at which the segment began */
    double error_ns;    /* local - true at that time */
    double drift_ppb;
    wandering_t wandering;
} node_clock_t;

/* What rank 0 tells all after each synchronization. */
typedef struct news {
    int64_t due_ns;  /* true time of the next synchronization; the end of the run */
    int64_t zero_ns; /* true time at which global time is zero */
    int64_t is_last;
} news_t;

typedef struct process {
    node_clock_t node_clock;
    mh_channel channel;
    mh_comm_clock clock;
    news_t news;
    chance dice;
    int64_t path_ns; /* half the minimum round trips along its path to rank 0 */
} process_t;

static scale_options_t options;
static process_t *processes;
static tally_t tally;
static int nodes, per_node, simulated, *leaders, *everyone;

static void *allocate(int64_t count, size_t bytes)
{
    void *memory = calloc((size_t)count, bytes);
    if (!memory)
        give_up("out of memory");
    return memory;
}

static int node_of(int rank)
{
    return options.all ? rank / per_node : rank;
}

static bool is_leader(int rank)
{
    return !options.all || rank % per_node == 0;
}

/* ---- Clocks */

static chance stream(int kind, int number)
{
    chance mixer = {(uint64_t)options.seed * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)kind << 40 ^ (uint64_t)number};
    return (chance){chance_bits(&mixer)};
}

/* Each second clock is restless: the others keep their drifts, so that any two wander by at most the limit. */
static bool is_restless(int node)
{
    return options.clocks == CLOCKS_RESTLESS && node % 2 == 1;
}

static double limit_ppb_per_s(int node)
{
    return is_restless(node) ? MH_WANDER_PPB_PER_S : WANDER_PPB_PER_S;
}

static node_clock_t begin_clock(int node)
{
    node_clock_t clock = {.walk = stream(1, node)};
    clock.drift_ppb = SPREAD_PPB * (2 * chance_unit(&clock.walk) - 1);
    wander_to(&clock.wandering, clock.drift_ppb, limit_ppb_per_s(node), 0);
    return clock;
}

/* Whether it is the process of a host that is lost, or has a wild clock. */
static bool is_chosen(int rank, links_t links)
{
    return options.links == links && node_of(rank) == nodes / 2;
}

static int64_t silence_ns(void)
{
    return (int64_t)(options.seconds * (double)MH_NS_PER_S / LOST_PART);
}

/* A silent host does nothing until it is back. */
static void be_silent(virtual_process *self)
{
    int64_t from_ns = silence_ns();
    if (is_chosen(self->rank, LINKS_LOST) && self->now_ns >= from_ns && self->now_ns < from_ns + SILENCE_NS)
        self->now_ns = from_ns + SILENCE_NS;
}

static void change_drift(node_clock_t *clock, int node)
{
    double seconds = SEGMENT_NS * 1e-9, wanted_ppb = clock->drift_ppb;
    if (is_restless(node))
        wanted_ppb = clock->segment_ns / PERIOD_NS % 2 ? HUGE_VAL : -HUGE_VAL;
    else if (options.clocks == CLOCKS_PLAIN)
        wanted_ppb += WALK_PPB * sqrt(seconds) * chance_normal(&clock->walk);
    clock->drift_ppb = wander_to(&clock->wandering, wanted_ppb, limit_ppb_per_s(node), seconds);
}

/* What the clock of a process reads. True time must not go back. The clock of node 0 is exact. */
static int64_t local_ns(int rank, int64_t true_ns)
{
    node_clock_t *clock = &processes[rank].node_clock;
    if (node_of(rank) == 0)
        return true_ns;
    while (true_ns - clock->segment_ns >= SEGMENT_NS) {
        clock->error_ns += clock->drift_ppb * SEGMENT_NS * 1e-9;
        clock->segment_ns += SEGMENT_NS;
        change_drift(clock, node_of(rank));
    }
    double error_ns = clock->error_ns + clock->drift_ppb * 1e-9 * (double)(true_ns - clock->segment_ns);
    bool is_ahead = is_chosen(rank, LINKS_LOST) && true_ns >= silence_ns() + SILENCE_NS;
    if (is_chosen(rank, LINKS_WILD) && true_ns > silence_ns())
        error_ns += WILD_PPB * 1e-9 * (double)(true_ns - silence_ns());
    return true_ns + (int64_t)error_ns + (is_ahead ? STEP_NS : 0);
}

static int64_t clock_now_ns(const mh_base_clock *clock)
{
    virtual_process *self = virtual_self();
    (void)clock;
    self->now_ns += READ_COST_NS;
    be_silent(self);
    return local_ns(self->rank, self->now_ns);
}

static int64_t clock_wait_until(const mh_base_clock *clock, int64_t from_ns, int64_t deadline_ns)
{
    (void)from_ns;
    int64_t now_ns;
    while ((now_ns = clock_now_ns(clock)) < deadline_ns - READ_COST_NS)
        virtual_self()->now_ns += deadline_ns - now_ns - READ_COST_NS;
    return now_ns;
}

static const mh_clock_kind clock_kind = {.name = "virtual",
                                         .doc = "of a node of the model",
                                         .is_raw = true,
                                         .may_be_set = true,
                                         .now_ns = clock_now_ns,
                                         .wait_until = clock_wait_until};

/* The library's own clocks, for which nothing is ever set: true time, while a process runs. */
int clock_gettime(clockid_t id, struct timespec *now)
{
    virtual_process *self = virtual_self();
    int64_t now_ns = 0;
    (void)id;
    if (self)
        now_ns = self->now_ns += READ_COST_NS;
    *now = (struct timespec){now_ns / MH_NS_PER_S, now_ns % MH_NS_PER_S};
    return 0;
}

/* ---- Network */

/* Each third host but the first. */
static bool is_third(int rank)
{
    return node_of(rank) > 0 && node_of(rank) % SLOW_NODES == 0;
}

/* The least time for which a message keeps its sender. */
static int64_t sending_ns(int from, int to)
{
    bool is_late = (options.links == LINKS_SLOW && is_third(from)) || is_chosen(from, LINKS_ONE);
    if (options.links == LINKS_LOPSIDED)
        return to > from ? LOPSIDED_NS : 0;
    return is_late && is_leader(from) ? SLOWNESS_NS : 0;
}

static int64_t way_ns(int from, int to)
{
    bool is_far = options.links == LINKS_FAR && (is_third(from) || is_third(to));
    return node_of(from) == node_of(to) ? NEAR_NS : FAR_NS + (is_far ? FURTHER_NS : 0);
}

static int64_t arrival_ns(const virtual_world *world, virtual_process *from, int to)
{
    (void)world;
    be_silent(from);
    from->now_ns += (int64_t)(chance_exponential(&from->dice, JITTER_NS) + (double)sending_ns(from->rank, to));
    return from->now_ns + way_ns(from->rank, to);
}

/* Half the least round trip between two processes. */
static int64_t half_trip_ns(int one, int other)
{
    return (sending_ns(one, other) + sending_ns(other, one)) / 2 + way_ns(one, other) + READ_COST_NS;
}

/* ---- What a process does */

/* The sum of half the least round trips along the path to rank 0 by track. */
static int64_t path_ns(int rank)
{
    bool is_flat = options.label.levels == 1 && options.all;
    const int *ranks = is_flat ? everyone : leaders;
    int size = is_flat ? simulated : nodes, at = is_flat ? rank : node_of(rank), parent;
    int64_t sum_ns = rank == ranks[at] ? 0 : half_trip_ns(rank, ranks[at]);
    for (; (parent = mh_turns_of_index(at, size).parent) >= 0; at = parent)
        sum_ns += half_trip_ns(ranks[at], ranks[parent]);
    return sum_ns;
}

/* As a call that finds nothing to do, and a reading. */
static void read_clock(process_t *one, virtual_process *self)
{
    mh_comm_clock_look(&one->clock);
    mh_reading reading = mh_global_clock_read(&one->clock.global);
    tally_reading(&tally, reading.time_ns - (self->now_ns - one->news.zero_ns), reading.bound_ns,
                  self->now_ns < YOUNG_NS ? 0 : one->path_ns);
}

/* Until the next synchronization. */
static void read_often(process_t *one, virtual_process *self)
{
    int64_t due_ns = one->news.due_ns, every_ns = options.calls_ms * MH_NS_PER_MS;
    double mean_ns = (double)MH_NS_PER_S / options.readings;
    int64_t next_ns = every_ns ? self->now_ns : self->now_ns + (int64_t)chance_exponential(&one->dice, mean_ns);
    while (next_ns < due_ns) {
        self->now_ns = next_ns > self->now_ns ? next_ns : self->now_ns;
        read_clock(one, self);
        next_ns =
            every_ns ? (next_ns / every_ns + 1) * every_ns : next_ns + (int64_t)chance_exponential(&one->dice, mean_ns);
    }
    if (self->now_ns < due_ns)
        self->now_ns = due_ns;
}

static void synchronize(process_t *one, virtual_process *self, bool is_first)
{
    virtual_process before = *self;
    mh_error error = MH_NO_ERROR;
    int64_t all_fine = true;
    int code = MPI_SUCCESS;
    if (!is_first) {
        mh_comm_clock_look(&one->clock);
        code = mh_allreduce_and(&one->channel, !one->clock.disrupted, &all_fine, &error);
    }
    if (code == MPI_SUCCESS)
        code = mh_comm_clock_synchronize(&one->clock, !all_fine, is_first, &error);
    if (code != MPI_SUCCESS)
        give_up(error.message);
    tally_sync(&tally, &before, self);
}

/* Rank 0 says when to synchronize again, as in the library. */
static void tell_news(process_t *one, virtual_process *self)
{
    mh_error error = MH_NO_ERROR;
    int64_t end_ns = (int64_t)(options.seconds * (double)MH_NS_PER_S), every_ns = options.calls_ms * MH_NS_PER_MS;
    if (self->rank == 0) {
        int64_t due_ns = one->clock.due_ns;
        int64_t global_ns = mh_global_clock_now_ns(&one->clock.global);
        one->news.zero_ns = self->now_ns - global_ns;
        one->news.due_ns = due_ns == INT64_MAX ? end_ns : due_ns + one->news.zero_ns;
        if (every_ns)
            one->news.due_ns = (one->news.due_ns + every_ns - 1) / every_ns * every_ns;
        one->news.is_last = one->news.due_ns >= end_ns;
        if (one->news.is_last)
            one->news.due_ns = end_ns;
    }
    mh_bcast(&one->channel, &one->news, sizeof one->news, 0, &error);
}

/* All processes share the lists of a plan's groups, which would take memory by the square of their number else. */
static void set_group(mh_level *level, const mh_group *group)
{
    mh_group_free(&level->group);
    level->group = *group;
}

static void make_plan(process_t *one, int rank)
{
    static mh_place place;
    mh_sites alone = {.size = 1, .leaders = {1, 0, NULL}, .node = {1, 0, everyone}, .places = &place};
    mh_sync_plan *plan = &one->clock.plan;
    mh_error error = MH_NO_ERROR;
    int first = rank / per_node * per_node;
    if (mh_sync_plan_make(plan, &options.label, &one->clock.global.base, &alone, &error) != MPI_SUCCESS)
        give_up(error.message);
    mh_group outer = {nodes, node_of(rank), leaders}, inner = {per_node, rank - first, everyone + first};
    if (!is_leader(rank))
        outer = (mh_group){0, 0, NULL};
    if (options.label.levels == 1)
        outer = (mh_group){simulated, rank, NULL};
    set_group(&plan->level[0], &outer);
    if (options.label.levels > 1)
        set_group(&plan->level[1], &inner);
}

static void run(const virtual_world *world, virtual_process *self)
{
    process_t *one = &processes[self->rank];
    one->channel = (mh_channel){.comm = MPI_COMM_NULL, .rank = self->rank, .size = world->processes};
    mh_comm_clock_init(&one->clock, &one->channel);
    one->clock.global.base = (mh_base_clock){.kind = &clock_kind,
                                             .number = MH_BASE_CLOCK_ALONE,
                                             .now_ns = clock_now_ns,
                                             .may_be_set = true,
                                             .read_cost_ns = READ_COST_NS};
    mh_clock_watch_start(&one->clock.watch, &one->clock.global.base);
    make_plan(one, self->rank);
    synchronize(one, self, true);
    for (;;) {
        tell_news(one, self);
        read_often(one, self);
        if (one->news.is_last)
            break;
        synchronize(one, self, false);
    }
    for (int i = 0; i < options.label.levels; i++)
        one->clock.plan.level[i].group.ranks = NULL;
    mh_comm_clock_free(&one->clock);
}

static void begin(const virtual_world *world, virtual_process *process)
{
    (void)world;
    process_t *one = &processes[process->rank];
    process->dice = stream(2, process->rank);
    process->now_ns = chance_between(&process->dice, 0, START_NS);
    one->dice = stream(3, process->rank);
    one->node_clock = begin_clock(node_of(process->rank));
    one->path_ns = path_ns(process->rank);
}

/* ---- Report */

static struct rusage usage_now(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage;
}

static double wall_now_s(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    options = read_scale_options(argc, argv);
    per_node = (int)options.per_node;
    nodes = (int)options.processes / per_node;
    simulated = options.all ? (int)options.processes : nodes;
    double began_s = wall_now_s();
    struct rusage before = usage_now();
    processes = allocate(simulated, sizeof *processes);
    leaders = allocate(nodes, sizeof *leaders);
    everyone = allocate(simulated, sizeof *everyone);
    for (int i = 0; i < nodes; i++)
        leaders[i] = options.all ? i * per_node : i;
    for (int i = 0; i < simulated; i++)
        everyone[i] = i;
    virtual_world world = {.processes = simulated, .begin = begin, .run = run, .arrival_ns = arrival_ns};
    virtual_run(&world);
    double wall_s = wall_now_s() - began_s;
    struct rusage after = usage_now();
    int64_t wandered = 0;
    for (int i = 0; i < simulated; i++)
        wandered += processes[i].clock.wandered;
    double bytes = (double)(after.ru_maxrss - before.ru_maxrss) * 1024 - (double)tally.errors * sizeof *tally.errors_ns;
    printf("processes=%d per_node=%d simulated=%d links=%s clocks=%s seconds=%g", nodes * per_node, per_node, simulated,
           link_names[options.links], clock_names[options.clocks], options.seconds);
    tally_report(&tally);
    printf(" disruptions=%ld wandered=%ld wall_s=%.1f cpu_s=%.1f bytes_per_process=%.0f\n",
           (long)processes[0].clock.disruptions, (long)wandered, wall_s,
           (double)after.ru_utime.tv_sec + (double)after.ru_utime.tv_usec * 1e-6, bytes / simulated);
    free(processes);
    free(leaders);
    free(everyone);
    free(tally.errors_ns);
    return tally.violations > 0;
}
