/* SPDX-License-Identifier: BSD-3-Clause */
/* test_pairs.c - the trees in which processes are synchronized pair by pair, from the root outward or in turns. */
#include "support.h"
#include "sync/sync_private.h"
#include "pure/tree.h"

enum { MAX_IN_TREE = 70 };

/* What happened in the run of one process: partners in their order, learned from (first) and taught. */
typedef struct history {
    int learned_from, learned;
    int taught[8], teaches;
    bool taught_first;
} history;

static history histories[MAX_IN_TREE], *own;

static int note_learn(const mh_sync_run_context *context, int reference_rank, mh_error *error)
{
    (void)context;
    (void)error;
    own->learned++;
    own->learned_from = reference_rank;
    own->taught_first |= own->teaches > 0;
    return MPI_SUCCESS;
}

static int note_teach(const mh_sync_run_context *context, int client_rank, mh_error *error)
{
    (void)context;
    (void)error;
    own->taught[own->teaches++ % COUNT_OF(own->taught)] = client_rank;
    return MPI_SUCCESS;
}

typedef int order(const mh_sync_run_context *context, const mh_pair_protocol *protocol, mh_error *error);

static void walk_tree(order *walk, int size)
{
    static const mh_pair_protocol protocol = {note_learn, note_teach};
    int ranks[MAX_IN_TREE];
    mh_error error = MH_NO_ERROR;
    memset(histories, 0, sizeof histories);
    for (int i = 0; i < size; i++)
        ranks[i] = 3 * i + 1;
    for (int i = 0; i < size; i++) {
        mh_level level = {.group = {size, i, ranks}};
        mh_sync_run_context context = {.level = &level};
        own = &histories[i];
        EXPECT(walk(&context, &protocol, &error) == MPI_SUCCESS, "a tree of %d fails", size);
    }
}

static bool teaches(const history *teacher, int rank)
{
    for (int i = 0; i < teacher->teaches; i++)
        if (teacher->taught[i] == rank)
            return true;
    return false;
}

static int levels_to_root(int place)
{
    int levels = 0;
    for (; place > 0; place = (histories[place].learned_from - 1) / 3)
        levels++;
    return levels;
}

static order *const orders[] = {mh_pairs_outward, mh_pairs_in_turns, mh_pairs_by_parents};

LOOP_TEST(tree_reaches_each_once_in_log_rounds, COUNT_OF(orders))
{
    bool in_turns = orders[_i] == mh_pairs_in_turns;
    for (int size = 1; size <= MAX_IN_TREE; size++) {
        int rounds = 0;
        while (1 << rounds < size)
            rounds++;
        walk_tree(orders[_i], size);
        EXPECT(histories[0].learned == 0, "tree of %d: the root learns", size);
        for (int i = 0; i < size; i++) {
            EXPECT(histories[i].teaches <= rounds, "tree of %d: place %d teaches %d times in %d rounds", size, i,
                   histories[i].teaches, rounds);
            if (i == 0)
                continue;
            const history *teacher = &histories[(histories[i].learned_from - 1) / 3];
            EXPECT(histories[i].learned == 1, "tree of %d: place %d learns %d times", size, i, histories[i].learned);
            EXPECT(in_turns || !histories[i].taught_first, "tree of %d: place %d teaches before it learns", size, i);
            EXPECT(teaches(teacher, 3 * i + 1), "tree of %d: place %d learns from one that does not teach it", size, i);
            EXPECT(levels_to_root(i) <= rounds, "tree of %d: place %d is %d levels from the root", size, i,
                   levels_to_root(i));
        }
    }
}

TEST(turns_pair_the_same_processes_as_their_tree)
{
    int learned_from[MAX_IN_TREE];
    walk_tree(mh_pairs_in_turns, MAX_IN_TREE);
    for (int i = 0; i < MAX_IN_TREE; i++) {
        learned_from[i] = histories[i].learned_from;
        EXPECT(histories[i].learned + histories[i].teaches <= MH_TREE_MAX_TURNS, "place %d has %d partners", i,
               histories[i].learned + histories[i].teaches);
    }
    walk_tree(mh_pairs_by_parents, MAX_IN_TREE);
    for (int i = 0; i < MAX_IN_TREE; i++)
        EXPECT(learned_from[i] == histories[i].learned_from, "place %d learns from %d in turns, from %d else", i,
               learned_from[i], histories[i].learned_from);
}

static int failures;

static int fail_to_teach(const mh_sync_run_context *context, int client_rank, mh_error *error)
{
    (void)context;
    failures++;
    return mh_fail(error, MPI_ERR_OTHER, "cannot teach rank %d", client_rank);
}

TEST(tree_stops_at_a_failure)
{
    static const mh_pair_protocol protocol = {note_learn, fail_to_teach};
    int ranks[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    mh_level level = {.group = {8, 0, ranks}};
    mh_sync_run_context context = {.level = &level};
    for (int i = 0; i < COUNT_OF(orders); i++) {
        mh_error error = MH_NO_ERROR;
        failures = 0;
        ck_assert_int_eq(orders[i](&context, &protocol, &error), MPI_ERR_OTHER);
        ck_assert_int_eq(failures, 1); /* it does not go on */
    }
}
