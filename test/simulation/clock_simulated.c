/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * clock_simulated.c - a base clock whose error is known, for tests: the real-time clock, which all processes of a
 * machine share (the simulator's is virtual), taken through an offset, a drift, a random walk of the drift, and events.
 *
 * It is the base clock "simulated" of a library that was compiled with MH_WITH_SIMULATED_CLOCK. The environment
 * variable MH_SIMULATED_CLOCK describes it, as NAME=VALUE separated by commas:
 *
 *   exact=HOST      the clock of this host, or of rank 0 alone where it is "rank0", has no error at all
 *   offset=NS       constant offset
 *   drift=PPB       constant drift
 *   spread=PPB      further drift, uniform in [-spread, spread], by host and seed
 *   swing=PPB       further drift that swings by so much to either side, as temperature makes it,
 *   period=NS       in this time
 *   walk=PPB        random walk of the drift: standard deviation after one second; within the default limit of wander
 *   seed=N          of spread, walk, jitter and random jumps
 *   origin=NS       true time at which the walk begins; the same for all processes of a host. Else the first reading
 *   step_at=NS      after origin, at which
 *   step=PPB        is added to the drift
 *   jump_at=NS      after origin, at which
 *   jump=NS         is added to the offset
 *   jump_every=NS   mean time between jumps ahead or back at random times, which also an exact clock makes,
 *   jump_most=NS    each from 10 ms to so long, short ones as often as long ones,
 *   jump_ranks=N    on one of so many ranks, or on all of them at once; the same draws on all with one seed and origin
 *   jitter=NS       mean of an exponential delay of each message of the library
 *   lopsided=NS     by which messages to higher ranks take longer
 *   slow=N          every N-th rank but 0 is slow: its messages are delayed
 *   slowness=NS     by so much more
 */
#include "pure/units.h"
#include "clock/base_clock_private.h"
#include "simulated.h"
#include "transport/test_hook.h"
#include "unit/wander.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The drift is constant within a segment. */
#define SEGMENT_NS (10 * MH_NS_PER_MS)

#define PI 3.14159265358979323846

static struct {
    pthread_mutex_t lock;
    int known;
    int exact;
    double offset, drift, spread, swing, period, walk, seed, origin, step_at, step, jump_at, jump;
    double jitter, lopsided, slow, slowness, jump_every, jump_most, jump_ranks;
    uint64_t walk_random, jitter_random, jump_random;
    int64_t next_jump_ns; /* true time; those at random times */
    int64_t jumps, jumps_ns;
    int64_t segment_ns; /* true time at which the current segment began */
    double error_ns;    /* local - true at that time, without the constant offset */
    double drift_ppb;   /* in this segment */
    double walked_ppb;  /* of which are due to the walk, */
    double swung_ppb;   /* and to the swing */
    wandering_t wandering;
    int stepped, jumped;
} simulated = {.lock = PTHREAD_MUTEX_INITIALIZER};

static double uniform(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t mixed = (*state ^ (*state >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
    return ((double)((mixed ^ (mixed >> 32)) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(uniform(state)));
    return radius * cos(2 * PI * uniform(state));
}

static uint64_t host_hash(const char *host)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *host; host++)
        hash = (hash ^ (unsigned char)*host) * UINT64_C(0x100000001b3);
    return hash;
}

static int world_rank(void)
{
    MPI_Comm world = MPI_COMM_WORLD;
    int rank = 0;
    PMPI_Comm_rank(world, &rank);
    return rank;
}

static void set(const char *name, const char *value, const char *host)
{
    const struct {
        const char *name;
        double *value;
    } fields[] = {
        {"offset", &simulated.offset},
        {"drift", &simulated.drift},
        {"spread", &simulated.spread},
        {"swing", &simulated.swing},
        {"period", &simulated.period},
        {"walk", &simulated.walk},
        {"seed", &simulated.seed},
        {"origin", &simulated.origin},
        {"step_at", &simulated.step_at},
        {"step", &simulated.step},
        {"jump_at", &simulated.jump_at},
        {"jump", &simulated.jump},
        {"jitter", &simulated.jitter},
        {"lopsided", &simulated.lopsided},
        {"slow", &simulated.slow},
        {"slowness", &simulated.slowness},
        {"jump_every", &simulated.jump_every},
        {"jump_most", &simulated.jump_most},
        {"jump_ranks", &simulated.jump_ranks},
    };
    if (strcmp(name, "exact") == 0)
        simulated.exact = strcmp(value, strcmp(value, "rank0") == 0 && world_rank() == 0 ? "rank0" : host) == 0;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strcmp(name, fields[i].name) == 0)
            *fields[i].value = atof(value);
}

static void read_environment(const char *host)
{
    const char *text = getenv("MH_SIMULATED_CLOCK");
    char *copy = strdup(text ? text : ""), *rest = NULL;
    for (char *field = strtok_r(copy, ",", &rest); field; field = strtok_r(NULL, ",", &rest)) {
        char *equals = strchr(field, '=');
        if (!equals)
            continue;
        *equals = '\0';
        set(field, equals + 1, host);
    }
    free(copy);
}

static void begin(void)
{
    char host[MPI_MAX_PROCESSOR_NAME];
    int length;
    PMPI_Get_processor_name(host, &length);
    read_environment(host);
    uint64_t seed = host_hash(host) ^ (uint64_t)simulated.seed * UINT64_C(0x9e3779b97f4a7c15);
    simulated.walk_random = seed;
    simulated.drift_ppb = simulated.drift + simulated.spread * (2 * uniform(&simulated.walk_random) - 1);
    simulated.jitter_random = seed + (uint64_t)world_rank() * UINT64_C(0xd1342543de82ef95);
    simulated.jump_random = (uint64_t)simulated.seed * UINT64_C(0xbea225f9eb34556d) + 1;
    simulated.segment_ns = (int64_t)simulated.origin;
    simulated.known = 1;
}

int64_t mh_simulated_true_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * MH_NS_PER_S + now.tv_nsec;
}

static int64_t time_to_next_jump_ns(void)
{
    return (int64_t)(-simulated.jump_every * log(uniform(&simulated.jump_random)));
}

/* All processes draw the same, whoever it concerns. */
static void jump_at_random(void)
{
    enum { MIN_NS = 10 * 1000 * 1000 };
    double size_ns = MIN_NS * pow(simulated.jump_most / MIN_NS, uniform(&simulated.jump_random));
    bool back = uniform(&simulated.jump_random) < 0.5;
    int who = (int)((simulated.jump_ranks + 1) * uniform(&simulated.jump_random)); /* the one past the ranks: all */
    simulated.next_jump_ns += time_to_next_jump_ns();
    if (who != world_rank() && who < (int)simulated.jump_ranks)
        return;
    simulated.jumps++;
    simulated.jumps_ns += (int64_t)(back ? -size_ns : size_ns);
}

/* By how much the drift of the next segment differs. The limit is one for two clocks. */
static double walk_on(void)
{
    double seconds = (double)SEGMENT_NS * 1e-9, before_ppb = simulated.walked_ppb;
    double wanted_ppb = before_ppb + simulated.walk * sqrt(seconds) * normal(&simulated.walk_random);
    simulated.walked_ppb = wander_to(&simulated.wandering, wanted_ppb, 0.5 * MH_WANDER_PPB_PER_S, seconds);
    return simulated.walked_ppb - before_ppb;
}

/* The same; no limit, so that it may be greater than that which bounds rely on. */
static double swing_on(double since_origin_ns)
{
    double before_ppb = simulated.swung_ppb;
    if (simulated.swing == 0)
        return 0;
    simulated.swung_ppb = simulated.swing * sin(2 * PI * since_origin_ns / simulated.period);
    return simulated.swung_ppb - before_ppb;
}

static void next_segment(void)
{
    double since_origin = (double)(simulated.segment_ns - (int64_t)simulated.origin);
    simulated.error_ns += simulated.drift_ppb * (double)SEGMENT_NS * 1e-9;
    simulated.segment_ns += SEGMENT_NS;
    simulated.drift_ppb += walk_on() + swing_on(since_origin);
    if (simulated.step != 0 && !simulated.stepped && since_origin >= simulated.step_at) {
        simulated.drift_ppb += simulated.step;
        simulated.stepped = 1;
    }
    if (simulated.jump != 0 && !simulated.jumped && since_origin >= simulated.jump_at) {
        simulated.jumps++;
        simulated.jumps_ns += (int64_t)simulated.jump;
        simulated.jumped = 1;
    }
}

static int64_t local_from_true(int64_t true_ns)
{
    pthread_mutex_lock(&simulated.lock);
    if (!simulated.known)
        begin();
    if (simulated.segment_ns == 0) {
        simulated.segment_ns = true_ns;
        simulated.origin = (double)true_ns;
    }
    if (simulated.jump_every > 0 && simulated.next_jump_ns == 0)
        simulated.next_jump_ns = (int64_t)simulated.origin + time_to_next_jump_ns();
    while (simulated.jump_every > 0 && true_ns >= simulated.next_jump_ns)
        jump_at_random();
    while (!simulated.exact && true_ns - simulated.segment_ns >= SEGMENT_NS)
        next_segment();
    double error_ns = simulated.error_ns + simulated.drift_ppb * 1e-9 * (double)(true_ns - simulated.segment_ns);
    int64_t local_ns =
        true_ns + simulated.jumps_ns + (simulated.exact ? 0 : (int64_t)simulated.offset + (int64_t)error_ns);
    pthread_mutex_unlock(&simulated.lock);
    return local_ns;
}

int64_t mh_simulated_true_from_local_ns(int64_t local_ns)
{
    pthread_mutex_lock(&simulated.lock);
    if (!simulated.known)
        begin();
    double age_ns;
    for (;; next_segment()) {
        age_ns = (double)(local_ns - (int64_t)simulated.offset - simulated.segment_ns) - simulated.error_ns;
        age_ns /= 1 + simulated.drift_ppb * 1e-9;
        if (age_ns < (double)SEGMENT_NS)
            break;
    }
    int64_t true_ns = simulated.segment_ns + llround(age_ns);
    pthread_mutex_unlock(&simulated.lock);
    return true_ns;
}

int64_t mh_simulated_jumps(int64_t *sum_ns)
{
    local_from_true(mh_simulated_true_ns());
    pthread_mutex_lock(&simulated.lock);
    int64_t jumps = simulated.jumps;
    *sum_ns = simulated.jumps_ns;
    pthread_mutex_unlock(&simulated.lock);
    return jumps;
}

static int64_t simulated_now_ns(const mh_base_clock *clock)
{
    (void)clock;
    return local_from_true(mh_simulated_true_ns());
}

static int simulated_probe(char *why, size_t why_size)
{
    if (getenv("MH_SIMULATED_CLOCK"))
        return 0;
    snprintf(why, why_size, "MH_SIMULATED_CLOCK is not set");
    return -1;
}

static int64_t messages;

int64_t mh_simulated_messages(void)
{
    return messages;
}

void mh_delay_message(int from, int to)
{
    messages++;
    if (!simulated.known || (simulated.jitter <= 0 && simulated.lopsided <= 0 && simulated.slow <= 0))
        return;
    double delay_ns = -simulated.jitter * log(uniform(&simulated.jitter_random));
    if (to > from)
        delay_ns += simulated.lopsided;
    if (simulated.slow > 0 && from > 0 && from % (int)simulated.slow == 0)
        delay_ns += simulated.slowness;
    struct timespec delay = {0, (long)delay_ns};
    nanosleep(&delay, NULL);
}

const mh_clock_kind mh_clock_simulated = {
    .name = "simulated",
    .doc = "the real-time clock with a known error",
    .is_raw = true,
    .may_be_set = true,
    .probe = simulated_probe,
    .now_ns = simulated_now_ns,
};
