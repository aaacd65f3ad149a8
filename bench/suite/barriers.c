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
#include "bench/suite/schemes.h"

#include "pure/tree.h"

#include <stddef.h>
#include <stdint.h>

/* Of messages towards those who know that all have arrived, and of those that say so. */
enum { TAG_ARRIVE = 1001, TAG_RELEASE = 1002 };

enum { TREE_CHILDREN = 4 };

static void tell(const world_t *span, int rank, int tag)
{
    world_require(span, MPI_Send(NULL, 0, MPI_BYTE, rank, tag, span->comm));
}

static void await(const world_t *span, int rank, int tag)
{
    world_require(span, MPI_Recv(NULL, 0, MPI_BYTE, rank, tag, span->comm, MPI_STATUS_IGNORE));
}

static void tell_and_await(const world_t *span, int to, int from)
{
    world_require(span, MPI_Sendrecv(NULL, 0, MPI_BYTE, to, TAG_ARRIVE, NULL, 0, MPI_BYTE, from, TAG_ARRIVE, span->comm,
                                     MPI_STATUS_IGNORE));
}

/* library: MPI's own. */
static void meet_by_library(const world_t *span)
{
    world_require(span, MPI_Barrier(span->comm));
}

/*
 * linear: all send to rank 0, which sends to all. 2 (p - 1) messages, all to or from rank 0, in as many rounds. Open
 * MPI's "linear", SimGrid's "ompi_basic_linear".
 */
static void meet_linear(const world_t *span)
{
    if (span->rank > 0) {
        tell(span, 0, TAG_ARRIVE);
        await(span, 0, TAG_RELEASE);
        return;
    }
    /* From any source: nobody arrives a second time before it has been released. */
    for (int i = 1; i < span->ranks; i++)
        await(span, MPI_ANY_SOURCE, TAG_ARRIVE);
    for (int rank = 1; rank < span->ranks; rank++)
        tell(span, rank, TAG_RELEASE);
}

/* Each rank waits for its children, then sends to its parent; releases go back the same way, to the last child first.
 * */
static void meet_along(const world_t *span, const mh_tree *tree)
{
    for (int i = 0; i < tree->children; i++)
        await(span, tree->child[i], TAG_ARRIVE);
    if (tree->parent >= 0) {
        tell(span, tree->parent, TAG_ARRIVE);
        await(span, tree->parent, TAG_RELEASE);
    }
    for (int i = tree->children - 1; i >= 0; i--)
        tell(span, tree->child[i], TAG_RELEASE);
}

/*
 * tree: each rank has four children. 2 (p - 1) messages, at most 8 on each of the log4 p levels. A tree with four
 * children for arrival is that of J. M. Mellor-Crummey and M. L. Scott, "Algorithms for scalable synchronization on
 * shared-memory multiprocessors" (ACM TOCS 9, 1991). What Open MPI calls "tree" is the next one.
 */
static void meet_tree(const world_t *span)
{
    mh_tree tree = {.parent = span->rank > 0 ? (span->rank - 1) / TREE_CHILDREN : -1};
    for (int64_t i = TREE_CHILDREN; i > 0; i--)
        if (TREE_CHILDREN * (int64_t)span->rank + i < span->ranks)
            tree.child[tree.children++] = TREE_CHILDREN * span->rank + (int)i;
    meet_along(span, &tree);
}

/*
 * binomial: a rank's parent is the rank without its lowest bit. 2 (p - 1) messages in 2 ceil(log2 p) rounds. The
 * software combining tree of P.-C. Yew, N.-F. Tzeng, D. H. Lawrie (IEEE Transactions on Computers C-36, 1987) in the
 * form that suits messages. Open MPI's "tree", SimGrid's "ompi_tree".
 */
static void meet_binomial(const world_t *span)
{
    mh_tree tree = mh_tree_binomial(span->rank, span->ranks);
    meet_along(span, &tree);
}

/*
 * doublering: a message goes from rank to rank and back to rank 0, twice: the first time it tells that all before have
 * arrived, the second time it releases. 2 p messages in 2 p rounds, so the ranks leave one after the other. Open MPI's
 * "double_ring", SimGrid's "ompi_doublering".
 */
static void meet_double_ring(const world_t *span)
{
    static const int tags[] = {TAG_ARRIVE, TAG_RELEASE};
    if (span->ranks == 1)
        return;
    int left = (span->rank + span->ranks - 1) % span->ranks;
    int right = span->rank + 1 < span->ranks ? span->rank + 1 : 0;
    for (int lap = 0; lap < 2; lap++) {
        if (span->rank > 0)
            await(span, left, tags[lap]);
        tell(span, right, tags[lap]);
        if (span->rank == 0)
            await(span, left, tags[lap]);
    }
}

/*
 * recursivedoubling: in round i, ranks that differ in bit i tell each other. With m the largest power of two up to p,
 * the p - m ranks from m on tell a rank below m before, and are told afterwards. m log2 m + 2 (p - m) messages, in
 * log2 m rounds, two more if p is not m. E. D. Brooks III, "The butterfly barrier" (International Journal of
 * Parallel Programming 15, 1986). Open MPI's "recursive_doubling", SimGrid's "ompi_recursivedoubling".
 */
static void meet_recursive_doubling(const world_t *span)
{
    int power = 1;
    while (power <= span->ranks / 2)
        power *= 2;
    if (span->rank >= power) {
        tell(span, span->rank - power, TAG_ARRIVE);
        await(span, span->rank - power, TAG_RELEASE);
        return;
    }
    int partner = span->rank < span->ranks - power ? span->rank + power : MPI_PROC_NULL;
    if (partner != MPI_PROC_NULL)
        await(span, partner, TAG_ARRIVE);
    for (int bit = 1; bit < power; bit *= 2)
        tell_and_await(span, span->rank ^ bit, span->rank ^ bit);
    if (partner != MPI_PROC_NULL)
        tell(span, partner, TAG_RELEASE);
}

/*
 * bruck: dissemination. In round i, a rank tells the one 2^i after it, and is told by the one 2^i before it. p
 * ceil(log2 p) messages in ceil(log2 p) rounds. D. Hensgen, R. Finkel, U. Manber, "Two algorithms for barrier
 * synchronization" (International Journal of Parallel Programming 17, 1988); the pattern is that of J. Bruck, C.-T.
 * Ho, S. Kipnis, E. Upfal, D. Weathersby, "Efficient algorithms for all-to-all communications in multiport
 * message-passing systems" (IEEE TPDS 8, 1997). Open MPI's "bruck", SimGrid's "ompi_bruck", MPICH's "dissemination".
 */
static void meet_bruck(const world_t *span)
{
    for (int64_t distance = 1; distance < span->ranks; distance *= 2)
        tell_and_await(span, (int)((span->rank + distance) % span->ranks),
                       (int)((span->rank + span->ranks - distance) % span->ranks));
}

const barrier_algorithm_t barriers[] = {
    {"library", meet_by_library},
    {"linear", meet_linear},
    {"tree", meet_tree},
    {"binomial", meet_binomial},
    {"doublering", meet_double_ring},
    {"recursivedoubling", meet_recursive_doubling},
    {"bruck", meet_bruck},
    {0},
};
