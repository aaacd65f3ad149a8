/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_slots.c - the rendezvous in shared memory, among threads that have a rendezvous each, as processes would: every round, the
 * root sees the greatest of all reports of that round and no other, and all receive the order of that round.
 *
 * Threads rather than processes, so that a thread sanitizer sees both sides of each slot.
 */
#include "deadline/rendezvous_private.h"
#include "support.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 40, SLOT_BYTES = 256 };

typedef struct crew {
    int size, numas; /* dealt to so many NUMA nodes */
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

/* What a process reports in a round: anyone may be the greatest in each field. */
static mh_report report_of(const crew *crew, int index, int64_t round)
{
    int64_t size = crew->size;
    return (mh_report){(index + round) % size, (index * 7 + round) % size + round, -((index * 3 + round) % size),
                       round * size + (index * 11 + round) % size};
}

static mh_report greatest_of(const crew *crew, int64_t round)
{
    mh_report greatest = report_of(crew, 0, round);
    for (int i = 1; i < crew->size; i++) {
        mh_report other = report_of(crew, i, round);
        mh_report_combine(&greatest, &other);
    }
    return greatest;
}

static bool same(const mh_report *a, const mh_report *b)
{
    return a->request == b->request && a->need_ns == b->need_ns && a->lateness_ns == b->lateness_ns && a->sent_ns == b->sent_ns;
}

static void nap(chance *dice)
{
    struct timespec time = {0, (long)chance_between(dice, 1, 200000)};
    if (chance_unit(dice) < 0.02)
        nanosleep(&time, NULL);
}

static mh_rendezvous open_member(const member *member, mh_channel *channel)
{
    crew *crew = member->crew;
    mh_group node = {crew->size, member->index, crew->ranks};
    /* Yields, as there may be fewer processors than threads. */
    *channel = (mh_channel){.rank = member->index, .size = crew->size, .yields = true};
    return (mh_rendezvous){.channel = channel,
                           .kind = &mh_rendezvous_shm,
                           .leaders = {.parent = -1},
                           .node = mh_topology_arrival(crew->places, &node, member->index),
                           .node_index = member->index,
                           .slots = {crew->memory, 0}};
}

static void *take_part(void *argument)
{
    member *member = argument;
    mh_channel channel;
    mh_rendezvous rendezvous = open_member(member, &channel);
    chance dice = chance_of_round(100 + member->index);
    mh_error error = {MPI_SUCCESS, ""};
    for (int64_t round = 0; round < member->crew->rounds; round++) {
        mh_report mine = report_of(member->crew, member->index, round), greatest, expected;
        mh_order order = {0, 0, 0, 0};
        if (member->crew->naps)
            nap(&dice);
        mh_rendezvous_report(&rendezvous, &mine, &greatest, &error);
        if (member->index == 0) {
            expected = greatest_of(member->crew, round);
            member->wrong += !same(&greatest, &expected);
            order = (mh_order){(int32_t)(round % 3), (int32_t)(round % 5), round * 17, round * 19};
        }
        mh_rendezvous_order(&rendezvous, &order, &error);
        member->wrong += order.type != round % 3 || order.rehearse != round % 5 || order.decision_ns != round * 17 ||
                         order.slack_ns != round * 19;
    }
    return NULL;
}

static void run_crew(crew *crew)
{
    static member members[MOST];
    crew->memory = aligned_alloc(SLOT_BYTES, (size_t)(1 + crew->size) * SLOT_BYTES);
    memset(crew->memory, 0, (size_t)(1 + crew->size) * SLOT_BYTES);
    for (int i = 0; i < crew->size; i++) {
        crew->ranks[i] = i;
        crew->places[i] = (mh_place){{0, 0, i % crew->numas}};
    }
    for (int i = 0; i < crew->size; i++) {
        members[i] = (member){.crew = crew, .index = i};
        pthread_create(&members[i].thread, NULL, take_part, &members[i]);
    }
    for (int i = 0; i < crew->size; i++) {
        pthread_join(members[i].thread, NULL);
        EXPECT_SEEDED(members[i].wrong == 0, "%d members: member %d sees something wrong in %d of %d rounds", crew->size, i,
                      members[i].wrong, crew->rounds);
    }
    free(crew->memory);
}

START_TEST(each_round_is_whole)
{
    static const struct {
        int size, numas, rounds;
    } sizes[] = {{1, 1, 1000}, {2, 1, 20000}, {3, 2, 5000}, {9, 1, 1000}, {10, 1, 1000}, {40, 5, 200}};
    crew crew = {.size = sizes[_i].size, .numas = sizes[_i].numas, .rounds = sizes[_i].rounds};
    run_crew(&crew);
}
END_TEST

/* With MPIX_TEST_LONG, 100,000 rounds. */
START_TEST(members_may_be_late)
{
    crew crew = {.size = 4, .numas = 2, .rounds = getenv("MPIX_TEST_LONG") ? 100000 : 3000, .naps = true};
    run_crew(&crew);
}
END_TEST

static void add(TCase *tests)
{
    tcase_add_loop_test(tests, each_round_is_whole, 0, 6);
    tcase_add_test(tests, members_may_be_late);
}

int main(void)
{
    return run_suite("slots", add);
}
