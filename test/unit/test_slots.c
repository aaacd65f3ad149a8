/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_slots.c - barriers in shared memory, among threads that have a barrier each, as processes would: every round,
 * the root, or everybody, sees the arrivals of all in that round and no other, and all receive the release of that
 * round.
 *
 * Threads rather than processes, so that a thread sanitizer sees both sides of each slot.
 */
#include "release/barrier_private.h"
#include "support.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 40, FIELDS = MH_ARRIVAL_FIELDS };

typedef struct crew {
    const mh_barrier_kind *kind;
    int size, numas; /* dealt to so many NUMA nodes, of two caches each */
    int rounds;
    bool naps;
    void *memory;
    mh_place places[MOST];
    int ranks[MOST];
} crew;

typedef struct member {
    crew *crew;
    int index;
    int wrong; /* rounds */
    pthread_t thread;
} member;

/* What a process says in a round: anyone may say the most in each field. */
static mh_arrival arrival_of(const crew *crew, int index, int64_t round)
{
    int64_t fields[FIELDS];
    mh_arrival arrival;
    for (int i = 0; i < FIELDS; i++)
        fields[i] = round * i + (INT64_C(1) * index * (2 * i + 1) + round) % crew->size;
    memcpy(&arrival, fields, sizeof arrival);
    return arrival;
}

static mh_arrival all_of(const crew *crew, int64_t round)
{
    mh_arrival all = arrival_of(crew, 0, round);
    for (int i = 1; i < crew->size; i++) {
        mh_arrival other = arrival_of(crew, i, round);
        mh_arrival_combine(&all, &other);
    }
    return all;
}

static bool same(const mh_arrival *a, const mh_arrival *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static void nap(chance *dice)
{
    struct timespec time = {0, (long)chance_between(dice, 1, 200000)};
    if (chance_unit(dice) < 0.02)
        nanosleep(&time, NULL);
}

typedef struct own_barrier {
    mh_channel channel;
    mh_slots slots;
    void *state;
} own_barrier;

static void open_barrier(const member *member, own_barrier *own)
{
    crew *crew = member->crew;
    mh_sites sites = {.rank = member->index,
                      .size = crew->size,
                      .leaders = {member->index == 0, 0, NULL},
                      .node = {crew->size, member->index, crew->ranks},
                      .places = crew->places};
    /* Yields, as there may be fewer processors than threads. */
    own->channel = (mh_channel){.rank = member->index, .size = crew->size, .yields = true};
    own->slots = (mh_slots){.channel = &own->channel,
                            .memory = {crew->memory, 0},
                            .index = member->index,
                            .size = crew->size,
                            .usable = true};
    own->state = calloc(1, crew->kind->state_size);
    crew->kind->open(own->state, &(mh_barrier_site){&own->channel, &sites, &own->slots});
}

static void *take_part(void *argument)
{
    member *member = argument;
    const mh_barrier_kind *kind = member->crew->kind;
    own_barrier own;
    open_barrier(member, &own);
    chance dice = chance_of_round(100 + member->index);
    mh_error error = MH_NO_ERROR;
    for (int64_t round = 0; round < member->crew->rounds; round++) {
        mh_arrival mine = arrival_of(member->crew, member->index, round), all, expected;
        mh_release release = {0};
        if (member->crew->naps)
            nap(&dice);
        if (kind->announce)
            kind->announce(own.state, &mine);
        if (member->crew->naps)
            nap(&dice);
        kind->arrive(own.state, &mine, &all, &error);
        expected = all_of(member->crew, round);
        if (member->index == 0 || !kind->release) {
            member->wrong += !same(&all, &expected);
            release = (mh_release){round % 3, round * 17, round * 13, round * 19};
        }
        if (kind->release)
            kind->release(own.state, &release, &error);
        member->wrong += release.order != round % 3 || release.decision_ns != round * 17 ||
                         release.given_ns != round * 13 || release.slack_ns != round * 19;
    }
    free(own.state);
    return NULL;
}

static void run_crew(crew *crew)
{
    static member members[MOST];
    crew->memory = aligned_alloc(MH_LINE_BYTES, mh_slots_bytes(crew->size, true));
    memset(crew->memory, 0, mh_slots_bytes(crew->size, true));
    for (int i = 0; i < crew->size; i++) {
        crew->ranks[i] = i;
        crew->places[i] = (mh_place){{0, i % crew->numas, i % (2 * crew->numas)}};
    }
    for (int i = 0; i < crew->size; i++) {
        members[i] = (member){.crew = crew, .index = i};
        pthread_create(&members[i].thread, NULL, take_part, &members[i]);
    }
    for (int i = 0; i < crew->size; i++) {
        pthread_join(members[i].thread, NULL);
        EXPECT(members[i].wrong == 0, "%d members: member %d sees something wrong in %d of %d rounds", crew->size, i,
               members[i].wrong, crew->rounds);
    }
    free(crew->memory);
}

/*
 * Beside a busy program each round can take a time slice. So a crew has only a part of the rounds if the part before,
 * which is a tenth of it, took long.
 */
static void run_crews(crew crew, int rounds)
{
    enum { LONG_MS = 100 };
    struct timespec begin, now;
    int64_t took_ms = 0;
    for (int part = 1000; part > 0 && took_ms < rounds_of(LONG_MS); part /= 10) {
        crew.rounds = (rounds + part - 1) / part;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        run_crew(&crew);
        clock_gettime(CLOCK_MONOTONIC, &now);
        took_ms = (now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000;
    }
}

static const mh_barrier_kind *const kinds[] = {&mh_barrier_shm, &mh_barrier_dissemination};

LOOP_TEST(each_round_is_whole, 12)
{
    static const struct {
        int size, numas, rounds;
    } sizes[] = {{1, 1, 1000}, {2, 1, 20000}, {3, 2, 5000}, {9, 1, 1000}, {10, 1, 1000}, {40, 5, 200}};
    crew crew = {.kind = kinds[_i / 6], .size = sizes[_i % 6].size, .numas = sizes[_i % 6].numas};
    run_crews(crew, sizes[_i % 6].rounds);
}

LOOP_TEST(members_may_be_late, 4)
{
    run_crews((crew){.kind = kinds[_i / 2], .size = 4 + _i % 2, .numas = 2, .naps = true}, rounds_of(2000));
}

/* The first slot, that of each process, and two lines for each of its steps in a dissemination. */
TEST(memory_is_no_larger_than_used)
{
    static const struct {
        int processes, steps;
    } sizes[] = {{2, 1}, {3, 2}, {16, 4}, {128, 7}};
    for (int i = 0; i < COUNT_OF(sizes); i++) {
        size_t processes = (size_t)sizes[i].processes, steps = (size_t)sizes[i].steps;
        ck_assert_uint_eq(mh_slots_bytes(sizes[i].processes, false), 256 + 256 * processes);
        ck_assert_uint_eq(mh_slots_bytes(sizes[i].processes, true), 256 + 256 * processes + 256 * steps * processes);
    }
}
