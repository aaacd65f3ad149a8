/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes tell each other by empty messages. The ranks of a communicator are p; a round is a message on the longest
 * chain of those that wait for each other.
 *
 * "Performance analysis of MPI collective operations" (J. Pjesivac-Grbovic, T. Angskun, G. Bosilca, G. E. Fagg, E.
 * Gabriel, J. J. Dongarra, Cluster Computing 10, 2007) compares linear, double ring, recursive doubling and Bruck; the
 * choice between these and a tree in Open MPI (coll_tuned_barrier_algorithm) is the one whose effect on a reduction
 * "MPI Process Synchronization in Space and Time" (EuroMPI 2023) shows in its figures 1 and 2. SimGrid has them too
 * (smpi/barrier).
 */
#include "suite/barriers.h"

#include "topology/tree.h"

#include <stddef.h>
#include <stdint.h>

/* Of messages towards those who know that all have arrived, and of those that say so. */
enum { TAG_ARRIVE = 1001, TAG_RELEASE = 1002 };

enum { TREE_CHILDREN = 4 };

static int tell(const group_t *group, int rank, int tag)
{
    return MPI_Send(NULL, 0, MPI_BYTE, rank, tag, group->comm);
}

static int await(const group_t *group, int rank, int tag)
{
    return MPI_Recv(NULL, 0, MPI_BYTE, rank, tag, group->comm, MPI_STATUS_IGNORE);
}

static int tell_and_await(const group_t *group, int to, int from)
{
    return MPI_Sendrecv(NULL, 0, MPI_BYTE, to, TAG_ARRIVE, NULL, 0, MPI_BYTE, from, TAG_ARRIVE, group->comm,
                        MPI_STATUS_IGNORE);
}

/*
 * linear: all tell rank 0, which tells all. 2 (p - 1) messages, all of them rank 0's; rounds as many. Open MPI's
 * "linear", SimGrid's "ompi_basic_linear".
 */
static int meet_linear(const group_t *group)
{
    int code = MPI_SUCCESS;
    if (group->rank > 0) {
        code = tell(group, 0, TAG_ARRIVE);
        return code == MPI_SUCCESS ? await(group, 0, TAG_RELEASE) : code;
    }
    /* From any source: nobody arrives a second time before it has been released. */
    for (int i = 1; code == MPI_SUCCESS && i < group->ranks; i++)
        code = await(group, MPI_ANY_SOURCE, TAG_ARRIVE);
    for (int rank = 1; code == MPI_SUCCESS && rank < group->ranks; rank++)
        code = tell(group, rank, TAG_RELEASE);
    return code;
}

/* Each rank waits for its children and tells its parent; releases go the same way back, the last child first. */
static int meet_along(const group_t *group, const mh_tree *tree)
{
    int code = MPI_SUCCESS;
    for (int i = 0; code == MPI_SUCCESS && i < tree->children; i++)
        code = await(group, tree->child[i], TAG_ARRIVE);
    if (code == MPI_SUCCESS && tree->parent >= 0)
        code = tell(group, tree->parent, TAG_ARRIVE);
    if (code == MPI_SUCCESS && tree->parent >= 0)
        code = await(group, tree->parent, TAG_RELEASE);
    for (int i = tree->children - 1; code == MPI_SUCCESS && i >= 0; i--)
        code = tell(group, tree->child[i], TAG_RELEASE);
    return code;
}

/*
 * tree: each rank has four children. 2 (p - 1) messages, at most 8 on each of the log4 p levels. A tree with four
 * children for arrival is that of J. M. Mellor-Crummey and M. L. Scott, "Algorithms for scalable synchronization on
 * shared-memory multiprocessors" (ACM TOCS 9, 1991). What Open MPI calls "tree" is the next one.
 */
static int meet_tree(const group_t *group)
{
    mh_tree tree = {.parent = group->rank > 0 ? (group->rank - 1) / TREE_CHILDREN : -1};
    for (int64_t i = TREE_CHILDREN; i > 0; i--)
        if (TREE_CHILDREN * (int64_t)group->rank + i < group->ranks)
            tree.child[tree.children++] = TREE_CHILDREN * group->rank + (int)i;
    return meet_along(group, &tree);
}

/*
 * binomial: a rank's parent is the rank without its lowest bit. 2 (p - 1) messages in 2 ceil(log2 p) rounds. The
 * software combining tree of P.-C. Yew, N.-F. Tzeng, D. H. Lawrie (IEEE Transactions on Computers C-36, 1987) in the
 * form that suits messages. Open MPI's "tree", SimGrid's "ompi_tree".
 */
static int meet_binomial(const group_t *group)
{
    mh_tree tree = mh_tree_binomial(group->rank, group->ranks);
    return meet_along(group, &tree);
}

/*
 * doublering: a message goes from rank to rank and back to rank 0, twice: the first time it tells that all before have
 * arrived, the second time it releases. 2 p messages in 2 p rounds, so the ranks leave one after the other. Open MPI's
 * "double_ring", SimGrid's "ompi_doublering".
 */
static int meet_double_ring(const group_t *group)
{
    static const int tags[] = {TAG_ARRIVE, TAG_RELEASE};
    int code = MPI_SUCCESS;
    if (group->ranks == 1)
        return code;
    int left = (group->rank + group->ranks - 1) % group->ranks;
    int right = group->rank + 1 < group->ranks ? group->rank + 1 : 0;
    for (int lap = 0; code == MPI_SUCCESS && lap < 2; lap++) {
        if (group->rank > 0)
            code = await(group, left, tags[lap]);
        if (code == MPI_SUCCESS)
            code = tell(group, right, tags[lap]);
        if (code == MPI_SUCCESS && group->rank == 0)
            code = await(group, left, tags[lap]);
    }
    return code;
}

/*
 * recursivedoubling: in round i, ranks that differ in bit i tell each other. With m the greatest power of two up to p,
 * the p - m ranks from m on tell a rank below m before, and are told afterwards. m log2 m + 2 (p - m) messages, in
 * log2 m rounds, two more where p is not m. E. D. Brooks III, "The butterfly barrier" (International Journal of
 * Parallel Programming 15, 1986). Open MPI's "recursive_doubling", SimGrid's "ompi_recursivedoubling".
 */
static int meet_recursive_doubling(const group_t *group)
{
    int code = MPI_SUCCESS;
    int power = 1;
    while (power <= group->ranks / 2)
        power *= 2;
    if (group->rank >= power) {
        code = tell(group, group->rank - power, TAG_ARRIVE);
        return code == MPI_SUCCESS ? await(group, group->rank - power, TAG_RELEASE) : code;
    }
    int partner = group->rank < group->ranks - power ? group->rank + power : MPI_PROC_NULL;
    if (partner != MPI_PROC_NULL)
        code = await(group, partner, TAG_ARRIVE);
    for (int bit = 1; code == MPI_SUCCESS && bit < power; bit *= 2)
        code = tell_and_await(group, group->rank ^ bit, group->rank ^ bit);
    if (code == MPI_SUCCESS && partner != MPI_PROC_NULL)
        code = tell(group, partner, TAG_RELEASE);
    return code;
}

/*
 * bruck: dissemination. In round i, a rank tells the one 2^i after it, and is told by the one 2^i before it. p
 * ceil(log2 p) messages in ceil(log2 p) rounds. D. Hensgen, R. Finkel, U. Manber, "Two algorithms for barrier
 * synchronization" (International Journal of Parallel Programming 17, 1988); the pattern is that of J. Bruck, C.-T.
 * Ho, S. Kipnis, E. Upfal, D. Weathersby, "Efficient algorithms for all-to-all communications in multiport
 * message-passing systems" (IEEE TPDS 8, 1997). Open MPI's "bruck", SimGrid's "ompi_bruck", MPICH's "dissemination".
 */
static int meet_bruck(const group_t *group)
{
    int code = MPI_SUCCESS;
    for (int64_t distance = 1; code == MPI_SUCCESS && distance < group->ranks; distance *= 2)
        code = tell_and_await(group, (int)((group->rank + distance) % group->ranks),
                              (int)((group->rank + group->ranks - distance) % group->ranks));
    return code;
}

static const barrier_algorithm_t algorithms[] = {
    {"library", NULL},           {"linear", meet_linear},          {"tree", meet_tree},
    {"binomial", meet_binomial}, {"doublering", meet_double_ring}, {"recursivedoubling", meet_recursive_doubling},
    {"bruck", meet_bruck},
};

int barrier_meet(const barrier_algorithm_t *algorithm, MPI_Comm comm)
{
    group_t group = {.comm = comm};
    if (algorithm->meet == NULL)
        return MPI_Barrier(comm);
    int code = MPI_Comm_rank(comm, &group.rank);
    if (code == MPI_SUCCESS)
        code = MPI_Comm_size(comm, &group.ranks);
    return code == MPI_SUCCESS ? algorithm->meet(&group) : code;
}

const barrier_algorithm_t *barrier_at(int index)
{
    return index >= 0 && index < (int)(sizeof(algorithms) / sizeof(algorithms[0])) ? &algorithms[index] : NULL;
}

const char *barrier_name(int index)
{
    const barrier_algorithm_t *algorithm = barrier_at(index);
    return algorithm != NULL ? algorithm->name : NULL;
}
