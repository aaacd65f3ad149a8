/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * planted_collectives.c - kinds of planted in which ranks wait in collective operations. Those with requests are
 * started after the delay.
 */
#include "planted.h"

static int many_in[MOST_RANKS], many_out[MOST_RANKS];
static int counts[MOST_RANKS], places[MOST_RANKS], offsets[MOST_RANKS];
static MPI_Datatype types[MOST_RANKS];
static MPI_Comm ring;

#define PERSISTENT(name, function, ...)                              \
    static void name(void)                                           \
    {                                                                \
        CALL(function##_init, __VA_ARGS__, MPI_INFO_NULL, &request); \
        work();                                                      \
        CALL(Start, &request);                                       \
        complete();                                                  \
        CALL(Request_free, &request);                                \
    }
#ifdef INTERPOSE_HAS_Barrier_init
#define EACH_WAY(name, function, ...)          \
    BLOCKING(name, function, __VA_ARGS__)      \
    NONBLOCKING(i##name, I##name, __VA_ARGS__) \
    PERSISTENT(name##_init, function, __VA_ARGS__)
#else
#define EACH_WAY(name, function, ...) BLOCKING(name, function, __VA_ARGS__) NONBLOCKING(i##name, I##name, __VA_ARGS__)
#endif

EACH_WAY(barrier, Barrier, world)
EACH_WAY(allreduce, Allreduce, out, in, 1, MPI_INT, MPI_SUM, world)
EACH_WAY(allgather, Allgather, out, 1, MPI_INT, many_in, 1, MPI_INT, world)
EACH_WAY(allgatherv, Allgatherv, out, 1, MPI_INT, many_in, counts, places, MPI_INT, world)
EACH_WAY(alltoall, Alltoall, many_out, 1, MPI_INT, many_in, 1, MPI_INT, world)
EACH_WAY(alltoallv, Alltoallv, many_out, counts, places, MPI_INT, many_in, counts, places, MPI_INT, world)
EACH_WAY(alltoallw, Alltoallw, many_out, counts, offsets, types, many_in, counts, offsets, types, world)
EACH_WAY(reduce_scatter, Reduce_scatter, many_out, in, counts, MPI_INT, MPI_SUM, world)
EACH_WAY(reduce_scatter_block, Reduce_scatter_block, many_out, in, 1, MPI_INT, MPI_SUM, world)
EACH_WAY(scan, Scan, out, in, 1, MPI_INT, MPI_SUM, world)
EACH_WAY(exscan, Exscan, out, in, 1, MPI_INT, MPI_SUM, world)
EACH_WAY(bcast, Bcast, in, 1, MPI_INT, root, world)
EACH_WAY(scatter, Scatter, many_out, 1, MPI_INT, in, 1, MPI_INT, root, world)
EACH_WAY(scatterv, Scatterv, many_out, counts, places, MPI_INT, in, 1, MPI_INT, root, world)
EACH_WAY(reduce, Reduce, out, in, 1, MPI_INT, MPI_SUM, root, world)
EACH_WAY(gather, Gather, out, 1, MPI_INT, many_in, 1, MPI_INT, root, world)
EACH_WAY(gatherv, Gatherv, out, 1, MPI_INT, many_in, counts, places, MPI_INT, root, world)
EACH_WAY(neighbor_allgather, Neighbor_allgather, out, 1, MPI_INT, many_in, 1, MPI_INT, ring)
EACH_WAY(neighbor_alltoall, Neighbor_alltoall, many_out, 1, MPI_INT, many_in, 1, MPI_INT, ring)
EACH_WAY(neighbor_alltoallv, Neighbor_alltoallv, many_out, counts, places, MPI_INT, many_in, counts, places, MPI_INT,
         ring)

/* The operation has begun before the delay, and may need the late rank for its next steps. */
static void overlap_iallreduce(void)
{
    CALL(Iallreduce, out, in, 1, MPI_INT, MPI_SUM, world, &request);
    work();
    complete();
}

/* cppcheck-suppress constParameter ; MPI says what it takes */
static void add_late(void *from, void *to, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)to)[i] += ((int *)from)[i];
    be_late_in_turn();
}

/*
 * The late rank is late in its operation, for which the others wait in the next barrier. It is the root: in others, the
 * MPI library need not call the operation, and ranks would wait within the reduction, where no trace tells for whom.
 */
static void in_call(void)
{
    MPI_Op op;
    CALL(Op_create, add_late, 1, &op);
    spend(WORK_NS);
    CALL(Reduce, out, in, 1, MPI_INT, op, root, world);
    CALL(Barrier, world);
    CALL(Op_free, &op);
}

static void set_up(int traits)
{
    for (int i = 0; i < ranks; i++) {
        counts[i] = 1;
        places[i] = i;
        offsets[i] = i * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    if (traits & USES_RING)
        MPI_Cart_create(world, 1, &ranks, (int[]){1}, 0, &ring);
}

#ifdef INTERPOSE_HAS_Barrier_init
#define KINDS(name, ...) KIND(name, __VA_ARGS__), KIND(i##name, __VA_ARGS__), KIND(name##_init, __VA_ARGS__)
#else
#define KINDS(name, ...)                                 \
    KIND(name, __VA_ARGS__), KIND(i##name, __VA_ARGS__), \
        MISSING("persistent collective operations", name##_init, __VA_ARGS__)
#endif

static const kind kinds[] = {
    {.name = "begin", .iterate = barrier, .state = "", .traits = AT_BEGIN},
    {.name = "first", .iterate = barrier, .state = "wait at barrier", .traits = AT_FIRST},
    {.name = "end", .iterate = barrier, .state = "", .traits = AT_END},
    KIND(in_call, "wait at barrier", ROOT_LATE),
    KIND(overlap_iallreduce, ""),
    KINDS(barrier, "wait at barrier"),
    KINDS(allreduce, "wait at N x N"),
    KINDS(allgather, "wait at N x N"),
    KINDS(allgatherv, "wait at N x N"),
    KINDS(alltoall, "wait at N x N"),
    KINDS(alltoallv, "wait at N x N"),
    KINDS(alltoallw, "wait at N x N"),
    KINDS(reduce_scatter, "wait at N x N"),
    KINDS(reduce_scatter_block, "wait at N x N"),
    KINDS(scan, "wait at N x N", FIRST_LATE),
    KINDS(exscan, "wait at N x N", FIRST_LATE),
    KINDS(bcast, "late broadcast", ROOT_LATE),
    KINDS(scatter, "late broadcast", ROOT_LATE),
    KINDS(scatterv, "late broadcast", ROOT_LATE),
    KINDS(reduce, "early reduce"),
    KINDS(gather, "early reduce"),
    KINDS(gatherv, "early reduce"),
    KINDS(neighbor_allgather, "late neighbor", USES_RING),
    KINDS(neighbor_alltoall, "late neighbor", USES_RING),
    KINDS(neighbor_alltoallv, "late neighbor", USES_RING),
};
const family collectives = {.kinds = kinds, .count = sizeof kinds / sizeof kinds[0], .set_up = set_up};
