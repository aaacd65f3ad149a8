/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operation_list.c - the operations: how their data move, and what arguments MPI's functions take.
 *
 * To add one: a shape, if none is like it, a line of description, and its place in the list at the end.
 */
#include "suite/operation_private.h"

#include <stddef.h>

/* ---- How data move */

static origin_t from_rank(int rank, int place)
{
    return (origin_t){rank, rank, place};
}

static origin_t from_each(const work_t *work, int block)
{
    (void)work;
    return from_rank(block, 0);
}

static origin_t from_each_to_own(const work_t *work, int block)
{
    return from_rank(block, work->rank);
}

static origin_t from_root(const work_t *work, int block)
{
    (void)block;
    return from_rank(work->root, 0);
}

static origin_t from_root_to_own(const work_t *work, int block)
{
    (void)block;
    return from_rank(work->root, work->rank);
}

static origin_t from_all(const work_t *work, int block)
{
    (void)block;
    return (origin_t){0, work->ranks - 1, 0};
}

static origin_t from_all_to_own(const work_t *work, int block)
{
    (void)block;
    return (origin_t){0, work->ranks - 1, work->rank};
}

static origin_t from_those_up_to_own(const work_t *work, int block)
{
    (void)block;
    return (origin_t){0, work->rank, 0};
}

/* The result of rank 0 is undefined. */
static origin_t from_those_before_own(const work_t *work, int block)
{
    (void)block;
    return (origin_t){0, work->rank - 1, 0};
}

static origin_t from_neighbor(const work_t *work, int block)
{
    return from_rank(work->neighbor[block], 0);
}

static origin_t from_neighbor_to_own(const work_t *work, int block)
{
    return from_rank(work->neighbor[block], work->place_there[block]);
}

static origin_t from_partner(const work_t *work, int block)
{
    (void)block;
    return from_rank(1 - work->rank, 0);
}

#define ONE                    \
    {                          \
        HELD_BY_ALL, ONE_BLOCK \
    }
#define MANY                        \
    {                               \
        HELD_BY_ALL, BLOCK_PER_RANK \
    }
#define ROOT_ONE                \
    {                           \
        HELD_BY_ROOT, ONE_BLOCK \
    }
#define ROOT_MANY                    \
    {                                \
        HELD_BY_ROOT, BLOCK_PER_RANK \
    }
#define PER_NEIGHBOR                    \
    {                                   \
        HELD_BY_ALL, BLOCK_PER_NEIGHBOR \
    }

/* What is told by counts and displacements has the same data. */
#define TWO_SHAPES(name, name_v, ...)          \
    static const shape_t name = {__VA_ARGS__}; \
    static const shape_t name_v = {__VA_ARGS__, .has_displacements = true};

static const shape_t barrier = {.send = {HELD_BY_ALL, NO_BLOCK}};
static const shape_t bcast = {
    .send = ROOT_ONE, .receive = ONE, .origin = from_root, .in_place = ROOT_SENDS_FROM_RESULT, .has_root = true};
static const shape_t reduce = {.send = ONE,
                               .receive = ROOT_ONE,
                               .origin = from_all,
                               .in_place = ROOT_SENDS_IN_PLACE,
                               .has_root = true,
                               .reduces = true};
static const shape_t allreduce = {
    .send = ONE, .receive = ONE, .origin = from_all, .in_place = SEND_IN_PLACE, .reduces = true};
static const shape_t scan = {
    .send = ONE, .receive = ONE, .origin = from_those_up_to_own, .in_place = SEND_IN_PLACE, .reduces = true};
static const shape_t exscan = {
    .send = ONE, .receive = ONE, .origin = from_those_before_own, .in_place = SEND_IN_PLACE, .reduces = true};
TWO_SHAPES(reduce_scatter_block, reduce_scatter, .send = MANY, .receive = ONE, .origin = from_all_to_own,
           .in_place = SEND_IN_PLACE, .reduces = true)
TWO_SHAPES(gather, gatherv, .send = ONE, .receive = ROOT_MANY, .origin = from_each, .in_place = ROOT_SENDS_IN_PLACE,
           .in_place_at_own_block = true, .has_root = true)
TWO_SHAPES(scatter, scatterv, .send = ROOT_MANY, .receive = ONE, .origin = from_root_to_own,
           .in_place = ROOT_RECEIVES_IN_PLACE, .has_root = true)
TWO_SHAPES(allgather, allgatherv, .send = ONE, .receive = MANY, .origin = from_each, .in_place = SEND_IN_PLACE,
           .in_place_at_own_block = true)
TWO_SHAPES(alltoall, alltoallv, .send = MANY, .receive = MANY, .origin = from_each_to_own, .in_place = SEND_IN_PLACE)
static const shape_t alltoallw = {.send = MANY,
                                  .receive = MANY,
                                  .origin = from_each_to_own,
                                  .in_place = SEND_IN_PLACE,
                                  .has_byte_displacements = true};
TWO_SHAPES(neighbor_allgather, neighbor_allgatherv, .send = ONE, .receive = PER_NEIGHBOR, .origin = from_neighbor,
           .has_neighbors = true)
TWO_SHAPES(neighbor_alltoall, neighbor_alltoallv, .send = PER_NEIGHBOR, .receive = PER_NEIGHBOR,
           .origin = from_neighbor_to_own, .has_neighbors = true)
static const shape_t neighbor_alltoallw = {
    .send = PER_NEIGHBOR, .receive = PER_NEIGHBOR, .origin = from_neighbor_to_own, .has_neighbors = true};
static const shape_t pingpong = {.send = {HELD_BY_FIRST_TWO, ONE_BLOCK},
                                 .receive = {HELD_BY_FIRST_TWO, ONE_BLOCK},
                                 .origin = from_partner,
                                 .takes_turns = true,
                                 .least_ranks = 2};
static const shape_t sendrecv = {.send = {HELD_BY_FIRST_TWO, ONE_BLOCK},
                                 .receive = {HELD_BY_FIRST_TWO, ONE_BLOCK},
                                 .origin = from_partner,
                                 .least_ranks = 2};
static const shape_t send = {.send = {HELD_BY_FIRST, ONE_BLOCK},
                             .receive = {HELD_BY_SECOND, ONE_BLOCK},
                             .origin = from_partner,
                             .least_ranks = 2};

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

/* The arguments are those that all three forms take. */
#define COLLECTIVE(name, Name, Iname, ...)                                                                           \
    static int call_##name(const work_t *work, MPI_Request *request)                                                 \
    {                                                                                                                \
        (void)request;                                                                                               \
        return MPI_##Name(__VA_ARGS__);                                                                              \
    }                                                                                                                \
    static int start_##name(const work_t *work, MPI_Request *request)                                                \
    {                                                                                                                \
        return MPI_##Iname(__VA_ARGS__, request);                                                                    \
    }                                                                                                                \
    PERSISTENT(name, Name, __VA_ARGS__)                                                                              \
    static const operation_t blocking_##name = {#name, "MPI_" #Name, FORM_BLOCKING, &name, call_##name};             \
    static const operation_t nonblocking_##name = {"i" #name, "MPI_" #Iname, FORM_NONBLOCKING, &name, start_##name}; \
    static const operation_t persistent_##name = {#name "_persistent", "MPI_" #Name "_init", FORM_PERSISTENT, &name, \
                                                  PERSISTENT_CALL(name)};

#define COMM work->comm
#define SEND work->send, work->count, work->type
#define RECEIVE work->receive, work->count, work->type
#define SEND_V work->send, work->counts, work->displacements, work->type
#define RECEIVE_V work->receive, work->counts, work->displacements, work->type
#define SEND_W work->send, work->counts, work->byte_displacements, work->types
#define RECEIVE_W work->receive, work->counts, work->byte_displacements, work->types
#define BETWEEN work->send, work->receive
#define OF work->type, work->op

COLLECTIVE(allgather, Allgather, Iallgather, SEND, RECEIVE, COMM)
COLLECTIVE(allgatherv, Allgatherv, Iallgatherv, SEND, RECEIVE_V, COMM)
COLLECTIVE(allreduce, Allreduce, Iallreduce, BETWEEN, work->count, OF, COMM)
COLLECTIVE(alltoall, Alltoall, Ialltoall, SEND, RECEIVE, COMM)
COLLECTIVE(alltoallv, Alltoallv, Ialltoallv, SEND_V, RECEIVE_V, COMM)
COLLECTIVE(alltoallw, Alltoallw, Ialltoallw, SEND_W, RECEIVE_W, COMM)
COLLECTIVE(barrier, Barrier, Ibarrier, COMM)
COLLECTIVE(bcast, Bcast, Ibcast, RECEIVE, work->root, COMM)
COLLECTIVE(exscan, Exscan, Iexscan, BETWEEN, work->count, OF, COMM)
COLLECTIVE(gather, Gather, Igather, SEND, RECEIVE, work->root, COMM)
COLLECTIVE(gatherv, Gatherv, Igatherv, SEND, RECEIVE_V, work->root, COMM)
COLLECTIVE(reduce, Reduce, Ireduce, BETWEEN, work->count, OF, work->root, COMM)
COLLECTIVE(reduce_scatter, Reduce_scatter, Ireduce_scatter, BETWEEN, work->counts, OF, COMM)
COLLECTIVE(reduce_scatter_block, Reduce_scatter_block, Ireduce_scatter_block, BETWEEN, work->count, OF, COMM)
COLLECTIVE(scan, Scan, Iscan, BETWEEN, work->count, OF, COMM)
COLLECTIVE(scatter, Scatter, Iscatter, SEND, RECEIVE, work->root, COMM)
COLLECTIVE(scatterv, Scatterv, Iscatterv, SEND_V, RECEIVE, work->root, COMM)
COLLECTIVE(neighbor_allgather, Neighbor_allgather, Ineighbor_allgather, SEND, RECEIVE, COMM)
COLLECTIVE(neighbor_allgatherv, Neighbor_allgatherv, Ineighbor_allgatherv, SEND, RECEIVE_V, COMM)
COLLECTIVE(neighbor_alltoall, Neighbor_alltoall, Ineighbor_alltoall, SEND, RECEIVE, COMM)
COLLECTIVE(neighbor_alltoallv, Neighbor_alltoallv, Ineighbor_alltoallv, SEND_V, RECEIVE_V, COMM)
COLLECTIVE(neighbor_alltoallw, Neighbor_alltoallw, Ineighbor_alltoallw, work->send, work->counts, work->addresses,
           work->types, work->receive, work->counts, work->addresses, work->types, COMM)

/* ---- Between ranks 0 and 1 */

enum { TAG = 1 };

#define TO work->send, work->count, work->type, 1 - work->rank, TAG, work->comm
#define FROM work->receive, work->count, work->type, 1 - work->rank, TAG, work->comm

/* Each of both sends in its turn, with one kind of send. */
static int play(const work_t *work, int (*give)(const work_t *work))
{
    int code = MPI_SUCCESS;
    if (work->rank == 0)
        code = give(work);
    if (code == MPI_SUCCESS && work->rank <= 1)
        code = MPI_Recv(FROM, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS && work->rank == 1)
        code = give(work);
    return code;
}

static int send_standard(const work_t *work)
{
    return MPI_Send(TO);
}

static int send_synchronous(const work_t *work)
{
    return MPI_Ssend(TO);
}

static int send_nonblocking(const work_t *work)
{
    MPI_Request request;
    int code = MPI_Isend(TO, &request);
    return code != MPI_SUCCESS ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int call_pingpong(const work_t *work, MPI_Request *request)
{
    (void)request;
    return play(work, send_standard);
}

static int call_pingpong_ssend(const work_t *work, MPI_Request *request)
{
    (void)request;
    return play(work, send_synchronous);
}

static int call_pingpong_isend(const work_t *work, MPI_Request *request)
{
    (void)request;
    return play(work, send_nonblocking);
}

static int call_sendrecv(const work_t *work, MPI_Request *request)
{
    (void)request;
    if (work->rank > 1)
        return MPI_SUCCESS;
    return MPI_Sendrecv(work->send, work->count, work->type, 1 - work->rank, TAG, FROM, MPI_STATUS_IGNORE);
}

static int call_send(const work_t *work, MPI_Request *request)
{
    (void)request;
    if (work->rank == 0)
        return MPI_Send(TO);
    return work->rank == 1 ? MPI_Recv(FROM, MPI_STATUS_IGNORE) : MPI_SUCCESS;
}

#define POINT_TO_POINT(name, Name, shape) \
    static const operation_t point_to_point_##name = {#name, "MPI_" #Name, FORM_POINT_TO_POINT, &shape, call_##name};

POINT_TO_POINT(pingpong, Send, pingpong)
POINT_TO_POINT(pingpong_ssend, Ssend, pingpong)
POINT_TO_POINT(pingpong_isend, Isend, pingpong)
POINT_TO_POINT(sendrecv, Sendrecv, sendrecv)
POINT_TO_POINT(send, Send, send)

/* ---- The list */

#define GLOBAL_COLLECTIVES(form)                                                                                      \
    &form##_allgather, &form##_allgatherv, &form##_allreduce, &form##_alltoall, &form##_alltoallv, &form##_alltoallw, \
        &form##_barrier, &form##_bcast, &form##_exscan, &form##_gather, &form##_gatherv, &form##_reduce,              \
        &form##_reduce_scatter, &form##_reduce_scatter_block, &form##_scan, &form##_scatter, &form##_scatterv

#define NEIGHBORHOOD_COLLECTIVES(form)                                                                              \
    &form##_neighbor_allgather, &form##_neighbor_allgatherv, &form##_neighbor_alltoall, &form##_neighbor_alltoallv, \
        &form##_neighbor_alltoallw

const operation_t *const operation_list[] = {
    GLOBAL_COLLECTIVES(blocking),
    GLOBAL_COLLECTIVES(nonblocking),
    GLOBAL_COLLECTIVES(persistent),
    NEIGHBORHOOD_COLLECTIVES(blocking),
    NEIGHBORHOOD_COLLECTIVES(nonblocking),
    NEIGHBORHOOD_COLLECTIVES(persistent),
    &point_to_point_pingpong,
    &point_to_point_pingpong_ssend,
    &point_to_point_pingpong_isend,
    &point_to_point_sendrecv,
    &point_to_point_send,
    NULL,
};
