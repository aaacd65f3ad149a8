/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_slots.c - the rendezvous in shared memory, among threads that have a rendezvous each, as processes would: every
 * round, the root, or everybody, sees the greatest of all reports of that round and no other, and all receive the order
 * of that round.
 *
 * Threads rather than processes, so that a thread sanitizer sees both sides of each slot.
 */
#include "deadline/rendezvous_private.h"
#include "deadline/slots.h"
#include "support.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 40, FIELDS = 7 };

_Static_assert(sizeof(mh_report) == FIELDS * sizeof(int64_t), "all fields of a report are tried");

typedef struct crew {
    const mh_rendezvous_kind *kind;
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
    int64_t fields[FIELDS];
    mh_report report;
    for (int i = 0; i < FIELDS; i++)
        fields[i] = round * i + (index * (2 * i + 1) + round) % crew->size;
    memcpy(&report, fields, sizeof report);
    return report;
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
    return memcmp(a, b, sizeof *a) == 0;
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
                           .kind = crew->kind,
                           .leaders = {.parent = -1},
                           .node = mh_tree_of_node(crew->places, &node, member->index),
                           .node_index = member->index,
                           .node_size = crew->size,
                           .slots = {crew->memory, 0}};
}

static void *take_part(void *argument)
{
    member *member = argument;
    mh_channel channel;
    mh_rendezvous rendezvous = open_member(member, &channel);
    chance dice = chance_of_round(100 + member->index);
    mh_error error = MH_NO_ERROR;
    for (int64_t round = 0; round < member->crew->rounds; round++) {
        mh_report mine = report_of(member->crew, member->index, round), greatest, expected;
        mh_order order = {0};
        if (member->crew->naps)
            nap(&dice);
        mh_rendezvous_report(&rendezvous, &mine, &greatest, &error);
        expected = greatest_of(member->crew, round);
        if (member->index == 0 || mh_rendezvous_informs_all(&rendezvous)) {
            member->wrong += !same(&greatest, &expected);
            order = (mh_order){(int32_t)(round % 3), (int32_t)(round % 5), round * 17, round * 13, round * 19};
        }
        mh_rendezvous_order(&rendezvous, &order, &error);
        member->wrong += order.type != round % 3 || order.rehearse != round % 5 || order.decision_ns != round * 17 ||
                         order.given_ns != round * 13 || order.slack_ns != round * 19;
    }
    return NULL;
}

static void run_crew(crew *crew)
{
    static member members[MOST];
    crew->memory = aligned_alloc(MH_LINE_BYTES, mh_slots_bytes(crew->size));
    memset(crew->memory, 0, mh_slots_bytes(crew->size));
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

static const mh_rendezvous_kind *const kinds[] = {&mh_rendezvous_shm, &mh_rendezvous_dissemination};

START_TEST(each_round_is_whole)
{
    static const struct {
        int size, numas, rounds;
    } sizes[] = {{1, 1, 1000}, {2, 1, 20000}, {3, 2, 5000}, {9, 1, 1000}, {10, 1, 1000}, {40, 5, 200}};
    crew crew = {.kind = kinds[_i / 6], .size = sizes[_i % 6].size, .numas = sizes[_i % 6].numas, .rounds = sizes[_i % 6].rounds};
    run_crew(&crew);
}
END_TEST

START_TEST(members_may_be_late)
{
    crew crew = {.kind = kinds[_i / 2], .size = 4 + _i % 2, .numas = 2, .rounds = rounds_of(2000), .naps = true};
    run_crew(&crew);
}
END_TEST

static void add(TCase *tests)
{
    tcase_add_loop_test(tests, each_round_is_whole, 0, 12);
    tcase_add_loop_test(tests, members_may_be_late, 0, 4);
}

int main(void)
{
    return run_suite("slots", add);
}
