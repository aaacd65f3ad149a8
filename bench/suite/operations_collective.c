/* SPDX-License-Identifier: BSD-3-Clause */
/* operations_collective.c - the operations of all ranks, or of neighborhoods. */
#include "bench/suite/operations.h"

#include <string.h>

/* ---- How data move */

SHAPE(barrier, .send = 0)
SHAPE(bcast, .send = AT_ROOT | ONE, .receive = ONE, .from = FROM_ROOT, .in_place = ROOT_SENDS_FROM_RESULT,
      .has_root = true)
SHAPE(reduce, .send = ONE, .receive = AT_ROOT | ONE, .from = FROM_ALL, .in_place = ROOT_SENDS_IN_PLACE,
      .has_root = true, .reduces = true)
SHAPE(allreduce, .send = ONE, .receive = ONE, .from = FROM_ALL, .in_place = SEND_IN_PLACE, .reduces = true)
SHAPE(scan, .send = ONE, .receive = ONE, .from = FROM_THOSE_UP_TO_OWN, .in_place = SEND_IN_PLACE, .reduces = true)
SHAPE(exscan, .send = ONE, .receive = ONE, .from = FROM_THOSE_BEFORE_OWN, .in_place = SEND_IN_PLACE, .reduces = true)
TWO_SHAPES(reduce_scatter_block, reduce_scatter, .send = PER_RANK, .receive = ONE, .from = FROM_ALL, .to_own = true,
           .in_place = SEND_IN_PLACE, .reduces = true)
TWO_SHAPES(gather, gatherv, .send = ONE, .receive = AT_ROOT | PER_RANK, .from = FROM_EACH,
           .in_place = ROOT_SENDS_IN_PLACE, .in_place_at_own_block = true, .has_root = true)
TWO_SHAPES(scatter, scatterv, .send = AT_ROOT | PER_RANK, .receive = ONE, .from = FROM_ROOT, .to_own = true,
           .in_place = ROOT_RECEIVES_IN_PLACE, .has_root = true)
TWO_SHAPES(allgather, allgatherv, .send = ONE, .receive = PER_RANK, .from = FROM_EACH, .in_place = SEND_IN_PLACE,
           .in_place_at_own_block = true)
#define ALL_TO_ALL .send = PER_RANK, .receive = PER_RANK, .from = FROM_EACH, .to_own = true, .in_place = SEND_IN_PLACE
TWO_SHAPES(alltoall, alltoallv, ALL_TO_ALL)
SHAPE(alltoallw, ALL_TO_ALL, .has_byte_displacements = true)
TWO_SHAPES(neighbor_allgather, neighbor_allgatherv, .send = ONE, .receive = PER_SOURCE, .from = FROM_NEIGHBOR,
           .has_neighbors = true)
TWO_SHAPES(neighbor_alltoall, neighbor_alltoallv, NEIGHBOR_ALL_TO_ALL)
SHAPE(neighbor_alltoallw, NEIGHBOR_ALL_TO_ALL)

/* Composed calls have the shape of the operation that they replace. If this has no root, rank 0 is the root between. */
SHAPE(as_bcast, .send = AT_ROOT | ONE, .receive = ONE, .from = FROM_ROOT, .in_place = ROOT_SENDS_FROM_RESULT,
      .has_root = true, .has_parts = true)
SHAPE(as_reduce, .send = ONE, .receive = AT_ROOT | ONE, .scratch = ONE, .from = FROM_ALL, .has_root = true,
      .reduces = true, .has_parts = true)
SHAPE(as_allreduce, .send = ONE, .receive = ONE, .from = FROM_ALL, .reduces = true, .has_parts = true)
SHAPE(as_scan, .send = ONE, .receive = ONE, .from = FROM_THOSE_UP_TO_OWN, .reduces = true)
SHAPE(as_allgather, .send = ONE, .receive = PER_RANK, .from = FROM_EACH, .has_displacements = true, .counts_all = true)
SHAPE(as_reduce_scatter, .send = PER_RANK, .receive = ONE, .scratch = AT_ROOT | PER_RANK, .from = FROM_ALL,
      .to_own = true, .reduces = true, .has_displacements = true, .counts_all = true)

/* ---- Collective operations, each in three forms */

#if SUITE_HAS_PERSISTENT
#define PERSISTENT_CALL(name) make_##name
#define PERSISTENT(name, Name, ...)                                    \
    static int make_##name(const work_t *work, MPI_Request *request)   \
    {                                                                  \
        return MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, request); \
    }
#else
#define PERSISTENT_CALL(name) NULL
#define PERSISTENT(name, Name, ...)
#endif
#define COLLECTIVE(name, Name, Iname, ...)                            \
    static int call_##name(const work_t *work, MPI_Request *request)  \
    {                                                                 \
        (void)request;                                                \
        return MPI_##Name(__VA_ARGS__);                               \
    }                                                                 \
    static int start_##name(const work_t *work, MPI_Request *request) \
    {                                                                 \
        return MPI_##Iname(__VA_ARGS__, request);                     \
    }                                                                 \
    PERSISTENT(name, Name, __VA_ARGS__)

/* What MPI's functions take, but for what differs between the forms. */
#define EACH_GLOBAL(X)                                                                                   \
    X(allgather, Allgather, Iallgather, SEND, RECEIVE, COMM)                                             \
    X(allgatherv, Allgatherv, Iallgatherv, SEND, RECEIVE_V, COMM)                                        \
    X(allreduce, Allreduce, Iallreduce, BETWEEN, work->count, OF, COMM)                                  \
    X(alltoall, Alltoall, Ialltoall, SEND, RECEIVE, COMM)                                                \
    X(alltoallv, Alltoallv, Ialltoallv, SEND_V, RECEIVE_V, COMM)                                         \
    X(alltoallw, Alltoallw, Ialltoallw, SEND_W, RECEIVE_W, COMM)                                         \
    X(barrier, Barrier, Ibarrier, COMM)                                                                  \
    X(bcast, Bcast, Ibcast, RECEIVE, work->root, COMM)                                                   \
    X(exscan, Exscan, Iexscan, BETWEEN, work->count, OF, COMM)                                           \
    X(gather, Gather, Igather, SEND, RECEIVE, work->root, COMM)                                          \
    X(gatherv, Gatherv, Igatherv, SEND, RECEIVE_V, work->root, COMM)                                     \
    X(reduce, Reduce, Ireduce, BETWEEN, work->count, OF, work->root, COMM)                               \
    X(reduce_scatter, Reduce_scatter, Ireduce_scatter, BETWEEN, work->counts, OF, COMM)                  \
    X(reduce_scatter_block, Reduce_scatter_block, Ireduce_scatter_block, BETWEEN, work->count, OF, COMM) \
    X(scan, Scan, Iscan, BETWEEN, work->count, OF, COMM)                                                 \
    X(scatter, Scatter, Iscatter, SEND, RECEIVE, work->root, COMM)                                       \
    X(scatterv, Scatterv, Iscatterv, SEND_V, RECEIVE, work->root, COMM)

#define EACH_NEIGHBORHOOD(X)                                                                                  \
    X(neighbor_allgather, Neighbor_allgather, Ineighbor_allgather, SEND, RECEIVE, COMM)                       \
    X(neighbor_allgatherv, Neighbor_allgatherv, Ineighbor_allgatherv, SEND, RECEIVE_V, COMM)                  \
    X(neighbor_alltoall, Neighbor_alltoall, Ineighbor_alltoall, SEND, RECEIVE, COMM)                          \
    X(neighbor_alltoallv, Neighbor_alltoallv, Ineighbor_alltoallv, SEND_V, RECEIVE_V, COMM)                   \
    X(neighbor_alltoallw, Neighbor_alltoallw, Ineighbor_alltoallw, work->send, work->counts, work->addresses, \
      work->types, work->receive, work->counts, work->addresses, work->types, COMM)

EACH_GLOBAL(COLLECTIVE)
EACH_NEIGHBORHOOD(COLLECTIVE)

/* ---- The same by several threads of each rank, those of the same number together */

#define MEMBERS(name, ...) SHAPE(name##_mt, .has_threads = true, .member = call_##name, __VA_ARGS__)
MEMBERS(barrier, .send = 0)
MEMBERS(bcast, .send = AT_ROOT | PER_MESSAGE, .receive = PER_MESSAGE, .from = FROM_ROOT,
        .in_place = ROOT_SENDS_FROM_RESULT, .has_root = true)
MEMBERS(reduce, .send = PER_MESSAGE, .receive = AT_ROOT | PER_MESSAGE, .from = FROM_ALL, .has_root = true,
        .reduces = true)
MEMBERS(allreduce, .send = PER_MESSAGE, .receive = PER_MESSAGE, .from = FROM_ALL, .reduces = true)

int call_member(const void *of, int thread)
{
    const work_t *work = of;
    work_t *member = &work->members[thread];
    member->root = work->root;
    member->send = work->send_memory + thread * work->size_bytes;
    member->receive = work->receive_memory + thread * work->size_bytes;
    return work->plan.operation->shape->member(member, NULL);
}

static int call_members(const work_t *work, MPI_Request *request)
{
    (void)request;
    return threads_call(work->threads);
}

/* ---- Composed of two blocking calls, as a program could do itself */

/* Messages that cannot be cut into equal parts take the functions with counts. */
static bool has_equal_parts(const work_t *work)
{
    return work->count % work->ranks == 0;
}

/* This rank's part of the message in the receive buffer. */
static void *own_part(const work_t *work)
{
    return work->receive_memory + (int64_t)work->displacements[work->rank] * work->plan.element->bytes;
}

#define OWN_PART work->rank == work->root ? MPI_IN_PLACE : own_part(work), work->counts[work->rank], work->type
#define EQUAL_PARTS work->receive, work->count / work->ranks, work->type

static int scatter_parts(const work_t *work)
{
    return has_equal_parts(work) ? MPI_Scatter(EQUAL_PARTS, OWN_PART, work->root, COMM)
                                 : MPI_Scatterv(RECEIVE_V, OWN_PART, work->root, COMM);
}

static int gather_parts(const work_t *work)
{
    return has_equal_parts(work) ? MPI_Gather(OWN_PART, EQUAL_PARTS, work->root, COMM)
                                 : MPI_Gatherv(OWN_PART, RECEIVE_V, work->root, COMM);
}

static int allgather_parts(const work_t *work)
{
    return has_equal_parts(work) ? MPI_Allgather(MPI_IN_PLACE, 0, work->type, EQUAL_PARTS, COMM)
                                 : MPI_Allgatherv(MPI_IN_PLACE, 0, work->type, RECEIVE_V, COMM);
}

static int reduce_scatter_parts(const work_t *work)
{
    return has_equal_parts(work)
               ? MPI_Reduce_scatter_block(work->send, own_part(work), work->counts[work->rank], OF, COMM)
               : MPI_Reduce_scatter(work->send, own_part(work), work->counts, OF, COMM);
}

/* Nobody is before rank 0, whose result is its own contribution. */
static int add_own(const work_t *work)
{
    if (work->rank > 0)
        return MPI_Reduce_local(BETWEEN, work->count, OF);
    memcpy(work->receive, work->send, (size_t)work->size_bytes);
    return MPI_SUCCESS;
}

static int bcast_blocks(const work_t *work)
{
    return MPI_Bcast(work->receive, work->count * work->ranks, work->type, work->root, COMM);
}

static int reduce_blocks(const work_t *work)
{
    return MPI_Reduce(BETWEEN, work->count * work->ranks, OF, work->root, COMM);
}

#define OWN_BLOCK work->rank == work->root ? MPI_IN_PLACE : work->receive, work->count, work->type

#define COMPOSED(identifier, first, second)                                   \
    static int compose_##identifier(const work_t *work, MPI_Request *request) \
    {                                                                         \
        (void)request;                                                        \
        int code = first;                                                     \
        return code == MPI_SUCCESS ? second : code;                           \
    }

COMPOSED(exscan_reduce_local, MPI_Exscan(BETWEEN, work->count, OF, COMM), add_own(work))
COMPOSED(gather_bcast, MPI_Gather(SEND, RECEIVE, work->root, COMM), bcast_blocks(work))
COMPOSED(gatherv_bcast, MPI_Gatherv(SEND, RECEIVE_V, work->root, COMM), bcast_blocks(work))
COMPOSED(reduce_bcast, MPI_Reduce(BETWEEN, work->count, OF, work->root, COMM), MPI_Bcast(RECEIVE, work->root, COMM))
COMPOSED(reduce_scatter, reduce_blocks(work), MPI_Scatter(RECEIVE, OWN_BLOCK, work->root, COMM))
COMPOSED(reduce_scatterv, reduce_blocks(work), MPI_Scatterv(RECEIVE_V, OWN_BLOCK, work->root, COMM))
COMPOSED(reduce_scatter_block_allgather, reduce_scatter_parts(work), allgather_parts(work))
COMPOSED(reduce_scatter_block_gather, reduce_scatter_parts(work), gather_parts(work))
COMPOSED(scatter_allgather, scatter_parts(work), allgather_parts(work))

#define BLOCKING(name, Name, ...) {#name, "MPI_" #Name, FORM_BLOCKING, &name, call_##name},
#define NONBLOCKING(name, Name, Iname, ...) {"i" #name, "MPI_" #Iname, FORM_NONBLOCKING, &name, start_##name},
#define PERSISTING(name, Name, ...) \
    {#name "_persistent", "MPI_" #Name "_init", FORM_PERSISTENT, &name, PERSISTENT_CALL(name)},

/* ---- The list */

/* A composed one has the shape of the operation that does the same in one call. */
const operation_t collective_operations[] = {
    /* clang-format off */
    EACH_GLOBAL(BLOCKING)
    EACH_GLOBAL(NONBLOCKING)
    EACH_GLOBAL(PERSISTING)
    EACH_NEIGHBORHOOD(BLOCKING)
    EACH_NEIGHBORHOOD(NONBLOCKING)
    EACH_NEIGHBORHOOD(PERSISTING)
    /* clang-format on */
    {"exscan+reduce_local", "MPI_Exscan, MPI_Reduce_local", FORM_COMPOSED, &as_scan, compose_exscan_reduce_local},
    {"gather+bcast", "MPI_Gather, MPI_Bcast", FORM_COMPOSED, &as_allgather, compose_gather_bcast},
    {"gatherv+bcast", "MPI_Gatherv, MPI_Bcast", FORM_COMPOSED, &as_allgather, compose_gatherv_bcast},
    {"reduce+bcast", "MPI_Reduce, MPI_Bcast", FORM_COMPOSED, &as_allreduce, compose_reduce_bcast},
    {"reduce+scatter", "MPI_Reduce, MPI_Scatter", FORM_COMPOSED, &as_reduce_scatter, compose_reduce_scatter},
    {"reduce+scatterv", "MPI_Reduce, MPI_Scatterv", FORM_COMPOSED, &as_reduce_scatter, compose_reduce_scatterv},
    {"reduce_scatter_block+allgather", "MPI_Reduce_scatter_block, MPI_Allgather", FORM_COMPOSED, &as_allreduce,
     compose_reduce_scatter_block_allgather},
    {"reduce_scatter_block+gather", "MPI_Reduce_scatter_block, MPI_Gather", FORM_COMPOSED, &as_reduce,
     compose_reduce_scatter_block_gather},
    {"scatter+allgather", "MPI_Scatter, MPI_Allgather", FORM_COMPOSED, &as_bcast, compose_scatter_allgather},
    {"barrier_mt", "MPI_Barrier", FORM_BLOCKING, &barrier_mt, call_members},
    {"bcast_mt", "MPI_Bcast", FORM_BLOCKING, &bcast_mt, call_members},
    {"reduce_mt", "MPI_Reduce", FORM_BLOCKING, &reduce_mt, call_members},
    {"allreduce_mt", "MPI_Allreduce", FORM_BLOCKING, &allreduce_mt, call_members},
    {0},
};
